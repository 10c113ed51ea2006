"""The fields of OGP 0.91 and 0.94 as tables: flag, name and type of each field.

The order of a table is that of the wire. Values are plain: int, str, `Name`, or a mapping of names
to values if one flag stands for several. Raises `MalformedMessage`.

Source: docs/protocol/administration/ogp.md#fields, docs/protocol/administration/ogp.md#dialect.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Final, NamedTuple

from emu.admin.ogp.elements import (
    Numbers,
    Numbers91,
    Numbers94,
    bit,
    pull_bits,
    pull_name,
    push_bits,
    push_name,
)
from emu.admin.reader import Reader, clamped, text_bytes
from emu.errors import MalformedMessage

Row = Mapping[str, Any]
"""Values by the names of their fields."""


@dataclass(slots=True)
class Style:
    """The encoding of a whole body: its numbers, and the fields of its maps and names."""

    # Shared by all fields of one body: the map sets the fields that the next map has, too.
    numbers: Numbers
    colored: bool = False
    """Whether colors follow names."""
    map_fields: int = 0
    """The fields of maps (0.94)."""
    mod_fields: int = 0
    """The fields of a mod (0.94)."""


class OgpType(NamedTuple):
    """A type of value."""

    push: Callable[[Any, Style], bytes]
    pull: Callable[[Reader, Style], Any]


class OgpField(NamedTuple):
    """One field of a table; `flag` means that it is present."""

    flag: int
    name: str
    kind: OgpType


def push_row(row: Row, table: Sequence[OgpField], flags: int, style: Style) -> bytes:
    """Return the fields of a row that `flags` select."""
    return b"".join(
        field.kind.push(row[field.name], style) for field in table if flags & field.flag
    )


def pull_row(reader: Reader, table: Sequence[OgpField], flags: int, style: Style) -> dict[str, Any]:
    """Read the fields that `flags` select. Raises for an unknown flag: its length is unknown."""
    # Nothing after an unknown field could be found.
    if flags & ~all_flags(table):
        raise MalformedMessage("unknown fields")
    return {field.name: field.kind.pull(reader, style) for field in table if flags & field.flag}


def all_flags(table: Sequence[OgpField]) -> int:
    """Return the flags of all fields of a table."""
    return sum(field.flag for field in table)


def flags_of(row: Row, table: Sequence[OgpField]) -> int:
    """Return the flags of the fields that a row has."""
    return sum(field.flag for field in table if field.name in row)


def _unsigned(size: int) -> OgpType:
    """Return the type of numbers of `size` bytes; a larger number becomes the maximum."""
    return OgpType(
        lambda value, _style: clamped(value, size), lambda reader, _style: reader.unsigned(size)
    )


def _bytes(size: int) -> OgpType:
    """Return the type of `size` opaque bytes, shown as hexadecimal digits."""
    return OgpType(
        lambda value, _style: bytes.fromhex(value), lambda reader, _style: reader.take(size).hex()
    )


U16: Final = _unsigned(2)
U32: Final = _unsigned(4)
MD5: Final = _bytes(16)
TEXT: Final = OgpType(lambda value, _style: text_bytes(value), lambda reader, _style: reader.text())
NAME: Final = OgpType(
    lambda value, style: push_name(value, style.numbers, colored=style.colored),
    lambda reader, style: pull_name(reader, style.numbers, colored=style.colored),
)
UINT: Final = OgpType(
    lambda value, style: style.numbers.push_uint(value),
    lambda reader, style: style.numbers.pull_uint(reader),
)
SINT: Final = OgpType(
    lambda value, style: style.numbers.push_sint(value),
    lambda reader, style: style.numbers.pull_sint(reader),
)


class PlayerFlag(IntFlag):
    """The flags of a player."""

    ALIVE = bit(0, 0)
    DEAD = bit(0, 1)
    BOT = bit(0, 2)
    BOMB = bit(1, 0)
    VIP = bit(1, 1)


class AddOnFlag(IntFlag):
    """The flags of an add-on."""

    ACTIVE = bit(0, 0)
    ANTI_CHEAT = bit(0, 1)
    MUTATOR = bit(0, 2)
    ADMIN_TOOL = bit(0, 3)


PLAYER_FLAGS: Final = OgpType(
    lambda value, _style: push_bits(value), lambda reader, _style: PlayerFlag(pull_bits(reader))
)
ADD_ON_FLAGS: Final = OgpType(
    lambda value, _style: push_bits(value), lambda reader, _style: AddOnFlag(pull_bits(reader))
)


class ServerFlags(NamedTuple):
    """The kind of a server."""

    dedicated: bool = True
    proxy: bool = False
    system: int = 0
    """0 unknown, 1 Windows, 2 Linux, 3 Mac."""
    password: bool = False
    """Whether players need a password; 0.91 has no such field."""


def _push_server_91(value: ServerFlags, _style: Style) -> bytes:
    return push_bits(value.dedicated | value.proxy << 1 | (value.system & 0xF) << 2)


def _pull_server_91(reader: Reader, _style: Style) -> ServerFlags:
    bits = pull_bits(reader)
    return ServerFlags(bool(bits & 1), bool(bits & 2), bits >> 2 & 0xF)


def _push_server_94(value: ServerFlags, _style: Style) -> bytes:
    # The two versions order the bits differently.
    kind = 2 if value.dedicated else 1
    return push_bits(kind | value.password << 2 | value.proxy << 3 | (value.system & 7) << 4)


def _pull_server_94(reader: Reader, _style: Style) -> ServerFlags:
    bits = pull_bits(reader)
    return ServerFlags(bits & 3 == 2, bool(bits & 8), bits >> 4 & 7, bool(bits & 4))


SERVER_FLAGS_91: Final = OgpType(_push_server_91, _pull_server_91)
SERVER_FLAGS_94: Final = OgpType(_push_server_94, _pull_server_94)


def pair(first: str, second: str) -> OgpType:
    """Return the type of two texts with one flag."""
    return OgpType(
        lambda value, _style: text_bytes(value[first]) + text_bytes(value[second]),
        lambda reader, _style: {first: reader.text(), second: reader.text()},
    )


MOD_FIELDS: Final = (
    OgpField(bit(0, 0), "identifier", TEXT),
    OgpField(bit(0, 1), "size", U32),
    OgpField(bit(0, 2), "version", TEXT),
    OgpField(bit(0, 3), "url", TEXT),
    OgpField(bit(0, 4), "author", TEXT),
)
"""The fields of a mod, in 0.94."""


def _push_mod(value: Row, style: Style) -> bytes:
    """Return a mod's name, and its fields if the name is not empty."""
    name = text_bytes(value["name"])
    if not value["name"]:
        return name
    # Only fields that were requested and that the mod has.
    there = style.mod_fields & flags_of(value, MOD_FIELDS)
    return name + push_bits(there) + push_row(value, MOD_FIELDS, there, style)


def _pull_mod(reader: Reader, style: Style) -> Row:
    name = reader.text()
    if not name:
        return {"name": name}
    return {"name": name, **pull_row(reader, MOD_FIELDS, pull_bits(reader), style)}


MAP_FIELDS: Final = (
    OgpField(bit(0, 0), "file", TEXT),
    OgpField(bit(0, 1), "size", U32),
    OgpField(bit(0, 2), "md5", MD5),
    OgpField(bit(0, 3), "version", TEXT),
    OgpField(bit(0, 4), "url", TEXT),
    OgpField(bit(0, 5), "author", TEXT),
)
"""The fields of a map, in 0.94."""
_UNKNOWN_MAP: Final[Row] = {
    "file": "", "size": 0, "md5": bytes(16).hex(), "version": "", "url": "", "author": "",
}  # fmt: skip
"""The next map if only the present one is known."""


def _push_map(value: Row, style: Style) -> bytes:
    # The fields are stored for the next map, which has no flags of its own.
    style.map_fields &= flags_of(value, MAP_FIELDS)
    return push_bits(style.map_fields) + _push_next_map(value, style)


def _pull_map(reader: Reader, style: Style) -> Row:
    style.map_fields = pull_bits(reader)
    return _pull_next_map(reader, style)


def _push_next_map(value: Row, style: Style) -> bytes:
    # The next map must have the same fields, so missing ones get empty values.
    row = {**_UNKNOWN_MAP, **value}
    return text_bytes(value["name"]) + push_row(row, MAP_FIELDS, style.map_fields, style)


def _pull_next_map(reader: Reader, style: Style) -> Row:
    return {"name": reader.text(), **pull_row(reader, MAP_FIELDS, style.map_fields, style)}


MOD_94: Final = OgpType(_push_mod, _pull_mod)
MAP_94: Final = OgpType(_push_map, _pull_map)
NEXT_MAP_94: Final = OgpType(_push_next_map, _pull_next_map)
"""The next map has the fields of the map, so the map must come before it."""

IPV4: Final = OgpType(
    lambda value, _style: int(ipaddress.IPv4Address(value)).to_bytes(4, "little"),
    lambda reader, _style: str(ipaddress.IPv4Address(reader.unsigned(4))),
)


def _pull_address(reader: Reader, style: Style) -> str:
    # The length is the only sign of the version of the address.
    packed = reader.take(style.numbers.pull_uint(reader))
    try:
        return str(ipaddress.ip_address(packed)) if packed else ""
    except ValueError:
        raise MalformedMessage("wrong address") from None


def _push_address(value: str, style: Style) -> bytes:
    packed = ipaddress.ip_address(value).packed if value else b""
    return style.numbers.push_uint(len(packed)) + packed


ADDRESS: Final = OgpType(_push_address, _pull_address)
"""An IPv4 or IPv6 address (0.94); empty for none."""


SERVER: Final = bit(0, 0)
TEAMS: Final = bit(0, 1)
PLAYERS: Final = bit(0, 2)
RULES: Final = bit(0, 3)
ADD_ONS: Final = bit(0, 4)
LIMITS: Final = bit(0, 5)
COLORED: Final = bit(1, 0)
"""RequestFlags: the sections of an answer, and whether names have colors."""

NOT_ASSIGNED: Final = -1
"""The team of a player without a team."""

_COUNTS: Final = (
    OgpField(bit(2, 0), "player_count", UINT),
    OgpField(bit(2, 1), "slot_max", UINT),
    OgpField(bit(2, 2), "bot_count", UINT),
    OgpField(bit(2, 3), "reserved_slots", UINT),
)
_MOD_94: Final = bit(1, 0)
_MAP_94: Final = bit(1, 3)
_NEXT_MAP_94: Final = bit(1, 4)

_SERVER_91: Final = (
    OgpField(bit(0, 0), "game_name", TEXT),
    OgpField(bit(0, 1), "server_flags", SERVER_FLAGS_91),
    OgpField(bit(0, 2), "mod", pair("name", "dir")),
    OgpField(bit(0, 3), "connect_port", U16),
    OgpField(bit(1, 0), "host_name", NAME),
    OgpField(bit(1, 1), "map", pair("name", "file")),
    OgpField(bit(1, 2), "next_map", pair("name", "file")),
    OgpField(bit(1, 3), "game_type", TEXT),
    OgpField(bit(1, 4), "game_mode", TEXT),
    *_COUNTS,
)
_SERVER_94: Final = (
    OgpField(bit(0, 0), "game_name", TEXT),
    OgpField(bit(0, 1), "server_flags", SERVER_FLAGS_94),
    OgpField(bit(0, 2), "host_name", NAME),
    OgpField(bit(0, 3), "connect_port", U16),
    OgpField(_MOD_94, "mod", MOD_94),
    OgpField(bit(1, 1), "game_type", TEXT),
    OgpField(bit(1, 2), "game_mode", TEXT),
    OgpField(_MAP_94, "map", MAP_94),
    OgpField(_NEXT_MAP_94, "next_map", NEXT_MAP_94),
    *_COUNTS,
)
TEAM_FIELDS: Final = (
    OgpField(bit(0, 0), "name", NAME),
    OgpField(bit(0, 1), "score", SINT),
    OgpField(bit(0, 2), "average_ping", U16),
    OgpField(bit(0, 3), "average_loss", U16),
    OgpField(bit(0, 4), "player_count", UINT),
    OgpField(bit(0, 5), "color", U16),
)
_PLAYER: Final = (
    OgpField(bit(0, 0), "flags", PLAYER_FLAGS),
    OgpField(bit(0, 1), "slot", UINT),
    OgpField(bit(0, 2), "name", NAME),
    OgpField(bit(0, 3), "team", SINT),
    OgpField(bit(0, 4), "class", TEXT),
    OgpField(bit(0, 5), "race", TEXT),
    OgpField(bit(1, 0), "score", SINT),
    OgpField(bit(1, 1), "frags", SINT),
    OgpField(bit(1, 2), "kills", UINT),
    OgpField(bit(1, 3), "death", UINT),
    OgpField(bit(1, 4), "suicides", UINT),
    OgpField(bit(1, 5), "team_kills", UINT),
    OgpField(bit(2, 0), "id", U32),
    OgpField(bit(2, 1), "global_id", TEXT),
    OgpField(bit(2, 2), "ping", U16),
    OgpField(bit(2, 3), "loss", U16),
    OgpField(bit(2, 4), "model", TEXT),
    OgpField(bit(2, 5), "time", U16),
)
ADD_ON_FIELDS: Final = (
    OgpField(bit(0, 0), "flags", ADD_ON_FLAGS),
    OgpField(bit(0, 1), "short_name", TEXT),
    OgpField(bit(0, 2), "long_name", TEXT),
    OgpField(bit(0, 3), "version", TEXT),
)


@dataclass(frozen=True, slots=True)
class OgpVersion:
    """One version of the protocol."""

    name: str
    numbers: Numbers
    server: Sequence[OgpField]
    players: Sequence[OgpField]
    arrays: Mapping[str, tuple[str, int]]
    """The bit arrays behind RequestFlags, in order: name, and what brings it, a flag of another
    array or of the request itself (``requests``)."""
    all_arrays: bool
    """Whether all arrays may be present regardless of the flags."""
    colors: bool
    """Whether names may have colors."""
    needs: Mapping[int, int]
    """Fields of the server that require another one: its flag, and the other's."""


_ARRAYS: Final = {
    "server": ("requests", SERVER),
    "teams": ("requests", TEAMS),
    "players": ("requests", PLAYERS),
    "add_ons": ("requests", ADD_ONS),
}

V91: Final = OgpVersion(
    "0.91",
    Numbers91(),
    _SERVER_91,
    # 0.91 has only IPv4 addresses.
    (*_PLAYER, OgpField(bit(3, 0), "ipv4", IPV4)),
    _ARRAYS,
    all_arrays=False,
    colors=True,
    needs={},
)
V94: Final = OgpVersion(
    "0.94",
    Numbers94(),
    _SERVER_94,
    (*_PLAYER, OgpField(bit(3, 0), "address", ADDRESS)),
    {
        "server": _ARRAYS["server"],
        "mod": ("server", _MOD_94),
        "map": ("server", _MAP_94),
        **_ARRAYS,
    },
    all_arrays=True,
    colors=False,
    # The next map has the fields of the map, so it cannot be sent alone.
    needs={_NEXT_MAP_94: _MAP_94},
)
DIALECTS: Final = (V91, V94)
"""The order in which the versions are tried on a query."""
