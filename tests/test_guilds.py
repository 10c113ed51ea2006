"""Guilds as values."""

from __future__ import annotations

from emu.guilds import (
    EVERYTHING,
    LEADER,
    RANKS,
    RECRUIT,
    Guild,
    GuildChange,
    GuildMember,
    GuildRank,
    Permission,
    bits,
    changed,
    first_ranks,
    with_leader,
)
from emu.times import Moment


def test_the_ranks_of_a_new_guild() -> None:
    ranks = first_ranks()
    assert len(ranks) == RANKS
    assert (ranks[LEADER].name, ranks[RECRUIT].name) == ("Leader", "Recruit")
    assert all(ranks[LEADER].allows(permission) for permission in Permission)
    assert ranks[1].allows(Permission.INVITE)
    assert not ranks[RECRUIT].allows(Permission.INVITE)
    assert ranks[RECRUIT].allows(Permission.SPEAK_TO_GUILD)
    assert bits(Permission.INVITE, Permission.PROMOTE) == 0b101
    assert EVERYTHING < 1 << 63, "fits a column of the database"


def test_a_change_makes_the_next_revision() -> None:
    one, two = GuildMember(char_id=1, rank=LEADER), GuildMember(char_id=2)
    guild = Guild(name="Wolves", members={1: one})
    joined = changed(guild, GuildChange(joined=two, motd="Hi"))
    assert (list(joined.members), joined.motd, joined.revision) == ([1, 2], "Hi", 2)
    assert guild.members == {1: one}, "the guild itself stays as it was"
    cub = GuildRank("Cub", 0)
    after = changed(joined, GuildChange(left=2, ranks={7: cub}, name="Bears"))
    assert (list(after.members), after.ranks[7], after.name) == ([1], cub, "Bears")
    assert after.motd == "Hi"
    assert not after.may(2, Permission.INVITE)
    assert after.may(1, Permission.INVITE)


def test_the_highest_rank_that_joined_first_follows_a_missing_leader() -> None:
    members = {
        number: GuildMember(char_id=number, rank=rank, joined=Moment(joined))
        for number, rank, joined in ((1, 5, 1.0), (2, 3, 9.0), (3, 3, 8.0))
    }
    assert with_leader(members)[3].rank == LEADER
    assert with_leader(members)[2].rank == 3
    assert with_leader({}) == {}
    led = {**members, 4: GuildMember(char_id=4, rank=LEADER)}
    assert with_leader(led) is led
