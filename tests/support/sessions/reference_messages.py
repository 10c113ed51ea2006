"""Login messages as bytes, written from docs/protocol/login.md alone (no struct catalog, no opcode
table).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from tests.support.sessions.reference_wire import need

ACCOUNT = "tester"
"""The account name inside the recorded login replies below (docs/protocol/login.md#accepted)."""

_REPLY_284 = "000000000000000000000000000000000000000000000001ff7cffffff000000ffff0000"
_REPLY_1096 = (
    "00000000000000000000000000000000010000000000000100ff7cffffff0000ffff00000000ff0000ff0000"
    "00000000ffffffffffff1f00feffff0706007465737465720600746573746572"
)
_REPLY_1188 = (
    "00000000000000000000000000000000010000000000000100ff7cffffff0000ffff0000ee0000000000ff00"
    "00ff000000000000ffffffffffff1f00feffff07060074657374657206007465737465720000"
)
_REPLY_57080 = _REPLY_1188 + "00" * 25
_REPLY_60100 = (
    "000000000000000000000000000000000100000000000001ff7c000000000000ffff0000ee000000ff000000"
    "00ff000000000000ffffffffffff1f00feffff0706007465737465720600746573746572"
    "0000000000000000000000000000000000"
)
_REPLY_63181 = (
    "00000000000000000000000000000000010000000000000100ff7cffffff00000000000000000000ffff0000"
    "ee000000ff00000000ff000000000000ffffffffffff1f00feffff0706007465737465720600746573746572"
    "00000000000000000000000000"
)


def login_reply(version: int) -> bytes:
    """Return the accepted reply of account `ACCOUNT` (docs/protocol/login.md#accepted)."""
    if version < 843:
        return bytes.fromhex(_REPLY_284)
    if version < 1096:
        whole = bytes.fromhex(_REPLY_1096)
        return whole[:28] + whole[32:44]
    if 1142 <= version < 1188:
        return bytes.fromhex(_REPLY_1188)[:-2]
    steps = ((1142, _REPLY_1096), (57080, _REPLY_1188), (60100, _REPLY_57080),
             (63181, _REPLY_60100))  # fmt: skip
    return bytes.fromhex(next((text for end, text in steps if version < end), _REPLY_63181))


def flags_reply(version: int) -> bytes:
    """Return the second login reply: code 10, account id 0."""
    first = bytearray(login_reply(version))
    first[0] = 10
    first[16:20] = bytes(4)
    return bytes(first)


def denial(code: int) -> bytes:
    """Return the 34 bytes of a refusal (docs/protocol/login.md#denial)."""
    return struct.pack("<BHBiiii4xiIH", code, 0, 0, -1, -1, 0, 0, 0, 0, 0)


def str16(text: str) -> bytes:
    """Return a string with its 16-bit length."""
    return struct.pack("<H", len(text)) + text.encode("latin-1")


def world_list(version: int, worlds: list[tuple[int, str]]) -> bytes:
    """Return a world list with all worlds up and 3 players in each.

    Source: docs/protocol/login.md#world-list.
    """
    out = struct.pack("<B", len(worlds))
    for place, (world_id, name) in enumerate(worlds, 1):
        out += struct.pack("<I", world_id) + str16(name) + str16(name)
        out += struct.pack("<BBBBHBB", 1, 0, 0, place if version < 1212 else 0, 3, 0, 1)
        out += (b"\0" if version < 562 else b"\0\0") + struct.pack("<I", 0xFFFFFFFF)
    return out if version < 562 else out + b"\0"


@dataclass
class ReferenceCharacter:
    """A character of the reference server."""

    char_id: int
    world_id: int
    name: str
    level: int = 1
    race: int = 9
    class_: int = 25


def _filler(length: int) -> bytes:
    return bytes((index * 73 + 41) & 0xFF for index in range(length))


def character_entry(version: int, character: ReferenceCharacter) -> bytes:
    """Return one entry of the character list; appearance is a pattern.

    Source: docs/protocol/characters.md#entry.
    """
    ids = struct.pack("<II", character.char_id, character.world_id) + str16(character.name)
    who = struct.pack("<BBB", character.race, character.class_, 1)
    where = struct.pack("<I", character.level) + str16("antonica")
    times = struct.pack("<6I", 0, 0, 1_150_000_000, 1_150_000_999, 57, 56)
    texts = str16(" ") + str16("Antonica")
    if version < 562:
        return ids + who + where + times + texts + bytes(4) + b"\x0b" + _filler(336)
    new = struct.pack("<I", 5 if version < 887 else 6)
    out = new + ids + b"\0" + who + where + times + texts + bytes(4) + str16("World")
    out += struct.pack("<IBBI", 77, 0, 1, 0)
    if version < 887:
        return out + b"\x0f" + _filler(300)
    return out + struct.pack("<BI", 0, 0) + b"\x0f" + _filler(367)


def character_list(
    version: int, characters: list[ReferenceCharacter], account_id: int = 77
) -> bytes:
    """Return the whole list with the account info behind it (docs/protocol/characters.md#list)."""
    out = struct.pack("<B", len(characters))
    for character in characters:
        out += character_entry(version, character)
    out += struct.pack("<IiHIB", account_id, -1, 0, 7, 0)
    if version > 561:
        out += struct.pack("<iiiiBB", -1, -1, -1, 0, 2, 0)
    return out


def create_reply(version: int, code: int, name: str, account_id: int = 77) -> bytes:
    """Return the answer to a create request (docs/protocol/characters.md#create-reply)."""
    out = struct.pack("<I", account_id)
    if version >= 1189:
        out += b"\xff\xff\xff\xff" if code == 1 else bytes(4)
    return out + struct.pack("<B", code) + str16(name if code == 1 else "")


def delete_reply(code: int, character: ReferenceCharacter, *, short: bool) -> bytes:
    """Return the answer to a delete request; `short` is the 2006 client's own form."""
    ids = struct.pack("<BII", code, character.world_id, character.char_id)
    if short:
        return ids + str16(character.name)
    return ids + struct.pack("<I", 77) + str16(character.name) + struct.pack("<I", 10)


def play_reply(version: int, code: int, address: str, port: int, key: int) -> bytes:
    """Return the answer to a play request (docs/protocol/characters.md#play-reply)."""
    pad = 0 if version < 1096 else 2 if version < 60085 else 6
    out = struct.pack("<B", code) + bytes(pad)
    out += struct.pack("<B", len(address)) + address.encode("latin-1")
    return out + struct.pack("<HII", port, 77, key)


@dataclass
class CreateRequest:
    """What the reference server reads of a create request."""

    world_id: int
    name: str
    race: int
    gender: int
    deity: int
    class_: int
    texts: list[str] = field(default_factory=list)
    """race_file, hair_file and so on, in order."""


_OLD = (60 + 26, 24, 24, 24, 24 + 96 + 8)
"""Bytes behind each file name of 546 and 561: race, hair, face, chest, legs.

Source: docs/protocol/characters.md#create.
"""


def _create_gaps(version: int) -> tuple[int, tuple[int, ...], int]:
    """Return (bytes between name and race_file, bytes behind each file name, bytes at the end)."""
    if version < 562:
        return (8 if version == 546 else 7), _OLD, 0
    highlight = 0 if version < 869 else 12
    main = (60 + highlight + 26, 24, 24, 24, 24, 24 + 12 + 84 + 8 + 1)
    other = (60 + highlight + 26, 24, 24, 24, 24, 24 + 12 + 84 + 8)
    if version < 57080:
        return 7, main + other, 0
    if version < 64659:
        return 9, main + other, 0
    main = (60 + 38, 24, 24, 24, 24, 24 + 12 + 84 + 8 + 1)
    other = (60 + 38, 24, 24, 24, 24, 24 + 12 + 84 + 8)
    return 10, main + other, 2


def read_create_request(version: int, body: bytes) -> CreateRequest:
    """Walk a create request over its whole length; raise `ClientFault` when it does not fit."""
    at = 9 if version < 562 else 10
    (world_id,) = struct.unpack_from("<I", body, at)
    name, at = _pull_str16(body, at + 4)
    before, gaps, after = _create_gaps(version)
    race, gender, deity, class_ = struct.unpack_from("<BBBB", body, at)
    at += before
    request = CreateRequest(world_id, name, race, gender, deity, class_)
    for gap in gaps:
        text, at = _pull_str16(body, at)
        request.texts.append(text)
        at += gap
    need(at + after == len(body), f"create request of {len(body)} bytes, should be {at + after}")
    return request


def _pull_str16(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<H", data, at)
    need(at + 2 + length <= len(data), "string runs past the end")
    return data[at + 2 : at + 2 + length].decode("latin-1"), at + 2 + length


def read_strings(data: bytes, at: int, count: int) -> tuple[list[str], int]:
    """Read `count` strings with 16-bit lengths; return them and where they end."""
    texts = []
    for _ in range(count):
        text, at = _pull_str16(data, at)
        texts.append(text)
    return texts, at
