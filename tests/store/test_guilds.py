"""Guilds in the database."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import pytest

from emu.errors import DuplicateName, OutOfDate
from emu.guilds import (
    LEADER,
    RECRUIT,
    Guild,
    GuildChange,
    GuildMember,
    GuildRank,
    GuildSummary,
)
from emu.store import Store
from emu.times import Moment
from tests.support.database.engines import store_database
from tests.support.world.world_fakes import world_character


def member(store: Store, name: str, **values: object) -> GuildMember:
    made = store.world.characters.create(world_character(0, name=name, level=7))
    return GuildMember(char_id=made.id, name=name, **values)  # type: ignore[arg-type]


def wolves(store: Store) -> Guild:
    leader = member(store, "Aldana", rank=LEADER, joined=Moment(5.0))
    return store.world.guilds.create(
        Guild(name="The Wolves", formed=Moment(5.0), members={leader.char_id: leader})
    )


def test_a_guild_is_found_by_name_and_by_member(store: Store) -> None:
    guild, guilds = wolves(store), store.world.guilds
    (leader,) = guild.members.values()
    assert (leader.level, leader.class_, leader.account_id) == (7, 1, 101), "of the character"
    assert guilds.find(guild.id) == guild
    assert guilds.named("the WOLVES") == guilds.of_character(leader.char_id) == guild.id
    assert guilds.named("The Bears") == guilds.of_character(99) == 0
    assert guilds.find(guild.id + 1) is None
    assert list(guilds.every()) == [GuildSummary(guild.id, "The Wolves", Moment(5.0), 1)]


def test_every_change_is_stored(store: Store) -> None:
    guild, guilds = wolves(store), store.world.guilds
    guest = member(store, "Borvik", joined=Moment(6.0))
    cub = GuildRank("Cub", 3)
    guilds.save_change(guild.id, 1, GuildChange(joined=guest, motd="Hello", ranks={RECRUIT: cub}))
    after = guilds.find(guild.id)
    assert after is not None
    assert (after.revision, after.motd, after.ranks[RECRUIT]) == (2, "Hello", cub)
    assert list(after.members) == [*guild.members, guest.char_id]
    noted = replace(after.members[guest.char_id], rank=3, note="n", officer_note="o", flags=4)
    guilds.save_change(guild.id, 2, GuildChange(members=(noted,), name="THE WOLVES"))
    after = guilds.find(guild.id)
    assert after is not None
    assert (after.name, after.members[guest.char_id]) == ("THE WOLVES", noted)
    guilds.save_change(guild.id, 3, GuildChange(left=guest.char_id))
    assert guilds.of_character(guest.char_id) == 0
    assert guilds.delete(guild.id)
    assert not guilds.delete(guild.id)
    left = store.database.connection.execute("SELECT count(*) FROM guild_ranks").fetchall()
    assert left[0][0] == 0


def test_only_the_newest_state_can_be_changed(store: Store) -> None:
    guild, guilds = wolves(store), store.world.guilds
    guilds.save_change(guild.id, 1, GuildChange(motd="first"))
    with pytest.raises(OutOfDate):
        guilds.save_change(guild.id, 1, GuildChange(motd="second"))
    assert guilds.revisions([guild.id, guild.id + 1]) == {guild.id: 2}
    with pytest.raises(OutOfDate):
        guilds.save_change(guild.id + 1, 1, GuildChange(motd="second"))
    after = guilds.find(guild.id)
    assert after is not None
    assert (after.motd, after.revision) == ("first", 2)


def test_a_guild_that_has_changed_is_not_deleted_as_it_was(store: Store) -> None:
    """Its last member leaves, and somebody has joined it meanwhile."""
    guild, guilds = wolves(store), store.world.guilds
    guilds.save_change(guild.id, 1, GuildChange(joined=member(store, "Borvik")))
    with pytest.raises(OutOfDate):
        guilds.delete(guild.id, 1)
    assert guilds.find(guild.id) is not None
    assert guilds.delete(guild.id, 2)
    assert not guilds.delete(guild.id, 2)


def test_names_and_members_are_unique(store: Store) -> None:
    guild, guilds = wolves(store), store.world.guilds
    other = member(store, "Borvik", rank=LEADER)
    with pytest.raises(DuplicateName, match="there is a guild the wolves already"):
        guilds.create(Guild(name="the wolves"))
    with pytest.raises(DuplicateName, match="Aldana is in a guild already"):
        guilds.create(Guild(name="Bears", members=guild.members))
    bears = guilds.create(Guild(name="Bears", members={other.char_id: other}))
    with pytest.raises(DuplicateName):
        guilds.save_change(bears.id, 1, GuildChange(motd="new", name="The Wolves"))
    found = guilds.find(bears.id)
    assert found is not None
    assert (found.motd, found.revision) == ("", 1), "nothing of the refused change is stored"


def test_a_deleted_leader_is_followed_by_the_next_rank(store: Store) -> None:
    guild, guilds = wolves(store), store.world.guilds
    (leader,) = guild.members.values()
    first, officer = member(store, "Borvik"), member(store, "Cenwyn")
    guilds.save_change(guild.id, 1, GuildChange(joined=first))
    guilds.save_change(guild.id, 2, GuildChange(joined=replace(officer, rank=2)))
    store.world.characters.delete(leader.account_id, leader.char_id)
    after = guilds.find(guild.id)
    assert after is not None
    ranks = {one.name: one.rank for one in after.members.values()}
    assert ranks == {"Borvik": RECRUIT, "Cenwyn": LEADER}
    assert guilds.every()[0].members == 2


def test_a_lookup_by_character_reads_no_other_row(sqlite_store: Store) -> None:
    """100 guilds of 100 members cost nothing while nobody logs in."""
    run = sqlite_store.database.connection.execute
    plan = list(run("EXPLAIN QUERY PLAN SELECT guild_id FROM guild_members WHERE character_id = 5"))
    assert "SEARCH" in plan[0]["detail"]
    plan = list(run("EXPLAIN QUERY PLAN SELECT * FROM guild_members WHERE guild_id = 5"))
    assert "guild_members_guild" in plan[0]["detail"]


def test_of_two_processes_that_change_a_guild_at_once_one_is_refused() -> None:
    with store_database() as where, Store.open(where) as first, Store.open(where) as second:
        guild = wolves(first)
        results: list[str] = []

        def change() -> None:
            try:
                second.world.guilds.save_change(guild.id, 1, GuildChange(motd="second"))
            except OutOfDate:
                results.append("refused")

        with first.transaction():
            first.world.guilds.save_change(guild.id, 1, GuildChange(motd="first"))
            # It waits for the row, and then finds another revision.
            other = Thread(target=change)
            other.start()
            other.join(0.1)
            assert other.is_alive()
        other.join(10)
        assert results == ["refused"]
        found = second.world.guilds.find(guild.id)
        assert found is not None
        assert (found.motd, found.revision) == ("first", 2)
