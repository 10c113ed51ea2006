"""Asks a running server for snapshots, by its local socket."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from emu.admin.commands.watching import SNAPSHOT
from emu.admin.snapshot import Snapshot
from emu.cli.consoles.admin_socket import ConsoleSocket, NoServer
from emu.errors import CommandError, PeerError

PATIENCE: Final = 5.0
"""Seconds in which a server that is well has long answered."""


def ask(path: Path) -> Any:
    """Return a snapshot as the server sends it.

    Raises `NoServer` when none runs, `CommandError` when it does not answer as it should.
    """
    try:
        with ConsoleSocket(path, timeout=PATIENCE) as console:
            reply = console.run(SNAPSHOT)
    except NoServer as error:
        raise NoServer(f"{error} Start one with: twistd emu") from None
    if not reply.ok:
        raise CommandError(f"{path}: {' '.join(reply.lines)}; is an older server running?")
    return reply.data


def read(value: Any) -> Snapshot:
    """Return what a server has sent. Raises `CommandError` for what is no snapshot."""
    try:
        return Snapshot.of(value)
    except PeerError as error:
        raise CommandError(f"the server's answer cannot be read: {error.reason}") from None
