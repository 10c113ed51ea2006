"""Opcode rows in SQLite, with their history: read, edited, imported and undone.

Each public edit is one transaction. History is written by triggers, so that edits made with other
tools are in it too. The tables may share their file with accounts and characters. What makes rows
one client's table belongs to `emu.opcodes.table`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from emu.errors import CommandError, StoreError
from emu.opcodes.changes import KEEP_ALL, Change, Key, Plan, key_of, plan_rows
from emu.opcodes.database import (
    COLUMNS,
    connect,
    migrate,
    read_rows,
    readable_errors,
    schema,
    steps,
    transaction,
)
from emu.opcodes.rows import OpcodeRow, VersionRange, row_problem
from emu.opcodes.shipped import shipped_rows
from emu.opcodes.table import OpcodeTables
from emu.opcodes.text import format_range, read_folder

BATCH = 1000
"""Rows written between two reports of progress."""

OWN_ROWS = "none"
"""What stands for the fingerprint of shipped rows in a database that was made without them."""

Progress = Callable[[int, int], None]
"""Called with (rows written, rows to write)."""

_ROW = ", ".join(COLUMNS)


class HistoryEntry(NamedTuple):
    """One row of the history; `old` and `new` as in `Change`. `at` is UTC."""

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


class OpcodeStore:
    """The opcode tables of one database file.

    The file must exist; `ensure` makes it. Missing tables are made and filled from the text that
    ships with the program; `look` opens a file without touching it. `who` is written into the
    history. To be used by one thread. Raises `StoreError`.
    """

    def __init__(self, path: Path, *, who: str = "emu", fill: bool = True) -> None:
        self._open(path, who)
        try:
            self._bring_up_to_date(shipped_rows() if fill else ())
        except BaseException:
            self._connection.close()
            raise

    def _open(self, path: Path, who: str) -> None:
        self.path = path
        self.who = who
        self._connection = connect(path)

    @classmethod
    def look(cls, path: Path) -> OpcodeStore:
        """Open a database to read it: nothing is made, filled or brought up to date.

        Raises `StoreError` when it has no opcode tables.
        """
        store = cls.__new__(cls)
        store._open(path, "nobody")  # noqa: SLF001  # the other half of the constructor
        with readable_errors(path):
            present = schema(store._connection)  # noqa: SLF001
        if not present:
            store.close()
            raise StoreError(f"{path}: has no opcode tables; `emu opcodes import` makes them")
        return store

    @classmethod
    def ensure(cls, path: Path, *, who: str = "emu") -> OpcodeStore:
        """Open a database, making the file when there is none."""
        connect(path, create=True).close()
        return cls(path, who=who)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    # -- reading --------------------------------------------------------------------------------

    def tables(self) -> OpcodeTables:
        """Return a snapshot of all tables."""
        return OpcodeTables(self.rows())

    def rows(self, version_range: VersionRange | None = None) -> list[OpcodeRow]:
        """Return all rows, or those of exactly one range, in the order of range and number."""
        with readable_errors(self.path):
            return read_rows(self._connection, version_range)

    def history(
        self, *, limit: int = 50, name: str | None = None, change: int | None = None
    ) -> list[HistoryEntry]:
        """Return the newest entries, the newest first, of one name or change when given."""
        with readable_errors(self.path):
            found = self._connection.execute(
                "SELECT id, change, at, who, action, undoes, first_version, last_version, name,"
                " old_opcode, old_source, old_note, new_opcode, new_source, new_note"
                " FROM opcode_history WHERE (:name IS NULL OR name = :name)"
                " AND (:change IS NULL OR change = :change) ORDER BY id DESC LIMIT :limit",
                {"name": name, "change": change, "limit": limit},
            ).fetchall()
        return [_entry(row) for row in found]

    # -- editing --------------------------------------------------------------------------------

    def set(
        self,
        version_range: VersionRange,
        name: str,
        opcode: int,
        *,
        source: str | None = None,
        note: str | None = None,
        action: str = "set",
    ) -> Plan:
        """Give a name its number in exactly one range; the plan says what was changed.

        Source and note are kept when they are not given and the number stays. Raises
        `CommandError` when the row is not valid.
        """
        row = OpcodeRow(*version_range, name, opcode, source, note)
        problem = row_problem(row)
        if problem:
            raise CommandError(problem)
        return self.put([("", row)], action=action, source="operator")

    def unset(self, version_range: VersionRange, name: str, *, action: str = "unset") -> Plan:
        """Remove a name from exactly one range. Raises `CommandError` when it is not there."""
        with transaction(self._connection, self.path):
            old = self._existing().get((*version_range, name))
            if old is None:
                raise CommandError(f"there is no row {name} in the range {version_range}")
            plan = Plan([Change(old, None)])
            self._write(plan.changes, action)
        return plan

    def put(
        self,
        rows: Iterable[tuple[str, OpcodeRow]],
        *,
        action: str,
        source: str = "",
        keep: str = KEEP_ALL,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Plan:
        """Write rows, each with its place in a file, as `plan_rows` says, in one transaction.

        With `dry_run` nothing is written. Whatever reading the rows raises leaves the database as
        it was.
        """
        given = list(rows)
        with transaction(self._connection, self.path):
            plan = plan_rows(self._existing(), given, source=source, keep=keep)
            if not dry_run:
                self._write(plan.changes, action, progress=progress)
        return plan

    def undo(self, change: int | None = None) -> list[HistoryEntry]:
        """Take back one change, by default the newest that is not yet undone.

        Returns the entries that were taken back. Raises `CommandError` when there is none, or when
        a later change touched the same rows.
        """
        with transaction(self._connection, self.path):
            number = self._newest_change() if change is None else change
            entries = self.history(limit=-1, change=number)
            if not entries:
                raise CommandError(f"there is no change {number} in the history")
            existing = self._existing()
            back = []
            for entry in entries:
                row = entry.row
                present = existing.get(key_of(row))
                if present != entry.new:
                    raise CommandError(
                        f"change {number} cannot be undone: {row.name} of {row.range} was changed"
                        " again later; undo that first"
                    )
                back.append(Change(entry.new, entry.old))
            self._write(back, "undo", undoes=number)
        return entries

    # -- inside ---------------------------------------------------------------------------------

    def _existing(self) -> dict[Key, OpcodeRow]:
        return {key_of(row): row for row in self.rows()}

    def _newest_change(self) -> int:
        """Return the newest change whose effect stands; an undo makes another void."""
        found = self._connection.execute(
            "SELECT change, action, max(undoes) FROM opcode_history GROUP BY change, action"
            " ORDER BY change DESC"
        )
        void: set[int] = set()
        for change, action, undoes in found:
            if change in void:
                continue
            if action == "undo":
                void.add(undoes)
            elif action != "shipped":
                return int(change)
        raise CommandError("there is nothing to undo")

    def _write(
        self,
        changes: Sequence[Change],
        action: str,
        *,
        undoes: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Carry out changes under one number of the history; the caller holds the transaction."""
        if not changes:
            return
        run = self._connection.execute
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        (last,) = run("SELECT coalesce(max(change), 0) FROM opcode_history").fetchone()
        run(
            "UPDATE opcode_change SET change = ?, at = ?, who = ?, action = ?, undoes = ?",
            (last + 1, now, self.who, action, undoes),
        )
        for start in range(0, len(changes), BATCH):
            batch = changes[start : start + BATCH]
            self._connection.executemany(
                "DELETE FROM opcodes WHERE first_version = ? AND last_version = ? AND name = ?",
                [key_of(change.row) for change in batch if change.new is None],
            )
            self._connection.executemany(
                f"INSERT INTO opcodes ({_ROW}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
                " ON CONFLICT (first_version, last_version, name) DO UPDATE SET"
                " opcode = excluded.opcode, source = excluded.source, note = excluded.note",
                [change.new for change in batch if change.new is not None],
            )
            if progress is not None:
                progress(start + len(batch), len(changes))
        run(
            "UPDATE opcode_change SET change = NULL, at = NULL, who = NULL, action = NULL,"
            " undoes = NULL"
        )

    def _bring_up_to_date(self, shipped: Sequence[OpcodeRow]) -> None:
        """Make missing tables; put in what the program ships, or what a newer one ships."""
        digest = _digest(shipped)
        with readable_errors(self.path):
            if schema(self._connection) == len(steps()) and self._meta("shipped") in (
                digest,
                OWN_ROWS,
            ):
                return
        with transaction(self._connection, self.path):
            fresh = schema(self._connection) == 0
            migrate(self._connection, self.path)
            before = self._meta("shipped")
            if before in (digest, OWN_ROWS):
                return
            if not shipped:
                self._set_meta("shipped", OWN_ROWS)
                return
            if fresh or before is None:
                existing = self._existing()
                changes = [Change(None, row) for row in shipped if key_of(row) not in existing]
            else:
                changes = self._newer(shipped)
            self._write(changes, "shipped")
            self._set_meta("shipped", digest)

    def _newer(self, shipped: Sequence[OpcodeRow]) -> list[Change]:
        """Return what a newer program's tables change; rows an operator ever touched stay."""
        mine = {
            (first, last, name)
            for first, last, name in self._connection.execute(
                "SELECT DISTINCT first_version, last_version, name FROM opcode_history"
                " WHERE action <> 'shipped'"
            )
        }
        existing = self._existing()
        new = {key_of(row): row for row in shipped}
        changes = [
            Change(existing.get(key), row)
            for key, row in new.items()
            if key not in mine and existing.get(key) != row
        ]
        changes += [
            Change(row, None) for key, row in existing.items() if key not in mine | new.keys()
        ]
        return changes

    def _meta(self, key: str) -> str | None:
        row = self._connection.execute(
            "SELECT value FROM opcode_meta WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else str(row[0])

    def _set_meta(self, key: str, value: str) -> None:
        self._connection.execute("REPLACE INTO opcode_meta VALUES (?, ?)", (key, value))


def compile_text(folder: Path, path: Path) -> int:
    """Compile the text of a folder into a new database; return the number of rows.

    Raises `FileFormatError` for the text, and `StoreError` when the file exists.
    """
    rows = read_folder(folder)
    if path.exists():
        raise StoreError(f"{path}: exists already; remove it first")
    connect(path, create=True).close()
    with OpcodeStore(path, fill=False) as store:
        store.put((("", row) for row in rows), action="shipped")
    return len(rows)


def _digest(rows: Iterable[OpcodeRow]) -> str:
    """Return a fingerprint of rows that does not hang on their order."""
    ordered = sorted(rows, key=lambda row: (row.first, row.last, row.opcode, row.name))
    text = "".join(f"{row.first}-{row.last}\n{format_range([row])}" for row in ordered)
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(row: Sequence[Any]) -> HistoryEntry:
    key = row[6:9]
    old = None if row[9] is None else OpcodeRow(*key, *row[9:12])
    new = None if row[12] is None else OpcodeRow(*key, *row[12:15])
    number, change, at, who, action, undoes = row[:6]
    return HistoryEntry(number, change, at, who, action, undoes, old, new)
