"""Shared by the commands of `emu opcodes`: the database, version options, and printing of rows."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from emu.cli.common import given_database, load_config, naming, print_database, together
from emu.cli.tables import print_rows
from emu.database.sqlite import readable_errors
from emu.errors import CommandError
from emu.opcodes.changes import OpcodeRowChange
from emu.opcodes.checks import check, errors
from emu.opcodes.files import read_rows
from emu.opcodes.history import HistoryEntry
from emu.opcodes.store import OpcodeStore, connect, schema
from emu.opcodes.table import MAX_NUMBER, OpcodeRow, OpcodeTables, VersionRange, range_problem
from emu.opcodes.text import shipped_rows, shipped_tables

COLUMNS = ("first_version", "last_version", "opcode", "name", "source", "note")
CHANGES = ("change", "first_version", "last_version", "name", "old", "new")
HISTORY = ("change", "at", "who", "action", "range", "name", "old", "new")

_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


class RangeType(click.ParamType[VersionRange]):
    """A version range on the command line: 540-546, or one version."""

    name = "range"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> VersionRange:
        """Parse a range; fail as wrong usage."""
        if isinstance(value, VersionRange):
            return value
        match = _RANGE.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not a version range like 540-546", param, ctx)
        found = VersionRange(int(match[1]), int(match[2] or match[1]))
        problem = range_problem(*found)
        if problem:
            self.fail(problem, param, ctx)
        return found


class NumberType(click.ParamType[int]):
    """An opcode on the command line, decimal or 0x and hex digits."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a number; fail as wrong usage."""
        try:
            number = int(str(value), 0)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 <= number <= MAX_NUMBER:
            self.fail(f"{value} is not between 0 and {MAX_NUMBER}", param, ctx)
        return number


version_option = click.option(
    "--version", type=click.IntRange(0, 0xFFFFFFFF), help="A client data version, for instance 546."
)
range_option = click.option(
    "--range", "version_range", type=RangeType(), help="Exactly this version range, like 540-546."
)
versions_options = together(version_option, range_option)


def database_path() -> Path:
    """Return the path of the configured database, or of the one that --db names."""
    return load_config().database.path


def who() -> str:
    """Return the operator's name for the history."""
    try:
        # With sudo the history must name the person and not root.
        return os.environ.get("SUDO_USER") or getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


@contextmanager
def writing() -> Iterator[OpcodeStore]:
    """Open the database for a change, create it if there is none, and print its path at the end."""
    with OpcodeStore.ensure(database_path(), who=who()) as store:
        yield store
        print_database(store.path)


def present_rows(*, to_write: bool = False) -> list[OpcodeRow]:
    """Return all rows of the database; the shipped rows if there is no database yet.

    Reading creates and changes no file. A file that --db names must exist unless `to_write`.
    """
    path = database_path()
    there = path.exists()
    if there and _has_tables(path):
        with OpcodeStore.open_to_read(path) as store:
            return store.rows()
    if not to_write and given_database() is not None:
        what = "the database has no opcode tables" if there else "there is no such database"
        raise CommandError(f"{path}: {what}; `emu opcodes import` creates them")
    return list(shipped_rows())


def present_tables() -> OpcodeTables:
    """Return the tables of the database; the shipped tables if there is no database yet."""
    return OpcodeTables(present_rows())


def present_history(**chosen: Any) -> list[HistoryEntry]:
    """Return the newest entries of the history; none if there is no database yet."""
    path = database_path()
    if not path.exists() or not _has_tables(path):
        return []
    with OpcodeStore.open_to_read(path) as store:
        return store.history(**chosen)


def file_rows(path: Path) -> list[OpcodeRow]:
    """Return the valid rows of a database, a dump or any other file of opcodes."""
    if is_database(path):
        with OpcodeStore.open_to_read(path) as store:
            return store.rows()
    with naming(path):
        return [row for _, row in read_rows(path) if row.first <= row.last]


def is_database(path: Path) -> bool:
    """Return whether a file is an SQLite database, by its first bytes."""
    if not path.is_file():
        return False
    with readable_errors(path), path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _has_tables(path: Path) -> bool:
    with connect(path) as database, readable_errors(path):
        return schema().version(database.connection) > 0


def chosen_range(
    tables: OpcodeTables, version: int | None, version_range: VersionRange | None
) -> VersionRange:
    """Return the range of --range, or the one that applies at --version.

    Raises `UnknownVersion`, and `click.UsageError` unless exactly one option is given.
    """
    if (version is None) == (version_range is None):
        raise click.UsageError("name the client versions with either --version or --range")
    if version_range is not None:
        return version_range
    assert version is not None  # noqa: S101
    return tables.for_version(version).range


def range_rows(rows: Iterable[OpcodeRow], version_range: VersionRange) -> list[OpcodeRow]:
    """Return the rows of exactly one range. Raises `CommandError` if there are none."""
    found = [row for row in rows if row.range == version_range]
    if not found:
        raise CommandError(f"there is no range {version_range}; see `emu opcodes versions`")
    return found


def effective_rows(tables: OpcodeTables, version: int) -> list[OpcodeRow]:
    """Return the rows in effect at one version, ordered by number."""
    numbers = tables.for_version(version).numbers
    # Narrow ranges come first, so `setdefault` keeps the row that wins.
    found: dict[str, OpcodeRow] = {}
    for version_range in tables.covering(version):
        for row in tables.rows(version_range):
            if numbers.get(row.name) == row.opcode:
                found.setdefault(row.name, row)
    return sorted(found.values(), key=lambda row: (row.opcode, row.name))


def print_opcodes(rows: Iterable[OpcodeRow], style: str) -> None:
    """Print opcode rows."""
    shown = [
        {"first_version": row.first, "last_version": row.last, **row._asdict()} for row in rows
    ]
    print_rows(shown, style, COLUMNS, least=("note", "source", "last_version", "first_version"))


def print_history(entries: Iterable[HistoryEntry], style: str) -> None:
    """Print entries of the history."""
    shown = []
    for entry in entries:
        action = entry.action if entry.undoes is None else f"{entry.action} of {entry.undoes}"
        cells = (entry.change, entry.at, entry.who, action, str(entry.row.range), entry.row.name)
        shown.append(dict(zip(HISTORY, (*cells, *_numbers(entry)), strict=True)))
    print_rows(shown, style, HISTORY, least=("at", "who", "action"))


def print_changes(changes: Iterable[OpcodeRowChange], style: str) -> None:
    """Print changes of rows, made or planned."""
    shown = []
    for change in changes:
        kind = "add" if change.old is None else "remove" if change.new is None else "change"
        cells = (kind, change.row.first, change.row.last, change.row.name)
        shown.append(dict(zip(CHANGES, (*cells, *_numbers(change)), strict=True)))
    print_rows(shown, style, CHANGES)


def _numbers(change: OpcodeRowChange | HistoryEntry) -> tuple[int | None, int | None]:
    """Return the number before and after."""
    old, new = (None if one is None else one.opcode for one in (change.old, change.new))
    return old, new


def warn_of_errors(rows: Iterable[OpcodeRow]) -> None:
    """Print on standard error why a running server would refuse these rows."""
    for finding in errors(check(list(rows), shipped=shipped_tables())):
        click.echo(
            f"warning: a server refuses these tables: {finding.range} {finding.message}"
            " (`emu opcodes undo` reverts the change)",
            err=True,
        )
