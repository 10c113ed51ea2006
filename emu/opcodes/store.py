"""Opcode rows in SQLite: reading, editing with a history, importing, undo and redo.

Each public edit is one transaction. Triggers write the history (`emu.opcodes.history`), so it
includes edits by other tools.

The tables may share their file with accounts and characters; their schema number is in their own
table `opcode_meta`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from sys import intern
from typing import Any, Self

from emu.database import read_steps
from emu.database.sqlite import LOCK_WAIT, Schema, SqliteDatabase, readable_errors
from emu.database.sqlite.files import create_database
from emu.database.sqlite.migrations import apply_missing
from emu.errors import CommandError, StoreError
from emu.files import data_file
from emu.model import Durability
from emu.opcodes.changes import (
    Keep,
    Key,
    OpcodeRowChange,
    Plan,
    amended,
    key_of,
    plan_newer,
    plan_reset,
    plan_rows,
)
from emu.opcodes.history import (
    ENTRY,
    Action,
    HistoryEntry,
    HistoryStep,
    check_takes_back,
    entry_of,
    newest_to_redo,
    newest_to_undo,
)
from emu.opcodes.table import OpcodeRow, OpcodeTables, VersionRange, row_problem
from emu.opcodes.text import fingerprint, shipped_rows

COLUMNS: Mapping[str, type] = {
    "first_version": int, "last_version": int, "name": str, "opcode": int, "source": str,
    "note": str,
}  # fmt: skip
"""The columns of a row in the order of `OpcodeRow`, with their types."""
KEY = ("first_version", "last_version", "name")
"""The columns of the primary key."""
FEW_RANGES = 8
"""Up to so many ranges are read one by one; there are about 60, with 35,000 rows."""

TRIGGERS = 4
"""Triggers of the table `opcodes`; they write the history."""

_KINDS: Mapping[type, str] = {
    bytes: "bytes", str: "text", int: "a whole number", float: "a fraction",
}  # fmt: skip


@cache
def schema() -> Schema:
    """Return the schema of the opcode tables."""
    return Schema(read_steps(data_file("sql", "opcodes")), _version, _set_version)


def _version(connection: sqlite3.Connection) -> int:
    # An existing database may have no opcode tables yet: accounts and opcodes share one file.
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'opcode_meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM opcode_meta WHERE key = 'schema'").fetchone()
    try:
        return int(row[0]) if row else 0
    except (TypeError, ValueError):
        raise sqlite3.DatabaseError("the table opcode_meta has no valid schema number") from None


def _set_version(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("REPLACE INTO opcode_meta VALUES ('schema', ?)", (number,))


def connect(path: Path, *, wait: float = LOCK_WAIT) -> SqliteDatabase:
    """Open an existing file, with or without opcode tables. Raises `StoreError`."""
    database = SqliteDatabase.connect(path, wait=wait)
    database.connection.text_factory = _text_or_bytes
    return database


def read_stored_rows(
    connection: sqlite3.Connection, version_range: VersionRange | None = None
) -> list[OpcodeRow]:
    """Return all rows, or those of exactly one range, ordered by range and number.

    Raises `StoreError` with row, column and cure if a value has the wrong type. SQLite allows that:
    another tool can store bytes or a word in any column.
    """
    where, values = "", tuple[int, ...]()
    if version_range is not None:
        where, values = " WHERE first_version = ? AND last_version = ?", version_range
    rest = f"FROM opcodes{where} ORDER BY first_version, last_version, opcode, name"
    rows = _valid_rows(connection, f"SELECT {', '.join(COLUMNS)} {rest}", values)
    if rows is not None:
        return rows
    found = connection.execute(f"SELECT rowid, {', '.join(COLUMNS)} {rest}", values)
    kinds = list(COLUMNS.values())
    for number, *columns in found:
        if list(map(type, columns)) != kinds:
            raise StoreError(_wrong_type(number, columns))
    raise StoreError("the table opcodes has changed while it was read; try again")


def _valid_rows(
    connection: sqlite3.Connection, query: str, values: Sequence[int]
) -> list[OpcodeRow] | None:
    """Return all rows of a query; None if a value has the wrong type, or a text is no UTF-8."""
    rows = []
    make = tuple.__new__  # a call of the class is one of Python, for each of 35,000 rows
    factory = connection.text_factory
    connection.text_factory = str
    try:
        for first, last, name, opcode, source, note in connection.execute(query, values):
            if not type(first) is type(last) is type(opcode) is int:
                return None
            # Interned, because the same few hundred texts stand in all the ranges. `intern` takes
            # nothing but texts.
            texts = intern(name), intern(source), intern(note)
            rows.append(make(OpcodeRow, (first, last, texts[0], opcode, *texts[1:])))
    except TypeError:
        return None
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
        return None
    finally:
        connection.text_factory = factory
    return rows


def are_as_shipped(connection: sqlite3.Connection) -> bool:
    """Return whether the rows are known to be this program's own, without reading them."""
    # The triggers write every edit into the history, so all of them have to be there.
    (triggers,) = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'opcodes'"
    ).fetchone()
    digest = connection.execute("SELECT value FROM opcode_meta WHERE key = 'shipped'").fetchone()
    edit = connection.execute(
        "SELECT 1 FROM opcode_history WHERE action <> ? LIMIT 1", (Action.SHIPPED,)
    ).fetchone()
    return (
        triggers >= TRIGGERS
        and edit is None
        and digest is not None
        and digest[0] == fingerprint(shipped_rows())
    )


def _wrong_type(number: int, columns: Sequence[Any]) -> str:
    pairs = zip(COLUMNS, columns, strict=True)
    name, value = next(pair for pair in pairs if type(pair[1]) is not COLUMNS[pair[0]])
    wanted = "text" if COLUMNS[name] is str else "a whole number"
    held = _KINDS.get(type(value), "nothing")
    first, last, message = columns[:3]
    return (
        f"the table opcodes has a value of a wrong type: row {number} ({message!s:.40} of"
        f" {first}-{last}), column {name} holds {held}, not {wanted}; set it with SQL where"
        f" id = {number}"
    )


def _text_or_bytes(raw: bytes) -> str | bytes:
    """Decode a text; leave invalid UTF-8 as bytes, so that `read_stored_rows` can name its row."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


_ADD = f"INSERT INTO opcodes ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608  # no text from outside
_PUT = (
    f"{_ADD} ON CONFLICT ({', '.join(KEY)}) DO UPDATE SET opcode = excluded.opcode,"
    " source = excluded.source, note = excluded.note"
)
"""Adds a row or replaces the one of its range and name."""
BATCH = 1000
"""Rows written between two reports of progress."""

OWN_ROWS = "none"
"""The fingerprint in a database that was made without shipped rows."""

Progress = Callable[[int, int], None]
"""Called with the written rows and the rows to write."""


class OpcodeStore:
    """The opcode tables of one database file.

    The file must exist; `ensure` makes it. Missing tables are made and filled with the shipped
    rows; `open_to_read` opens a file without changing it. `who` is written into the history. Use an
    instance in one thread only. Raises `StoreError`.
    """

    def __init__(self, path: Path, *, who: str = "emu") -> None:
        self._open(path, who)
        self._database.set_durability(Durability.SAFE)  # operators' edits are rare and must last
        try:
            self._bring_up_to_date(shipped_rows())
        # Without this the file would stay open after an error.
        except BaseException:
            self._database.close()
            raise

    def _open(self, path: Path, who: str) -> None:
        self.path = path
        self.who = who
        self._database = connect(path)
        self._connection = self._database.connection

    @classmethod
    def open_to_read(cls, path: Path) -> OpcodeStore:
        """Open a database without creating, filling or updating tables.

        Raises `StoreError` if it has no opcode tables.
        """
        store = cls.__new__(cls)
        store._open(path, "nobody")  # noqa: SLF001  # the first half of the constructor
        with readable_errors(path):
            present = schema().version(store._connection)  # noqa: SLF001
        if not present:
            store.close()
            raise StoreError(f"{path}: has no opcode tables; `emu opcodes import` makes them")
        return store

    @classmethod
    def ensure(cls, path: Path, *, who: str = "emu") -> OpcodeStore:
        """Open a database; create the file, with the shipped rows, if there is none.

        Raises `StoreError`.
        """
        # The constructor opens only existing files, so the file is made first.
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
        """Return a snapshot of all tables; later changes do not appear in it."""
        return OpcodeTables(self.rows())

    def rows(self, version_range: VersionRange | None = None) -> list[OpcodeRow]:
        """Return all rows, or those of exactly one range, ordered by range and number."""
        with readable_errors(self.path):
            try:
                return read_stored_rows(self._connection, version_range)
            except StoreError as error:
                raise StoreError(f"{self.path}: {error}") from None

    def mark(self) -> int:
        """Return a number that grows with every change of the rows, by any tool."""
        with readable_errors(self.path):
            found = self._connection.execute("SELECT coalesce(max(id), 0) FROM opcode_history")
            return int(found.fetchone()[0])

    def history(
        self, *, limit: int = 50, name: str | None = None, change: int | None = None
    ) -> list[HistoryEntry]:
        """Return the newest entries, the newest first; only those of a name or change if given."""
        with readable_errors(self.path):
            found = self._connection.execute(
                f"SELECT {ENTRY}"  # noqa: S608
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
        """Set the number of a name in exactly one range; return the applied plan.

        Without arguments, source and note stay if the number stays. Raises `CommandError` if the
        row is invalid.
        """
        row = OpcodeRow(*version_range, name, opcode, source, note)
        problem = row_problem(row)
        if problem:
            raise CommandError(problem)
        return self.apply_rows([("", row)], action=action, source="operator")

    def unset(self, version_range: VersionRange, name: str, *, action: str = "unset") -> Plan:
        """Remove a name from exactly one range. Raises `CommandError` if it is not there."""
        # The row is read under the write lock: another tool cannot change it in between.
        with self._database.transaction():
            old = self._existing([version_range]).get((*version_range, name))
            if old is None:
                raise CommandError(f"there is no row {name} in the range {version_range}")
            plan = Plan([OpcodeRowChange(old, None)])
            self._write(plan.changes, action)
        return plan

    def apply_rows(
        self,
        rows: Iterable[tuple[str, OpcodeRow]],
        *,
        action: str,
        source: str = "",
        keep: Keep = Keep.ALL,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Plan:
        """Apply `plan_rows` to rows, each with its place in a file, in one transaction.

        With `dry_run` nothing is written. An exception of the iterable leaves the database
        unchanged.
        """
        # Read completely before the transaction, because reading a file may take long, and the lock
        # stops others.
        given = list(rows)
        ranges = None if keep is Keep.NOTHING else {row.range for _, row in given}
        with self._database.transaction():
            plan = plan_rows(self._existing(ranges), given, source=source, keep=keep)
            if not dry_run:
                self._write(plan.changes, action, progress=progress)
        return plan

    def amend(self, old: OpcodeRow | None, new: OpcodeRow | None, *, action: str = "edit") -> Plan:
        """Apply an edit of a row from `old`, as the editor showed it, to `new`; None is no row.

        Only the edited fields are written, so concurrent edits of other fields stay. Raises
        `CommandError` after a concurrent edit of the same field, or if the row is invalid.
        """
        with self._database.transaction():
            row = OpcodeRowChange(old, new).row
            present = self._existing([row.range]).get(key_of(row))
            plan = Plan(amended(old, new, present))
            self._write(plan.changes, action)
        return plan

    def undo(
        self, change: int | None = None, *, version_range: VersionRange | None = None
    ) -> list[HistoryEntry]:
        """Undo one change, by default the newest in effect, with a range the newest of that range.

        Return the entries that were undone. Raises `CommandError` if there is no such change, if it
        put in shipped rows, if it touched other ranges than the given one, or if a later change
        touched the same rows.
        """
        with self._database.transaction():
            # The change is selected inside the transaction, so no other change can come between.
            number = newest_to_undo(self._steps(version_range)) if change is None else change
            return self._take_back(number, Action.UNDO, version_range)

    def redo(
        self, change: int | None = None, *, version_range: VersionRange | None = None
    ) -> list[HistoryEntry]:
        """Undo an undo, by default the newest if no other change followed it.

        Range, result and errors are those of `undo`.
        """
        with self._database.transaction():
            number = newest_to_redo(self._steps(version_range)) if change is None else change
            return self._take_back(number, Action.REDO, version_range)

    def reset(self, version_range: VersionRange | None = None, name: str | None = None) -> Plan:
        """Restore the shipped rows: all, or those of one range, one name, or both.

        Other rows among these are removed. Raises `CommandError` if there are no such rows.
        """
        with self._database.transaction():
            plan = plan_reset(self.rows(), shipped_rows(), version_range, name)
            self._write(plan.changes, Action.RESET)
        return plan

    # -- internals ------------------------------------------------------------------------------

    def _existing(self, ranges: Collection[VersionRange] | None = None) -> dict[Key, OpcodeRow]:
        """Return all rows, or at least those of some ranges, by their keys."""
        if ranges is None or len(ranges) > FEW_RANGES:
            return {key_of(row): row for row in self.rows()}
        return {key_of(row): row for one in ranges for row in self.rows(one)}

    def _steps(self, version_range: VersionRange | None) -> list[HistoryStep]:
        """Return the changes of the history, the newest first; only those of a range if given."""
        where, values = "", ()
        if version_range is not None:
            where, values = "WHERE first_version = ? AND last_version = ?", version_range  # type: ignore[assignment]
        # All rows of a change undo the same change, so `max` returns just that.
        found = self._connection.execute(
            f"SELECT change, action, max(undoes) FROM opcode_history {where}"  # noqa: S608
            " GROUP BY change, action ORDER BY change DESC",
            values,
        )
        return [HistoryStep(*row) for row in found]

    def _take_back(
        self, number: int, action: str, version_range: VersionRange | None
    ) -> list[HistoryEntry]:
        """Restore the rows from before a change; the caller has begun the transaction."""
        # SQLite reads a negative limit as no limit.
        entries = self.history(limit=-1, change=number)
        check_takes_back(number, entries, action, version_range)
        existing = self._existing({entry.row.range for entry in entries})
        for entry in entries:
            # An undo must not overwrite a later edit of the same row.
            if existing.get(key_of(entry.row)) != entry.new:
                raise CommandError(
                    f"change {number} cannot be undone: {entry.row.name} of {entry.row.range} was"
                    " changed again later; undo that first"
                )
        self._write(
            [OpcodeRowChange(entry.new, entry.old) for entry in entries], action, undoes=number
        )
        return entries

    def _write(
        self,
        changes: Sequence[OpcodeRowChange],
        action: str,
        *,
        undoes: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write changes under one number of the history; the caller has begun the transaction."""
        if not changes:
            return
        # The triggers copy change, time, user and action from the one row of `opcode_change` into
        # each row of the history. The row is cleared at the end, because an edit by another tool
        # must not appear under this user's name.
        run = self._connection.execute
        (last,) = run("SELECT coalesce(max(change), 0) FROM opcode_history").fetchone()
        run(
            "UPDATE opcode_change SET change = ?, at = ?, who = ?, action = ?, undoes = ?",
            (last + 1, _now(), self.who, action, undoes),
        )
        # In batches, so that the caller can show the progress.
        for start in range(0, len(changes), BATCH):
            batch = changes[start : start + BATCH]
            self._connection.executemany(
                "DELETE FROM opcodes WHERE first_version = ? AND last_version = ? AND name = ?",
                [key_of(change.row) for change in batch if change.new is None],
            )
            put = [change.new for change in batch if change.new is not None]
            self._connection.executemany(_PUT, put)
            if progress is not None:
                progress(start + len(batch), len(changes))
        run(
            "UPDATE opcode_change SET change = NULL, at = NULL, who = NULL, action = NULL,"
            " undoes = NULL"
        )

    def _bring_up_to_date(self, shipped: tuple[OpcodeRow, ...]) -> None:
        """Create missing tables; put in the shipped rows, or those that are new in this program."""
        digest = fingerprint(shipped)
        with readable_errors(self.path):
            schema().check(self._connection, self.path)
            # The usual start changes nothing and takes no write lock.
            is_current = not schema().is_behind(self._connection)
            if is_current and self._meta("shipped") in (digest, OWN_ROWS):
                return
        with self._database.transaction():
            apply_missing(self._connection, schema())
            before = self._meta("shipped")
            if before in (digest, OWN_ROWS):
                return
            if not shipped:
                self._set_meta("shipped", OWN_ROWS)
                return
            if before is None and self._is_new():
                self._fill(shipped)
            elif before is None:
                existing = self._existing()
                changes = [
                    OpcodeRowChange(None, row) for row in shipped if key_of(row) not in existing
                ]
                self._write(changes, Action.SHIPPED)
            else:
                self._write(self._newer(shipped), Action.SHIPPED)
            self._set_meta("shipped", digest)

    def _is_new(self) -> bool:
        """Return whether the tables have had no row yet."""
        found = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM opcodes) OR EXISTS (SELECT 1 FROM opcode_history)"
        )
        return not found.fetchone()[0]

    def _fill(self, shipped: Sequence[OpcodeRow]) -> None:
        """Put the first rows into new tables, with their history as the triggers would write it.

        The triggers take twice as long as the rows. The caller has begun the transaction, so that
        nobody sees the tables without them.
        """
        run = self._connection.execute
        triggers = run(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'opcodes'"
        ).fetchall()
        for name, _ in triggers:
            run(f'DROP TRIGGER "{name}"')
        self._connection.executemany(_ADD, shipped)
        run(
            "INSERT INTO opcode_history (change, at, who, action, first_version, last_version,"
            " name, new_opcode, new_source, new_note)"
            " SELECT 1, ?, ?, ?, first_version, last_version, name, opcode, source, note"
            " FROM opcodes ORDER BY id",
            (_now(), self.who, Action.SHIPPED),
        )
        for _, text in triggers:
            run(text)

    def _newer(self, shipped: Sequence[OpcodeRow]) -> list[OpcodeRowChange]:
        """Return the changes of a newer program's tables, without the operator's own rows.

        A row is the operator's own if its newest change by an operator is not a reset.
        """
        touched = self._connection.execute(
            "SELECT first_version, last_version, name, max(id), action FROM opcode_history"
            " WHERE action <> ? GROUP BY first_version, last_version, name",
            (Action.SHIPPED,),
        )
        mine = {
            (first, last, name)
            for first, last, name, _, action in touched
            if action != Action.RESET
        }
        return plan_newer(self.rows(), shipped, mine)

    def _meta(self, key: str) -> str | None:
        found = self._database.tables.table("opcode_meta").rows_where("key = ?", [key])
        return next((str(row["value"]) for row in found), None)

    def _set_meta(self, key: str, value: str) -> None:
        self._database.tables.table("opcode_meta").upsert({"key": key, "value": value}, pk="key")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def _make(path: Path) -> None:
    """Create the file if there is none, in WAL mode: readers do not wait for the writer."""
    create_database(path, schema())
    with connect(path) as database, readable_errors(path):
        database.connection.execute("PRAGMA journal_mode = WAL")
