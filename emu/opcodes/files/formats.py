"""The file formats of opcode rows: which one a file is in, and how each is read.

* Our CSV: per version range (the file name tells it), or with first_version and last_version.
* EQ2Emulator's SQL dump, see `emu.sqldump`; nothing in it is executed.
* JSON as `emu opcodes export --as json` writes it.
* An SQLite database: an exported one, or that of a server.
* A plain list of names and numbers for one client version.

Any of them may be packed with gzip. Reading gives rows with their place in the file; rows that do
not make sense are the plan's business, files that cannot be read are a `FileFormatError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from emu.errors import FileFormatError
from emu.opcodes.files.database import HEAD, read_database
from emu.opcodes.files.text import (
    COLUMNS,
    csv_rows,
    parse_number,
    parse_range,
    range_of,
    read_folder,
)
from emu.opcodes.rows import OpcodeRow, VersionRange
from emu.sqldump import InsertRow, read_inserts
from emu.sqldump.source import Source

FORMATS = ("csv", "sql", "json", "list", "sqlite")
WIDE_COLUMNS = ("first_version", "last_version", *COLUMNS)
"""Columns of a CSV file with many ranges."""
DUMP_COLUMNS = ("version_range1", "version_range2", "name", "opcode")
"""Columns of EQ2Emulator's table `opcodes` that are read."""
MAX_TEXT = 64 * 1024 * 1024
"""Bytes of a CSV, JSON or list file after inflating."""

_LIST_LINE = re.compile(r"\s*[\"'`]?(\w+)[\"'`]?\s*(?:[,;=\t ]|:)\s*([0-9]+|0x[0-9A-Fa-f]+)[\s,;]*")
_LIST_HEAD = re.compile(r"\s*name\s*[,;\t ]\s*(opcode|number|value)\s*", re.IGNORECASE)

Placed = tuple[str, OpcodeRow]
"""Where in its file a row stands, and the row."""


def read_rows(
    file: Path | BinaryIO, *, form: str | None = None, version_range: VersionRange | None = None
) -> Iterator[Placed]:
    """Yield the rows of a file, a folder of our CSV files, or a stream.

    `form` is one of `FORMATS`, or None to find out. A list, and a CSV file without version columns,
    is for `version_range` when its file name does not tell. Raises `FileFormatError`.
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
    stream: BinaryIO, form: str | None, version_range: VersionRange | None, path: Path | None
) -> Iterator[Placed]:
    source = Source(stream)
    form = form or guess_format(source.peek(4096))
    if form == "sqlite":
        if path is None:
            raise FileFormatError("an SQLite database is read from its file, not from a stream")
        yield from read_database(path)
        return
    if form == "sql":
        yield from _dump_rows(read_inserts(source, {"opcodes"}))
        return
    text = _text(source)
    if form == "json":
        yield from _json_rows(text)
    elif form == "csv" and text.startswith("first_version"):
        yield from _csv_rows(text)
    elif form == "csv":
        named = version_range or (range_of(path) if path is not None else None)
        for number, row in enumerate(parse_range(text, _needed(named)), 2):
            yield f"line {number}", row
    else:
        yield from _list_rows(text, _needed(version_range))


def guess_format(head: bytes) -> str:
    """Return the format that the first bytes of a file look like."""
    if head.startswith(HEAD):
        return "sqlite"
    text = head.decode("latin-1").lstrip("\ufeff \t\r\n")
    first = next((line for line in text.splitlines() if line.strip()), "")
    if text[:1] in ("[", "{"):
        return "json"
    cells = [cell.strip() for cell in first.split(",")]
    if cells == list(WIDE_COLUMNS) or cells == list(COLUMNS):
        return "csv"
    if _LIST_HEAD.fullmatch(first) or _LIST_LINE.fullmatch(first):
        return "list"
    return "sql"


def _text(source: Source) -> str:
    """Read all of a source as UTF-8 text."""
    parts: list[bytes] = []
    size = 0
    while source.peek(1):
        parts.append(source.buffer[source.pos :])
        size += len(parts[-1])
        source.pos = len(source.buffer)
        if size > MAX_TEXT:
            raise source.error(f"the file is larger than {MAX_TEXT} bytes")
    try:
        return b"".join(parts).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError("the file is not UTF-8 text") from error


def _needed(version_range: VersionRange | None) -> VersionRange:
    if version_range is None:
        raise FileFormatError(
            "the file does not say which client versions it is for; name them with --version"
        )
    return version_range


def _dump_rows(inserts: Iterator[InsertRow]) -> Iterator[Placed]:
    """Turn rows of EQ2Emulator's table `opcodes` into ours."""
    found = False
    for insert in inserts:
        found = True
        place = f"line {insert.line}"
        if insert.columns is None:
            raise FileFormatError("the table opcodes comes without its columns", place=place)
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
        raise FileFormatError("the dump has no rows of a table `opcodes`")


def _row(cells: Sequence[object], place: str) -> OpcodeRow:
    first, last, name, opcode = cells
    if not isinstance(name, str):
        raise FileFormatError(f"{str(name)[:40]!r} is not an opcode name", place=place)
    first, last, opcode = (_integer(cell, place) for cell in (first, last, opcode))
    return OpcodeRow(first, last, name.strip(), opcode)


def _integer(value: object, place: str) -> int:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value[:20])
    if isinstance(value, bool) or not isinstance(value, int):
        raise FileFormatError(f"{str(value)[:40]!r} is not a whole number", place=place)
    return value


def _csv_rows(text: str) -> Iterator[Placed]:
    for place, (first, last, name, opcode, source, note) in csv_rows(text, WIDE_COLUMNS):
        number = parse_number(opcode, place)
        versions = _integer(first, place), _integer(last, place)
        yield place, OpcodeRow(*versions, name, number, source, note)


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
                f"expected an object with {', '.join(WIDE_COLUMNS[:4])}, and perhaps source and"
                " note",
                place=place,
            )
        texts = [item.get(column) for column in ("source", "note")]
        if not all(one is None or isinstance(one, str) for one in texts):
            raise FileFormatError("source and note are text", place=place)
        yield (
            place,
            _row([item[column] for column in WIDE_COLUMNS[:4]], place)._replace(
                source=texts[0], note=texts[1]
            ),
        )


def _list_rows(text: str, version_range: VersionRange) -> Iterator[Placed]:
    for number, line in enumerate(text.splitlines(), 1):
        place = f"line {number}"
        bare = line.partition("#")[0]
        if not bare.strip() or (number == 1 and _LIST_HEAD.fullmatch(bare)):
            continue
        match = _LIST_LINE.fullmatch(bare)
        if match is None:
            raise FileFormatError(f"expected a name and a number, found {line[:40]!r}", place=place)
        yield place, OpcodeRow(*version_range, match[1], parse_number(match[2], place))
