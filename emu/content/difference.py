"""The differences of two content files, row by row, by the keys of their tables.

Tables are clustered by their keys, so SQLite walks two of them side by side. A table that was
filled from the same dumps in both files is not compared.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from emu.content.checks import read_only
from emu.content.damage import DAMAGE, decoded
from emu.content.file import ContentFile
from emu.content.tables import Stored, Table, content_tables
from emu.errors import FileFormatError

ChangeKind = Literal["new", "gone", "changed"]
_ZONES: Final = {
    "entries": "SELECT min(zone_id) FROM {file}.placements WHERE location_id = {row}.location_id",
    "placement_groups": "SELECT zone_id FROM {file}.placements WHERE id = {row}.placement_id",
}
"""Where a row without a zone of its own gets it from."""


class RowChange(NamedTuple):
    """One row that differs."""

    table: str
    kind: ChangeKind
    key: tuple[Stored, ...]
    zone_id: int
    """0: it belongs to no zone."""
    columns: dict[str, tuple[Stored, Stored]]
    """The old and the new value of each column that changed."""


@dataclass(slots=True)
class ChangeSum:
    """The changes of one table in one zone."""

    rows: Counter[ChangeKind] = field(default_factory=Counter)
    columns: Counter[str] = field(default_factory=Counter)
    """How many rows changed in each column."""


def summary(changes: Iterator[RowChange]) -> dict[tuple[str, int], ChangeSum]:
    """Return the sums of changes by table and zone."""
    sums: dict[tuple[str, int], ChangeSum] = {}
    for change in changes:
        one = sums.setdefault((change.table, change.zone_id), ChangeSum())
        one.rows[change.kind] += 1
        one.columns.update(change.columns.keys())
    return sums


def changes(old: Path, new: Path, table: str = "") -> Iterator[RowChange]:
    """Yield what differs between two content files, or in one table of them, by table and key.

    Raises `FileFormatError` if one of them is not usable.
    """
    for path in (old, new):
        ContentFile(path).close()
    with closing(sqlite3.connect(read_only(new), uri=True)) as database:
        database.text_factory = decoded
        try:
            database.execute("ATTACH ? AS old", (read_only(old),))
            same = _same_tables(database)
            for one in content_tables().values():
                if one.name not in same and table in ("", one.name):
                    yield from _arrivals(database, one)
                    yield from _losses(database, one)
        except DAMAGE as error:
            raise FileFormatError(
                f"{old} or {new}: is damaged ({error!r:.200}); make it anew with"
                " `emu content import`"
            ) from error


def _same_tables(database: sqlite3.Connection) -> set[str]:
    """Return the tables that were filled from the same dumps, by the same ranges."""
    forms = [database.execute(f"SELECT form FROM {one}.checked").fetchone() for one in _FILES]  # noqa: S608
    if forms[0] != forms[1]:
        return set()
    fillers: list[dict[str, list[str]]] = []
    for one in _FILES:
        dumps: dict[str, list[str]] = {}
        rows = database.execute(f"SELECT digest, tables FROM {one}.imports ORDER BY rowid")  # noqa: S608
        for digest, tables in rows:
            for name in tables.split():
                dumps.setdefault(name, []).append(digest)
        fillers.append(dumps)
    ours, theirs = fillers
    # No dump fills a table of stand-ins: such a table is compared.
    return {name for name in content_tables() if name in ours and ours[name] == theirs.get(name)}


_FILES: Final = ("main", "old")


def _arrivals(database: sqlite3.Connection, table: Table) -> Iterator[RowChange]:
    """Yield the rows that are new or changed."""
    names = [column.name for column in table.columns]
    values = [name for name in names if name not in table.key]
    differs = [f'one."{name}" IS NOT other."{name}"' for name in values]
    rows = database.execute(
        f'SELECT ({_zone(table, "main")}), other."{table.key[0]}" IS NULL, one.*, other.*'  # noqa: S608
        f' FROM main."{table.name}" AS one LEFT JOIN old."{table.name}" AS other'
        f" ON {_same_key(table)}"
        f' WHERE {" OR ".join([f"""other."{table.key[0]}" IS NULL""", *differs])}'
    )
    size = len(names)
    for zone_id, is_new, *both in rows:
        after = dict(zip(names, both[:size], strict=True))
        before = dict(zip(names, both[size:], strict=True))
        key = tuple(after[name] for name in table.key)
        if is_new:
            yield RowChange(table.name, "new", key, _number(zone_id), {})
        else:
            columns = {
                name: (before[name], after[name]) for name in values if before[name] != after[name]
            }
            yield RowChange(table.name, "changed", key, _number(zone_id), columns)


def _losses(database: sqlite3.Connection, table: Table) -> Iterator[RowChange]:
    """Yield the rows that are gone."""
    keys = ", ".join(f'one."{name}"' for name in table.key)
    rows = database.execute(
        f'SELECT ({_zone(table, "old")}), {keys} FROM old."{table.name}" AS one'  # noqa: S608
        f' LEFT JOIN main."{table.name}" AS other ON {_same_key(table)}'
        f' WHERE other."{table.key[0]}" IS NULL'
    )
    for zone_id, *key in rows:
        yield RowChange(table.name, "gone", tuple(key), _number(zone_id), {})


def _number(zone_id: object) -> int:
    """Return the number of a zone; 0 for none, and for what is no number in a damaged file."""
    return zone_id if isinstance(zone_id, int) else 0


def _zone(table: Table, file: str) -> str:
    """Return the expression of a row's zone."""
    if any(column.name == "zone_id" for column in table.columns):
        return "SELECT one.zone_id"
    return _ZONES.get(table.name, "SELECT 0").format(file=file, row="one")


def _same_key(table: Table) -> str:
    return " AND ".join(f'other."{name}" = one."{name}"' for name in table.key)
