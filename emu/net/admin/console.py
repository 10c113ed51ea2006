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
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.internet.defer import maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IAddress, IListeningPort
from twisted.internet.protocol import Factory, connectionDone
from twisted.python.failure import Failure

from emu.admin.console.session import ConsoleSession
from emu.admin.status import OpenDoor
from emu.commands import Caller, Registry
from emu.commands.ranks import OWNER
from emu.errors import StoreError
from emu.limits.connections import StreamLimits
from emu.measures import Uses
from emu.net.admin.command_stream import CommandStream
from emu.net.hosts import door
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


class ConsoleServer(Factory):
    """Takes consoles for one registry. `listen`, then `stop`."""

    noisy = False

    def __init__(self, registry: Registry, reactor: Any, scheduler: Scheduler) -> None:
        self.registry = registry
        self.scheduler = scheduler
        self.tasks = Tasks(_log)
        self.uses = Uses()
        self.connections: set[ConsoleConnection] = set()
        self._reactor = reactor
        self._port: IListeningPort | None = None

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

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the socket, while it is open."""
        if self._port is not None:
            now = {"connections": len(self.connections)}
            yield door("console.path", self._port, now | self.uses.counted())

    async def stop(self) -> None:
        """Listen no more, and close the consoles once their commands are answered."""
        if self._port is not None:
            await maybeDeferred(self._port.stopListening)
            self._port = None
        for connection in list(self.connections):
            connection.close("server is stopping", self.scheduler.now())
        await self.tasks.finished()

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
