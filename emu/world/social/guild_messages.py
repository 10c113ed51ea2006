"""The messages of the guild window, as fields of their structs.

Source: docs/protocol/world/guilds.md#messages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.guilds import Guild, GuildMember, Permission
from emu.model import ANYBODY, Present, may_see
from emu.times import Moment, unix_seconds
from emu.world.actors.player import Player

UPDATE: Final = "WS_GuildUpdate"
MEMBERS: Final = "WS_GuildMembershipResponse"
MEMBER: Final = "WS_JoinGuildNotify"
LEFT: Final = "WS_LeaveGuildNotify"
EVENTS: Final = "WS_GuildEventList"
OFFER: Final = "WS_ReceiveOffer"
GUILD_OFFER: Final = 2
"""Type of an offer: an invitation to a guild."""
LOW_BITS: Final = 0xFFFFFFFF
HEAD: Final = struct.Struct("<III")
"""What the list of members begins with: the guild, the recipient, the number of members."""
MOST_VIEWS: Final = 64
"""Client versions, with and without officers' notes, for which a guild's members are kept."""
FIRST_LEVEL: Final = 1


def update_fields(guild: Guild) -> dict[str, Any]:
    """Return the fields of WS_GuildUpdate: all of the window but its members."""
    accounts = {member.account_id for member in guild.members.values()}
    return {
        "guild_name": guild.name,
        "guild_motd": guild.motd,
        "guild_id": guild.id,
        "guild_level": FIRST_LEVEL,
        "unknown1": 1,
        "formed_date": _seconds(guild.formed),
        "unique_accounts": len(accounts),
        "num_members": len(guild.members),
        "ranks": [
            {
                "name": rank.name,
                "permissions": [rank.permissions & LOW_BITS, rank.permissions >> 32],
            }
            for rank in guild.ranks
        ],
    }


def member_fields(member: GuildMember, present: Present | None, zone: str) -> dict[str, Any]:
    """Return the fields of a member; `zone` is "" for one that is not in the world."""
    return {
        "character_id": member.char_id,
        "account_id": member.account_id,
        "name": present.name if present is not None else member.name,
        "unknown3": 1,
        "adventure_class": present.class_ if present is not None else member.class_,
        "adventure_level": present.level if present is not None else member.level,
        "tradeskill_class": member.tradeskill_class,
        "tradeskill_level": member.tradeskill_level,
        "rank": member.rank,
        "member_flags": member.flags,
        "join_date": _seconds(member.joined),
        "last_login": _seconds(member.last_played),
        "zone": zone,
        "note": member.note,
        "officer_note": member.officer_note,
    }


def present_of(member: GuildMember, find: Callable[[int], Present | None]) -> Present | None:
    """Return a member in the world; a hidden one is absent for its guild, too."""
    found = find(member.char_id)
    return found if found is not None and may_see(ANYBODY, found) else None


def _seconds(moment: Moment) -> int:
    return unix_seconds(moment) & LOW_BITS


class GuildMessages:
    """Encodes one message for many members: once for each client version and view of the notes."""

    def __init__(self, guild: Guild) -> None:
        self._guild = guild
        self._made: dict[tuple[str, Dialect, bool], bytes] = {}

    def send(self, player: Player, name: str, fields: Mapping[str, Any]) -> None:
        """Send a message; `fields` must be equal for all members.

        A version without the struct, as 373, is sent nothing.
        """
        client = player.client
        if not client.dialect.has(name):
            return
        opcode = client.dialect.layout(name).definition.opcode_name
        sees_notes = self._guild.may(player.id, Permission.SEE_OFFICER_NOTES)
        key = name, client.dialect, sees_notes
        if key not in self._made:
            shown = fields if sees_notes else _without_officer_note(fields)
            self._made[key] = client.dialect.encode_known(name, wire_texts(shown))
        client.send_bytes(opcode, self._made[key])


def _without_officer_note(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**fields, "officer_note": ""} if "officer_note" in fields else fields


class ShownMember(NamedTuple):
    """A member as the window shows it; `zone` is "" for one that is not in the world."""

    member: GuildMember
    present: Present | None
    zone: str

    @property
    def key(self) -> tuple[object, ...]:
        """All values that the bytes depend on."""
        one = self.present
        return self.member, self.zone, one and (one.name, one.level, one.class_)


class MemberRows:
    """The members of one guild as bytes; a member is encoded again only when it has changed.

    The list is sent on every zone entry of every member, so it must cost little.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Dialect, bool], dict[int, tuple[object, bytes]]] = {}
        """Key and bytes of each member, for each client version and view of the notes."""
        self._bodies: dict[tuple[Dialect, bool], bytes] = {}
        """All members of `_of` as bytes."""
        self._of: Sequence[ShownMember] = ()

    def send(self, player: Player, guild: Guild, members: Sequence[ShownMember]) -> None:
        """Send WS_GuildMembershipResponse. A list that is sent to many is compared only once.

        A version without the struct, as 373, is sent nothing.
        """
        dialect = player.client.dialect
        if not dialect.has(MEMBERS):
            return
        if members is not self._of:
            self._of = members
            self._bodies.clear()
        view = dialect, guild.may(player.id, Permission.SEE_OFFICER_NOTES)
        if view not in self._bodies:
            self._bodies[view] = self._body(view, members)
        head = HEAD.pack(guild.id, player.id, len(members))
        opcode = dialect.layout(MEMBERS).definition.opcode_name
        player.client.send_bytes(opcode, head + self._bodies[view])

    def _body(self, view: tuple[Dialect, bool], members: Sequence[ShownMember]) -> bytes:
        dialect, sees_notes = view
        if len(self._known) >= MOST_VIEWS:
            # Dialects change with each reload of the opcode tables.
            self._known.clear()
        known = self._known.get(view, {})
        tail = dialect.layout(MEMBERS).empty_size() - HEAD.size
        rows = {}
        for one in members:
            number, key = one.member.char_id, one.key
            found = known.get(number)
            if found is None or found[0] != key:
                found = key, _row(dialect, one, tail, sees_notes=sees_notes)
            rows[number] = found
        # Replaced as a whole: members who have left go.
        self._known[view] = rows
        return b"".join((*(data for _, data in rows.values()), bytes(tail)))


def _row(dialect: Dialect, one: ShownMember, tail: int, *, sees_notes: bool) -> bytes:
    fields = member_fields(*one)
    shown = fields if sees_notes else _without_officer_note(fields)
    whole = dialect.encode_known(MEMBERS, wire_texts({"num_members": 1, "member_array": [shown]}))
    return whole[HEAD.size : len(whole) - tail]
