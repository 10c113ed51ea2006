"""The local console's UNIX socket: for whoever may read the server's own files.

Open to the server's user only (mode 0600). A socket that a killed server left behind is removed;
one at which somebody answers is not.
"""

from __future__ import annotations

import os
import pwd
import socket
import stat
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure

from emu.admin.console.session import ConsoleSession
from emu.commands import Caller, Registry
from emu.commands.ranks import OWNER
from emu.errors import StoreError
from emu.limits.connections import StreamLimits
from emu.net.admin.command_stream import CommandServer, CommandStream
from emu.net.logs import logger
from emu.net.scheduler import Scheduler
from emu.net.tasks import Tasks

ORIGIN = "console"
MOST_CONNECTIONS = 64
LIMITS = StreamLimits(write_buffer=64 * 1024 * 1024)
_CREDENTIALS = struct.Struct("3i")
_log = logger("console")


class ConsoleConnection(CommandStream):
    """One console."""

    def __init__(self, server: ConsoleServer) -> None:
        super().__init__(server.registry, server.tasks, server.scheduler, LIMITS, server.uses)
        self._server = server

    def connectionMade(self) -> None:
        """Begin with the user of the process at the other end."""
        name = _user_behind(self.transport.getHandle())
        self.start(ConsoleSession(Caller(name, OWNER, ORIGIN)))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The connection is gone."""
        super().connectionLost(reason)
        self._server.connections.discard(self)


class ConsoleServer(CommandServer):
    """Takes consoles for one registry. `listen`, then `stop`."""

    connections: set[ConsoleConnection]

    def __init__(self, registry: Registry, reactor: Any, scheduler: Scheduler) -> None:
        super().__init__("console.path", registry, reactor, scheduler, Tasks(_log))
        self.connections = set()

    def listen(self, path: Path) -> None:
        """Listen. Raises `StoreError` when another server has the socket or it cannot be made."""
        _remove_stale(path)
        before = os.umask(0o177)
        try:
            self._port = self._reactor.listenUNIX(str(path), self, mode=0o600)
        except CannotListenError as error:
            raise StoreError(
                f"{path}: cannot listen there ({error.socketError}); set console.path"
            ) from None
        finally:
            os.umask(before)

    def buildProtocol(self, addr: IAddress | None) -> ConsoleConnection | None:  # noqa: ARG002
        """Take a connection, or None when there are too many."""
        if len(self.connections) >= MOST_CONNECTIONS:
            self.uses.ended["too many connections"] += 1
            return None
        connection = ConsoleConnection(self)
        self.connections.add(connection)
        return connection


def _remove_stale(path: Path) -> None:
    """Remove a socket at which nobody answers."""
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise StoreError(f"{path}: is there and is no socket; set console.path")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
    raise StoreError(f"{path}: another server listens there; set console.path")


def _user_behind(handle: Any) -> str:
    """Return the name of the user whose process is at the other end of a UNIX socket."""
    raw = handle.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
