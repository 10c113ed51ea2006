"""`emu run`, `emu start`, `emu stop` and `emu logs`: the server of this configuration, by hand.

systemd or a container runs a server without these commands; `emu stop` and `emu logs` work there,
too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from emu.cli.common import config_path, given_database, load_config
from emu.cli.console_socket import ConsoleSocket, NoServer
from emu.cli.options import passing
from emu.cli.watch.status import ask, read
from emu.database.sqlite.served import serving_process
from emu.errors import CommandError
from emu.system import HAS_POSIX

MORE: Final = {"ignore_unknown_options": True}
"""Settings of a command that gives further options to the server."""
POLL: Final = 0.1
"""Seconds between two checks whether the server has ended."""
STOP_TIME: Final = 30.0
"""Seconds after the planned stop until the server must have ended."""
KEPT_LINES: Final = 200
"""Lines of the log that a server keeps in memory."""

options_argument = click.argument(
    "options", nargs=-1, metavar="[--set TABLE.KEY=VALUE]...", type=click.UNPROCESSED
)


@click.command(context_settings=MORE)
@options_argument
def run(options: tuple[str, ...]) -> None:
    """Run the server in the foreground, with its log on the terminal. Ctrl-C stops it.

    This is `twistd -n --pidfile= emu` with the same --config and --db. Every other option is the
    server's own: `emu run --set log.level=debug`.

    Example: emu run --set world.name=Antonica
    """
    words = [*twistd(), "--nodaemon", "--pidfile=", "emu", *server_options(options)]
    if not HAS_POSIX:
        # There the replaced process would end at once, and the shell would not wait.
        sys.exit(subprocess.run(words, check=False).returncode)  # noqa: S603  # no shell
    # The server replaces this process, so signals and the exit status reach the caller directly.
    os.execv(words[0], words)  # noqa: S606  # no shell


@click.command(context_settings=MORE)
@options_argument
def start(options: tuple[str, ...]) -> None:
    """Start the server as a daemon; return when it is ready.

    The PID file and the log are beside the database, with its name and the endings .pid and .log.
    If the server cannot start, the reason is printed and the exit status is 1. Other options are
    those of `emu run`. On a machine with systemd, rather use a unit: it also restarts the server
    after a crash.

    Example: emu start
    """
    if not HAS_POSIX:
        raise CommandError("there are no daemons on Windows; `emu run` serves in the foreground")
    path = load_config().database.path
    log, pid = path.with_suffix(".log"), path.with_suffix(".pid")
    path.parent.mkdir(parents=True, exist_ok=True)
    words = [*twistd(), f"--pidfile={pid}", f"--logfile={log}", "emu", *server_options(options)]
    status = subprocess.run(words, check=False).returncode  # noqa: S603  # no shell
    if status:
        sys.exit(status)
    click.echo(f"the server runs as process {pid.read_text('ascii').strip()}; its log is {log}")


@click.command()
@click.option(
    "--in", "seconds", type=click.IntRange(0, 86_400), default=0, show_default=True,
    help="Seconds until the stop; players are notified.",
)  # fmt: skip
def stop(seconds: int) -> None:
    """Stop the server; return when it has ended.

    Players are saved and their sessions closed in order. systemd does not restart the server after
    this. `emu admin cancel` cancels a stop that is announced with --in.

    Example: emu stop --in 60
    """
    config = load_config()
    with ConsoleSocket(config.console_path) as console:
        reply = console.run(f"shutdown {seconds}")
        if not reply.ok:
            raise CommandError(reply.text)
        if seconds:
            click.echo(reply.text, err=True)
    deadline = passing() + seconds + STOP_TIME
    # The server answers before it stops, so the command waits until the process is gone.
    while (process := serving_process(config.database.path)) is not None:
        if passing() > deadline:
            raise CommandError(
                f"process {process} has not ended; its log says why, `kill -9 {process}` ends it"
            )
        time.sleep(POLL)
    click.echo("the server has stopped", err=True)


@click.command()
@click.option(
    "--lines", "-n", type=click.IntRange(1, KEPT_LINES), default=50, show_default=True,
    help="Number of lines.",
)  # fmt: skip
@click.option("--follow", "-f", is_flag=True, help="Print further lines until Ctrl-C.")
def logs(*, lines: int, follow: bool) -> None:
    """Print the last lines of the running server's log.

    A server keeps 200 lines for this. If none runs, the command prints the end of the log of `emu
    start`. The whole log is there, in the file of twistd's --logfile, or in the journal:
    journalctl -u eq2emu.

    Example: emu logs -n 20
    """
    config = load_config()
    path, file = config.console_path, config.database.path.with_suffix(".log")
    try:
        shown = read(ask(path)).log
    except NoServer:
        if follow or not file.exists():
            raise
        click.echo(f"no server runs; this is the end of {file}", err=True)
        with file.open(encoding="utf-8", errors="replace") as log:
            shown = tuple(line.rstrip("\n") for line in deque(log, lines))
    for line in shown[-lines:]:
        click.echo(line)
    while follow:
        time.sleep(1.0)
        now = read(ask(path)).log
        for line in new_lines(shown, now):
            click.echo(line)
        shown = now


def new_lines(before: Sequence[str], now: Sequence[str]) -> Sequence[str]:
    """Return the lines of `now` that follow those of `before`; both are the last lines of a log."""
    # The server drops its oldest lines, so the place where the two lists overlap is searched.
    for start in range(len(before)):
        known = before[start:]
        if list(now[: len(known)]) == list(known):
            return now[len(known) :]
    # No overlap: more lines came meanwhile than the server keeps.
    return now


def twistd() -> list[str]:
    """Return the words that run this installation's `twistd`."""
    program = Path(sysconfig.get_path("scripts")) / "twistd"
    if program.exists():
        return [str(program)]
    return [sys.executable, "-c", "from twisted.scripts.twistd import run; run()"]


def server_options(options: Sequence[str]) -> list[str]:
    """Return the options of `twistd emu` for the options of this command."""
    config, database = config_path(), given_database()
    words = [] if config is None else ["--config", str(config.absolute())]
    words += [] if database is None else ["--db", str(database.absolute())]
    return [*words, *options]
