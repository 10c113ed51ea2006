"""Reads and writes opcode rows as files.

The formats are:

* CSV: one version range (in the file name), or with the columns first_version and last_version;
  the columns may have any order, and commas, semicolons or tabs between them
* SQL: a dump of EQ2Emulator's table (`emu.sqldump`); nothing in it is executed
* JSON: as `emu opcodes export --as json` writes it
* SQLite: an exported database, or a server's
* list: names and numbers for one client version

Every format may be compressed by gzip. Readers yield rows with their place in the file. An
unreadable file is a `FileFormatError`; invalid rows are rejected later, by `plan_rows`. The folder
of CSV files under ``opcodes/`` is `emu.opcodes.text`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from emu.database.sqlite import readable_errors
from emu.errors import FileFormatError
from emu.opcodes.store import COLUMNS, KEY, connect, read_stored_rows
from emu.opcodes.table import OpcodeRow, OpcodeTable, VersionRange
from emu.opcodes.text import CSV_COLUMNS, csv_rows, parse_number, range_of, read_folder
from emu.sqldump import InsertRow, read_inserts
from emu.sqldump.source import Source

HEAD = b"SQLite format 3\0"
"""The first bytes of every SQLite file."""


def write_database(rows: Iterable[OpcodeRow], path: Path) -> None:
    """Write rows into the table `opcodes` of a new file. Raises `StoreError`."""
    import sqlite_utils  # noqa: PLC0415  # it takes long, and little needs it

    with readable_errors(path), closing(sqlite_utils.Database(path)) as database:
        table = database.table("opcodes")
        table.create(dict(COLUMNS), pk=KEY, not_null=COLUMNS)
        table.create_index(["name"])
        table.insert_all([tuple(COLUMNS), *(row.cells for row in rows)])


def read_database(path: Path) -> Iterator[tuple[str, OpcodeRow]]:
    """Yield the rows of an exported or a server's database, each with its range as its place.

    Raises `StoreError` if the file has no opcode tables.
    """
    with connect(path) as database, readable_errors(path):
        for row in read_stored_rows(database.connection):
            yield f"{row.range}", row


class OpcodeFormat(StrEnum):
    """The formats of files with opcode rows, by the names that the command line has for them."""

    CSV = "csv"
    SQL = "sql"
    JSON = "json"
    LIST = "list"
    SQLITE = "sqlite"


WIDE_COLUMNS = ("first_version", "last_version", *CSV_COLUMNS)
"""The columns of a CSV file with several ranges."""
DUMP_COLUMNS = ("version_range1", "version_range2", "name", "opcode")
"""The columns that are read of EQ2Emulator's table `opcodes`."""
MAX_TEXT = 64 * 1024 * 1024
"""Bytes of a CSV, JSON or list file after decompression."""

_LIST_LINE = re.compile(r"\s*[\"'`]?(\w+)[\"'`]?\s*(?:[,;=\t ]|:)\s*([0-9]+|0x[0-9A-Fa-f]+)[\s,;]*")
_CSV_HEAD = re.compile(r"[\w\",;\t ]+")
_LIST_HEAD = re.compile(r"\s*name\s*[,;\t ]\s*(opcode|number|value)\s*", re.IGNORECASE)

Placed = tuple[str, OpcodeRow]
"""The place of a row in its file, and the row."""


def read_rows(
    file: Path | BinaryIO,
    *,
    form: OpcodeFormat | None = None,
    version_range: VersionRange | None = None,
) -> Iterator[Placed]:
    """Yield the rows of a file, a folder of CSV files, or a stream.

    Without `form` the format is recognized by the first bytes. A list, and a CSV file without
    version columns, needs `version_range` or a file name with the range. Raises `FileFormatError`.
    """
    if not isinstance(file, Path):
        yield from _read(file, form, version_range, None)
    elif file.is_dir():
        for row in read_folder(file):
            yield f"{row.range}", row
    else:
        try:
            with file.open("rb") as stream:
                yield from _read(stream, form, version_range, file)
        except OSError as error:
            raise FileFormatError(f"{file}: cannot be read ({error.strerror})") from error


def _read(
    stream: BinaryIO,
    form: OpcodeFormat | None,
    version_range: VersionRange | None,
    path: Path | None,
) -> Iterator[Placed]:
    source = Source(stream)
    form = form or guess_format(source.peek(4096))
    if form is OpcodeFormat.SQLITE:
        # SQLite needs a file that it can open and seek in.
        if path is None:
            raise FileFormatError("an SQLite database cannot be read from a stream; name its file")
        yield from read_database(path)
        return
    if form is OpcodeFormat.SQL:
        yield from dump_rows(read_inserts(source, {"opcodes"}))
        return
    text = _text(source)
    if form is OpcodeFormat.JSON:
        yield from _json_rows(text)
    elif form is OpcodeFormat.CSV:
        yield from _csv_rows(text, version_range, path)
    else:
        yield from _list_rows(text, _needed(version_range))


def guess_format(head: bytes) -> OpcodeFormat:
    """Return the most likely format of a file with these first bytes."""
    if head.startswith(HEAD):
        return OpcodeFormat.SQLITE
    text = head.removeprefix(BOM_UTF8).decode("latin-1").lstrip(" \t\r\n")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if text[:1] in ("[", "{"):
        return OpcodeFormat.JSON
    if _LIST_HEAD.fullmatch(first) or _LIST_LINE.fullmatch(first):
        return OpcodeFormat.LIST
    # A statement of SQL has other signs, too.
    if _CSV_HEAD.fullmatch(first) and {"name", "opcode"} <= set(re.findall(r"\w+", first.lower())):
        return OpcodeFormat.CSV
    # A dump may begin with any comment or statement, so it is the guess for everything else.
    return OpcodeFormat.SQL


def _text(source: Source) -> str:
    """Read all of a source as UTF-8 text."""
    parts: list[bytes] = []
    size = 0
    while source.peek(1):
        parts.append(source.buffer[source.pos :])
        size += len(parts[-1])
        source.pos = len(source.buffer)
        if size > MAX_TEXT:
            raise source.error(f"the file is larger than {MAX_TEXT} bytes; split it")
    try:
        # Spreadsheets mark UTF-8 at its beginning.
        return b"".join(parts).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError("the file is not UTF-8 text") from error


def _needed(version_range: VersionRange | None) -> VersionRange:
    if version_range is None:
        raise FileFormatError(
            "the file has no client versions; name them with --version or --range"
        )
    return version_range


def dump_rows(inserts: Iterator[InsertRow]) -> Iterator[Placed]:
    """Yield the rows of EQ2Emulator's table `opcodes`. Raises `FileFormatError` without any."""
    found = False
    for insert in inserts:
        found = True
        place = insert.place
        if insert.columns is None:
            raise FileFormatError(
                "the columns of the table opcodes are unknown; dump its definition too", place=place
            )
        cells = {
            name.lower(): value for name, value in zip(insert.columns, insert.values, strict=True)
        }
        missing = [name for name in DUMP_COLUMNS if name not in cells]
        if missing:
            raise FileFormatError(
                f"the table opcodes has no column {' or '.join(missing)}", place=place
            )
        yield place, _row([cells[column] for column in DUMP_COLUMNS], place)
    if not found:
        raise FileFormatError("the source has no rows of a table `opcodes`")


def _row(cells: Sequence[object], place: str) -> OpcodeRow:
    first, last, name, opcode = cells
    if not isinstance(name, str):
        raise FileFormatError(f"{str(name)[:40]!r} is not an opcode name", place=place)
    first, last, opcode = (_integer(cell, place) for cell in (first, last, opcode))
    return OpcodeRow(first, last, name.strip(), opcode)


def _integer(value: object, place: str) -> int:
    # Some dumps have numbers in quotes.
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        # 20 digits exceed every limit; `row_problem` then refuses the number.
        return int(value[:20])
    # A bool is an int in Python, but true is no number in a file.
    if isinstance(value, bool) or not isinstance(value, int):
        raise FileFormatError(f"{str(value)[:40]!r} is not a whole number", place=place)
    return value


def _csv_rows(text: str, version_range: VersionRange | None, path: Path | None) -> Iterator[Placed]:
    """Yield the rows of a CSV text, by the names of its columns."""
    # Spreadsheets of many countries write semicolons, and tabs are pasted.
    mark = next((one for one in ",;\t" if one in text.partition("\n")[0]), ",")
    placed = csv_rows(text, mark)
    _, head = next(placed, ("", []))
    columns = [cell.strip().lower() for cell in head]
    given = set(columns)
    versions = len(given & {"first_version", "last_version"})
    if (
        not {"name", "opcode"} <= given <= set(WIDE_COLUMNS)
        or len(given) < len(columns)
        or versions == 1
    ):
        raise FileFormatError(
            f"expected the columns {','.join(WIDE_COLUMNS)}; only name and opcode are needed",
            place="line 1",
        )
    named: VersionRange | None = None
    if not versions:
        named = _needed(version_range or (range_of(path) if path is not None else None))
    for place, cells in placed:
        row = dict(zip(columns, cells, strict=True))
        first, last = named or (
            _integer(row[one], place) for one in ("first_version", "last_version")
        )
        number = parse_number(row["opcode"], place)
        texts = row.get("source"), row.get("note")
        yield place, OpcodeRow(first, last, row["name"].strip(), number, *texts)


def _json_rows(text: str) -> Iterator[Placed]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"not JSON ({error})") from error
    if not isinstance(data, list):
        raise FileFormatError(f"expected a list of objects with {', '.join(WIDE_COLUMNS)}")
    for index, item in enumerate(data, 1):
        place = f"item {index}"
        if not isinstance(item, dict) or not set(WIDE_COLUMNS[:4]) <= set(item) <= set(
            WIDE_COLUMNS
        ):
            raise FileFormatError(
                f"expected an object with {', '.join(WIDE_COLUMNS[:4])}, optionally source and"
                " note",
                place=place,
            )
        texts = [item.get(column) for column in ("source", "note")]
        if not all(one is None or isinstance(one, str) for one in texts):
            raise FileFormatError("source and note must be text", place=place)
        yield (
            place,
            _row([item[column] for column in WIDE_COLUMNS[:4]], place)._replace(
                source=texts[0], note=texts[1]
            ),
        )


def _list_rows(text: str, version_range: VersionRange) -> Iterator[Placed]:
    for number, line in enumerate(text.splitlines(), 1):
        place = f"line {number}"
        # A list may have remarks behind "#"; no opcode name contains that sign.
        bare = line.partition("#")[0]
        if not bare.strip() or (number == 1 and _LIST_HEAD.fullmatch(bare)):
            continue
        match = _LIST_LINE.fullmatch(bare)
        if match is None:
            raise FileFormatError(f"expected a name and a number, found {line[:40]!r}", place=place)
        yield place, OpcodeRow(*version_range, match[1], parse_number(match[2], place))


# MySQL limits the size of a statement, so one statement cannot hold all rows.
ROWS_PER_INSERT = 500

_DUMP_HEAD = """\
-- Opcode tables for EQ2Emulator, exported by emu
/*!40101 SET NAMES utf8mb4 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;

DROP TABLE IF EXISTS `opcodes`;
CREATE TABLE `opcodes` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `version_range1` int(10) unsigned NOT NULL DEFAULT 0,
  `version_range2` int(10) unsigned NOT NULL DEFAULT 0,
  `name` varchar(255) NOT NULL DEFAULT '',
  `opcode` smallint(5) unsigned NOT NULL DEFAULT 0,
  `table_data_version` smallint(5) unsigned NOT NULL DEFAULT 1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `newindex` (`version_range1`,`name`,`version_range2`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1;

"""
_INSERT = (
    "INSERT INTO `opcodes` (`id`, `version_range1`, `version_range2`, `name`, `opcode`,"
    " `table_data_version`) VALUES\n"
)
_DUMP_TAIL = "/*!40101 SET SQL_MODE=IFNULL(@OLD_SQL_MODE, '') */;\n"


def as_csv(rows: Iterable[OpcodeRow]) -> Iterator[str]:
    """Yield a CSV file with the version range in each row."""
    yield _line(WIDE_COLUMNS)
    for row in rows:
        yield _line(row.cells)


def as_list(table: OpcodeTable) -> Iterator[str]:
    """Yield the table of one client version as ``name,opcode`` lines."""
    yield "name,opcode\n"
    for number, name in sorted(table.names.items()):
        yield f"{name},{number}\n"


def as_json(rows: Iterable[OpcodeRow]) -> Iterator[str]:
    """Yield a JSON list with one object per line."""
    start = "[\n"
    for row in rows:
        cells = dict(zip(WIDE_COLUMNS, row.cells, strict=True))
        yield start + json.dumps(cells, ensure_ascii=False)
        start = ",\n"
    yield "\n]\n" if start == ",\n" else "[]\n"


def as_sql(rows: Iterable[OpcodeRow]) -> Iterator[str]:
    """Yield a dump for EQ2Emulator's MySQL or MariaDB; it replaces the whole table.

    EQ2Emulator's table has no columns for source and note.
    """
    # Names are letters, digits and underscores (`name_problem`), so they need no escapes.
    yield _DUMP_HEAD
    # The last row ends with a semicolon and all others with a comma, so each row waits for the
    # next.
    waiting = ""
    for number, row in enumerate(rows, 1):
        if (number - 1) % ROWS_PER_INSERT == 0:
            yield f"{waiting};\n{_INSERT}" if waiting else _INSERT
        else:
            yield f"{waiting},\n"
        waiting = f"({number},{row.first},{row.last},'{row.name}',{row.opcode},1)"
    yield f"{waiting};\n{_DUMP_TAIL}" if waiting else _DUMP_TAIL


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()
