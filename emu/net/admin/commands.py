"""Connections on which commands run: RCON's TCP port and the local console's UNIX socket.

Open to the server's user only (mode 0600). When there are too many consoles, the oldest idle one
makes room, so that consoles which somebody forgot keep nobody out; should an operator open the
socket to other users, each of them has a quarter of the places. A socket that a killed server left
behind is removed; one at which somebody answers is not.
"""

from __future__ import annotations

import os
import pwd
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.internet.defer import maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import Factory, connectionDone
from twisted.python.failure import Failure

from emu.admin.console import CommandSession, ConsoleSession
from emu.admin.ports import CommandGiven, LoginFailed, SessionEnded, UserAuthenticated
from emu.admin.rcon.session import (
    RconEvent,
    RconRules,
    RconSession,
    RconUser,
    RconUsers,
    UserCame,
    WrongPassword,
    read_users,
)
from emu.admin.status import OpenPort
from emu.binary import HOST, I32, RecordLayout
from emu.commands import Caller, Registry, Reply
from emu.commands.registry import ADMINISTRATOR, OWNER
from emu.config import Address, RconConfig
from emu.errors import StoreError
from emu.limits.addresses import plain_host
from emu.limits.connections import ConnectionLimits, Connections, StreamLimits
from emu.limits.rates import FailureRules, Failures
from emu.metrics import EndpointUses
from emu.net.logs import logger
from emu.net.parameters import read_listed
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler, Tasks
from emu.net.stream import BACKLOG, Stream, door, listen_address
from emu.net.watch import Watch
from emu.times import Monotonic


class CommandStream(Stream):
    """Runs what its session asks for.

    `uses` is where it counts the commands and why it ended.
    """

    core: CommandSession[Any]

    def __init__(
        self,
        registry: Registry,
        tasks: Tasks,
        scheduler: Scheduler,
        limits: StreamLimits,
        uses: EndpointUses,
    ) -> None:
        super().__init__(scheduler, limits)
        self._uses = uses
        self._held: CommandGiven | None = None
        """A command that waits until the peer has taken the last answers."""
        self._registry = registry
        self._tasks = tasks

    @property
    def wants_data(self) -> bool:
        """Whether the session has room for more commands, and the peer reads the answers."""
        return self.core.wants_data and not self.is_behind

    def take_event(self, event: object, now: Monotonic) -> None:  # noqa: ARG002
        """Run a command, or count why the session is over."""
        if isinstance(event, CommandGiven):
            if self.is_behind:
                self._held = event
            else:
                self._begin(event)
        elif isinstance(event, SessionEnded):
            self._uses.ended[event.reason] += 1

    def resumeProducing(self) -> None:
        """Go on with the command that has waited until the peer had caught up."""
        super().resumeProducing()
        held, self._held = self._held, None
        if held is not None and not self.closed:
            self._begin(held)

    def _begin(self, event: CommandGiven) -> None:
        # A turn later: thousands of commands in one segment must not hold everybody up.
        self._scheduler.soon(lambda: self._tasks.spawn(self._run(event)))

    async def _run(self, given: CommandGiven) -> None:
        reply = Reply(("the command failed; the server's log says how",), ok=False)
        result = "failed"
        try:
            reply = await self._registry.run(given.caller, given.line, self._scheduler.now())
            result = "done" if reply.ok else "refused"
        finally:
            self._uses.requests[result] += 1
            self.answered()
            self.core.answered(reply, self._scheduler.now())
            self.serve()

    def answered(self) -> None:
        """Learn that a command is done."""


class CommandServer(Factory):
    """A port on which commands are run; who derives from it opens it and takes connections."""

    noisy = False
    connections: Any
    """Those that are open."""

    def __init__(
        self, key: str, registry: Registry, reactor: Any, scheduler: Scheduler, tasks: Tasks
    ) -> None:
        """`key` is the setting of the port's address."""
        self._key = key
        self._reactor = reactor
        self._port: Any = None
        self.registry = registry
        self.scheduler = scheduler
        self.tasks = tasks
        self.uses = EndpointUses()

    def doors(self) -> Iterator[OpenPort]:
        """Yield the port, while it is open."""
        if self._port is not None:
            now = {"connections": len(self.connections)}
            yield door(self._key, self._port, now | self.uses.counted())

    async def stop(self) -> None:
        """Listen no more, and close the connections once their commands are answered."""
        if self._port is not None:
            port, self._port = self._port, None
            with suppress(FileNotFoundError):  # somebody removed the socket's file, or its folder
                await maybeDeferred(port.stopListening)
        for connection in list(self.connections):
            connection.close("server is stopping", self.scheduler.now())
        await self.tasks.finished()


ORIGIN = "console"
CONSOLE_LIMITS = StreamLimits(write_buffer=64 * 1024 * 1024)
_CREDENTIALS = RecordLayout("ucred", HOST, pid=I32, uid=I32, gid=I32)
_console_log = logger("console")


class ConsoleConnection(CommandStream):
    """One console."""

    def __init__(self, server: ConsoleServer) -> None:
        super().__init__(
            server.registry, server.tasks, server.scheduler, CONSOLE_LIMITS, server.uses
        )
        self._server = server

    def connectionMade(self) -> None:
        """Begin with the user of the process at the other end."""
        user, name = _user_behind(self.transport.getHandle())
        if not self._server.takes(self, user):
            self.transport.abortConnection()
            return
        self.start(ConsoleSession(Caller(name, OWNER, ORIGIN)))

    def take_event(self, event: object, now: Monotonic) -> None:
        """Tell the server that this one is in use, too."""
        if isinstance(event, CommandGiven):
            self._server.connections.answering(self)
        super().take_event(event, now)

    def answered(self) -> None:
        """Tell the server that this one may make room again."""
        self._server.connections.waiting(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The connection is gone."""
        super().connectionLost(reason)
        self._server.connections.remove(self)


class ConsoleServer(CommandServer):
    """Takes consoles for one registry. `listen`, then `stop`."""

    connections: Connections[ConsoleConnection]

    def __init__(
        self, registry: Registry, reactor: Any, scheduler: Scheduler, most: int = 64
    ) -> None:
        """Take `most` connections at once."""
        super().__init__("console.path", registry, reactor, scheduler, Tasks(_console_log))
        self.most = most
        self.connections = Connections(_evict_console)

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
        """Take a connection; called by Twisted."""
        return ConsoleConnection(self)

    def takes(self, connection: ConsoleConnection, user: int) -> bool:
        """Make room for a connection of a user; False when there is none.

        Other users than the server's own and root have a quarter of the places each.
        """
        most = self.most if user in (os.geteuid(), 0) else max(1, self.most // 4)
        reason = self.connections.admit(f"user {user}", ConnectionLimits(self.most, most, most))
        if reason is not None:
            self.uses.ended[reason] += 1
            return False
        self.connections.add(connection, f"user {user}")
        return True


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


def _evict_console(connection: ConsoleConnection) -> None:
    """Close a console that asks nothing, in favor of a new one."""
    connection.cut_off("idle when room was needed")


def _user_behind(handle: Any) -> tuple[int, str]:
    """Return number and name of the user whose process is at the other side of a UNIX socket."""
    raw = handle.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    try:
        return user, pwd.getpwuid(user).pw_name
    except KeyError:
        return user, f"user {user}"


RCON_LIMITS = StreamLimits(stall_timeout=15.0)
OWN_USER = "rcon"
"""Name of the user whose password is ``rcon.password``."""
_rcon_log = logger("rcon")


def rcon_users(config: RconConfig) -> RconUsers:
    """Return the users of a configuration. Raises `ConfigError` when their file is wrong."""
    users = [RconUser(OWN_USER, ADMINISTRATOR, config.password.encode())] if config.password else []
    listed = read_listed("rcon.users_file", config.users_file, read_users) or []
    return RconUsers([*users, *listed])


class RconConnection(CommandStream):
    """One connection."""

    def __init__(self, server: RconServer, address: str) -> None:
        super().__init__(server.registry, server.tasks, server.scheduler, RCON_LIMITS, server.uses)
        self._server = server
        self.address = address

    def connectionMade(self) -> None:
        """Wait for the password."""
        self.transport.setTcpNoDelay(True)
        self.transport.setTcpKeepAlive(True)
        self.start(self._server.session(self.address))

    def take_event(self, event: object, now: Monotonic) -> None:
        """Tell the server who came, too."""
        super().take_event(event, now)
        if isinstance(event, UserAuthenticated):
            self._server.logged_in(self, event.name)
        elif isinstance(event, LoginFailed):
            self._server.login_failed(self.address)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The connection is gone."""
        super().connectionLost(reason)
        self._server.connections.remove(self)


class RconServer(CommandServer):
    """Takes connections for one registry. `listen`, then `stop`; it stays closed without users."""

    connections: Connections[RconConnection]

    def __init__(
        self,
        config: RconConfig,
        registry: Registry,
        reactor: Any,
        scheduler: Scheduler,
        watch: Watch,
    ) -> None:
        """Raises `ConfigError` when the users' file is wrong."""
        super().__init__("rcon.listen", registry, reactor, scheduler, Tasks(_rcon_log))
        self._users = rcon_users(config)
        self._config = config
        self.connections = Connections(_evict)
        self._failures = Failures(
            FailureRules(banned_after=config.banned_after, banned_for=config.banned_for)
        )
        self._refusals = RefusalLog(_rcon_log, scheduler)
        self._tell = watch.port("rcon", self._write)
        watch.listener("rcon", self.uses, lambda: len(self.connections))

    def configure(self, config: RconConfig) -> None:
        """Let other users in from now on; whoever is logged in stays. Raises `ConfigError`."""
        self._users = rcon_users(config)
        self._config = config

    def listen(self) -> None:
        """Open the port and say where, or why not. Raises `CannotListenError`."""
        if not self._users:
            _rcon_log.info("closed: neither rcon.password nor rcon.users_file names anybody")
            return
        address = listen_address("rcon.listen", self._config.listen)
        self._port = self._reactor.listenTCP(
            address.port, self, backlog=BACKLOG, interface=address.host
        )
        host: Any = self._port.getHost()
        self._refusals.start()
        _rcon_log.info("administrators on TCP {at}", at=Address(host.host, host.port))

    async def stop(self) -> None:
        """Close the port and every connection."""
        await super().stop()
        self._refusals.stop()

    def session(self, address: str) -> RconSession:
        """Return the session of a new connection."""
        config = self._config
        rules = RconRules(
            auth_junk_packet=config.auth_junk_packet,
            dialect=config.dialect,
            largest_request=config.max_request,
            idle_timeout=config.idle_timeout,
        )
        return RconSession(rules, self._users, self._failures, address, self.scheduler.now())

    def buildProtocol(self, addr: Any) -> RconConnection | None:
        """Take a connection, or None when it is one too many or its address is banned."""
        address = plain_host(str(addr.host))
        limits = ConnectionLimits(
            self._config.max_connections,
            self._config.connections_per_address,
            self._config.connections_per_address,
        )
        banned = self._failures.keeps_out(address, self.scheduler.now())
        reason = "banned" if banned else self.connections.admit(address, limits)
        if reason is not None:
            self.uses.ended[reason] += 1
            return None
        connection = RconConnection(self, address)
        self.connections.add(connection, address)
        return connection

    def logged_in(self, connection: RconConnection, name: str) -> None:
        """Learn who is at the other end of a connection."""
        self.connections.introduced(connection)
        self.uses.logins["accepted"] += 1
        self._tell(UserCame(name, connection.address))

    def login_failed(self, address: str) -> None:
        """Tell of a wrong password."""
        self.uses.logins["refused"] += 1
        self._tell(WrongPassword(address))

    def _write(self, event: RconEvent) -> None:
        """Write an event into the log; wrong passwords are summed up."""
        address = event.address
        if isinstance(event, UserCame):
            _rcon_log.info("{name} logged in from {address}", name=event.name, address=address)
        elif self._refusals.is_news("wrong passwords", "", address, "wrong password"):
            _rcon_log.warn("wrong password from {address}", address=address)


def _evict(connection: RconConnection) -> None:
    """Close a connection that nobody has logged in on, in favor of a new one."""
    connection.cut_off("not logged in when room was needed")
