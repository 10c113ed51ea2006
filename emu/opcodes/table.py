"""Opcode tables: rows, the rules for names and placeholders, and the table of each client version.

The rows of several ranges form one table by these rules:

* The narrowest range that covers a version wins; of two equally narrow ranges the later one.
* A range with fewer than `WHOLE_TABLE` rows is an addition to the wider range around it: other
  names come from there, unless their number is taken. A range with more rows is the table of a
  whole build, and nothing is added to it. (EQ2Emulator layers its ranges without that end, and so
  gives client 546 names that it does not have.)
* A placeholder means that a client does not have the message. It also hides a wider range's number.
* If a number has several names, `preference` selects the one that is shown. All names are found.

Source: docs/protocol/opcodes.md#data-sets.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from emu.errors import UnknownOpcode, UnknownVersion

MAX_VERSION = 0xFFFFFFFF
"""The largest client version; on the wire it is a u16 or u32."""
MAX_NUMBER = 0xFFFF
"""The largest opcode; on the wire it is one byte, or FF and a u16."""
MAX_NAME = 255
"""Characters of a name: the width of EQ2Emulator's column."""
MAX_TEXT = 1000
"""Characters of a source or a note."""

_NAME = re.compile(r"OP_[A-Za-z0-9_]+")


class VersionRange(NamedTuple):
    """The client versions `first` to `last`, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    @property
    def width(self) -> int:
        """The number of versions in the range."""
        return self.last - self.first + 1

    def covers(self, version: int) -> bool:
        """Return whether a version is in the range."""
        return self.first <= version <= self.last

    def overlaps(self, other: VersionRange) -> bool:
        """Return whether the two ranges have a version in common."""
        return self.first <= other.last and other.first <= self.last


class OpcodeRow(NamedTuple):
    """One row: in client versions `first` to `last` the message `name` has the number `opcode`.

    `source` states where the number is known from, `note` is a remark. None means that the format
    of a file has no such column; an import then leaves the existing text.
    """

    first: int
    last: int
    name: str
    opcode: int
    source: str | None = None
    note: str | None = None

    @property
    def range(self) -> VersionRange:
        """The client versions of the row."""
        return VersionRange(self.first, self.last)

    @property
    def cells(self) -> tuple[int, int, str, int, str, str]:
        """The row for files, with "" for a missing source or note."""
        return (*self[:4], self.source or "", self.note or "")


@lru_cache(maxsize=4096)
def name_problem(name: str) -> str | None:
    """Return the fault of an opcode name, None for a valid one."""
    if len(name) > MAX_NAME:
        return f"the name {name[:40]}... is longer than {MAX_NAME} characters"
    if not _NAME.fullmatch(name):
        return f"{name!r} is not an opcode name; use OP_ and letters, digits or _"
    return None


def number_problem(number: int) -> str | None:
    """Return the fault of an opcode number, None for a valid one."""
    if not 0 <= number <= MAX_NUMBER:
        return f"opcode {number} is not between 0 and {MAX_NUMBER}"
    return None


def range_problem(first: int, last: int) -> str | None:
    """Return the fault of a version range, None for a valid one."""
    if not (0 <= first <= MAX_VERSION and 0 <= last <= MAX_VERSION):
        return f"version range {first}-{last} goes beyond 0 to {MAX_VERSION}"
    if first > last:
        return f"inverted version range {first}-{last}"
    return None


def row_problem(row: OpcodeRow) -> str | None:
    """Return the first fault of a row, with the row's name, None for a valid one."""
    problem = (
        range_problem(row.first, row.last) or name_problem(row.name) or number_problem(row.opcode)
    )
    if problem is None:
        for text in (row.source, row.note):
            if text and not _is_line(text):
                problem = f"source and note are one line of at most {MAX_TEXT} characters"
    return f"{problem} (row {row.name[:40]} = {row.opcode})" if problem else None


# All rows together have a few hundred names and a few dozen sources.
@lru_cache(maxsize=1024)
def _is_line(text: str) -> bool:
    return len(text) <= MAX_TEXT and text.isprintable()


SENTINELS = frozenset({999, 9999, 10000, 65535})
"""Numbers that tables have for "this client does not have the message"."""
FIRST_PLACEHOLDER = 9999
"""All numbers from here up are placeholders; the largest real ones are below 900."""
FIRST_DEAD_NUMBER = 1000
"""A number from here up that at least `DEAD_GROUP` names share is a placeholder."""
DEAD_GROUP = 3
CUT_LENGTH = 33
"""The width of an old name column; longer names were cut to it."""

RENAMED: Mapping[str, str] = {"OP_SysClient": "OP_SignalMsg"}
"""Former or other names of messages, with the name that this program uses."""


def names_of_message(name: str) -> tuple[str, ...]:
    """Return all names of a message, the given name first."""
    others = (*RENAMED.items(), *((present, former) for former, present in RENAMED.items()))
    return (name, *(other for known, other in others if known == name))


def is_absent(number: int) -> bool:
    """Return whether a number by itself is a placeholder."""
    return number in SENTINELS or number >= FIRST_PLACEHOLDER


def dead_numbers(rows: Iterable[OpcodeRow]) -> frozenset[int]:
    """Return the numbers of one range that are placeholders: a group of names shares them."""
    names: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        if row.opcode >= FIRST_DEAD_NUMBER and not is_absent(row.opcode):
            names[row.opcode].add(row.name)
    return frozenset(number for number, group in names.items() if len(group) >= DEAD_GROUP)


def full_names(names: Collection[str]) -> dict[str, str]:
    """Return the full name of each cut name among `names`.

    A cut name has 33 characters and is the beginning of exactly one longer name. If several longer
    names begin so, the full name is unknown, and the cut name is left out.
    """
    cut: dict[str, str | None] = {}
    for name in names:
        if len(name) > CUT_LENGTH:
            short = name[:CUT_LENGTH]
            # Two longer names with the same beginning make the cut name ambiguous; None marks that.
            cut[short] = None if short in cut else name
    return {short: full for short, full in cut.items() if full is not None and short in names}


def preference(name: str, full: Mapping[str, str]) -> tuple[bool, bool, bool, str]:
    """Return a sort key for the names of one number; the name with the lowest key is shown.

    The order is: full before cut names, present before former names, names that end in Msg or Cmd
    before others, then alphabetical.
    """
    return (name in full, name in RENAMED, not name.endswith(("Msg", "Cmd")), name)


WHOLE_TABLE = 300
"""A range with at least this many rows is the table of a whole build; the smallest has 341."""


class OpcodeTable:
    """The opcodes of one client version; immutable.

    `version` is the client data version, `range` the narrowest version range that covers it.
    `numbers` has the number of every name, including all other names of a message. `names` has the
    shown name of every number.
    """

    __slots__ = ("names", "numbers", "range", "version")

    def __init__(
        self,
        version: int,
        version_range: VersionRange,
        numbers: dict[str, int],
        names: dict[int, str],
    ) -> None:
        self.version = version
        self.range = version_range
        # Read-only views, because one table is shared by all versions of a span.
        self.numbers: Mapping[str, int] = MappingProxyType(numbers)
        self.names: Mapping[int, str] = MappingProxyType(names)

    def number(self, name: str) -> int:
        """Return the number of a message. Raises `UnknownOpcode` if the client has none."""
        found = self.numbers.get(name)
        if found is None:
            found = self.get(name)  # finds cut names as well
        if found is None:
            raise UnknownOpcode(
                f"client version {self.version} (range {self.range}) has no opcode {name}"
            )
        return found

    def get(self, name: str) -> int | None:
        """Return the number of a message, None if the client has none.

        A name of more than 33 characters is also found by its cut form.
        """
        found = self.numbers.get(name)
        if found is None and len(name) > CUT_LENGTH:
            return self.numbers.get(name[:CUT_LENGTH])
        return found

    def name(self, number: int) -> str | None:
        """Return the shown name of a number, None for an unknown number."""
        return self.names.get(number)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<OpcodeTable {self.version} of {self.range}: {len(self)} opcodes>"


class OpcodeTables:
    """A snapshot of the opcodes of all client versions; immutable."""

    __slots__ = ("_by_range", "_full", "_made", "ranges")

    def __init__(self, rows: Iterable[OpcodeRow]) -> None:
        by_range: defaultdict[VersionRange, list[OpcodeRow]] = defaultdict(list)
        for row in rows:
            by_range[VersionRange(row.first, row.last)].append(row)
        self.ranges: tuple[VersionRange, ...] = tuple(sorted(by_range))
        self._by_range = dict(by_range)
        self._full = full_names({row.name for group in by_range.values() for row in group})
        # Keyed by the covering ranges and not by the version: clients choose their version
        # number.
        self._made: dict[tuple[VersionRange, ...], tuple[dict[str, int], dict[int, str]]] = {}

    def for_version(self, version: int) -> OpcodeTable:
        """Return the table of a client version.

        Raises `UnknownVersion`, with the nearest ranges, if no range covers it.
        """
        around = self.covering(version)
        if not around:
            raise UnknownVersion(version, self._nearest(version))
        # Versions with the same ranges have the same table; it is combined once for all of them.
        made = self._made.get(around)
        if made is None:
            made = self._made[around] = _combine(
                [self._by_range[one] for one in around], self._full
            )
        return OpcodeTable(version, around[0], *made)

    def covers(self, version: int) -> bool:
        """Return whether a range covers a version."""
        return any(one.covers(version) for one in self.ranges)

    def covering(self, version: int) -> tuple[VersionRange, ...]:
        """Return the ranges that cover a version, the winning one first."""
        around = [one for one in self.ranges if one.covers(version)]
        # Of equally narrow ranges the later one wins, hence the minus.
        around.sort(key=lambda one: (one.width, -one.first))
        return tuple(around)

    def rows(self, version_range: VersionRange) -> Sequence[OpcodeRow]:
        """Return the rows of exactly one range, none for an unknown range."""
        return tuple(self._by_range.get(version_range, ()))

    def spans(self) -> Iterator[tuple[int, int, OpcodeTable]]:
        """Yield first version, last version and table of each span, in order and without overlaps.

        All versions of a span have the same table. Two neighbors can have the same winning range if
        another range begins or ends between them.
        """
        # The table can change only where a range begins or behind its last version.
        edges = sorted({edge for one in self.ranges for edge in (one.first, one.last + 1)})
        for first, after in itertools.pairwise(edges):
            if self.covers(first):
                yield first, after - 1, self.for_version(first)

    def _nearest(self, version: int) -> list[VersionRange]:
        below = [one for one in self.ranges if one.last < version]
        above = [one for one in self.ranges if one.first > version]
        return [
            # The nearest range on each side helps an operator to see which build the client
            # belongs to.
            *sorted(below, key=lambda one: (one.last, one.first))[-1:],
            *sorted(above)[:1],
        ]


def _combine(
    groups: Sequence[Sequence[OpcodeRow]], full: Mapping[str, str]
) -> tuple[dict[str, int], dict[int, str]]:
    """Return the numbers by name and the names by number of ranges, the narrowest range first."""
    # `spoken` has every name that a narrower range mentions, in full and cut form. A wider range
    # must not give such a name a number, even if the narrower range has only a placeholder for it.
    numbers: dict[str, int] = {}
    names: dict[int, str] = {}
    spoken: set[str] = set()
    for rows, is_last in _until_whole(groups):
        dead = dead_numbers(rows)
        by_number: defaultdict[int, list[str]] = defaultdict(list)
        for row in rows:
            if row.name in spoken or is_absent(row.opcode) or row.opcode in dead:
                continue
            # A number that a narrower range has already given to a name stays with that name.
            if row.opcode not in names:
                by_number[row.opcode].append(row.name)
        for number, group in by_number.items():
            # The lowest sort key is the shown name; all names of the number are found.
            names[number] = (
                min(group, key=lambda name: preference(name, full)) if len(group) > 1 else group[0]
            )
            numbers.update(dict.fromkeys(group, number))
        if is_last:
            break
        spoken.update(row.name for row in rows)
        spoken.update(full[row.name] for row in rows if row.name in full)
        spoken.update(row.name[:CUT_LENGTH] for row in rows if len(row.name) > CUT_LENGTH)
    _add_other_names(numbers, names, full)
    return numbers, names


def _until_whole(
    groups: Sequence[Sequence[OpcodeRow]],
) -> Iterator[tuple[Sequence[OpcodeRow], bool]]:
    """Yield the groups that count, each with whether it is the last one.

    A whole build's table is complete: a name that it lacks means "no such message".
    """
    for number, rows in enumerate(groups, 1):
        is_last = number == len(groups) or len(rows) >= WHOLE_TABLE
        yield rows, is_last
        if is_last:
            return


def _add_other_names(
    numbers: dict[str, int], names: dict[int, str], full: Mapping[str, str]
) -> None:
    """Add the full, cut and former names of messages."""
    for number, name in names.items():
        whole = full.get(name)
        # `setdefault` keeps a number that the full name has of its own; then the two names
        # differ.
        if whole is not None and numbers.setdefault(whole, number) == number:
            names[number] = whole
    for cut, whole in full.items():
        if whole in numbers:
            numbers.setdefault(cut, numbers[whole])
    for former, present in RENAMED.items():
        for known, other in ((former, present), (present, former)):
            if known in numbers:
                numbers.setdefault(other, numbers[known])
