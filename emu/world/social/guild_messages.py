"""The messages of the guild window, as fields of their structs.

Source: docs/protocol/world/guilds.md#messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from emu.dialects import Dialect
from emu.dialects.dialect import wire_texts
from emu.errors import UnknownStruct
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
RECIPIENT: Final = slice(4, 8)
"""Where the list of members has the character it is for."""
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

    def send(self, player: Player, struct: str, fields: Mapping[str, Any]) -> None:
        """Send a message; `fields` must be equal for all members."""
        client = player.client
        try:
            opcode = client.dialect.layout(struct).definition.opcode_name
        except UnknownStruct:
            client.drop(f"{struct} unknown to version {client.version}")
            return
        sees_notes = self._guild.may(player.id, Permission.SEE_OFFICER_NOTES)
        key = struct, client.dialect, sees_notes
        if key not in self._made:
            shown = fields if sees_notes else _without_officer_notes(fields)
            self._made[key] = client.dialect.encode_known(struct, wire_texts(shown))
        payload = self._made[key]
        client.send_bytes(opcode, _addressed(payload, player.id) if struct == MEMBERS else payload)


def _without_officer_notes(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    rows = fields.get("member_array")
    if rows is not None:
        return {**fields, "member_array": [{**row, "officer_note": ""} for row in rows]}
    return {**fields, "officer_note": ""} if "officer_note" in fields else fields


def _addressed(payload: bytes, char_id: int) -> bytes:
    """Return a list of members with the character that it is for."""
    number = char_id.to_bytes(4, "little")
    return b"".join((payload[: RECIPIENT.start], number, payload[RECIPIENT.stop :]))
