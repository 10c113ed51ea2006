"""Opcode tables: rows, names, the immutable table of each client version, shipped tables.

Owns the rules for place-holders, for names cut by an old column width, for renamed messages, and
for which of two names of one number is shown. Facts: docs/protocol/opcodes.md#data-sets.

Owns the value types that text, dumps, store and tables share. Must not know where rows come from.

Owns the rules by which rows of ranges become one table:

* The narrowest range that covers a version wins; of two equally narrow ones the later.
* A range with fewer than `WHOLE_TABLE` rows is taken as an addition to the wider range around it:
  names it does not speak of come from there, unless their number is taken. A range with more rows
  is a whole build's table, and nothing is added to it. (EQ2Emulator layers its ranges in the same
  way but without that end, and so gives client 546 names that it does not have.)
* Place-holders mean "not there" and also hide what a wider range says.
* Of several names of one number `names.preference` picks the one that is shown; all are found.

Must not know where rows come from.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from emu.errors import UnknownOpcode, UnknownVersion

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


SENTINELS = frozenset({999, 9999, 10000, 65535})
"""Numbers that people write for "this client does not have the message"."""
FIRST_PLACEHOLDER = 9999
"""From here up no number was ever seen on the wire; the largest real ones stay below 900."""
FIRST_DEAD_NUMBER = 1000
"""A number from here up that several names share is a place-holder of a group of dead names."""
DEAD_GROUP = 3
"""So many names under one such number make a dead group."""
CUT_LENGTH = 33
"""Characters of the old name column; longer names were cut to it."""

RENAMED: Mapping[str, str] = {"OP_SysClient": "OP_SignalMsg"}
"""Old or younger name of a message: the name this program uses. Both mean the same message."""


def names_of_message(name: str) -> tuple[str, ...]:
    """Return every name of the message that has this one, the given name first."""
    others = (*RENAMED.items(), *((present, former) for former, present in RENAMED.items()))
    return (name, *(other for known, other in others if known == name))


def is_absent(number: int) -> bool:
    """Say whether a number alone means "not there"."""
    return number in SENTINELS or number >= FIRST_PLACEHOLDER


def dead_numbers(rows: Iterable[OpcodeRow]) -> frozenset[int]:
    """Return the numbers that groups of dead names share in the rows of one range."""
    names: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        if row.opcode >= FIRST_DEAD_NUMBER and not is_absent(row.opcode):
            names[row.opcode].add(row.name)
    return frozenset(number for number, group in names.items() if len(group) >= DEAD_GROUP)


def full_names(names: Collection[str]) -> dict[str, str]:
    """Return cut name: full name, for the names of 33 characters that one longer name continues.

    A cut name that several longer ones continue is left out: nobody knows which was meant.
    """
    cut: dict[str, str | None] = {}
    for name in names:
        if len(name) > CUT_LENGTH:
            short = name[:CUT_LENGTH]
            cut[short] = None if short in cut else name
    return {short: full for short, full in cut.items() if full is not None and short in names}


def preference(name: str, full: Mapping[str, str]) -> tuple[bool, bool, bool, str]:
    """Return a sort key: of several names of one number the one with the lowest key is shown.

    Full names go before cut ones, present names before former ones, names that end in Msg or Cmd
    before others, and then the alphabet decides.
    """
    return (name in full, name in RENAMED, not name.endswith(("Msg", "Cmd")), name)


WHOLE_TABLE = 300
"""A range with so many rows is a whole build's table; the smallest real one has 341."""


class OpcodeTable:
    """The opcodes of one client version; never changes.

    `version` is the client data version, `range` the narrowest version range that covers it.
    """

    __slots__ = ("_names", "_numbers", "range", "version")

    def __init__(
        self,
        version: int,
        version_range: VersionRange,
        numbers: Mapping[str, int],
        names: Mapping[int, str],
    ) -> None:
        self.version = version
        self.range = version_range
        self._numbers = numbers
        self._names = names

    def number(self, name: str) -> int:
        """Return the number of a message; raises `UnknownOpcode` when the client has none."""
        found = self._numbers.get(name)
        if found is None:
            found = self.get(name)  # which knows cut forms as well
        if found is None:
            raise UnknownOpcode(
                f"client version {self.version} (range {self.range}) has no opcode {name}"
            )
        return found

    def get(self, name: str) -> int | None:
        """Return the number of a message, or None when the client has none.

        A name longer than 33 characters is found under its cut form as well.
        """
        found = self._numbers.get(name)
        if found is None and len(name) > CUT_LENGTH:
            return self._numbers.get(name[:CUT_LENGTH])
        return found

    def name(self, number: int) -> str | None:
        """Return the name of a number, or None; of several names always the same one."""
        return self._names.get(number)

    @property
    def numbers(self) -> Mapping[str, int]:
        """Every name that is found, other names of one message included, with its number."""
        return MappingProxyType(dict(self._numbers))

    @property
    def names(self) -> Mapping[int, str]:
        """Every number with the name that is shown for it."""
        return MappingProxyType(dict(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<OpcodeTable {self.version} of {self.range}: {len(self)} opcodes>"


class OpcodeTables:
    """The opcodes of all client versions as they were at one moment; never changes."""

    __slots__ = ("_by_range", "_full", "_made", "ranges")

    def __init__(self, rows: Iterable[OpcodeRow]) -> None:
        by_range: defaultdict[VersionRange, list[OpcodeRow]] = defaultdict(list)
        for row in rows:
            by_range[VersionRange(row.first, row.last)].append(row)
        self.ranges: tuple[VersionRange, ...] = tuple(sorted(by_range))
        self._by_range = dict(by_range)
        self._full = full_names({row.name for group in by_range.values() for row in group})
        self._made: dict[tuple[VersionRange, ...], tuple[dict[str, int], dict[int, str]]] = {}

    def for_version(self, version: int) -> OpcodeTable:
        """Return one client version's table.

        Raises `UnknownVersion`, which names the ranges on either side, when no range covers it.
        """
        around = self.covering(version)
        if not around:
            raise UnknownVersion(version, self._nearest(version))
        made = self._made.get(around)
        if made is None:
            made = self._made[around] = _combine(
                [self._by_range[one] for one in around], self._full
            )
        return OpcodeTable(version, around[0], *made)

    def covers(self, version: int) -> bool:
        """Say whether some range covers a version."""
        return any(one.covers(version) for one in self.ranges)

    def covering(self, version: int) -> tuple[VersionRange, ...]:
        """Return the ranges that cover a version, the one that wins first."""
        around = [one for one in self.ranges if one.covers(version)]
        around.sort(key=lambda one: (one.width, -one.first))
        return tuple(around)

    def rows(self, version_range: VersionRange) -> Sequence[OpcodeRow]:
        """Return the rows of exactly one range as they were given; none when there is no such."""
        return tuple(self._by_range.get(version_range, ()))

    def spans(self) -> Iterator[tuple[int, int, OpcodeTable]]:
        """Yield (first version, last version, table) without overlaps, in order.

        Every version of a span has the same table; neighbors may share a winning range when
        another range begins or ends between them.
        """
        edges = sorted({edge for one in self.ranges for edge in (one.first, one.last + 1)})
        for first, after in itertools.pairwise(edges):
            if self.covers(first):
                yield first, after - 1, self.for_version(first)

    def _nearest(self, version: int) -> list[VersionRange]:
        below = [one for one in self.ranges if one.last < version]
        above = [one for one in self.ranges if one.first > version]
        return [
            *sorted(below, key=lambda one: (one.last, one.first))[-1:],
            *sorted(above)[:1],
        ]


def _combine(
    groups: Sequence[Sequence[OpcodeRow]], full: Mapping[str, str]
) -> tuple[dict[str, int], dict[int, str]]:
    """Make name-to-number and number-to-name of ranges, the narrowest first."""
    numbers: dict[str, int] = {}
    names: dict[int, str] = {}
    spoken: set[str] = set()
    for rows in groups:
        dead = dead_numbers(rows)
        by_number: defaultdict[int, list[str]] = defaultdict(list)
        for row in rows:
            if row.name in spoken or is_absent(row.opcode) or row.opcode in dead:
                continue
            if row.opcode not in names:
                by_number[row.opcode].append(row.name)
        for number, group in by_number.items():
            names[number] = min(group, key=lambda name: preference(name, full))
            numbers.update(dict.fromkeys(group, number))
        spoken.update(row.name for row in rows)
        spoken.update(full[row.name] for row in rows if row.name in full)
        spoken.update(row.name[:CUT_LENGTH] for row in rows if len(row.name) > CUT_LENGTH)
        if len(rows) >= WHOLE_TABLE:
            break
    _add_other_names(numbers, names, full)
    return numbers, names


def _add_other_names(
    numbers: dict[str, int], names: dict[int, str], full: Mapping[str, str]
) -> None:
    """Let messages be found under full, cut and former names as well."""
    for number, name in names.items():
        whole = full.get(name)
        if whole is not None and numbers.setdefault(whole, number) == number:
            names[number] = whole
    for cut, whole in full.items():
        if whole in numbers:
            numbers.setdefault(cut, numbers[whole])
    for former, present in RENAMED.items():
        for known, other in ((former, present), (present, former)):
            if known in numbers:
                numbers.setdefault(other, numbers[known])
