"""Builds a content file from dumps of an EQ2Emulator database.

The new file is built beside the old one and replaces it at the end, so an interrupted import keeps
the old file. A dump whose bytes are the same as at the last import is not parsed again: its tables
are copied. Every row that is left out is counted by table and reason.

Groups of placements are resolved here, so that opening a zone needs no search: `set_groups` has the
groups that exclude each other, with their weights (docs/guides/content.md#groups).
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final
from zlib import crc32

from emu.content.sources import DumpPart
from emu.content.tables import RowConverter, Stored, Table, content_tables
from emu.errors import FileFormatError
from emu.sqldump.reader import read_inserts

APPLICATION: Final = 0x656D7563
"""SQLite's application id of a content file: "emuc"."""
BATCH: Final = 2000
PREVIOUS: Final = ".previous"
_OWN_TABLES: Final = (
    "CREATE TABLE imports (source TEXT NOT NULL, digest TEXT NOT NULL, tables TEXT NOT NULL)",
    "CREATE TABLE left_out (name TEXT NOT NULL, reason TEXT NOT NULL, rows INTEGER NOT NULL)",
    (
        "CREATE TABLE set_groups (set_id INTEGER NOT NULL, group_id INTEGER NOT NULL,"
        " weight REAL NOT NULL, PRIMARY KEY (group_id)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE scripts (kind TEXT NOT NULL, id INTEGER NOT NULL, script TEXT NOT NULL,"
        " PRIMARY KEY (kind, id)) WITHOUT ROWID"
    ),
)
_INDEXES: Final = (
    "CREATE INDEX placements_by_location ON placements (location_id)",
    "CREATE INDEX placement_groups_by_placement ON placement_groups (placement_id)",
)
# A row counts for its entry, else for its location, else for its spawn; of several with one key the
# last counts. Rows of places that are gone are left out.
_SCRIPTS: Final = (
    (
        "INSERT OR REPLACE INTO scripts SELECT 'entry', entry_id, script FROM spawn_scripts"
        " WHERE entry_id <> 0 AND entry_id IN (SELECT id FROM entries) ORDER BY id"
    ),
    (
        "INSERT OR REPLACE INTO scripts SELECT 'location', location_id, script FROM spawn_scripts"
        " WHERE entry_id = 0 AND location_id <> 0"
        " AND location_id IN (SELECT location_id FROM placements) ORDER BY id"
    ),
    (
        "INSERT OR REPLACE INTO scripts SELECT 'spawn', spawn_id, script FROM spawn_scripts"
        " WHERE entry_id = 0 AND location_id = 0 AND spawn_id IN (SELECT id FROM spawns)"
        " ORDER BY id"
    ),
)


@cache
def tables_form() -> int:
    """Return the number of the tables' form: a server with other tables asks for a new import."""
    declared = [*(table.create() for table in content_tables().values()), *_OWN_TABLES, *_INDEXES]
    return crc32("\n".join(declared).encode()) & 0x7FFFFFFF


def read_only(path: Path) -> str:
    """Return the URI by which SQLite opens a content file for reading, whatever its name has."""
    return f"{path.absolute().as_uri()}?mode=ro"


@dataclass(slots=True)
class ImportReport:
    """What an import took over and left out."""

    rows: Counter[str] = field(default_factory=Counter)
    """Rows in each table of the content file."""
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows and values that were left out or replaced, by table and reason."""
    copied: list[str] = field(default_factory=list)
    """Dumps that were not parsed again, because they have not changed."""
    unread: set[str] = field(default_factory=set)
    """Tables of the dumps that this server does not use."""


Progress = Callable[[int, int, str], object]
"""Gets how many dumps are done, how many there are, and the name of the next one."""


def import_content(
    parts: Sequence[DumpPart],
    target: Path,
    progress: Progress = lambda _done, _all, _name: None,
) -> ImportReport:
    """Build the content file `target` from dumps; the old one stays beside it once.

    Raises `FileFormatError`; then the old file is unchanged.
    """
    report = ImportReport()
    fresh = target.with_name(f"{target.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        with closing(_create(fresh)) as database:
            _fill(database, parts, target, report, progress)
        _exchange(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return report


def _exchange(fresh: Path, target: Path) -> None:
    """Put the new file in place of the old one, which is kept once."""
    if target.exists():
        target.replace(target.with_name(target.name + PREVIOUS))
    fresh.replace(target)


def step_back(target: Path) -> None:
    """Exchange a content file and the one before it. Raises `FileFormatError`."""
    previous = target.with_name(target.name + PREVIOUS)
    if not previous.exists():
        raise FileFormatError(f"{previous}: there is no earlier content file")
    aside = target.with_name(f"{target.name}.aside")
    if target.exists():
        target.replace(aside)
    previous.replace(target)
    if aside.exists():
        aside.replace(previous)


def _create(path: Path) -> sqlite3.Connection:
    # As a URI: otherwise not every SQLite would take one in ATTACH.
    database = sqlite3.connect(path.absolute().as_uri(), uri=True, isolation_level=None)
    # Nothing of an unfinished file is used, so it needs no journal.
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {tables_form()}")
    for table in content_tables().values():
        database.execute(table.create())
    for statement in _OWN_TABLES:
        database.execute(statement)
    return database


def _fill(
    database: sqlite3.Connection,
    parts: Sequence[DumpPart],
    old: Path,
    report: ImportReport,
    progress: Progress,
) -> None:
    by_source = {table.source.lower(): table for table in content_tables().values()}
    known = _known(old)
    database.execute("BEGIN")
    for done, part in enumerate(parts):
        progress(done, len(parts), part.path.name)
        digest = part.digest()
        tables = known.get(digest)
        if tables is not None:
            _copy(database, old, tables)
            report.copied.append(str(part))
        else:
            tables = _read(database, part, by_source, report)
        database.execute(
            "INSERT INTO imports VALUES (?, ?, ?)", (str(part), digest, " ".join(sorted(tables)))
        )
    database.execute("COMMIT")
    progress(len(parts), len(parts), "")
    _finish(database, report)


def _known(old: Path) -> dict[str, set[str]]:
    """Return the tables of each dump of the last import, by its digest."""
    try:
        with closing(sqlite3.connect(read_only(old), uri=True)) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != tables_form():
                return {}
            rows = database.execute("SELECT digest, tables FROM imports").fetchall()
    except sqlite3.Error:  # there is none, or it is unusable: everything is parsed
        return {}
    return {digest: set(tables.split()) for digest, tables in rows}


def _copy(database: sqlite3.Connection, old: Path, tables: set[str]) -> None:
    """Copy tables of the last import."""
    database.execute("COMMIT")
    database.execute("ATTACH ? AS old", (read_only(old),))
    for name in sorted(tables & content_tables().keys()):
        database.execute(f'INSERT OR REPLACE INTO "{name}" SELECT * FROM old."{name}"')  # noqa: S608
        rows = "INSERT INTO left_out SELECT * FROM old.left_out WHERE name = ?"
        database.execute(rows, (name,))
    database.execute("DETACH old")
    database.execute("BEGIN")


def _read(
    database: sqlite3.Connection,
    part: DumpPart,
    by_source: dict[str, Table],
    report: ImportReport,
) -> set[str]:
    """Store the rows of a dump; return the names of the tables that it fills."""
    filled: set[str] = set()
    seen: set[str] = set()
    try:
        with part.open() as stream:
            for table, rows in _batches(stream, by_source, seen, report):
                database.executemany(table.insert(), rows)
                filled.add(table.name)
    except FileFormatError as error:
        raise FileFormatError(f"{part}: {error}") from error
    report.unread |= seen - by_source.keys()
    return filled


def _batches(
    stream: object, by_source: dict[str, Table], seen: set[str], report: ImportReport
) -> Iterator[tuple[Table, list[tuple[Stored, ...]]]]:
    """Yield the rows of a dump in groups of one table."""
    converters: dict[tuple[str, tuple[str, ...]], RowConverter] = {}
    table: Table | None = None
    rows: list[tuple[Stored, ...]] = []
    for row in read_inserts(stream, by_source.keys(), seen):  # type: ignore[arg-type]
        found = by_source[row.table.lower()]
        if table is not None and (found is not table or len(rows) >= BATCH):
            yield table, rows
            rows = []
        table = found
        if row.columns is None:
            raise FileFormatError(
                f"line {row.line}: the columns of {row.table} have no names; dump the table"
                " definitions too (without --no-create-info), or use --complete-insert"
            )
        key = found.name, row.columns
        converter = converters.get(key)
        if converter is None:
            converter = converters[key] = found.converter(row.columns)
        name = found.name
        converted = converter.convert(
            row.values,
            lambda reason: report.left_out.update([(name, reason)]),  # noqa: B023
        )
        if converted is not None:
            rows.append(converted)
    if table is not None:
        yield table, rows


def _finish(database: sqlite3.Connection, report: ImportReport) -> None:
    """Resolve what an opening zone needs, and count what is there."""
    database.execute("BEGIN")
    for statement in (*_INDEXES, *_SCRIPTS):
        database.execute(statement)
    database.executemany("INSERT INTO set_groups VALUES (?, ?, ?)", _sets(database))
    for (table, reason), count in _dangling(database):
        report.left_out[table, reason] += count
    database.executemany(
        "INSERT INTO left_out VALUES (?, ?, ?)",
        [(table, reason, count) for (table, reason), count in report.left_out.items()],
    )
    for name in content_tables():
        (count,) = database.execute(f'SELECT count(*) FROM "{name}"').fetchone()  # noqa: S608
        report.rows[name] = count
    database.execute("COMMIT")
    database.execute("ANALYZE")
    database.execute("VACUUM")


def _sets(database: sqlite3.Connection) -> Iterator[tuple[int, int, float]]:
    """Yield each group with the set of groups that it excludes, and its weight there.

    Groups that are associated, directly or through others, form a set: one of them stands at a
    time. A group without a chance of its own has an equal share of 100, cut to a whole number.
    Source: docs/guides/content.md#groups.
    """
    neighbors: dict[int, set[int]] = defaultdict(set)
    for one, other in database.execute("SELECT one, other FROM group_associations"):
        neighbors[one].add(other)
        neighbors[other].add(one)
    chances = dict(
        database.execute("SELECT group_id, percentage FROM group_chances WHERE percentage > 0")
    )
    groups = [row[0] for row in database.execute("SELECT DISTINCT group_id FROM placement_groups")]
    known, placed = set(groups), set[int]()
    for start in sorted(groups):
        if start in placed:
            continue
        members, waiting = set[int](), [start]
        while waiting:
            group = waiting.pop()
            if group not in members:
                members.add(group)
                waiting += neighbors.get(group, ())
        members &= known
        placed |= members
        share = 100 // len(members)
        for group in sorted(members):
            yield start, group, chances.get(group, share) if len(members) > 1 else 100.0


_DANGLING: Final = (
    ("entries", "their location has no placement",
     "SELECT count(*) FROM entries WHERE location_id NOT IN (SELECT location_id FROM placements)"),
    ("entries", "there is no such spawn",
     "SELECT count(*) FROM entries WHERE spawn_id NOT IN (SELECT id FROM spawns)"),
    ("placements", "nothing can stand there",
     "SELECT count(*) FROM placements WHERE location_id NOT IN (SELECT location_id FROM entries)"),
    ("placements", "there is no such zone",
     "SELECT count(*) FROM placements WHERE zone_id NOT IN (SELECT id FROM zones)"),
    ("spawn_scripts", "their location is gone",
     ("SELECT count(*) FROM spawn_scripts WHERE entry_id = 0 AND location_id <> 0"
     " AND location_id NOT IN (SELECT location_id FROM placements)")),
    ("flight_points", "there is no such path",
     "SELECT count(*) FROM flight_points WHERE path_id NOT IN (SELECT id FROM flight_paths)"),
)  # fmt: skip


def _dangling(database: sqlite3.Connection) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield how many rows lead nowhere, by table and reason; they stay and are never used."""
    for table, reason, statement in _DANGLING:
        (count,) = database.execute(statement).fetchone()
        if count:
            yield (table, reason), count
