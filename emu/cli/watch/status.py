"""`emu status`: one look at the running server."""

from __future__ import annotations

import sys
from typing import Final

import click

from emu.admin.snapshot import Snapshot
from emu.admin.snapshot.rates import Rates
from emu.cli.common import load_config
from emu.cli.consoles.admin_socket import NoServer
from emu.cli.tables import json_text, line_format_option, print_record, print_rows
from emu.cli.watch import rows
from emu.cli.watch.asking import ask, read

NOT_RUNNING: Final = 3
"""Exit status when no server runs, as init scripts have it."""
MOST_DROPS: Final = 5
"""Reasons of drops that are shown, those of most."""


@click.command()
@line_format_option
def status(*, style: str) -> None:
    """Show how the server does that runs with this configuration.

    Players, sessions, logins by result, tick times, queues; worlds, zones, the ports that listen
    and what came of those who came; what was dropped most. The exit status is 3 when no server
    runs, 1 when it does not answer.

    Example: emu status
    """
    try:
        value = ask(load_config().console_path)
    except NoServer as error:
        click.echo(f"emu: {error}", err=True)
        sys.exit(NOT_RUNNING)
    if style == "json":
        click.echo(json_text(value))
    else:
        show(read(value))


def show(now: Snapshot) -> None:
    """Print a snapshot for people."""
    rates = Rates(now)
    print_record(rows.summary(rates), "table")
    for found in (
        rows.door_rows(now),
        rows.world_rows(now),
        rows.zone_rows(rates),
        [_total(row) for row in rows.drop_rows(rates)[:MOST_DROPS]],
    ):
        if found:
            print_rows(found, "table", list(found[0]))


def _total(row: rows.Row) -> rows.Row:
    """Return a row without what only two looks can tell."""
    return {key: value for key, value in row.items() if key != "a_second"}
