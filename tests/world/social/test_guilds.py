"""The rules of guilds, without clients and store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import CommandError
from emu.guilds import (
    EVERYTHING,
    LEADER,
    LONGEST_MOTD,
    MOST_MEMBERS,
    RANKS,
    RECRUIT,
    Guild,
    GuildChange,
    GuildMember,
    MemberFlag,
    Permission,
    changed,
)
from emu.times import Moment, Monotonic
from emu.world.social import guilds
from emu.world.social.guilds import GuildInvitation, GuildInvitations, GuildStep

NAMES = ("Aldana", "Borvik", "Cenwyn", "Dorlas")


def guild_of(*ranks: int) -> Guild:
    members = {
        number: GuildMember(char_id=number, name=NAMES[number - 1], rank=rank)
        for number, rank in enumerate(ranks, 1)
    }
    return Guild(id=1, name="The Wolves", members=members)


def ranks_after(guild: Guild, step: GuildStep) -> dict[str, int]:
    after = changed(guild, step.change)
    return {one.name: one.rank for one in after.members.values()}


@pytest.mark.parametrize(
    "name", ["abc", "x" * 41, "The  2nd", "-Wolves-", "Wölfe", "", "The Wolves\n!"]
)
def test_unusable_names(name: str) -> None:
    with pytest.raises(CommandError):
        guilds.usable_name(name)


def test_usable_names() -> None:
    assert guilds.usable_name(" The   Wolves ") == "The Wolves"
    assert (
        guilds.usable_name("Heroes of Qeynos' Gate".replace("' ", "'")) == "Heroes of Qeynos'Gate"
    )
    founded = guilds.founded("Wolves", GuildMember(char_id=5, name="Aldana"), Moment(7.0))
    assert founded.members[5].rank == LEADER
    assert founded.members[5].joined == founded.formed == 7.0


def test_officers_act_on_lower_ranks_only() -> None:
    guild = guild_of(LEADER, 2, 2, RECRUIT)
    assert ranks_after(guild, guilds.promote(guild, 2, "dorlas"))["Dorlas"] == RECRUIT - 1
    for refused in (
        lambda: guilds.promote(guild, 2, "Cenwyn"),
        lambda: guilds.demote(guild, 2, "Cenwyn"),
        lambda: guilds.demote(guild, 2, "Aldana"),
        lambda: guilds.kick(guild, 2, "Aldana"),
        lambda: guilds.demote(guild, 2, "Dorlas"),  # the lowest rank already
        lambda: guilds.promote(guild, 2, "Nobody"),
        lambda: guilds.promote(guild, 99, "Dorlas"),
    ):
        with pytest.raises(CommandError):
            refused()
    near = guild_of(LEADER, 2, 3)
    with pytest.raises(CommandError, match="only a leader"):
        guilds.promote(near, 2, "Cenwyn")
    assert ranks_after(near, guilds.promote(near, 1, "Cenwyn"))["Cenwyn"] == 2


def test_a_guild_with_members_keeps_a_leader() -> None:
    guild = guild_of(LEADER, 1)
    for refused in (
        lambda: guilds.leave(guild, 1),
        lambda: guilds.kick(guild, 1, "Aldana"),
        lambda: guilds.demote(guild, 1, "Aldana"),
    ):
        with pytest.raises(CommandError, match="promote another member to leader first"):
            refused()
    two = changed(guild, guilds.promote(guild, 1, "Borvik").change)
    assert ranks_after(two, guilds.leave(two, 1)) == {"Borvik": LEADER}
    assert ranks_after(two, guilds.demote(two, 1, "Aldana"))["Aldana"] == 1
    alone = guild_of(LEADER)
    assert ranks_after(alone, guilds.leave(alone, 1)) == {}


def test_permissions_of_ranks() -> None:
    guild = guild_of(LEADER, 1, RECRUIT)
    change_permissions = guilds.permit(guild, 1, 1, Permission.CHANGE_PERMISSIONS, on=True)
    guild = changed(guild, change_permissions.change)
    given_away = changed(guild, guilds.permit(guild, 2, 6, Permission.INVITE, on=True).change)
    assert given_away.ranks[6].allows(Permission.INVITE)
    taken = changed(given_away, guilds.permit(given_away, 2, 6, Permission.INVITE, on=False).change)
    assert not taken.ranks[6].allows(Permission.INVITE)
    for place, permission in ((1, 0), (0, 0), (8, 0), (-1, 0), (6, 45), (6, -1), (6, 40)):
        with pytest.raises(CommandError):
            guilds.permit(guild, 2, place, permission, on=True)
    with pytest.raises(CommandError, match="leaders have every permission"):
        guilds.permit(guild, 1, 0, 3, on=False)


NEEDED: list[tuple[Permission, Callable[[Guild, int], GuildStep]]] = [
    (Permission.REMOVE, lambda guild, actor: guilds.kick(guild, actor, "Dorlas")),
    (Permission.PROMOTE, lambda guild, actor: guilds.promote(guild, actor, "Dorlas")),
    (Permission.DEMOTE, lambda guild, actor: guilds.demote(guild, actor, "Cenwyn")),
    (Permission.CHANGE_MOTD, lambda guild, actor: guilds.set_motd(guild, actor, "Hi")),
    (Permission.CHANGE_RANK_NAMES, lambda guild, actor: guilds.name_rank(guild, actor, 7, "Pup")),
    (
        Permission.CHANGE_PERMISSIONS,
        lambda guild, actor: guilds.permit(guild, actor, 7, Permission.INVITE, on=False),
    ),
    (Permission.EDIT_OWN_NOTE, lambda guild, actor: guilds.set_note(guild, actor, "Borvik", "x")),
    (Permission.EDIT_NOTES, lambda guild, actor: guilds.set_note(guild, actor, "Dorlas", "x")),
    (
        Permission.EDIT_OFFICER_NOTES,
        lambda guild, actor: guilds.set_officer_note(guild, actor, "Dorlas", "x"),
    ),
]


@pytest.mark.parametrize(("permission", "act"), NEEDED)
def test_each_act_needs_its_own_permission(
    permission: Permission, act: Callable[[Guild, int], GuildStep]
) -> None:
    guild = guild_of(LEADER, 2, 5, RECRUIT)
    for permissions, may in ((1 << permission, True), (~(1 << permission) & EVERYTHING, False)):
        rank = replace(guild.ranks[2], permissions=permissions)
        changed_guild = changed(guild, GuildChange(ranks={2: rank}))
        if may:
            act(changed_guild, 2)
        else:
            with pytest.raises(CommandError, match="may not do that"):
                act(changed_guild, 2)
    with pytest.raises(CommandError, match="you are in no guild"):
        act(guild, 99)


def test_a_member_gives_permissions_that_it_has_to_lower_ranks() -> None:
    guild = guild_of(LEADER, 2)
    own = replace(guild.ranks[2], permissions=1 << Permission.CHANGE_PERMISSIONS | 1 << 44)
    guild = changed(guild, GuildChange(ranks={2: own}))
    assert guilds.permit(guild, 2, 3, 44, on=True).change.ranks[3].permissions >> 44 & 1
    for place, permission, on, reason in (
        (3, Permission.INVITE, True, "only permissions that you have"),
        (2, 44, True, "lower ranks"), (2, 44, False, "lower ranks"), (1, 44, False, "lower ranks"),
        (3, 45, False, "from 0 to 44"), (3, -1, False, "from 0 to 44"),
    ):  # fmt: skip
        with pytest.raises(CommandError, match=reason):
            guilds.permit(guild, 2, place, permission, on=on)
    step = guilds.permit(guild, 2, 3, Permission.INVITE, on=False)
    assert not step.change.ranks[3].allows(Permission.INVITE)


def test_a_member_chooses_what_it_is_shown() -> None:
    guild = guild_of(LEADER)
    flag = MemberFlag.NOTIFY_LOGINS
    off = changed(guild, guilds.set_flag(guild, 1, flag, on=False).change)
    assert not off.members[1].flags & flag
    on = changed(off, guilds.set_flag(off, 1, flag, on=True).change)
    assert on.members[1].flags & flag
    with pytest.raises(CommandError, match="you are in no guild"):
        guilds.set_flag(guild, 99, flag, on=True)


def test_changes_have_a_line_with_names() -> None:
    guild = guild_of(LEADER, 2, 5)
    new = GuildMember(char_id=9, name="Elwyn", rank=LEADER)
    joined = guilds.join(guild, new, "Aldana")
    assert joined.text == "Elwyn has joined the guild, invited by Aldana."
    assert ranks_after(guild, joined)["Elwyn"] == RECRUIT
    assert [
        guilds.kick(guild, 1, "borvik").text, guilds.kick(guild, 2, "Borvik").text,
        guilds.promote(guild, 1, "Cenwyn").text, guilds.demote(guild, 1, "Cenwyn").text,
        guilds.set_motd(guild, 1, "Hi").text, guilds.set_motd(guild, 1, "").text,
    ] == [
        "Aldana has removed Borvik from the guild.", "Borvik has left the guild.",
        "Aldana has promoted Cenwyn to Member.", "Aldana has demoted Cenwyn to Initiate.",
        "Guild MOTD: Hi", "",
    ]  # fmt: skip


def test_texts_are_cut() -> None:
    guild = guild_of(LEADER)
    assert guilds.set_motd(guild, 1, "x" * 999).change.motd == "x" * LONGEST_MOTD
    assert guilds.set_note(guild, 1, "Aldana", "x" * 999).change.members[0].note == "x" * 255
    assert guilds.name_rank(guild, 1, 7, " a   b ").change.ranks[7].name == "a b"
    with pytest.raises(CommandError):
        guilds.name_rank(guild, 1, 7, "  ")


def test_a_full_guild() -> None:
    members = {
        number: GuildMember(char_id=number, rank=min(number, RECRUIT))
        for number in range(MOST_MEMBERS)
    }
    with pytest.raises(CommandError, match="the limit"):
        guilds.join(Guild(name="Full", members=members), GuildMember(char_id=5000), "Aldana")
    del members[7]
    guilds.join(Guild(name="Nearly", members=members), GuildMember(char_id=5000), "Aldana")


def test_invitations_expire_and_do_not_pile_up() -> None:
    invitations = GuildInvitations()
    invitation = GuildInvitation(1, "The Wolves", "Aldana", Monotonic(10.0))
    invitations.invite(5, invitation)
    with pytest.raises(CommandError, match="invited to a guild already"):
        invitations.invite(5, invitation._replace(guild_id=2, at=Monotonic(70.0)))
    later = invitation._replace(guild_id=2, at=Monotonic(70.1))
    invitations.invite(5, later)
    assert invitations.take_invitation(5, Monotonic(80.0)) == later
    invitations.invite(5, later)
    with pytest.raises(CommandError, match="nobody"):
        invitations.take_invitation(5, Monotonic(131.0))
    with pytest.raises(CommandError):
        invitations.take_invitation(5, Monotonic(71.0))
    invitations.invite(5, later)
    invitations.forget(5)
    with pytest.raises(CommandError):
        invitations.take_invitation(5, Monotonic(71.0))


ACTIONS: tuple[Callable[[Guild, int, str], GuildStep], ...] = (
    guilds.promote, guilds.demote, guilds.kick,
    lambda guild, actor, _name: guilds.leave(guild, actor),
    lambda guild, actor, name: guilds.set_note(guild, actor, name, "note"),
)  # fmt: skip


@given(
    st.lists(
        st.tuples(st.sampled_from(ACTIONS), st.integers(1, 4), st.sampled_from(NAMES)), max_size=30
    )
)
def test_whatever_members_do_a_guild_has_a_leader(
    steps: list[tuple[Callable[[Guild, int, str], GuildStep], int, str]],
) -> None:
    guild = guild_of(LEADER, 1, 4, RECRUIT)
    for act, actor, name in steps:
        before = guild
        try:
            guild = changed(guild, act(guild, actor, name).change)
        except CommandError:
            continue
        assert guild.revision == before.revision + 1
        assert all(0 <= one.rank < RANKS for one in guild.members.values())
        led = {
            one.name for one in guild.members.values()
            if replace(one, rank=LEADER) == one
        }  # fmt: skip
        assert led or not guild.members
