"""Builds a content file from dumps of an EQ2Emulator database.

The new file is built beside the old one and replaces it at the end, so an interrupted import keeps
the old file. A dump whose bytes are the same as at the last import is not parsed again: its tables
are copied. Every row that is left out is counted by table and reason, and its key is in a file
beside the content file.

Groups of placements are resolved here, so that opening a zone needs no search: `set_groups` has the
groups that exclude each other, with their weights (docs/guides/content.md#groups).
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final
from zlib import crc32

from emu.content.checks import (
    LeftOut,
    check_form,
    dangling_rows,
    is_filled,
    keys_path,
    missing_scripts,
    odd_rows,
    read_only,
)
from emu.content.damage import DAMAGE, damaged_tables, decoded
from emu.content.exchange import exchange
from emu.content.exchange import step_back as exchange_with_previous
from emu.content.regions import TABLES as REGION_TABLES
from emu.content.regions import copy_regions, store_regions
from emu.content.sources import CountedStream, DumpPart
from emu.content.stand_ins import NamedThing, add_stand_ins
from emu.content.tables import RowConverter, Stored, Table, content_tables
from emu.errors import FileFormatError
from emu.files import ANYBODY, partial_file
from emu.ground.importing import MapsReport
from emu.sqldump.reader import read_inserts

APPLICATION: Final = 0x656D7563
"""SQLite's application id of a content file: "emuc"."""
BATCH: Final = 2000
CACHE: Final = 48 * 1024
"""KiB of SQLite's cache: rows arrive in another order than that of their table."""
MOST_NAMES: Final = 5
"""Tables of another database that the error names."""
CHECKING: Final = "checking"
"""What the progress of an import shows after the last dump."""
_OWN_TABLES: Final = (
    (
        "CREATE TABLE imports (source TEXT NOT NULL, digest TEXT NOT NULL, tables TEXT NOT NULL,"
        " rows INTEGER NOT NULL, moment TEXT NOT NULL)"
    ),
    # `is_read`: found while the dump was read; the others are found when all dumps are there.
    (
        "CREATE TABLE left_out (name TEXT NOT NULL, reason TEXT NOT NULL, key TEXT NOT NULL,"
        " is_read INTEGER NOT NULL)"
    ),
    "CREATE TABLE checked (form INTEGER NOT NULL)",
    (
        "CREATE TABLE set_groups (set_id INTEGER NOT NULL, group_id INTEGER NOT NULL,"
        " weight REAL NOT NULL, PRIMARY KEY (group_id)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE scripts (kind TEXT NOT NULL, id INTEGER NOT NULL, script TEXT NOT NULL,"
        " PRIMARY KEY (kind, id)) WITHOUT ROWID"
    ),
    *REGION_TABLES,
)
_INDEXES: Final = (
    "CREATE INDEX placements_by_location ON placements (location_id)",
    "CREATE INDEX placement_groups_by_placement ON placement_groups (placement_id)",
    "CREATE INDEX entries_by_spawn ON entries (spawn_id)",
    "CREATE INDEX recipes_by_crc ON recipes (crc)",
)
_DAMAGED_NOTE: Final = (
    "typeof(name) <> 'text' OR typeof(reason) <> 'text' OR typeof(key) <> 'text'"
    " OR typeof(is_read) <> 'integer'"
)
"""The condition of a row of `left_out` that no import has written."""
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


@dataclass(slots=True)
class ContentReport:
    """What an import took over and left out."""

    rows: Counter[str] = field(default_factory=Counter)
    """Rows in each table of the content file."""
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows and values that were left out or replaced, by table and reason."""
    copied: list[str] = field(default_factory=list)
    """Dumps that were not parsed again, because they have not changed."""
    unread: set[str] = field(default_factory=set)
    """Tables of the dumps that this server does not use."""
    empty: list[str] = field(default_factory=list)
    """Tables of the content file that no dump filled."""
    stand_ins: int = 0
    """Things that nothing describes, for which a row of `items` was made."""


Progress = Callable[[int, int, str], object]
"""Gets the bytes of the dumps that are done, all their bytes, and the name of the present one."""
Finder = Callable[[str], str | None]
"""Returns the file of a script by its name; None if there is none."""


def import_content(
    parts: Sequence[DumpPart],
    target: Path,
    progress: Progress = lambda _done, _all, _name: None,
    *,
    moment: str = "",
    find_script: Finder | None = None,
    maps: MapsReport | None = None,
    stand_ins: Mapping[int, NamedThing] | None = None,
) -> ContentReport:
    """Build the content file `target` from dumps; the old one stays beside it once.

    `moment` is noted with each dump. The regions are those of `maps`; without it they are those of
    the old file. With `stand_ins` things that nothing describes get a row: those that the dumps
    name, and the numbers in `stand_ins`, with what is there. With `find_script` the rows that
    name a script that does not exist are counted. A missing folder is made, as for the database: an
    operator imports before the first start. Raises `FileFormatError`; then the old file is
    unchanged.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(
            f"{target.parent}: cannot be made ({error.strerror}); say another file with --file"
        ) from error
    with fresh_file(target) as fresh:
        report = build_content(
            parts, fresh, target, progress, moment=moment, find_script=find_script, maps=maps,
            stand_ins=stand_ins,
        )  # fmt: skip
        exchange(fresh, target)
        _write_keys(target, keys_path(target))
    return report


@contextmanager
def fresh_file(target: Path) -> Iterator[Path]:
    """Create an empty file beside a content file, for a new one; remove it unless it was renamed.

    Raises `FileFormatError` if it, or what is written into it, cannot be written.
    """
    try:
        with partial_file(target, ANYBODY) as fresh:
            yield fresh
    except (OSError, sqlite3.OperationalError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileFormatError(f"{target}: cannot be written ({reason})") from error


def build_content(
    parts: Sequence[DumpPart],
    fresh: Path,
    old: Path,
    progress: Progress = lambda _done, _all, _name: None,
    *,
    moment: str = "",
    find_script: Finder | None = None,
    maps: MapsReport | None = None,
    stand_ins: Mapping[int, NamedThing] | None = None,
) -> ContentReport:
    """Build a content file in the empty file `fresh` from dumps.

    What has not changed since `old` was built is copied from it. Raises `FileFormatError`, and
    `sqlite3.OperationalError` if the file cannot be written.
    """
    report = ContentReport()
    known = _known(old)
    with closing(_create(fresh)) as database:
        if known is not None:
            database.execute("ATTACH ? AS old", (read_only(old),))
        database.execute("BEGIN")
        rows = 0
        for row in _fill(database, parts, known or {}, report, progress):
            rows += row[-1]
            database.execute("INSERT INTO imports VALUES (?, ?, ?, ?, ?)", (*row, moment))
        if not rows:
            raise _of_another_database(report)
        if stand_ins is not None:
            report.stand_ins = add_stand_ins(database, stand_ins)
        if maps is not None:
            store_regions(database, maps.regions)
        if known is not None:
            copy_regions(database, None if maps is None else maps.unread_regions)
        database.execute("COMMIT")
        if known is not None:
            database.execute("DETACH old")
        progress(1, 1, CHECKING)
        _finish(database, report, find_script)
    return report


def _of_another_database(report: ContentReport) -> FileFormatError:
    """Return the error for dumps without any row of the world database."""
    names = sorted(report.unread)
    found = f" (their tables: {', '.join(names[:MOST_NAMES])})" if names else ""
    return FileFormatError(
        "the dumps have no row of a table that this server uses"
        f"{found}; give the dump of EQ2Emulator's world database, with its rows"
    )


def _write_keys(content: Path, target: Path) -> None:
    """Write the keys of all rows that the import left out or changed, one row on a line."""
    with (
        closing(sqlite3.connect(read_only(content), uri=True)) as database,
        partial_file(target, ANYBODY) as path,
    ):
        database.text_factory = decoded
        with path.open("w", encoding="utf-8") as file:
            file.write("table\treason\tkey\n")
            rows = database.execute("SELECT name, reason, key FROM left_out ORDER BY name, reason")
            # As texts: `emu content back` may return to a damaged file.
            file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        path.replace(target)


def step_back(target: Path) -> None:
    """Exchange a content file and the one before it. Raises `FileFormatError`."""
    exchange_with_previous(target)
    try:
        _write_keys(target, keys_path(target))
    except sqlite3.Error as error:
        raise FileFormatError(
            f"{target}: is the file before, and is damaged ({error}); `emu content back` again"
            " returns to the other one"
        ) from error


def _create(path: Path) -> sqlite3.Connection:
    # As a URI: otherwise not every SQLite would take one in ATTACH.
    database = sqlite3.connect(path.absolute().as_uri(), uri=True, isolation_level=None)
    # Nothing of an unfinished file is used, so it needs no journal.
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    database.execute(f"PRAGMA cache_size = -{CACHE}")
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
    known: dict[str, set[str]],
    report: ContentReport,
    progress: Progress,
) -> Iterator[tuple[str, str, str, int]]:
    """Copy or read each dump; yield its row in `imports` but for the moment."""
    by_source = {table.source.lower(): table for table in content_tables().values()}
    numbers = _Numbers(database)
    sizes = [part.size() for part in parts]
    done, everything = 0, sum(sizes)
    for part, size in zip(parts, sizes, strict=True):
        progress(done, everything, part.name)
        digest = part.digest()
        if digest in known:
            filled = _copy(database, known[digest])
            report.copied.append(str(part))
        else:
            filled = _read(
                database, part, by_source, report, numbers=numbers,
                progress=lambda read: progress(
                    done + min(read, size), everything, part.name  # noqa: B023
                ),
            )  # fmt: skip
        yield str(part), digest, " ".join(sorted(filled)), filled.total()
        done += size


def _known(old: Path) -> dict[str, set[str]] | None:
    """Return the tables of each dump of the last import that can be copied, by its digest.

    None is returned if nothing of the old file can be copied. A table that several dumps filled is
    parsed again: its rows do not say from which they are. So is a table with wrong values, for the
    damage would be copied, too.
    """
    try:
        with closing(sqlite3.connect(read_only(old), uri=True)) as database:
            database.text_factory = decoded
            (version,) = database.execute("PRAGMA user_version").fetchone()
            (form,) = database.execute("SELECT form FROM checked").fetchone()
            # Other ranges would give other rows.
            if version != tables_form() or form != check_form():
                return None
            rows = database.execute("SELECT digest, tables FROM imports").fetchall()
            is_whole = database.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if not is_whole or is_filled(database, "left_out", _DAMAGED_NOTE):
                return None
            dumps = [(digest, set(tables.split())) for digest, tables in rows]
            database.text_factory = bytes
            damaged = damaged_tables(database, {name for _, tables in dumps for name in tables})
    except DAMAGE:  # there is none, or it is unusable: everything is parsed
        return None
    fillers = Counter(name for _, tables in dumps for name in tables)
    return {
        digest: tables
        for digest, tables in dumps
        if not tables & damaged and all(fillers[name] == 1 for name in tables)
    }


def _copy(database: sqlite3.Connection, names: set[str]) -> Counter[str]:
    """Copy tables of the last import; return their rows."""
    filled: Counter[str] = Counter()
    for name in sorted(names):
        # Into an empty table SQLite copies whole pages, but not with a rule for conflicts.
        rule = ""
        if is_filled(database, name):
            rule = "OR REPLACE" if content_tables()[name].last else "OR IGNORE"
        filled[name] = database.execute(
            f'INSERT {rule} INTO main."{name}" SELECT * FROM old."{name}"'  # noqa: S608
        ).rowcount
        database.execute(
            "INSERT INTO left_out SELECT * FROM old.left_out WHERE name = ? AND is_read", (name,)
        )
    return filled


def _read(
    database: sqlite3.Connection,
    part: DumpPart,
    by_source: dict[str, Table],
    report: ContentReport,
    *,
    numbers: _Numbers,
    progress: Callable[[int], object],
) -> Counter[str]:
    """Store the rows of a dump; return their number in each table that it fills."""
    filled: Counter[str] = Counter()
    seen: set[str] = set()
    left: list[LeftOut] = []
    try:
        with part.open() as stream:
            counted = CountedStream(stream, progress)
            for table, rows in _batches(counted, by_source, seen, left, numbers):
                filled[table.name] += database.executemany(table.insert(), rows).rowcount
                _note(database, left, is_read=True)
    except FileFormatError as error:
        raise FileFormatError(f"{part}: {error}") from error
    _note(database, left, is_read=True)
    report.unread |= seen - by_source.keys()
    return filled


def _note(database: sqlite3.Connection, left: list[LeftOut], *, is_read: bool) -> None:
    """Store what was left out, and forget it."""
    rows = [(*one, int(is_read)) for one in left]
    database.executemany("INSERT INTO left_out VALUES (?, ?, ?, ?)", rows)
    left.clear()


class _Numbers:
    """The numbers of rows that name none, as AUTO_INCREMENT of the database gives them.

    Rows with explicit columns may leave the number out.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._greatest: dict[str, int] = {}
        """Only of tables in which some rows name no number."""

    def knows(self, table: Table) -> bool:
        """Return whether a row of the table had no number before."""
        return table.name in self._greatest

    def ask(self, table: Table) -> None:
        """Look for the greatest number of a table; all its rows so far are stored."""
        assert table.number_at is not None  # noqa: S101  # it asks for tables with numbers only
        column = table.columns[table.number_at].name
        query = f'SELECT max("{column}") FROM "{table.name}"'  # noqa: S608  # our names
        self._greatest[table.name] = self._database.execute(query).fetchone()[0] or 0

    def next(self, table: Table) -> int:
        """Return the number of the next row that names none."""
        self._greatest[table.name] += 1
        return self._greatest[table.name]

    def note(self, table: Table, row: tuple[Stored, ...]) -> None:
        """Note the number of a row that names one."""
        assert table.number_at is not None  # noqa: S101  # as above
        number = row[table.number_at]
        if isinstance(number, int):
            self._greatest[table.name] = max(self._greatest[table.name], number)


def _batches(
    stream: CountedStream, by_source: dict[str, Table], seen: set[str], left: list[LeftOut],
    numbers: _Numbers,
) -> Iterator[tuple[Table, list[tuple[Stored, ...]]]]:  # fmt: skip
    """Yield the rows of a dump in groups of one table."""
    converters: dict[tuple[str, tuple[str, ...]], RowConverter] = {}
    table: Table | None = None
    rows: list[tuple[Stored, ...]] = []
    for row in read_inserts(stream, by_source.keys(), seen):  # type: ignore[arg-type]  # it only reads
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
        name, number = found.name, 0
        if converter.lacks_number:
            if not numbers.knows(found):
                yield table, rows
                rows = []
                numbers.ask(found)
            number = numbers.next(found)
        converted = converter.convert(
            row.values,
            lambda reason, key: left.append(LeftOut(name, reason, key)),  # noqa: B023
            number,
        )
        if converted is not None:
            if not number and numbers.knows(found):
                numbers.note(found, converted)
            rows.append(converted)
    if table is not None:
        yield table, rows


def _finish(
    database: sqlite3.Connection, report: ContentReport, find_script: Finder | None
) -> None:
    """Resolve what an opening zone needs, check all rows, and count them."""
    database.execute("BEGIN")
    for statement in (*_INDEXES, *_SCRIPTS):
        database.execute(statement)
    database.executemany("INSERT INTO set_groups VALUES (?, ?, ?)", _sets(database))
    _note(database, [*dangling_rows(database), *odd_rows(database)], is_read=False)
    if find_script is not None:
        _note(database, list(missing_scripts(database, find_script)), is_read=False)
    database.execute("INSERT INTO checked VALUES (?)", (check_form(),))
    for table, reason, count in database.execute(
        "SELECT name, reason, count(*) FROM left_out GROUP BY name, reason"
    ):
        report.left_out[table, reason] = count
    for name in content_tables():
        (count,) = database.execute(f'SELECT count(*) FROM "{name}"').fetchone()  # noqa: S608
        report.rows[name] = count
    report.empty = [name for name, count in report.rows.items() if not count]
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
