"""Opcode numbers of one client version, and of all: immutable, found by version range.

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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from emu.errors import UnknownOpcode, UnknownVersion
from emu.opcodes.names import (
    CUT_LENGTH,
    RENAMED,
    dead_numbers,
    full_names,
    is_absent,
    preference,
)
from emu.opcodes.rows import OpcodeRow, VersionRange

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
