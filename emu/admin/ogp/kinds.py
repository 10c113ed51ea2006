"""How a field's value is written and read: the types that the tables of `fields` name.

Values are plain: int, str, `Name`, or a mapping of names to values where one flag stands for
several. Source: docs/protocol/administration/ogp.md#fields. Raises `MalformedMessage`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Final, NamedTuple

from emu.admin.ogp.colors import pull_name, push_name
from emu.admin.ogp.elements import Numbers, bit, pull_bits, push_bits
from emu.admin.reader import Reader, clamped, text_bytes
from emu.errors import MalformedMessage

Row = Mapping[str, Any]
"""Values by the names of their fields."""


@dataclass(slots=True)
class Style:
    """What holds for a whole body: how it writes numbers, and what its maps and names carry."""

    numbers: Numbers
    colored: bool = False
    """Whether colors stand behind names."""
    map_fields: int = 0
    """Which fields maps have (0.94)."""
    mod_fields: int = 0
    """Which fields a mod has (0.94)."""


class Kind(NamedTuple):
    """A type of value."""

    push: Callable[[Any, Style], bytes]
    pull: Callable[[Reader, Style], Any]


class Field(NamedTuple):
    """One field of a table; `flag` says that it is there."""

    flag: int
    name: str
    kind: Kind


def push_row(row: Row, table: Sequence[Field], flags: int, style: Style) -> bytes:
    """Return the fields of a row that `flags` say."""
    return b"".join(
        field.kind.push(row[field.name], style) for field in table if flags & field.flag
    )


def pull_row(reader: Reader, table: Sequence[Field], flags: int, style: Style) -> dict[str, Any]:
    """Read the fields that `flags` say; nobody knows how long an unknown one would be."""
    if flags & ~all_flags(table):
        raise MalformedMessage("unknown fields")
    return {field.name: field.kind.pull(reader, style) for field in table if flags & field.flag}


def all_flags(table: Sequence[Field]) -> int:
    """Return the flags of all fields of a table."""
    return sum(field.flag for field in table)


def flags_of(row: Row, table: Sequence[Field]) -> int:
    """Return the flags of the fields that a row has."""
    return sum(field.flag for field in table if field.name in row)


def _unsigned(size: int) -> Kind:
    """Make the type of numbers that have always `size` bytes; what is too large is the largest."""
    return Kind(
        lambda value, _style: clamped(value, size), lambda reader, _style: reader.unsigned(size)
    )


def _bytes(size: int) -> Kind:
    """Make the type of `size` bytes that mean nothing here, in hexadecimal digits."""
    return Kind(
        lambda value, _style: bytes.fromhex(value), lambda reader, _style: reader.take(size).hex()
    )


U16: Final = _unsigned(2)
U32: Final = _unsigned(4)
MD5: Final = _bytes(16)
TEXT: Final = Kind(lambda value, _style: text_bytes(value), lambda reader, _style: reader.text())
NAME: Final = Kind(
    lambda value, style: push_name(value, style.numbers, colored=style.colored),
    lambda reader, style: pull_name(reader, style.numbers, colored=style.colored),
)
UINT: Final = Kind(
    lambda value, style: style.numbers.push_uint(value),
    lambda reader, style: style.numbers.pull_uint(reader),
)
SINT: Final = Kind(
    lambda value, style: style.numbers.push_sint(value),
    lambda reader, style: style.numbers.pull_sint(reader),
)


class PlayerFlag(IntFlag):
    """What is said of a player."""

    ALIVE = bit(0, 0)
    DEAD = bit(0, 1)
    BOT = bit(0, 2)
    BOMB = bit(1, 0)
    VIP = bit(1, 1)


class AddOnFlag(IntFlag):
    """What is said of an add-on."""

    ACTIVE = bit(0, 0)
    ANTI_CHEAT = bit(0, 1)
    MUTATOR = bit(0, 2)
    ADMIN_TOOL = bit(0, 3)


PLAYER_FLAGS: Final = Kind(
    lambda value, _style: push_bits(value), lambda reader, _style: PlayerFlag(pull_bits(reader))
)
ADD_ON_FLAGS: Final = Kind(
    lambda value, _style: push_bits(value), lambda reader, _style: AddOnFlag(pull_bits(reader))
)


class ServerFlags(NamedTuple):
    """What kind of server it is."""

    dedicated: bool = True
    proxy: bool = False
    system: int = 0
    """0 unknown, 1 Windows, 2 Linux, 3 Mac."""
    password: bool = False
    """Whether one is needed to play; 0.91 does not say."""


def _push_server_91(value: ServerFlags, _style: Style) -> bytes:
    return push_bits(value.dedicated | value.proxy << 1 | (value.system & 0xF) << 2)


def _pull_server_91(reader: Reader, _style: Style) -> ServerFlags:
    bits = pull_bits(reader)
    return ServerFlags(bool(bits & 1), bool(bits & 2), bits >> 2 & 0xF)


def _push_server_94(value: ServerFlags, _style: Style) -> bytes:
    kind = 2 if value.dedicated else 1
    return push_bits(kind | value.password << 2 | value.proxy << 3 | (value.system & 7) << 4)


def _pull_server_94(reader: Reader, _style: Style) -> ServerFlags:
    bits = pull_bits(reader)
    return ServerFlags(bits & 3 == 2, bool(bits & 8), bits >> 4 & 7, bool(bits & 4))


SERVER_FLAGS_91: Final = Kind(_push_server_91, _pull_server_91)
SERVER_FLAGS_94: Final = Kind(_push_server_94, _pull_server_94)


def pair(first: str, second: str) -> Kind:
    """Make the type of two texts that one flag stands for."""
    return Kind(
        lambda value, _style: text_bytes(value[first]) + text_bytes(value[second]),
        lambda reader, _style: {first: reader.text(), second: reader.text()},
    )


MOD_FIELDS: Final = (
    Field(bit(0, 0), "identifier", TEXT),
    Field(bit(0, 1), "size", U32),
    Field(bit(0, 2), "version", TEXT),
    Field(bit(0, 3), "url", TEXT),
    Field(bit(0, 4), "author", TEXT),
)
"""Of a mod, in 0.94."""


def _push_mod(value: Row, style: Style) -> bytes:
    """Write a mod's name, and its fields when there is one."""
    name = text_bytes(value["name"])
    if not value["name"]:
        return name
    there = style.mod_fields & flags_of(value, MOD_FIELDS)
    return name + push_bits(there) + push_row(value, MOD_FIELDS, there, style)


def _pull_mod(reader: Reader, style: Style) -> Row:
    name = reader.text()
    if not name:
        return {"name": name}
    return {"name": name, **pull_row(reader, MOD_FIELDS, pull_bits(reader), style)}


MAP_FIELDS: Final = (
    Field(bit(0, 0), "file", TEXT),
    Field(bit(0, 1), "size", U32),
    Field(bit(0, 2), "md5", MD5),
    Field(bit(0, 3), "version", TEXT),
    Field(bit(0, 4), "url", TEXT),
    Field(bit(0, 5), "author", TEXT),
)
"""Of a map, in 0.94."""
_UNKNOWN_MAP: Final[Row] = {
    "file": "", "size": 0, "md5": bytes(16).hex(), "version": "", "url": "", "author": "",
}  # fmt: skip
"""What is told of the next map where only the map itself is known as well."""


def _push_map(value: Row, style: Style) -> bytes:
    style.map_fields &= flags_of(value, MAP_FIELDS)
    return push_bits(style.map_fields) + _push_next_map(value, style)


def _pull_map(reader: Reader, style: Style) -> Row:
    style.map_fields = pull_bits(reader)
    return _pull_next_map(reader, style)


def _push_next_map(value: Row, style: Style) -> bytes:
    row = {**_UNKNOWN_MAP, **value}
    return text_bytes(value["name"]) + push_row(row, MAP_FIELDS, style.map_fields, style)


def _pull_next_map(reader: Reader, style: Style) -> Row:
    return {"name": reader.text(), **pull_row(reader, MAP_FIELDS, style.map_fields, style)}


MOD_94: Final = Kind(_push_mod, _pull_mod)
MAP_94: Final = Kind(_push_map, _pull_map)
NEXT_MAP_94: Final = Kind(_push_next_map, _pull_next_map)
"""The next map has the fields of the map, which therefore stands in front of it."""

IPV4: Final = Kind(
    lambda value, _style: int(ipaddress.IPv4Address(value)).to_bytes(4, "little"),
    lambda reader, _style: str(ipaddress.IPv4Address(reader.unsigned(4))),
)


def _pull_address(reader: Reader, style: Style) -> str:
    packed = reader.take(style.numbers.pull_uint(reader))
    try:
        return str(ipaddress.ip_address(packed)) if packed else ""
    except ValueError:
        raise MalformedMessage("wrong address") from None


def _push_address(value: str, style: Style) -> bytes:
    packed = ipaddress.ip_address(value).packed if value else b""
    return style.numbers.push_uint(len(packed)) + packed


ADDRESS: Final = Kind(_push_address, _pull_address)
"""An IP address of either kind (0.94); empty for none."""
