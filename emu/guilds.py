"""Guilds as values: ranks, permissions, members, and the changes that a store keeps.

The numbers of permissions and member flags are the client's (docs/protocol/world/guilds.md#ranks).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, IntFlag
from typing import Final

from emu.times import UNKNOWN, Moment

RANKS: Final = 8
"""Every guild has this many ranks; 0 is the leader's, the last one is a new member's."""
LEADER: Final = 0
RECRUIT: Final = RANKS - 1
RANK_NAMES: Final = (
    "Leader", "Senior Officer", "Officer", "Senior Member", "Member", "Junior Member", "Initiate",
    "Recruit",
)  # fmt: skip
LEAST_NAME, MOST_NAME = 4, 40
"""Letters of a guild's name (docs/protocol/world/guilds.md#commands)."""
LONGEST_MOTD: Final = 255
LONGEST_NOTE: Final = 255
LONGEST_RANK: Final = 30
MOST_MEMBERS: Final = 1000


class Permission(IntEnum):
    """What a rank may do; the value is the number of the bit."""

    INVITE = 0
    REMOVE = 1
    PROMOTE = 2
    DEMOTE = 3
    CHANGE_MOTD = 6
    CHANGE_PERMISSIONS = 7
    CHANGE_RANK_NAMES = 8
    SEE_OFFICER_NOTES = 9
    EDIT_OFFICER_NOTES = 10
    HEAR_OFFICERS = 11
    SPEAK_TO_OFFICERS = 12
    HEAR_GUILD = 13
    SPEAK_TO_GUILD = 14
    EDIT_OWN_NOTE = 15
    EDIT_NOTES = 16
    SHOW_GUILD_NAME = 20


MOST_PERMISSIONS: Final = 64
"""Bits of a rank on the wire. Those that this server does not use are stored all the same."""
EVERYTHING: Final = (1 << 45) - 1
"""All permissions that clients know: 0 to 44."""


def bits(*permissions: Permission) -> int:
    """Return permissions as bits."""
    return sum(1 << permission for permission in permissions)


_MEMBER: Final = bits(
    Permission.HEAR_GUILD, Permission.SPEAK_TO_GUILD, Permission.EDIT_OWN_NOTE,
    Permission.SHOW_GUILD_NAME,
)  # fmt: skip
_OFFICER: Final = _MEMBER | bits(
    Permission.INVITE, Permission.SEE_OFFICER_NOTES, Permission.EDIT_OFFICER_NOTES,
    Permission.HEAR_OFFICERS, Permission.SPEAK_TO_OFFICERS, Permission.CHANGE_MOTD,
    Permission.PROMOTE, Permission.DEMOTE, Permission.REMOVE,
)  # fmt: skip


class MemberFlag(IntFlag):
    """Choices of a member."""

    NOTIFY_LOGINS = 2
    """The member is shown who of the guild comes and goes."""
    NO_EVENTS = 4


@dataclass(frozen=True, slots=True)
class GuildRank:
    """One rank: its name, and its permissions as bits."""

    name: str
    permissions: int

    def allows(self, permission: Permission) -> bool:
        """Return whether the rank has a permission."""
        return bool(self.permissions >> permission & 1)


def first_ranks() -> tuple[GuildRank, ...]:
    """Return the ranks of a new guild."""
    permissions = (EVERYTHING, _OFFICER, _OFFICER, *[_MEMBER] * (RANKS - 3))
    return tuple(GuildRank(*row) for row in zip(RANK_NAMES, permissions, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildMember:
    """A member. What its character's row has is as it was when the guild was read."""

    char_id: int
    rank: int = RECRUIT
    joined: Moment = UNKNOWN
    note: str = ""
    officer_note: str = ""
    flags: int = MemberFlag.NOTIFY_LOGINS
    name: str = ""
    account_id: int = 0
    level: int = 1
    class_: int = 0
    tradeskill_class: int = 0
    tradeskill_level: int = 1
    last_played: Moment = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Guild:
    """A guild with its members, by character id in the order of joining.

    `revision` grows with every change that is stored, so that two processes cannot change the same
    state.
    """

    id: int = 0
    name: str
    motd: str = ""
    formed: Moment = UNKNOWN
    revision: int = 1
    ranks: tuple[GuildRank, ...] = field(default_factory=first_ranks)
    members: Mapping[int, GuildMember] = field(default_factory=dict)

    def rank_of(self, char_id: int) -> GuildRank:
        """Return the rank of a member."""
        return self.ranks[self.members[char_id].rank]

    def may(self, char_id: int, permission: Permission) -> bool:
        """Return whether a character is a member with a permission."""
        return char_id in self.members and self.rank_of(char_id).allows(permission)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildChange:
    """What changes in a guild; None and empty leave it as it is."""

    name: str | None = None
    motd: str | None = None
    ranks: Mapping[int, GuildRank] = field(default_factory=dict)
    joined: GuildMember | None = None
    members: Sequence[GuildMember] = ()
    """Members with other values than before."""
    left: int = 0
    """The character id of a member that leaves, 0 for none."""


def changed(guild: Guild, change: GuildChange) -> Guild:
    """Return a guild after a change, with its next revision."""
    members = dict(guild.members)
    members.pop(change.left, None)
    for member in (*change.members, *([change.joined] if change.joined else [])):
        members[member.char_id] = member
    ranks = [change.ranks.get(place, rank) for place, rank in enumerate(guild.ranks)]
    return replace(
        guild,
        name=guild.name if change.name is None else change.name,
        motd=guild.motd if change.motd is None else change.motd,
        revision=guild.revision + 1,
        ranks=tuple(ranks),
        members=with_leader(members),
    )


def with_leader(members: Mapping[int, GuildMember]) -> Mapping[int, GuildMember]:
    """Return the members of a guild, one of them with the leader's rank.

    The character of the leader may have been deleted. Then the member with the highest rank leads,
    and of those the one that joined first.
    """
    if not members or any(one.rank == LEADER for one in members.values()):
        return members
    heir = min(members.values(), key=lambda one: (one.rank, one.joined, one.char_id))
    return {**members, heir.char_id: replace(heir, rank=LEADER)}


@dataclass(frozen=True, slots=True)
class GuildSummary:
    """A guild as lists show it."""

    id: int
    name: str
    formed: Moment
    members: int
