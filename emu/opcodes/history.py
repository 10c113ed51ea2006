"""The history of opcode rows: its entries, and which change an undo or a redo reverts.

An undo is itself a change, and a redo is the undo of an undo. So the history alone, read from the
newest change on, shows which changes are in effect. `emu.opcodes.store` reads and writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from emu.errors import CommandError, StoreError
from emu.opcodes.changes import OpcodeRowChange
from emu.opcodes.table import OpcodeRow, VersionRange


class Action(StrEnum):
    """The actions of the history by which undo, redo and updates of shipped tables decide.

    The history has other actions as well, which are for people: set, import, edit.
    """

    SHIPPED = "shipped"
    """The program put in its own tables."""
    RESET = "reset"
    """An operator restored shipped rows, so that they follow newer programs again."""
    UNDO = "undo"
    REDO = "redo"


ENTRY = (
    "id, change, at, who, action, undoes, first_version, last_version, name,"
    " old_opcode, old_source, old_note, new_opcode, new_source, new_note"
)
"""The columns that `entry_of` reads, in this order."""


class HistoryEntry(NamedTuple):
    """One row of the history; `old` and `new` as in `OpcodeRowChange`, `at` in UTC as ISO 8601."""

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
        """The row that was changed."""
        return OpcodeRowChange(self.old, self.new).row


class HistoryStep(NamedTuple):
    """One whole change; `undoes` is the change that it undid, None for other changes."""

    change: int
    action: str
    undoes: int | None


def entry_of(row: Sequence[Any]) -> HistoryEntry:
    """Return an entry from the values of `ENTRY`. Raises `StoreError` for wrong types."""
    key = row[6:9]
    old = None if row[9] is None else OpcodeRow(*key, *row[9:12])
    new = None if row[12] is None else OpcodeRow(*key, *row[12:15])
    number, change, at, who, action, undoes = row[:6]
    texts = (at, who, action, row[8])
    numbers = (change, *row[6:8], *(one for one in (undoes, row[9], row[12]) if one is not None))
    if not all(isinstance(one, str) for one in texts) or not all(
        isinstance(one, int) for one in numbers
    ):
        raise StoreError(
            f"the table opcode_history has a value of a wrong type in row {number}; correct it with"
            " SQL, or restore a backup"
        )
    at = f"{at.replace(' ', 'T')}Z"  # SQLite's triggers write UTC without a time zone
    return HistoryEntry(number, change, at, who, action, undoes, old, new)


def newest_to_undo(steps: Iterable[HistoryStep]) -> int:
    """Return the newest change in effect; `steps` have the newest first.

    Updates of shipped tables do not count. Raises `CommandError` if there is no change to undo.
    """
    for step in _standing(steps):
        if step.action not in (Action.UNDO, Action.SHIPPED):
            return step.change
    raise CommandError("there is nothing to undo")


def newest_to_redo(steps: Iterable[HistoryStep]) -> int:
    """Return the newest undo in effect, if no other change followed it.

    Raises `CommandError` if there is none.
    """
    for step in _standing(steps):
        if step.action == Action.UNDO:
            return step.change
        # Any other change in between may depend on the undone rows, so a redo stops there.
        if step.action != Action.REDO:
            break
    raise CommandError("there is nothing to redo: no undo is newer than the last change")


def check_takes_back(
    number: int,
    entries: Sequence[HistoryEntry],
    action: str,
    version_range: VersionRange | None,
) -> None:
    """Raise `CommandError` if the change with these entries cannot be undone or redone."""
    if not entries:
        raise CommandError(f"the history has no change {number}; see `emu opcodes history`")
    if entries[0].action == Action.SHIPPED:
        raise CommandError(
            f"change {number} put in the shipped tables and cannot be undone; `emu opcodes reset`"
            " restores shipped rows"
        )
    # A redo is the undo of an undo, so it needs one.
    if action == Action.REDO and entries[0].action != Action.UNDO:
        raise CommandError(
            f"change {number} is no undo, but {entries[0].action}; only an undo can be redone"
        )
    if version_range is not None and any(one.row.range != version_range for one in entries):
        raise CommandError(
            f"change {number} ({entries[0].action} by {entries[0].who}) touched other ranges, too;"
            f" `emu opcodes {action} {number}` reverts it as a whole"
        )


def _standing(steps: Iterable[HistoryStep]) -> Iterator[HistoryStep]:
    """Yield the changes in effect, the newest first: those that no later one in effect undid."""
    # One pass is enough because a change can only undo an earlier one: when a step is reached, all
    # steps that could make it void have been seen.
    void: set[int] = set()
    for step in steps:
        if step.change in void:
            continue
        if step.undoes is not None:
            void.add(step.undoes)
        yield step
