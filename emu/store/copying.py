"""Copies everything that a store keeps from one database into another one, of any engine.

Tables are copied in portions, parents before their children, in the order of their keys. A copy
that was interrupted continues behind the last key of each table. Afterwards the rows of both
databases are counted and summed, which does not depend on the engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.database import Database, Kind
from emu.database.catalog import CatalogTable, by_parents
from emu.errors import CommandError, StoreError

PORTION: Final = 1000
"""Rows of one transaction."""
SKIPPED: Final = frozenset(
    ("database_mark", "schema_version", "handoff_keys", "nodes", "zone_servers", "leases")
)
"""Tables of running servers and of single files."""
_SUM: Final = 1 << 64

Progress = Callable[[str, int], object]
"""Receives a table and the number of its rows so far."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a table: the number of its rows, and a sum that depends on all values."""

    rows: int
    sum: int


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table of a finished copy."""

    name: str
    rows: int
    copied: int
    """Rows that this run has copied; an earlier one may have copied the others."""


def copy_store(
    source: Database, target: Database, *, resume: bool, progress: Progress = lambda *_: None
) -> list[CopiedTable]:
    """Copy all rows, and compare both databases.

    Raises `CommandError` if the target has rows and this is not to `resume`, and `StoreError` if
    the contents differ in the end.
    """
    tables = _tables(source, target)
    if not resume:
        filled = [table.name for table in tables if _count(target, table)]
        if filled:
            raise CommandError(
                f"{target.where}: has rows already (in {', '.join(filled[:5])}); give --resume to"
                " continue a copy that was interrupted, or choose an empty database"
            )
    copied = []
    # One snapshot: rows of two tables belong to each other.
    with source.reading():
        for table in tables:
            count = _copy_table(source, target, table, progress)
            copied.append(CopiedTable(table.name, _count(target, table), count))
        for table in tables:
            _compare(source, target, table)
    return copied


def content(database: Database, table: CatalogTable) -> Content:
    """Return the content of a table. Equal rows have equal sums on every engine."""
    rows = total = 0
    for portion in _portions(database, table, ()):
        for row in portion:
            rows += 1
            total += int.from_bytes(hashlib.sha256(_form(table, row)).digest()[:8], "big")
    return Content(rows, total % _SUM)


def _tables(source: Database, target: Database) -> list[CatalogTable]:
    """Return the tables to copy, as the source has them. Raises `StoreError`."""
    found = {table.name: table for table in source.tables_of() if table.name not in SKIPPED}
    there = {table.name: table for table in target.tables_of()}
    kept = []
    for name, table in found.items():
        if name not in there or set(there[name].columns) != set(table.columns):
            # A file may have the tables of opcodes beside those of the store.
            if name.startswith("opcode"):
                continue
            raise StoreError(
                f"{source.where}: its table {name} is not that of {target.where}; upgrade both:"
                " emu database upgrade"
            )
        kind = there[name].columns
        # Booleans count as such if one of both engines has them.
        columns = {
            column: kind[column] if kind[column] is Kind.BOOLEAN else own
            for column, own in table.columns.items()
        }
        kept.append(CatalogTable(name, columns, table.key, table.parents))
    return by_parents([table for table in kept if not table.name.startswith("opcode")])


def _copy_table(source: Database, target: Database, table: CatalogTable, progress: Progress) -> int:
    columns = [*table.columns]
    copied = 0
    last = _last_key(target, table)
    with target.transaction() as connection:
        if not table.key:
            # Without a key nobody knows which rows are there; such tables are small.
            connection.execute(f"DELETE FROM {table.name}")  # noqa: S608  # our own names
    for portion in _portions(source, table, last):
        rows = [_converted(table, row) for row in portion]
        with target.transaction() as connection:
            connection.executemany(target.dialect.insert(table.name, columns), rows)
            _keep_deletion_times(target, table, rows)
        copied += len(rows)
        progress(table.name, copied)
    if "id" in table.columns:
        with target.transaction() as connection:
            # Also the ids of rows that were removed: they are never used again.
            used = source.dialect.last_id(source.connection, table.name)
            target.dialect.continue_ids(connection, table.name, used)
    return copied


def _keep_deletion_times(
    target: Database, table: CatalogTable, rows: Sequence[Sequence[Any]]
) -> None:
    """Store the times of deletions again: a trigger sets the present one."""
    if not {"id", "deleted", "deleted_at"} <= set(table.columns):
        return
    place = {name: number for number, name in enumerate(table.columns)}
    times = [
        (row[place["id"]], row[place["deleted_at"]])
        for row in rows
        if row[place["deleted"]] and row[place["deleted_at"]] is not None
    ]
    if times:
        target.dialect.update_many(
            target.connection, table.name, {"id": Kind.INTEGER}, {"deleted_at": Kind.REAL}, times
        )


def _last_key(target: Database, table: CatalogTable) -> Sequence[Any]:
    if not table.key:
        return ()
    order = ", ".join(f"{name} DESC" for name in table.key)
    row = target.connection.execute(
        f"SELECT {', '.join(table.key)} FROM {table.name} ORDER BY {order} LIMIT 1"  # noqa: S608
    ).fetchone()
    return () if row is None else tuple(row)


def _portions(database: Database, table: CatalogTable, after: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the rows behind a key, or all of them, in portions."""
    names = ", ".join(table.columns)
    if not table.key:
        rows = database.connection.execute(f"SELECT {names} FROM {table.name}").fetchall()  # noqa: S608
        if rows:
            yield rows
        return
    key, marks = ", ".join(table.key), ", ".join("?" * len(table.key))
    places = [[*table.columns].index(name) for name in table.key]
    while True:
        where = f"WHERE ({key}) > ({marks})" if after else ""
        rows = database.connection.execute(
            f"SELECT {names} FROM {table.name} {where} ORDER BY {key} LIMIT {PORTION}",  # noqa: S608
            tuple(after),
        ).fetchall()
        if rows:
            yield rows
        if len(rows) < PORTION:
            return
        after = [rows[-1][place] for place in places]


def _count(database: Database, table: CatalogTable) -> int:
    row = database.connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()  # noqa: S608
    return int(row[0])


def _compare(source: Database, target: Database, table: CatalogTable) -> None:
    ours, theirs = content(source, table), content(target, table)
    if ours != theirs:
        raise StoreError(
            f"{target.where}: its table {table.name} is not that of {source.where}:"
            f" {theirs.rows} rows instead of {ours.rows}, or other values; empty it and copy again"
            " while no server runs"
        )


def _converted(table: CatalogTable, row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(
        value if value is None else _value(kind, value)
        for kind, value in zip(table.columns.values(), row, strict=True)
    )


def _value(kind: Kind, value: Any) -> Any:
    if kind is Kind.BOOLEAN:
        return bool(value)
    if kind is Kind.REAL:
        return float(value)
    # PostgreSQL's texts have no NUL; its driver stores the same mark.
    return value.replace("\0", "\ufffd") if kind is Kind.TEXT else value


def _form(table: CatalogTable, row: Sequence[Any]) -> bytes:
    """Return the same bytes for equal rows of all engines."""
    return json.dumps([*zip(table.columns, _converted(table, row), strict=True)]).encode()
