"""Changes of opcode rows: comparing tables, deriving a table from another, planning an edit.

A new client build usually inserts a few messages, and every number behind them moves up. Nothing
here writes; `emu.opcodes.store` applies a `Plan`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from emu.errors import CommandError
from emu.opcodes.table import (
    CUT_LENGTH,
    MAX_NUMBER,
    RENAMED,
    OpcodeRow,
    OpcodeTable,
    VersionRange,
    dead_numbers,
    is_absent,
    name_problem,
    row_problem,
)


class OpcodeDifference(NamedTuple):
    """A name with different numbers; None if one side does not have it.

    `range` is the compared version range, "" if two single versions were compared.
    """

    range: str
    name: str
    first: int | None
    second: int | None


def compare_tables(first: OpcodeTable, second: OpcodeTable) -> list[OpcodeDifference]:
    """Compare the tables of two client versions; return the differences ordered by number."""
    return _compare("", _messages(first), _messages(second))


def _messages(table: OpcodeTable) -> dict[str, int]:
    """Return a table's names without cut and former names of messages that have a better one."""
    # A cut or former name would appear as a difference although the message is the same.
    numbers = table.numbers
    cut = {name[:CUT_LENGTH] for name in numbers if len(name) > CUT_LENGTH}
    return {
        name: number
        for name, number in numbers.items()
        if name not in cut and RENAMED.get(name) not in numbers
    }


def compare_rows(
    first: Iterable[OpcodeRow], second: Iterable[OpcodeRow]
) -> tuple[list[OpcodeDifference], list[VersionRange], list[VersionRange]]:
    """Compare the ranges that both sets of rows have.

    Return the differences, the ranges only in the first set, and those only in the second.
    """
    left, right = _by_range(first), _by_range(second)
    found: list[OpcodeDifference] = []
    for version_range in sorted(left.keys() & right.keys()):
        found += _compare(str(version_range), left[version_range], right[version_range])
    return found, sorted(left.keys() - right.keys()), sorted(right.keys() - left.keys())


def _by_range(rows: Iterable[OpcodeRow]) -> dict[VersionRange, dict[str, int]]:
    grouped: dict[VersionRange, list[OpcodeRow]] = {}
    for row in rows:
        grouped.setdefault(row.range, []).append(row)
    # Placeholders are left out: two tables without a message agree, whatever number stands for
    # it.
    numbers = {}
    for version_range, group in grouped.items():
        dead = dead_numbers(group)
        numbers[version_range] = {
            row.name: row.opcode
            for row in group
            if not is_absent(row.opcode) and row.opcode not in dead
        }
    return numbers


def _compare(
    where: str, first: Mapping[str, int], second: Mapping[str, int]
) -> list[OpcodeDifference]:
    found = [
        OpcodeDifference(where, name, first.get(name), second.get(name))
        for name in first.keys() | second.keys()
        if first.get(name) != second.get(name)
    ]
    found.sort(
        key=lambda one: (
            one.first if one.first is not None else one.second if one.second is not None else 0,
            one.name,
        )
    )
    return found


_STEP = re.compile(r"(OP_[A-Za-z0-9_]+)@([0-9]{1,5})(?:\.\.([0-9]{1,5}))?")


class Insertion(NamedTuple):
    """A message inserted at `number`; the numbers from there to `last` move up by one."""

    name: str
    number: int
    last: int = MAX_NUMBER


def parse_insertion(text: str) -> Insertion:
    """Parse ``NAME@N`` or ``NAME@N..LAST``. Raises `CommandError`."""
    match = _STEP.fullmatch(text)
    if match is None:
        raise CommandError(
            f"{text!r} is not an insertion; write OP_NameMsg@123, or OP_NameMsg@123..410 if"
            " numbers above 410 stay"
        )
    # The pattern allows numbers up to 99999, which exceed the largest opcode.
    number, last = int(match[2]), int(match[3] or MAX_NUMBER)
    if number > MAX_NUMBER or not number <= last <= MAX_NUMBER:
        raise CommandError(f"{text}: numbers go from 0 to {MAX_NUMBER}, and LAST is not below N")
    return Insertion(match[1], number, last)


def derive(
    rows: Sequence[OpcodeRow],
    new: VersionRange,
    *,
    insertions: Iterable[Insertion] = (),
    removals: Iterable[str] = (),
    source: str,
) -> list[OpcodeRow]:
    """Return the rows of the range `new`: a copy of rows with messages removed and inserted.

    Removals come first; the numbers behind a removed message move down by one. The insertions
    follow in their order. Placeholders are copied unchanged. Raises `CommandError` for a name that
    cannot be removed or inserted, and for a number beyond the limit.
    """
    dead = dead_numbers(rows)
    live = {row.name: row.opcode for row in rows if not _held(row.opcode, dead)}
    for name in removals:
        if name not in live:
            raise CommandError(f"{name} is not in the table to derive from")
        gone = live.pop(name)
        # If another name has the same number, the message still exists and no number moves.
        if gone not in live.values():
            live = {other: n - (n > gone) for other, n in live.items()}
    for insertion in insertions:
        problem = name_problem(insertion.name)
        if problem or insertion.name in live:
            raise CommandError(problem or f"{insertion.name} is in the table already")
        live = {name: n + (insertion.number <= n <= insertion.last) for name, n in live.items()}
        live[insertion.name] = insertion.number
    if any(n > MAX_NUMBER or is_absent(n) for n in live.values()):
        raise CommandError(
            "an insertion would move a number into the range of placeholders; end it with ..LAST"
        )
    notes = {row.name: row.note for row in rows}
    made = [OpcodeRow(*new, name, n, source, notes.get(name)) for name, n in live.items()]
    made += [
        row._replace(first=new.first, last=new.last)
        for row in rows
        if _held(row.opcode, dead) and row.name not in live
    ]
    return made


def _held(number: int, dead: frozenset[int]) -> bool:
    return is_absent(number) or number in dead


Key = tuple[int, int, str]
"""The unique key of a row: first version, last version, name."""


class Keep(StrEnum):
    """Which existing rows an import keeps, of those that it does not contain."""

    ALL = "all"
    OTHER_RANGES = "other-ranges"
    """Those of ranges that the import does not mention."""
    NOTHING = "nothing"


def key_of(row: OpcodeRow) -> Key:
    """Return the unique key of a row."""
    return row.first, row.last, row.name


class OpcodeRowChange(NamedTuple):
    """One row before and after; `old` is None for a new row, `new` is None for a removed row."""

    old: OpcodeRow | None
    new: OpcodeRow | None

    @property
    def row(self) -> OpcodeRow:
        """The new row; for a removal the old one."""
        row = self.new if self.new is not None else self.old
        assert row is not None  # noqa: S101  # a change has at least one side
        return row


class Rejected(NamedTuple):
    """A row of a file that cannot be used: its place in the file, and the problem."""

    place: str
    problem: str


@dataclass(slots=True)
class Plan:
    """The changes of an import or another edit."""

    changes: list[OpcodeRowChange] = field(default_factory=list)
    unchanged: int = 0
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def added(self) -> int:
        """The number of new rows."""
        return sum(change.old is None for change in self.changes)

    @property
    def removed(self) -> int:
        """The number of removed rows."""
        return sum(change.new is None for change in self.changes)

    @property
    def altered(self) -> int:
        """The number of rows with another number, source or note."""
        return len(self.changes) - self.added - self.removed


def plan_rows(
    existing: Mapping[Key, OpcodeRow],
    rows: Iterable[tuple[str, OpcodeRow]],
    *,
    source: str = "",
    keep: Keep = Keep.ALL,
) -> Plan:
    """Return the changes that put rows, each with its place in a file, over the existing ones.

    An invalid row is rejected with its place, and so is a second row of one range and name with
    another number. If the file's format has no source and note (None), existing ones stay while the
    number stays; a new number gets `source` and an empty note.
    """
    plan = Plan()
    new: dict[Key, OpcodeRow] = {}
    for place, row in rows:
        problem = row_problem(row)
        key = key_of(row)
        if problem is None and key in new:
            # A dump may contain a row twice. The same number twice is harmless, another number is
            # a fault.
            if new[key].opcode == row.opcode:
                continue
            problem = (
                f"{row.name} has a second number {row.opcode} for {row.range}, the first is"
                f" {new[key].opcode}"
            )
        if problem is not None:
            plan.rejected.append(Rejected(place, problem))
            continue
        new[key] = row
        old = existing.get(key)
        completed = _completed(row, old, source)
        if completed == old:
            plan.unchanged += 1
        else:
            plan.changes.append(OpcodeRowChange(old, completed))
    if keep is not Keep.ALL:
        ranges: set[VersionRange] = {row.range for row in new.values()}
        plan.changes += [
            OpcodeRowChange(old, None)
            for key, old in existing.items()
            if key not in new and (keep is Keep.NOTHING or old.range in ranges)
        ]
    return plan


def plan_reset(
    existing: Iterable[OpcodeRow],
    shipped: Iterable[OpcodeRow],
    version_range: VersionRange | None = None,
    name: str | None = None,
) -> Plan:
    """Return the changes that restore the shipped rows: all, or those of a range, a name, or both.

    Raises `CommandError` if neither side has such rows.
    """

    def chosen(rows: Iterable[OpcodeRow]) -> dict[Key, OpcodeRow]:
        return {
            key_of(row): row
            for row in rows
            if version_range in (None, row.range) and name in (None, row.name)
        }

    old, new = chosen(existing), chosen(shipped)
    if not old and not new:
        raise CommandError("neither the database nor the shipped tables have such rows")
    # Sorted, so that two runs print and write the changes in the same order.
    differing = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    changes = [OpcodeRowChange(old.get(key), new.get(key)) for key in differing]
    return Plan(changes, unchanged=len(old.keys() | new.keys()) - len(changes))


def plan_newer(
    existing: Iterable[OpcodeRow], shipped: Iterable[OpcodeRow], mine: AbstractSet[Key]
) -> list[OpcodeRowChange]:
    """Return the changes to the rows of a newer program, without the rows that an operator set."""
    old, new = ({key_of(row): row for row in rows} for rows in (existing, shipped))
    # Rows that are no longer shipped go too, unless an operator has set them.
    put = [OpcodeRowChange(old.get(key), row) for key, row in new.items() if old.get(key) != row]
    gone = [OpcodeRowChange(row, None) for key, row in old.items() if key not in new]
    return [change for change in (*put, *gone) if key_of(change.row) not in mine]


def amended(
    old: OpcodeRow | None, new: OpcodeRow | None, present: OpcodeRow | None
) -> list[OpcodeRowChange]:
    """Return the changes that apply an edit from `old` to `new` to the `present` row.

    None means that there is no row. Only the fields that the edit changed are set, so concurrent
    edits of other fields stay. Raises `CommandError` if the new row is invalid, or a concurrent
    edit changed the same field.
    """
    row = OpcodeRowChange(old, new).row
    where = f"{row.name} of {row.range}"
    if old is None and present is not None:
        raise CommandError(f"{where} exists already with the number {present.opcode}; edit it")
    if old is not None and present is None:
        raise CommandError(f"{where} was removed by another user meanwhile; add it again")
    if new is None:
        # A removal has no fields to merge: the row must be exactly the one that the editor
        # showed.
        if present != old:
            raise CommandError(f"{where} was changed by another user meanwhile; read it again")
        return [OpcodeRowChange(present, None)]
    if old is not None and present is not None:
        new = _merged(old, new, present, where)
    problem = row_problem(new)
    if problem is not None:
        raise CommandError(problem)
    return [] if new == present else [OpcodeRowChange(present, new)]


def _merged(old: OpcodeRow, new: OpcodeRow, present: OpcodeRow, where: str) -> OpcodeRow:
    """Return the present row with the fields in which `new` differs from `old`."""
    mine = {
        name: getattr(new, name)
        for name in ("opcode", "source", "note")
        if getattr(new, name) != getattr(old, name)
    }
    for name, value in mine.items():
        # Both users may have set the same value; only different values are a conflict.
        theirs = getattr(present, name)
        if theirs not in (getattr(old, name), value):
            raise CommandError(
                f"{where}: another user changed the {name} to {theirs!r} meanwhile; close this and"
                " edit the row again"
            )
    return present._replace(**mine)


def _completed(row: OpcodeRow, old: OpcodeRow | None, source: str) -> OpcodeRow:
    """Return a row with a source and a note, where its file has none."""
    # A source describes how a number is known, so it belongs only to the number that it came
    # with.
    same = old is not None and old.opcode == row.opcode
    if row.source is None:
        row = row._replace(source=old.source if same and old else source)
    if row.note is None:
        row = row._replace(note=old.note if same and old else "")
    return row
