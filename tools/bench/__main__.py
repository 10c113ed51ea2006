"""Print the figures: ``python -m tools.bench [SECTION ...]``; without sections, all of them."""

from __future__ import annotations

import importlib

import click
from rich.console import Console
from rich.table import Table

SECTIONS = {
    "datagrams": "datagrams in, acks out, beside a bare echo",
    "strangers": "a SessionRequest, beside a bare echo",
    "structs": "packet structs, decoded, encoded and packed",
    "logins": "complete logins, by the clock and in CPU",
    "memory": "resident memory of one session",
    "idle": "CPU of sessions that do nothing",
}


@click.command(epilog="Example: python -m tools.bench datagrams")
@click.argument("sections", nargs=-1, type=click.Choice(sorted(SECTIONS)))
def main(sections: tuple[str, ...]) -> None:
    """Measure sections of the benchmark (all of them by default) and print a table each."""
    console = Console()
    for name in sections or SECTIONS:
        table = Table(title=f"{name}: {SECTIONS[name]}", show_header=False)
        for row in importlib.import_module(f"tools.bench.{name}").report():
            table.add_row(*row)
        console.print(table)


if __name__ == "__main__":
    main()
