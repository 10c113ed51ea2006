"""The history of opcode rows: its entries, and which change an undo or a redo is about. Pure.

An undo is a change like any other, which makes void what it took back; a redo is the undo of an
undo. So what stands can be told from the changes alone, the newest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from emu.errors import CommandError
from emu.opcodes.rows import OpcodeRow, VersionRange
from emu.opcodes.stored.changes import Change

SHIPPED, RESET, UNDO, REDO = "shipped", "reset", "undo", "redo"
"""Actions with a meaning of their own: a program's own tables, the way back to them, and so on."""

ENTRY = (
    "id, change, at, who, action, undoes, first_version, last_version, name,"
    " old_opcode, old_source, old_note, new_opcode, new_source, new_note"
)
"""What `entry_of` reads, in this order."""


class HistoryEntry(NamedTuple):
    """One row of the history; `old` and `new` as in `Change`. `at` is UTC, as ISO 8601."""

    id: int
    change: int
    at: str
    who: str
    action: str
    undoes: int | None
    old: OpcodeRow | None
    new: OpcodeRow | None

    @property
    def row(self) -> OpcodeRow:
        """The row that the entry is about."""
        return Change(self.old, self.new).row


class HistoryStep(NamedTuple):
    """One change as a whole; `undoes` is the change that it took back."""

    change: int
    action: str
    undoes: int | None


def entry_of(row: Sequence[Any]) -> HistoryEntry:
    """Make an entry of the values of `ENTRY`."""
    key = row[6:9]
    old = None if row[9] is None else OpcodeRow(*key, *row[9:12])
    new = None if row[12] is None else OpcodeRow(*key, *row[12:15])
    number, change, at, who, action, undoes = row[:6]
    at = f"{at.replace(' ', 'T')}Z"  # SQLite's own form, which its triggers write, tells no zone
    return HistoryEntry(number, change, at, who, action, undoes, old, new)


def newest_to_undo(steps: Iterable[HistoryStep]) -> int:
    """Return the newest change whose effect stands; `steps` come the newest first.

    What the program ships is nobody's change. Raises `CommandError` when there is none.
    """
    for step in _standing(steps):
        if step.action not in (UNDO, SHIPPED):
            return step.change
    raise CommandError("there is nothing to undo")


def newest_to_redo(steps: Iterable[HistoryStep]) -> int:
    """Return the newest undo that stands and after which nothing else was changed.

    Raises `CommandError` when there is none.
    """
    for step in _standing(steps):
        if step.action == UNDO:
            return step.change
        if step.action != REDO:
            break
    raise CommandError("there is nothing to redo: no undo is newer than the last change")


def check_takes_back(
    number: int,
    entries: Sequence[HistoryEntry],
    action: str,
    version_range: VersionRange | None,
) -> None:
    """Raise `CommandError` when the change with these entries is not one to undo or to redo."""
    if not entries:
        raise CommandError(f"there is no change {number} in the history")
    if entries[0].action == SHIPPED:
        raise CommandError(
            f"change {number} put in the tables that come with the program and stays; `emu opcodes"
            " reset` makes rows what they were then"
        )
    if action == REDO and entries[0].action != UNDO:
        raise CommandError(
            f"change {number} is no undo, but {entries[0].action}; there is nothing to redo"
        )
    if version_range is not None and any(one.row.range != version_range for one in entries):
        raise CommandError(
            f"change {number} ({entries[0].action} by {entries[0].who}) touched other ranges, too;"
            f" `emu opcodes {action} {number}` takes all of it back"
        )


def _standing(steps: Iterable[HistoryStep]) -> Iterator[HistoryStep]:
    """Yield the changes that no standing later one took back."""
    void: set[int] = set()
    for step in steps:
        if step.change in void:
            continue
        if step.undoes is not None:
            void.add(step.undoes)
        yield step
