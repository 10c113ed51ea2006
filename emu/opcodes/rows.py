"""One row of an opcode table, and what makes a row unusable.

Owns the value types that text, dumps, store and tables share. Must not know where rows come from.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_VERSION = 0xFFFFFFFF
"""Client versions go over the wire as u16 or u32."""
MAX_NUMBER = 0xFFFF
"""Opcodes go over the wire as one byte, or as FF and a u16."""
MAX_NAME = 255
"""Characters in a name; the width of EQ2Emulator's column."""
MAX_TEXT = 1000
"""Characters in a source or a note."""

_NAME = re.compile(r"OP_[A-Za-z0-9_]+")


class VersionRange(NamedTuple):
    """The client versions `first` to `last`, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    @property
    def width(self) -> int:
        """How many versions the range covers."""
        return self.last - self.first + 1

    def covers(self, version: int) -> bool:
        """Say whether a version lies in the range."""
        return self.first <= version <= self.last

    def overlaps(self, other: VersionRange) -> bool:
        """Say whether the two ranges have a version in common."""
        return self.first <= other.last and other.first <= self.last


class OpcodeRow(NamedTuple):
    """In client versions `first` to `last` the message `name` has the number `opcode`.

    `source` is where the number is known from and `note` a remark; None means "not told", so that
    an import from a format without these columns leaves what is there.
    """

    first: int
    last: int
    name: str
    opcode: int
    source: str | None = None
    note: str | None = None

    @property
    def range(self) -> VersionRange:
        """The client versions the row is for."""
        return VersionRange(self.first, self.last)

    @property
    def cells(self) -> tuple[int, int, str, int, str, str]:
        """The row as files have it: what is not told is empty."""
        return (*self[:4], self.source or "", self.note or "")


def name_problem(name: str) -> str | None:
    """Return what is wrong with an opcode name, or None."""
    if len(name) > MAX_NAME:
        return f"the name {name[:40]}... is longer than {MAX_NAME} characters"
    if not _NAME.fullmatch(name):
        return f"{name!r} is not an opcode name; one is OP_ and then letters, digits or _"
    return None


def number_problem(number: int) -> str | None:
    """Return what is wrong with an opcode number, or None."""
    if not 0 <= number <= MAX_NUMBER:
        return f"opcode {number} is not between 0 and {MAX_NUMBER}"
    return None


def range_problem(first: int, last: int) -> str | None:
    """Return what is wrong with a version range, or None."""
    if not (0 <= first <= MAX_VERSION and 0 <= last <= MAX_VERSION):
        return f"version range {first}-{last} goes beyond 0 to {MAX_VERSION}"
    if first > last:
        return f"inverted version range {first}-{last}"
    return None


def row_problem(row: OpcodeRow) -> str | None:
    """Return the first thing wrong with a row, naming the row, or None."""
    problem = (
        range_problem(row.first, row.last) or name_problem(row.name) or number_problem(row.opcode)
    )
    if problem is None:
        for text in (row.source, row.note):
            if text is not None and (len(text) > MAX_TEXT or not text.isprintable()):
                problem = f"source and note are one line of at most {MAX_TEXT} characters"
    return f"{problem} (row {row.name[:40]} = {row.opcode})" if problem else None
