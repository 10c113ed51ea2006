"""The verbs of `emu opcodes` that work on files: import and export."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from emu.cli.common import naming
from emu.cli.opcodes.common import (
    effective_rows,
    present_rows,
    print_changes,
    range_rows,
    versions_options,
    warn_of_errors,
    writing,
)
from emu.cli.tables import format_option, printable
from emu.errors import CommandError, FileFormatError
from emu.opcodes.changes import KEEP_ALL, KEEP_NOTHING, KEEP_OTHER_RANGES, Plan, key_of, plan_rows
from emu.opcodes.files import (
    FORMATS,
    Placed,
    as_csv,
    as_json,
    as_list,
    as_sql,
    read_rows,
    write_database,
)
from emu.opcodes.table import OpcodeTables, VersionRange
from emu.opcodes.text import write_folder
from emu.partial import ANYBODY, partial_file

MAX_REJECTED = 10
"""Rejected rows that are told one by one."""


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--dry-run", is_flag=True, help="Print what would change and write nothing.")
@click.option(
    "--as",
    "form",
    type=click.Choice(FORMATS),
    help="The file's format; the default is to find out.",
)
@versions_options
@click.option(
    "--keep",
    type=click.Choice([KEEP_ALL, KEEP_OTHER_RANGES, KEEP_NOTHING]),
    default=KEEP_ALL,
    show_default=True,
    help="Which rows that the file does not hold stay.",
)
@click.option("--source", help="Where the numbers are known from; the default is the file's name.")
@click.option("--strict", is_flag=True, help="Import nothing when a row cannot be used.")
@format_option
def import_verb(
    *,
    file: Path,
    dry_run: bool,
    form: str | None,
    version: int | None,
    version_range: VersionRange | None,
    keep: str,
    source: str | None,
    strict: bool,
    style: str,
) -> None:
    """Import opcodes: our CSV (file or folder), EQ2Emulator SQL dumps, JSON, a list, or SQLite.

    A list of names and numbers is for the client version that --version or --range names. Gzip is
    recognized. Rows that cannot be used, such as inverted version ranges, are told and left out.
    An import is one transaction, and doing it again changes nothing.

    Example: emu opcodes import opcodes.sql.gz --dry-run
    """
    if version is not None and version_range is None:
        version_range = VersionRange(version, version)
    name = "standard input" if str(file) == "-" else file.name
    label = source if source is not None else name
    with _progress() as progress:
        rows = _read(file, form, version_range, progress)
        if dry_run or strict:
            existing = {key_of(row): row for row in present_rows(to_write=True)}
            plan = plan_rows(existing, rows, source=label, keep=keep)
        if strict and plan.rejected:
            raise CommandError(f"nothing was imported: {_rejected(plan)}")
        if not dry_run:
            with writing() as store:
                told = partial(_written, progress, progress.add_task("writing", total=None))
                plan = store.put(rows, action="import", source=label, keep=keep, progress=told)
                after = store.rows()
    if dry_run:
        print_changes(plan.changes, style)
    _tell(plan, dry_run=dry_run)
    if not dry_run:
        warn_of_errors(after)


def _read(
    file: Path, form: str | None, version_range: VersionRange | None, progress: Progress
) -> list[Placed]:
    """Read the rows of a file or of standard input. Raises `FileFormatError` when it has none."""
    source: Path | BinaryIO = sys.stdin.buffer if str(file) == "-" else file
    with naming(file):
        found = read_rows(source, form=form, version_range=version_range)
        rows = list(progress.track(found, description="reading"))
    if not rows:
        raise FileFormatError(f"{file}: holds no opcodes")
    return rows


def _written(progress: Progress, task: TaskID, done: int, total: int) -> None:
    progress.update(task, completed=done, total=total)


def _tell(plan: Plan, *, dry_run: bool) -> None:
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
    """Return a bar on standard error that shows only on a terminal."""
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
    type=click.Choice(FORMATS),
    default="csv",
    show_default=True,
    help="The file's format; sql is a dump for EQ2Emulator, list is name,opcode lines of one"
    " --version, sqlite a database with the table opcodes.",
)
@versions_options
@click.option(
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    default=Path("-"),
    help="A file, `-` for standard output, or for csv a folder: one file per range.",
)
def export_verb(
    *,
    form: str,
    version: int | None,
    version_range: VersionRange | None,
    output: Path,
) -> None:
    """Export all opcodes, those in effect at one client version, or exactly one range.

    CSV into a folder is the form of the text under opcodes/.

    Example: emu opcodes export --as sql --output opcodes.sql
    """
    rows = present_rows()
    if version_range is not None:
        rows = range_rows(rows, version_range)
    if form == "list":
        chosen = version if version is not None else version_range and version_range.first
        if chosen is None:
            raise click.UsageError("a list is for one client version; name it with --version")
        _write(as_list(OpcodeTables(rows).for_version(chosen)), output)
        return
    if version is not None:
        rows = effective_rows(OpcodeTables(rows), version)
    if form == "csv" and (output.is_dir() or output.suffix == "") and str(output) != "-":
        written = write_folder(rows, output)
        click.echo(f"wrote {len(written)} files to {output}", err=True)
        return
    if form == "sqlite":
        if str(output) == "-":
            raise click.UsageError("a database is a file; name it with --output")
        with _whole_file(output) as fresh:
            write_database(rows, fresh)
        return
    makers = {"csv": as_csv, "json": as_json, "sql": as_sql}
    _write(makers[form](rows), output)


def _write(parts: Iterable[str], output: Path) -> None:
    if str(output) == "-":
        for part in parts:
            sys.stdout.write(part)
        return
    with _whole_file(output) as fresh, fresh.open("wb") as file:
        for part in parts:
            file.write(part.encode("utf-8"))


@contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """Have a file written under another name and give it its own when it is complete."""
    try:
        with partial_file(path, ANYBODY) as fresh:
            yield fresh
            fresh.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror})") from error
