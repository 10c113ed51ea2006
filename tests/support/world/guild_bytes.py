"""Reads the messages of the guild window, from docs/protocol/world/guilds.md alone.

It shares no table and no line with the server's encoder.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass


class Bytes:
    """A message that is read byte by byte."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self, letter: str) -> int:
        (value,) = struct.unpack_from(f"<{letter}", self.data, self.at)
        self.at += struct.calcsize(f"<{letter}")
        return int(value)

    def numbers(self, letters: str) -> list[int]:
        return [self.number(letter) for letter in letters]

    def text(self) -> str:
        length = self.number("H")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def skip(self, count: int) -> None:
        assert self.data[self.at : self.at + count] == bytes(count), "unknown bytes are zero"
        self.at += count

    def end(self) -> None:
        assert self.at == len(self.data), "bytes are left over"


@dataclass
class GuildWindow:
    name: str
    motd: str
    guild_id: int
    formed: int
    accounts: int
    members: int
    ranks: list[tuple[str, int]]


@dataclass
class MemberRow:
    char_id: int
    name: str
    klass: int
    level: int
    rank: int
    flags: int
    last_login: int
    zone: str
    note: str
    officer_note: str


def guild_update(data: bytes, version: int) -> GuildWindow:
    """Read OP_GuildUpdateMsg."""
    read = Bytes(data)
    name, motd, guild_id = read.text(), read.text(), read.number("I")
    if version <= 561:
        read.skip(2)
        level, formed, accounts, _, _ = read.numbers("IIIQQ")
        read.skip(5 * 4)
        members = 0
    else:
        level, one, formed, accounts, members, _, _, _ = read.numbers("BBIHHQQQ")
        assert one == (guild_id > 0)
        if version < 1008:
            read.skip(3 * 4 + 2)
        else:
            read.skip(8)
            assert (read.text(), read.text()) == ("", "")
            read.skip(4)
        read.skip(8 * 4 + 1 + (7 if version < 60085 else 23) + 6)
    assert level == (guild_id > 0)
    assert (read.text(), read.text()) == ("", "")
    if version >= 1008:
        read.skip(4)
        assert read.text() == ""
        read.skip(3 if version >= 1204 else 2)
    ranks = []
    for _ in range(8):
        rank, low, high = read.text(), *read.numbers("II")
        read.skip(48)
        ranks.append((rank, low | high << 32))
    if version <= 561:
        # The 2006 client reads a u64, a u32 and a count of rows (its study, message 110).
        assert [*read.numbers("QII")] == [0, 0, 0]
    else:
        assert [read.text() for _ in range(4)] == [""] * 4
        read.skip(11 if version < 1008 else 12 if version < 1144 else 13)
        read.skip(4 if version >= 1204 else 0)
    read.end()
    return GuildWindow(name, motd, guild_id, formed, accounts, members, ranks)


def _member(read: Bytes, version: int) -> MemberRow:
    char_id = read.number("I")
    if version <= 561:
        name = read.text()
        klass, level, _, _, rank, _, last, flags = read.numbers("I" * 8)
        assert read.numbers("BB") == [1, 0]
        zone = read.text()
        read.skip(10)
        note, officer_note = read.text(), read.text()
        read.skip(4)
    else:
        read.number("I")
        name = read.text()
        assert read.numbers("BB") == [0, 1]
        klass, level, _, _, rank, flags = read.numbers("B" * 6)
        _, _, last, _ = read.numbers("IIII")
        read.skip(4 if version < 910 else 8)
        zone, note, officer_note = read.text(), read.text(), read.text()
    return MemberRow(char_id, name, klass, level, rank, flags, last, zone, note, officer_note)


def guild_members(data: bytes, version: int) -> tuple[int, int, list[MemberRow]]:
    """Read OP_GuildMembershipResponseMsg: the guild, the recipient, and the members."""
    read = Bytes(data)
    guild_id, recipient, count = read.numbers("III")
    rows = []
    for _ in range(count):
        rows.append(_member(read, version))
        read.skip(8 if version >= 1204 else 0)
    read.skip(0 if version >= 1204 else 2)
    read.end()
    return guild_id, recipient, rows


def guild_member(data: bytes, version: int) -> tuple[int, MemberRow]:
    """Read OP_JoinGuildNotifyMsg: the guild and one member."""
    read = Bytes(data)
    guild_id, row = read.number("I"), _member(read, version)
    # The 2006 client reads a u16 at the end (its study, message 291).
    read.skip(8 if version >= 1204 else 2 if version <= 561 else 0)
    read.end()
    return guild_id, row
