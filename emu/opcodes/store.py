"""Opcode rows in SQLite: read, edited with their history, imported and undone.

They may share a file with the tables of `emu.store`, so the number of their schema stands in their
own `opcode_meta`. What the rows mean belongs to `emu.opcodes.store`.

An undo is a change like any other, which makes void what it took back; a redo is the undo of an
undo. So what stands can be told from the changes alone, the newest first.

Each public edit is one transaction. History is written by triggers, so that edits made with other
tools are in it too. The tables may share their file with accounts and characters. What makes rows
one client's table belongs to `emu.opcodes.table`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from emu.database import LOCK_WAIT, Database, Schema, read_steps, readable_errors
from emu.database.files import create_database
from emu.database.migrations import apply_missing
from emu.errors import CommandError, StoreError
from emu.files import data_file
from emu.model import Durability
from emu.opcodes.changes import (
    KEEP_ALL,
    Key,
    Plan,
    RowChange,
    amended,
    key_of,
    plan_newer,
    plan_reset,
    plan_rows,
)
from emu.opcodes.table import OpcodeRow, OpcodeTables, VersionRange, row_problem
from emu.opcodes.text import fingerprint, shipped_rows

COLUMNS: Mapping[str, type] = {
    "first_version": int, "last_version": int, "name": str, "opcode": int, "source": str,
    "note": str,
}  # fmt: skip
"""Columns of a row in the order of `OpcodeRow`, with the type of their values."""
KEY = ("first_version", "last_version", "name")
"""Columns that no two rows share."""

_KINDS: Mapping[type, str] = {
    bytes: "bytes", str: "text", int: "a whole number", float: "a fraction",
}  # fmt: skip


@cache
def schema() -> Schema:
    """Return the schema of the opcode tables."""
    return Schema(read_steps(data_file("sql", "opcodes")), _version, _set_version)


def _version(connection: sqlite3.Connection) -> int:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'opcode_meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM opcode_meta WHERE key = 'schema'").fetchone()
    try:
        return int(row[0]) if row else 0
    except (TypeError, ValueError):
        raise sqlite3.DatabaseError("the table opcode_meta holds no number of a schema") from None


def _set_version(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("REPLACE INTO opcode_meta VALUES ('schema', ?)", (number,))


def connect(path: Path, *, wait: float = LOCK_WAIT) -> Database:
    """Open an existing file; the tables may not be there yet. Raises `StoreError`."""
    database = Database.connect(path, wait=wait)
    database.connection.text_factory = _text_or_bytes
    return database


def read_stored_rows(
    connection: sqlite3.Connection, version_range: VersionRange | None = None
) -> list[OpcodeRow]:
    """Return all rows, or those of exactly one range, in the order of range and number.

    SQLite keeps any value in any column, so another tool may have left bytes or a word where text
    or a number belongs: a `StoreError` that names row and column and how to put it right.
    """
    where, values = "", ()
    if version_range is not None:
        where, values = " WHERE first_version = ? AND last_version = ?", version_range  # type: ignore[assignment]
    found = connection.execute(
        f"SELECT rowid, {', '.join(COLUMNS)} FROM opcodes{where}"  # noqa: S608  # no text from outside
        " ORDER BY first_version, last_version, opcode, name",
        values,
    )
    rows = []
    for number, *columns in found:
        for (name, kind), value in zip(COLUMNS.items(), columns, strict=True):
            if not isinstance(value, kind):
                raise StoreError(_wrong_type(number, columns, name, value))
        rows.append(OpcodeRow(*columns))
    return rows


def _wrong_type(number: int, columns: Sequence[Any], name: str, value: object) -> str:
    wanted = "text" if COLUMNS[name] is str else "a whole number"
    held = _KINDS.get(type(value), "nothing")
    first, last, message = columns[:3]
    return (
        f"the table opcodes has a value of a wrong type: row {number} ({message!s:.40} of"
        f" {first}-{last}), column {name} holds {held}, not {wanted}; set it with SQL where"
        f" id = {number}"
    )


def _text_or_bytes(raw: bytes) -> str | bytes:
    """Read a text; one that is not UTF-8 stays bytes, which `read_rows` refuses by its place."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


SHIPPED, RESET, UNDO, REDO = "shipped", "reset", "undo", "redo"
"""Actions with a meaning of their own: a program's own tables, the way back to them, and so on."""

ENTRY = (
    "id, change, at, who, action, undoes, first_version, last_version, name,"
    " old_opcode, old_source, old_note, new_opcode, new_source, new_note"
)
"""What `entry_of` reads, in this order."""


class HistoryEntry(NamedTuple):
    """One row of the history; `old` and `new` as in `RowChange`. `at` is UTC, as ISO 8601."""

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
        return RowChange(self.old, self.new).row


class HistoryStep(NamedTuple):
    """One change as a whole; `undoes` is the change that it took back."""

    change: int
    action: str
    undoes: int | None


def entry_of(row: Sequence[Any]) -> HistoryEntry:
    """Make an entry of the values of `ENTRY`. Raises `StoreError` for values of wrong types."""
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
            " SQL, or put a backup in its place"
        )
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


BATCH = 1000
"""Rows written between two reports of progress."""

OWN_ROWS = "none"
"""What stands for the fingerprint of shipped rows in a database that was made without them."""

Progress = Callable[[int, int], None]
"""Called with (rows written, rows to write)."""


class OpcodeStore:
    """The opcode tables of one database file.

    The file must exist; `ensure` makes it. Missing tables are made and filled from the text that
    ships with the program; `look` opens a file without touching it. `who` is written into the
    history. To be used by one thread. Raises `StoreError`.
    """

    def __init__(self, path: Path, *, who: str = "emu") -> None:
        self._open(path, who)
        self._database.set_durability(Durability.SAFE)  # it is an operator who changes them
        try:
            self._bring_up_to_date(shipped_rows())
        except BaseException:
            self._database.close()
            raise

    def _open(self, path: Path, who: str) -> None:
        self.path = path
        self.who = who
        self._database = connect(path)
        self._connection = self._database.connection

    @classmethod
    def look(cls, path: Path) -> OpcodeStore:
        """Open a database to read it: nothing is made, filled or brought up to date.

        Raises `StoreError` when it has no opcode tables.
        """
        store = cls.__new__(cls)
        store._open(path, "nobody")  # noqa: SLF001  # the other half of the constructor
        with readable_errors(path):
            present = schema().version(store._connection)  # noqa: SLF001
        if not present:
            store.close()
            raise StoreError(f"{path}: has no opcode tables; `emu opcodes import` makes them")
        return store

    @classmethod
    def ensure(cls, path: Path, *, who: str = "emu") -> OpcodeStore:
        """Open a database, making the file when there is none."""
        _make(path)
        return cls(path, who=who)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # -- reading --------------------------------------------------------------------------------

    def tables(self) -> OpcodeTables:
        """Return a snapshot of all tables."""
        return OpcodeTables(self.rows())

    def rows(self, version_range: VersionRange | None = None) -> list[OpcodeRow]:
        """Return all rows, or those of exactly one range, in the order of range and number."""
        with readable_errors(self.path):
            try:
                return read_stored_rows(self._connection, version_range)
            except StoreError as error:
                raise StoreError(f"{self.path}: {error}") from None

    def mark(self) -> int:
        """Return a number that grows with every change of the rows, whoever makes it."""
        with readable_errors(self.path):
            found = self._connection.execute("SELECT coalesce(max(id), 0) FROM opcode_history")
            return int(found.fetchone()[0])

    def history(
        self, *, limit: int = 50, name: str | None = None, change: int | None = None
    ) -> list[HistoryEntry]:
        """Return the newest entries, the newest first, of one name or change when given."""
        with readable_errors(self.path):
            found = self._connection.execute(
                f"SELECT {ENTRY}"  # noqa: S608  # no text from outside
                " FROM opcode_history WHERE (:name IS NULL OR name = :name)"
                " AND (:change IS NULL OR change = :change) ORDER BY id DESC LIMIT :limit",
                {"name": name, "change": change, "limit": limit},
            ).fetchall()
        try:
            return [entry_of(row) for row in found]
        except StoreError as error:
            raise StoreError(f"{self.path}: {error}") from None

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
        with self._database.transaction():
            old = self._existing().get((*version_range, name))
            if old is None:
                raise CommandError(f"there is no row {name} in the range {version_range}")
            plan = Plan([RowChange(old, None)])
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
        with self._database.transaction():
            plan = plan_rows(self._existing(), given, source=source, keep=keep)
            if not dry_run:
                self._write(plan.changes, action, progress=progress)
        return plan

    def amend(self, old: OpcodeRow | None, new: OpcodeRow | None, *, action: str = "edit") -> Plan:
        """Turn a row as it was shown into what somebody made of it; None is no row.

        Only what differs between the two is written: what others changed meanwhile stays. Raises
        `CommandError` when they changed the very same, or when the row is not valid.
        """
        with self._database.transaction():
            present = self._existing().get(key_of(RowChange(old, new).row))
            plan = Plan(amended(old, new, present))
            self._write(plan.changes, action)
        return plan

    def undo(
        self, change: int | None = None, *, version_range: VersionRange | None = None
    ) -> list[HistoryEntry]:
        """Take back one change, by default the newest that is not yet undone.

        With a range it is the newest that touched this range. Returns the entries that were taken
        back. Raises `CommandError` when there is none, when it put in what the program ships, when
        it touched other ranges than the given one, or when a later change touched the same rows.
        """
        with self._database.transaction():
            number = newest_to_undo(self._steps(version_range)) if change is None else change
            return self._take_back(number, UNDO, version_range)

    def redo(
        self, change: int | None = None, *, version_range: VersionRange | None = None
    ) -> list[HistoryEntry]:
        """Take back an undo, by default the newest, as long as nothing was changed after it.

        Range, result and errors are those of `undo`.
        """
        with self._database.transaction():
            number = newest_to_redo(self._steps(version_range)) if change is None else change
            return self._take_back(number, REDO, version_range)

    def reset(self, version_range: VersionRange | None = None, name: str | None = None) -> Plan:
        """Make rows what the program ships: all, or those of one range, one name, or both.

        Rows that it does not ship go. Raises `CommandError` when there are no such rows.
        """
        with self._database.transaction():
            plan = plan_reset(self.rows(), shipped_rows(), version_range, name)
            self._write(plan.changes, RESET)
        return plan

    # -- inside ---------------------------------------------------------------------------------

    def _existing(self) -> dict[Key, OpcodeRow]:
        return {key_of(row): row for row in self.rows()}

    def _steps(self, version_range: VersionRange | None) -> list[HistoryStep]:
        """Return the changes of the history, the newest first, those of one range when given."""
        where, values = "", ()
        if version_range is not None:
            where, values = "WHERE first_version = ? AND last_version = ?", version_range  # type: ignore[assignment]
        found = self._connection.execute(
            f"SELECT change, action, max(undoes) FROM opcode_history {where}"  # noqa: S608
            " GROUP BY change, action ORDER BY change DESC",
            values,
        )
        return [HistoryStep(*row) for row in found]

    def _take_back(
        self, number: int, action: str, version_range: VersionRange | None
    ) -> list[HistoryEntry]:
        """Put the rows of a change back; the caller holds the transaction."""
        entries = self.history(limit=-1, change=number)
        check_takes_back(number, entries, action, version_range)
        existing = self._existing()
        for entry in entries:
            if existing.get(key_of(entry.row)) != entry.new:
                raise CommandError(
                    f"change {number} cannot be undone: {entry.row.name} of {entry.row.range} was"
                    " changed again later; undo that first"
                )
        self._write([RowChange(entry.new, entry.old) for entry in entries], action, undoes=number)
        return entries

    def _write(
        self,
        changes: Sequence[RowChange],
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
            put = [change.new for change in batch if change.new is not None]
            self._database.tables.table("opcodes").upsert_all([tuple(COLUMNS), *put], pk=KEY)
            if progress is not None:
                progress(start + len(batch), len(changes))
        run(
            "UPDATE opcode_change SET change = NULL, at = NULL, who = NULL, action = NULL,"
            " undoes = NULL"
        )

    def _bring_up_to_date(self, shipped: tuple[OpcodeRow, ...]) -> None:
        """Make missing tables; put in what the program ships, or what a newer one ships."""
        digest = fingerprint(shipped)
        with readable_errors(self.path):
            schema().check(self._connection, self.path)
            is_current = not schema().is_behind(self._connection)
            if is_current and self._meta("shipped") in (digest, OWN_ROWS):
                return
        with self._database.transaction():
            fresh = schema().version(self._connection) == 0
            apply_missing(self._connection, schema())
            before = self._meta("shipped")
            if before in (digest, OWN_ROWS):
                return
            if not shipped:
                self._set_meta("shipped", OWN_ROWS)
                return
            if fresh or before is None:
                existing = self._existing()
                changes = [RowChange(None, row) for row in shipped if key_of(row) not in existing]
            else:
                changes = self._newer(shipped)
            self._write(changes, SHIPPED)
            self._set_meta("shipped", digest)

    def _newer(self, shipped: Sequence[OpcodeRow]) -> list[RowChange]:
        """Return what a newer program's tables change; rows of an operator's own stay.

        Those are the ones that an operator ever touched, and did not reset since.
        """
        touched = self._connection.execute(
            "SELECT first_version, last_version, name, max(id), action FROM opcode_history"
            " WHERE action <> ? GROUP BY first_version, last_version, name",
            (SHIPPED,),
        )
        mine = {(first, last, name) for first, last, name, _, action in touched if action != RESET}
        return plan_newer(self.rows(), shipped, mine)

    def _meta(self, key: str) -> str | None:
        found = self._database.tables.table("opcode_meta").rows_where("key = ?", [key])
        return next((str(row["value"]) for row in found), None)

    def _set_meta(self, key: str, value: str) -> None:
        self._database.tables.table("opcode_meta").upsert({"key": key, "value": value}, pk="key")


def _make(path: Path) -> None:
    """Make a file when there is none, and let readers and a writer into it at the same time."""
    create_database(path, schema())
    with connect(path) as database, readable_errors(path):
        database.connection.execute("PRAGMA journal_mode = WAL")
