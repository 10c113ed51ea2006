"""Opcode tables as text: one CSV file per client version range, and the shipped tables.

The file ``0540-0546.csv`` has the range 540-546. Its columns are name, opcode, source and note, its
rows are ordered by number, and it is UTF-8 with plain line feeds. So writing rows that were read
gives the same bytes, and version control shows real changes only.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from sys import intern

from emu.errors import FileFormatError
from emu.files import ANYBODY, opcodes_folder, partial_file
from emu.opcodes.table import OpcodeRow, OpcodeTables, VersionRange, range_problem, row_problem

CSV_COLUMNS = ("name", "opcode", "source", "note")
MAX_FILE = 4 * 1024 * 1024
"""The most bytes of one file; a real file has less than 50,000."""

_FILE_NAME = re.compile(r"([0-9]{1,10})-([0-9]{1,10})\.csv")
MAX_DIGITS = 9
_NUMBER = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}|0x[0-9A-Fa-f]{{1,8}}")


def file_name(version_range: VersionRange) -> str:
    """Return the file name of a range; four digits or more keep the files in order."""
    return f"{version_range.first:04}-{version_range.last:04}.csv"


def range_of(path: Path) -> VersionRange:
    """Return the version range in a file's name. Raises `FileFormatError`."""
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise FileFormatError(
            f"{path.name}: the name has no version range; rename it like 0540-0546.csv"
        )
    first, last = int(match[1]), int(match[2])
    problem = range_problem(first, last)
    if problem:
        raise FileFormatError(f"{path.name}: {problem}")
    return VersionRange(first, last)


def read_folder(folder: Path) -> list[OpcodeRow]:
    """Read every CSV file of a folder. Raises `FileFormatError` with file and line."""
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        raise FileFormatError(f"{folder}: the folder has no opcode tables (*.csv)")
    rows: list[OpcodeRow] = []
    for path in sorted(paths, key=range_of):
        rows += read_file(path)
    return rows


def read_file(path: Path) -> list[OpcodeRow]:
    """Read one file of the folder. Raises `FileFormatError` with file and line."""
    version_range = range_of(path)
    try:
        # The size is checked before reading: the folder may hold any large file with that ending.
        if path.stat().st_size > MAX_FILE:
            raise FileFormatError(f"{path.name}: larger than {MAX_FILE} bytes; not an opcode table")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path.name}: not UTF-8 text; convert it") from error
    try:
        return list(parse_range(text, version_range))
    except FileFormatError as error:
        raise FileFormatError(f"{path.name}, {error}") from error


def parse_range(text: str, version_range: VersionRange) -> Iterator[OpcodeRow]:
    """Yield the rows of one range's text. Raises `FileFormatError` with the line."""
    seen: set[str] = set()
    first, last = version_range
    placed = csv_rows(text)
    if next(placed, ("", []))[1] != list(CSV_COLUMNS):
        raise FileFormatError(f"expected the columns {','.join(CSV_COLUMNS)}", place="line 1")
    for place, cells in placed:
        # Interned, because the same few hundred texts stand in all the ranges.
        name, number, source, note = map(intern, cells)
        row = OpcodeRow(first, last, name, parse_number(number, place), source, note)
        problem = row_problem(row)
        if problem is None and name in seen:
            problem = f"{name} occurs twice in this range; remove one row"
        if problem:
            raise FileFormatError(problem, place=place)
        seen.add(name)
        yield row


def csv_rows(text: str, mark: str = ",") -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a CSV text from its first one on, each behind its place ("line 7").

    The rows behind the first one have as many cells as that; empty lines are left out. `mark`
    separates the cells. Raises `FileFormatError` with the line.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    length = 0
    try:
        for cells in reader:
            place = f"line {reader.line_num}"
            length = length or len(cells)
            if cells and len(cells) != length:
                raise FileFormatError(f"expected {length} cells, found {len(cells)}", place=place)
            if cells:
                yield place, cells
    except csv.Error as error:
        raise FileFormatError(f"not CSV ({error})", place=f"line {reader.line_num}") from error


def parse_number(text: str, place: str | None = None) -> int:
    """Parse an opcode number, decimal or ``0x`` and hex digits. Raises `FileFormatError`."""
    if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
        return int(text)
    if not _NUMBER.fullmatch(text.strip()):
        raise FileFormatError(f"{text[:40]!r} is not an opcode number", place=place)
    # Base 0 would refuse decimal numbers with leading zeros.
    return int(text, 0 if text.strip().startswith("0x") else 10)


def format_range(rows: Iterable[OpcodeRow]) -> str:
    """Return the text of one range's rows."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    # A fixed order, so that version control shows only rows that really changed.
    for row in sorted(rows, key=lambda row: (row.opcode, row.name)):
        writer.writerow(row.cells[2:])
    return out.getvalue()


def write_folder(rows: Iterable[OpcodeRow], folder: Path) -> list[Path]:
    """Write one file per range into a folder; return the written paths."""
    by_range: dict[VersionRange, list[OpcodeRow]] = {}
    for row in rows:
        by_range.setdefault(row.range, []).append(row)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for version_range in sorted(by_range):
            path = folder / file_name(version_range)
            # The file is replaced as a whole, so a reader never sees half a table.
            with partial_file(path, ANYBODY) as fresh:
                fresh.write_bytes(format_range(by_range[version_range]).encode("utf-8"))
                fresh.replace(path)
            written.append(path)
    except OSError as error:
        raise FileFormatError(f"{folder}: cannot be written ({error.strerror})") from error
    return written


@cache
def shipped_rows() -> tuple[OpcodeRow, ...]:
    """Return every shipped row. Raises `FileFormatError` if the shipped text is damaged."""
    return tuple(read_folder(opcodes_folder()))


@cache
def shipped_tables() -> OpcodeTables:
    """Return the shipped tables; always the same object."""
    return OpcodeTables(shipped_rows())


@lru_cache(maxsize=2)
def fingerprint(rows: tuple[OpcodeRow, ...]) -> str:
    """Return a SHA-256 of rows that is independent of their order."""
    # Sorted by range and name, so source and note, which may be None, are never compared.
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()
