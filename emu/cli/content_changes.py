"""`emu content diff`, and the same sums for an import that only tries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from emu.cli.paths import FilePath
from emu.cli.tables import Row, format_option, print_rows
from emu.content.difference import ChangeSum, RowChange, changes, summary
from emu.content.file import ContentFile
from emu.content.tables import content_tables
from emu.texts import counted

MOST_COLUMNS = 4
"""Columns that one line of sums names."""


def print_changes(old: Path, new: Path, style: str) -> None:
    """Print the sums of what differs between two content files, by table and zone."""
    sums = summary(changes(old, new))
    with ContentFile(new) as file:
        names = {row["id"]: row["name"] for row in file.zones()}
    rows: list[Row] = [
        {
            "table": table,
            "zone": names.get(zone, str(zone)) if zone else "",
            "new": one.rows["new"], "gone": one.rows["gone"], "changed": one.rows["changed"],
            "columns": _columns(one),
        }
        for (table, zone), one in sorted(sums.items())
    ]  # fmt: skip
    print_rows(rows, style, ("table", "zone", "new", "gone", "changed", "columns"))
    total = sum(one.rows.total() for one in sums.values())
    click.echo(f"{counted(total, 'row')} of {counted(len(sums), 'table')} and zones", err=True)


def _columns(one: ChangeSum) -> str:
    most = one.columns.most_common(MOST_COLUMNS)
    more = ", ..." if len(one.columns) > MOST_COLUMNS else ""
    return ", ".join(f"{name} {count}" for name, count in most) + more


def lines_of_table(old: Path, new: Path, table: str) -> Iterator[str]:
    """Yield a line for each row of a table that differs."""
    marks = {"new": "+", "gone": "-", "changed": "~"}
    for change in changes(old, new, table):
        key = " ".join(map(str, change.key))
        yield f"{marks[change.kind]} {key}{_values(change)}"


def _values(change: RowChange) -> str:
    return "".join(
        f"  {name}: {before!r} -> {after!r}" for name, (before, after) in change.columns.items()
    )


@click.command()
@click.argument("old", type=FilePath(exists=True, dir_okay=False, path_type=Path))
@click.argument("new", type=FilePath(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--table",
    type=click.Choice(list(content_tables())),
    metavar="NAME",
    help="Print each row of this table that differs, with its old and new values.",
)
@format_option
def diff(old: Path, new: Path, table: str | None, style: str) -> None:
    """Compare the content files OLD and NEW by their keys: new, gone and changed rows.

    The rows are counted by table and zone, with the columns that changed. `content.sqlite.previous`
    is the file of the import before.

    Example: emu content diff content.sqlite.previous content.sqlite
    """
    if table is None:
        print_changes(old, new, style)
        return
    for line in lines_of_table(old, new, table):
        click.echo(line)
