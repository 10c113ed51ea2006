"""`emu top`: the running server, live."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import click

from emu.admin.snapshot import Rates, Snapshot
from emu.cli.common import is_terminal, load_config
from emu.cli.installed import install_command
from emu.cli.tables import print_rows
from emu.cli.watch import status
from emu.cli.watch.status import ask, read
from emu.errors import CommandError


@click.command()
@click.option(
    "--every", type=click.FloatRange(0.2, 3600), default=1.0, show_default=True, metavar="S",
    help="Seconds between two snapshots.",
)  # fmt: skip
@click.option("--once", is_flag=True, help="Print the rates between two snapshots, and exit.")
def top(*, every: float, once: bool) -> None:
    """Watch the server of this configuration live.

    Sessions, logins and traffic per second, tick times, queues; tables of players, zones,
    listeners, drops and the last lines of the log, which you can sort and filter. It continues
    after a restart of the server. The last line shows the keys, ? explains them.

    Without a terminal, as in a pipe, it works as with --once. The full screen needs the extra
    `editor` (textual).

    Example: emu top --once
    """
    path = load_config().console_path
    if once or not is_terminal():
        print_frame(path, every)
        return
    # Tested before the import, so that a missing library gives one clear line.
    if importlib.util.find_spec("textual") is None:
        raise CommandError(
            f"the full screen needs textual; install it with: {install_command('editor')} - or use"
            " emu top --once"
        )
    from emu.cli.watch.screen import TopScreen  # noqa: PLC0415  # an optional extra

    TopScreen(lambda: take_snapshot(path), every).run()


def take_snapshot(path: Path) -> Snapshot:
    """Return a snapshot of the server. Raises `CommandError`."""
    return read(ask(path))


def print_frame(path: Path, seconds: float) -> None:
    """Print the server's state, with the rates over some seconds."""
    before = take_snapshot(path)
    time.sleep(seconds)
    rates = Rates.between(before, take_snapshot(path))
    for name, text in status.summary(rates).items():
        click.echo(f"{name:<12} {text}")
    for line in status.growth(rates):
        click.echo(line)
    for found in (status.zone_rows(rates), status.player_rows(rates.now), status.drop_rows(rates)):
        if found:
            print_rows(found, "table", list(found[0]))
