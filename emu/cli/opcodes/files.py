"""The commands of `emu opcodes` for files: import and export."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from emu.cli.common import naming
from emu.cli.eq2emu import live_database
from emu.cli.opcodes.common import (
    effective_rows,
    present_rows,
    print_changes,
    range_rows,
    versions_options,
    warn_of_errors,
    writing,
)
from emu.cli.paths import FilePath
from emu.cli.tables import format_option, printable
from emu.errors import CommandError, FileFormatError
from emu.files import ANYBODY, partial_file
from emu.opcodes.changes import Keep, Plan, key_of, plan_rows
from emu.opcodes.files import (
    OpcodeFormat,
    Placed,
    as_csv,
    as_json,
    as_list,
    as_sql,
    dump_rows,
    read_rows,
    write_database,
)
from emu.opcodes.table import OpcodeTables, VersionRange
from emu.opcodes.text import write_folder
from emu.sqldump import LiveDatabase
from emu.sqldump.live import is_url

MAX_REJECTED = 10
"""Rejected rows that are printed; the others are only counted."""


class OpcodeTableSource(click.Path):
    """A file or folder, `-`, or the URL of a live database."""

    def __init__(self) -> None:
        super().__init__(allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or the open database. Raises `CommandError` for an unusable URL."""
        if isinstance(value, str) and is_url(value):
            return live_database(value)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


@click.command("import")
@click.argument("file", type=OpcodeTableSource())
@click.option("--dry-run", is_flag=True, help="Print what would change and write nothing.")
@click.option(
    "--as",
    "form",
    type=click.Choice([str(one) for one in OpcodeFormat]),
    help="The file's format; recognized by default.",
)
@versions_options
@click.option(
    "--keep",
    type=click.Choice([str(one) for one in Keep]),
    default=str(Keep.ALL),
    show_default=True,
    help="Which existing rows stay that the file does not contain.",
)
@click.option("--source", help="How the numbers are known; by default the file's name.")
@click.option("--strict", is_flag=True, help="Import nothing if a row is invalid.")
@format_option
def import_verb(
    *,
    file: Path | LiveDatabase,
    dry_run: bool,
    form: str | None,
    version: int | None,
    version_range: VersionRange | None,
    keep: str,
    source: str | None,
    strict: bool,
    style: str,
) -> None:
    """Import opcodes: CSV (file or folder), EQ2Emulator SQL dumps, JSON, a list, or SQLite.

    A live database of EQ2Emulator is mysql://USER@HOST/DATABASE (see `emu account import-eq2emu`).

    A list of names and numbers needs a client version, by --version or --range. Gzip is recognized.
    Invalid rows, such as inverted version ranges, are printed and left out. An import is one
    transaction. Repeating it changes nothing.

    Example: emu opcodes import opcodes.sql.gz --dry-run
    """
    if version is not None and version_range is None:
        version_range = VersionRange(version, version)
    name = "standard input" if str(file) == "-" else file.name
    label = source if source is not None else name
    with _progress() as progress:
        rows = _read(file, OpcodeFormat(form) if form else None, version_range, progress)
        # With --strict all rejected rows must be known before the first row is written.
        if dry_run or strict:
            existing = {key_of(row): row for row in present_rows(to_write=True)}
            plan = plan_rows(existing, rows, source=label, keep=Keep(keep))
        if strict and plan.rejected:
            raise CommandError(f"nothing was imported: {_rejected(plan)}")
        if not dry_run:
            with writing() as store:
                written = partial(_written, progress, progress.add_task("writing", total=None))
                plan = store.apply_rows(
                    rows, action="import", source=label, keep=Keep(keep), progress=written
                )
                after = store.rows()
    if dry_run:
        print_changes(plan.changes, style)
    _print_result(plan, dry_run=dry_run)
    if not dry_run:
        warn_of_errors(after)


def _read(
    file: Path | LiveDatabase,
    form: OpcodeFormat | None,
    version_range: VersionRange | None,
    progress: Progress,
) -> list[Placed]:
    """Read the rows of a file, standard input or a live database.

    Raises `FileFormatError` if it has none.
    """
    with naming(file):
        if isinstance(file, LiveDatabase):
            found = dump_rows(file.read_rows({"opcodes"}))
        else:
            source: Path | BinaryIO = sys.stdin.buffer if str(file) == "-" else file
            found = read_rows(source, form=form, version_range=version_range)
        rows = list(progress.track(found, description="reading"))
    if not rows:
        raise FileFormatError(f"{file}: the file has no opcodes")
    return rows


def _written(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=done, total=total)


def _print_result(plan: Plan, *, dry_run: bool) -> None:
    for one in plan.rejected[:MAX_REJECTED]:
        click.echo(printable(f"left out: {one.place}: {one.problem}"), err=True)
    if len(plan.rejected) > MAX_REJECTED:
        click.echo(f"left out: {len(plan.rejected) - MAX_REJECTED} more rows", err=True)
    would = "would be " if dry_run else ""
    click.echo(
        f"{plan.added} rows {would}added, {plan.altered} changed, {plan.removed} removed,"
        f" {plan.unchanged} as they were, {len(plan.rejected)} left out",
        err=dry_run,
    )


def _rejected(plan: Plan) -> str:
    first = plan.rejected[0]
    more = len(plan.rejected) - 1
    return f"{first.place}: {first.problem}" + (f" and {more} more" if more else "")


def _progress() -> Progress:
    """Return a progress bar on standard error; it is shown only on a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@click.command("export")
@click.option(
    "--as",
    "form",
    type=click.Choice([str(one) for one in OpcodeFormat]),
    default="csv",
    show_default=True,
    help="The file's format: sql is a dump for EQ2Emulator, list has name,opcode lines of one"
    " --version, sqlite is a database with the table opcodes.",
)
@versions_options
@click.option(
    "--output",
    type=FilePath(path_type=Path, allow_dash=True),
    default=Path("-"),
    help="A file, `-` for standard output, or a folder for csv with one file per range.",
)
def export_verb(
    *,
    form: str,
    version: int | None,
    version_range: VersionRange | None,
    output: Path,
) -> None:
    """Export all opcodes, those in effect at one client version, or those of exactly one range.

    CSV in a folder is the form of the files under opcodes/.

    Example: emu opcodes export --as sql --output opcodes.sql
    """
    wanted = OpcodeFormat(form)
    rows = present_rows()
    if version_range is not None:
        rows = range_rows(rows, version_range)
    if wanted is OpcodeFormat.LIST:
        chosen = version if version is not None else version_range and version_range.first
        if chosen is None:
            raise click.UsageError("a list needs one client version; name it with --version")
        _write(as_list(OpcodeTables(rows).for_version(chosen)), output)
        return
    if version is not None:
        rows = effective_rows(OpcodeTables(rows), version)
    if (
        wanted is OpcodeFormat.CSV
        and (output.is_dir() or output.suffix == "")
        and str(output) != "-"
    ):
        written = write_folder(rows, output)
        click.echo(f"wrote {len(written)} files to {output}", err=True)
        return
    if wanted is OpcodeFormat.SQLITE:
        if str(output) == "-":
            raise click.UsageError("a database cannot go to standard output; use --output FILE")
        with _whole_file(output) as fresh:
            write_database(rows, fresh)
        return
    makers = {OpcodeFormat.CSV: as_csv, OpcodeFormat.JSON: as_json, OpcodeFormat.SQL: as_sql}
    _write(makers[wanted](rows), output)


def _write(chunks: Iterable[str], output: Path) -> None:
    if str(output) == "-":
        for chunk in chunks:
            sys.stdout.write(chunk)
        return
    with _whole_file(output) as fresh, fresh.open("wb") as file:
        for chunk in chunks:
            file.write(chunk.encode("utf-8"))


@contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path; rename it to `path` when the file is complete."""
    try:
        with partial_file(path, ANYBODY) as fresh:
            yield fresh
            fresh.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror})") from error
