"""What an edit or an import would change, worked out before anything is written.

Owns the comparison of new rows with those that are there. Pure; the store carries plans out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from emu.errors import CommandError
from emu.opcodes.rows import OpcodeRow, VersionRange, row_problem

Key = tuple[int, int, str]
"""First version, last version, name: what is unique in a database."""

KEEP_NOTHING, KEEP_OTHER_RANGES, KEEP_ALL = "nothing", "other-ranges", "all"
"""What an import leaves of rows that it does not hold."""


def key_of(row: OpcodeRow) -> Key:
    """Return what a row is found by."""
    return row.first, row.last, row.name


class Change(NamedTuple):
    """One row before and after; `old` is None for a new row and `new` for a removed one."""

    old: OpcodeRow | None
    new: OpcodeRow | None

    @property
    def row(self) -> OpcodeRow:
        """The row that is there in the end, or was before it went."""
        row = self.new if self.new is not None else self.old
        assert row is not None  # noqa: S101  # a change has at least one side
        return row


class Rejected(NamedTuple):
    """A row of a file that cannot be used, and why; `place` says where in the file it is."""

    place: str
    problem: str


@dataclass(slots=True)
class Plan:
    """What an import or another edit changes."""

    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    rejected: list[Rejected] = field(default_factory=list)

    @property
    def added(self) -> int:
        """How many rows are new."""
        return sum(change.old is None for change in self.changes)

    @property
    def removed(self) -> int:
        """How many rows go."""
        return sum(change.new is None for change in self.changes)

    @property
    def altered(self) -> int:
        """How many rows stay with another number, source or note."""
        return len(self.changes) - self.added - self.removed


def plan_rows(
    existing: Mapping[Key, OpcodeRow],
    rows: Iterable[tuple[str, OpcodeRow]],
    *,
    source: str = "",
    keep: str = KEEP_ALL,
) -> Plan:
    """Compare rows, each with its place in a file, with those that are there.

    A row that cannot be used is rejected with its place, and so is a second row of one range and
    name with another number. A row whose format tells no source and note (None) leaves them as they
    are, but gets `source` and no note when its number is new. `keep` says which rows that the file
    does not hold stay.
    """
    plan = Plan()
    new: dict[Key, OpcodeRow] = {}
    for place, row in rows:
        problem = row_problem(row)
        key = key_of(row)
        if problem is None and key in new:
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
        told = _told(row, old, source)
        if told == old:
            plan.unchanged += 1
        else:
            plan.changes.append(Change(old, told))
    if keep != KEEP_ALL:
        ranges: set[VersionRange] = {row.range for row in new.values()}
        plan.changes += [
            Change(old, None)
            for key, old in existing.items()
            if key not in new and (keep == KEEP_NOTHING or old.range in ranges)
        ]
    return plan


def plan_reset(
    existing: Iterable[OpcodeRow],
    shipped: Iterable[OpcodeRow],
    version_range: VersionRange | None = None,
    name: str | None = None,
) -> Plan:
    """Return what makes rows those that are shipped: all, or those of a range, a name, or both.

    Raises `CommandError` when there are no such rows on either side.
    """

    def chosen(rows: Iterable[OpcodeRow]) -> dict[Key, OpcodeRow]:
        return {
            key_of(row): row
            for row in rows
            if version_range in (None, row.range) and name in (None, row.name)
        }

    old, new = chosen(existing), chosen(shipped)
    if not old and not new:
        raise CommandError("there are no such rows, neither here nor in what is shipped")
    differing = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    changes = [Change(old.get(key), new.get(key)) for key in differing]
    return Plan(changes, unchanged=len(old.keys() | new.keys()) - len(changes))


def plan_newer(
    existing: Iterable[OpcodeRow], shipped: Iterable[OpcodeRow], mine: AbstractSet[Key]
) -> list[Change]:
    """Return what makes rows those that a newer program ships, but for an operator's own."""
    old, new = ({key_of(row): row for row in rows} for rows in (existing, shipped))
    put = [Change(old.get(key), row) for key, row in new.items() if old.get(key) != row]
    gone = [Change(row, None) for key, row in old.items() if key not in new]
    return [change for change in (*put, *gone) if key_of(change.row) not in mine]


def amended(
    old: OpcodeRow | None, new: OpcodeRow | None, present: OpcodeRow | None
) -> list[Change]:
    """Return what turns `present` into what somebody made of `old`, field by field; None is no row.

    Raises `CommandError` when the new row is not valid, or somebody else changed the same.
    """
    row = Change(old, new).row
    where = f"{row.name} of {row.range}"
    if old is None and present is not None:
        raise CommandError(f"{where} is there already with the number {present.opcode}; edit it")
    if old is not None and present is None:
        raise CommandError(f"{where} was removed by somebody else meanwhile")
    if new is None:
        if present != old:
            raise CommandError(f"{where} was changed by somebody else meanwhile; look again")
        return [Change(present, None)]
    if old is not None and present is not None:
        new = _merged(old, new, present, where)
    problem = row_problem(new)
    if problem is not None:
        raise CommandError(problem)
    return [] if new == present else [Change(present, new)]


def _merged(old: OpcodeRow, new: OpcodeRow, present: OpcodeRow, where: str) -> OpcodeRow:
    """Return the present row with the fields that `new` has otherwise than `old`."""
    mine = {
        name: getattr(new, name)
        for name in ("opcode", "source", "note")
        if getattr(new, name) != getattr(old, name)
    }
    for name, value in mine.items():
        theirs = getattr(present, name)
        if theirs not in (getattr(old, name), value):
            raise CommandError(
                f"{where}: somebody else changed the {name} to {theirs!r} meanwhile; leave and look"
                " again"
            )
    return present._replace(**mine)


def _told(row: OpcodeRow, old: OpcodeRow | None, source: str) -> OpcodeRow:
    same = old is not None and old.opcode == row.opcode
    if row.source is None:
        row = row._replace(source=old.source if same and old else source)
    if row.note is None:
        row = row._replace(note=old.note if same and old else "")
    return row
