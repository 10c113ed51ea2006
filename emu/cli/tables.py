"""Rows on standard output: a table for people, CSV or JSON for programs; errors as JSON.

The column that identifies a row is never truncated. The other columns wrap between words, down to
their longest word. If that is still too wide, the least important columns are left out.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table

from emu.cli.common import Command, together
from emu.commands.registry import rank_text
from emu.errors import EmuError
from emu.texts import timestamp
from emu.times import Moment

LONG_WORD = 24
"""A longer word may be broken."""
GAP = 3
"""Terminal columns between two columns of the table."""
EDGES = 2
"""Terminal columns outside the table's first and last column."""

IDENTIFYING = ("name", "field", "prefix")
"""Columns that identify a row; in a table without one it is the first column."""


def fit(
    columns: Sequence[str],
    lines: Sequence[Sequence[str]],
    width: int,
    *,
    least: Iterable[str] = (),
    fold: bool = True,
) -> dict[str, int]:
    """Return the columns that fit into `width`, in their order, with their widths.

    `lines` have a cell for each column; the first is the header. The columns of `least` are left
    out first, then those on the right. Without `fold` no column gets narrower than its content.
    """
    cells = dict(zip(columns, zip(*lines, strict=True), strict=True))
    key = next((name for name in IDENTIFYING if name in columns), columns[0])
    # `cell_len` counts terminal columns: some letters are two columns wide.
    widths = {name: max(map(cell_len, cells[name])) for name in columns}
    lowest = {
        name: widths[name] if name == key or not fold else _longest_word(cells[name])
        for name in columns
    }
    if (
        lowest[key] + EDGES > width
    ):  # even the last column is too wide: it wraps, so that nothing is lost
        lowest[key] = widths[key] = max(1, width - EDGES)
    shown = list(columns)
    # Each pass leaves one column out, until the rest fits at its narrowest.
    for name in (*least, *reversed(columns)):
        if _needed(shown, lowest) <= width:
            break
        if name in shown and name != key:
            shown.remove(name)
    _narrow(shown, widths, lowest, width)
    return {name: widths[name] for name in shown}


def _narrow(
    shown: Sequence[str], widths: dict[str, int], lowest: dict[str, int], width: int
) -> None:
    """Narrow the widest columns until all fit."""
    while (over := _needed(shown, widths) - width) > 0:
        able = [name for name in shown if widths[name] > lowest[name]]
        if not able:
            return
        widest = max(able, key=lambda name: widths[name])
        second = max((widths[name] for name in able if name != widest), default=0)
        # The widest column gives until the next one is as wide; then both give in turn.
        give = max(1, min(over, widths[widest] - max(second, lowest[widest])))
        widths[widest] -= give


def _needed(shown: Sequence[str], widths: dict[str, int]) -> int:
    return sum(widths[name] for name in shown) + GAP * (len(shown) - 1) + EDGES


def _longest_word(cells: Iterable[str]) -> int:
    longest = max((cell_len(word) for cell in cells for word in cell.split()), default=1)
    return min(longest, LONG_WORD)


Row = Mapping[str, str | int | float | bool | None]

_JSON = "emu.cli.tables.json"
"""The key of ``--json`` in a command's `meta`, until ``--format`` is read."""
_WIDE = 10_000
"""The width of a table that goes to a file or pipe: nothing is truncated."""
_MANY = 1000
"""From so many rows on a table is plain text: rich would take half a millisecond for each row."""


def _formats(choices: Sequence[str], about: str) -> Callable[[Command], Command]:
    """Return ``--format`` with these choices, and ``--json``, which is short for one of them."""
    return together(
        click.option(
            "--format",
            "style",
            type=click.Choice(choices),
            default=choices[0],
            show_default=True,
            callback=lambda ctx, _param, value: "json" if ctx.meta.get(_JSON) else value,
            help=about,
        ),
        click.option(
            "--json",
            is_flag=True,
            # Eager options are read first, so `--format` finds the value of `--json`.
            is_eager=True,
            expose_value=False,
            callback=lambda ctx, _param, value: ctx.meta.__setitem__(_JSON, value),
            help="Short for --format json.",
        ),
    )


format_option = _formats(["table", "csv", "json"], "Output format of the rows.")
"""``--format`` and ``--json`` for rows, for `print_rows`."""
line_format_option = _formats(["text", "json"], "Output format; json is one object for each line.")
"""``--format`` and ``--json`` for a command that prints events line by line.

The `style` of the command is then "text" or "json", which is one JSON object for each line.
"""


def json_text(value: Any) -> str:
    """Return values as JSON for people; characters that the output can encode are not escaped."""
    plain = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    return json.dumps(value, indent=2, ensure_ascii=not plain)


def print_rows(
    rows: Sequence[Row], style: str, columns: Sequence[str], *, least: Sequence[str] = ()
) -> None:
    """Print rows with these columns; JSON is one array of objects, CSV has a header.

    On a narrow terminal a table drops the columns of `least` first, then those on the right, but
    never the column that identifies a row.
    """
    if style == "json":
        chosen = [{name: row.get(name) for name in columns} for row in rows]
        click.echo(json_text(chosen))
    elif style == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_plain(row.get(name)) for name in columns] for row in rows)
        click.echo(text.getvalue(), nl=False)
    else:
        _print_table(rows, columns, least)


def _print_table(rows: Sequence[Row], columns: Sequence[str], least: Sequence[str]) -> None:
    many = len(rows) >= _MANY
    header = columns if many else [name.replace("_", " ") for name in columns]
    lines = [header, *([printable(_plain(row.get(name))) for name in columns] for row in rows)]
    console = _console()
    widths = fit(columns, lines, console.width, least=least, fold=not many)
    kept = [index for index, name in enumerate(columns) if name in widths]
    shown = [[line[index] for index in kept] for line in lines]
    if many:
        click.echo(_plain_table(shown, list(widths.values())), nl=False)
    else:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name, width in zip(shown[0], widths.values(), strict=True):
            table.add_column(name, width=width, overflow="fold")
        for line in shown[1:]:
            table.add_row(*line)
        _print(console, table)
    # Only columns with content are worth a remark.
    gone = [name for name in columns if name not in widths and any(row.get(name) for row in rows)]
    if gone:
        click.echo(f"too wide to show: {', '.join(gone)} (--format csv shows all)", err=True)


def print_record(
    record: Row, style: str, structured: Mapping[str, Sequence[Row]] | None = None
) -> None:
    """Print one record: a line for each field, or one CSV row, or one JSON object.

    `structured` are fields that are lists of records in JSON, and text in `record` otherwise.
    """
    if style == "json":
        click.echo(json_text({**record, **(structured or {})}))
    elif style == "csv":
        print_rows([record], style, list(record))
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in record.items():
            table.add_row(name, printable(_plain(value)))
        _print(_console(), table)


@contextmanager
def failures_in(style: str) -> Iterator[None]:
    """Print an error as an object if ``style`` is json, and raise it in any case."""
    try:
        yield
    except EmuError as error:
        if style == "json":
            click.echo(json.dumps({"error": str(error)}))
        raise


def show_moment(moment: Moment | None) -> str | None:
    """Return a unix time as ISO 8601 in UTC with whole seconds; None for none."""
    if moment is None:
        return None
    try:
        return timestamp(moment)
    except ValueError:
        return "never"


def show_rank(rank: int | None, style: str) -> str | int | None:
    """Return a rank's name for people, its number for programs; None for none."""
    return rank if rank is None or style in ("csv", "json") else rank_text(rank)


def _plain_table(lines: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """Return lines of even columns, without wrapping."""
    return "".join(
        "   ".join(set_cell_size(*pair) for pair in zip(cells, widths, strict=True)).rstrip() + "\n"
        for cells in lines
    )


def _print(console: Console, table: Table) -> None:
    """Print a table without trailing blanks."""
    with console.capture() as captured:
        console.print(table)
    click.echo("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()), nl=False)


def _console() -> Console:
    terminal = sys.stdout.isatty()
    return Console(
        file=sys.stdout, width=None if terminal else _WIDE, markup=False, highlight=False
    )


def _plain(value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def printable(text: str) -> str:
    """Escape control characters: names come from players and could control the terminal."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
