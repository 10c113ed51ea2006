"""Connections that run commands: RCON's TCP port and the local console.

The console is a UNIX socket. Where there are none (Windows), it is a TCP port of the loopback
address, and a file of the same name has the port and a token that each connection must begin with.

Only the server's user can open the console's socket (mode 0600). If an operator opens it to other
users, each of them gets a quarter of the connections. At the limit, the oldest idle console is
closed for a new one: forgotten consoles must not lock the operator out. A socket file that a killed
server left behind is removed, unless a server answers at it.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from twisted.internet.defer import maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import Factory, connectionDone
from twisted.python.failure import Failure

from emu.admin.console import LONGEST_TOKEN, CommandSession, ConsoleFile, ConsoleSession
from emu.admin.ports import CommandGiven, LoginFailed, SessionEnded, UserAuthenticated
from emu.admin.rcon import (
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
from emu.files import partial_file
from emu.limits.addresses import plain_host
from emu.limits.connections import ConnectionLimits, Connections, StreamLimits
from emu.limits.rates import FailureRules, Failures
from emu.metrics import EndpointUses
from emu.net.logs import logger
from emu.net.parameters import read_listed
from emu.net.scheduler import Scheduler, Tasks
from emu.net.stream import BACKLOG, Stream, listen_address, open_port
from emu.net.watch import RefusalLog, Watch
from emu.system import own_user, user_name
from emu.times import Monotonic


class CommandStream(Stream):
    """A connection that runs the commands of its session.

    `uses` counts the commands, and why connections ended.
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
        """A command that waits until the peer has read the earlier answers."""
        self._registry = registry
        self._tasks = tasks

    @property
    def wants_data(self) -> bool:
        """Whether the session can queue more commands and the peer reads the answers."""
        return self.core.wants_data and not self.is_behind

    def take_event(self, event: object, now: Monotonic) -> None:  # noqa: ARG002
        """Run a command, or count why the session ended."""
        if isinstance(event, CommandGiven):
            # The session gives the next command only after an answer, so one place is enough.
            if self.is_behind:
                self._held = event
            else:
                self._begin(event)
        elif isinstance(event, SessionEnded):
            self._uses.ended[event.reason] += 1

    def resumeProducing(self) -> None:
        """Run the held command, now that the peer has read the earlier answers."""
        super().resumeProducing()
        held, self._held = self._held, None
        if held is not None and not self.closed:
            self._begin(held)

    def _begin(self, event: CommandGiven) -> None:
        # In a later turn: one segment can hold thousands of commands, and other connections must
        # not wait for all of them.
        self._scheduler.soon(lambda: self._tasks.spawn(self._run(event)))

    async def _run(self, given: CommandGiven) -> None:
        # The peer gets an answer even if the command raises.
        reply = Reply(("the command failed; see the server's log",), ok=False)
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
        """Handle the end of a command; a hook for subclasses."""


class CommandServer(Factory):
    """A listener whose connections run commands. Subclasses open it and accept connections."""

    noisy = False
    connections: Any
    """The open connections."""

    def __init__(
        self, key: str, registry: Registry, reactor: Any, scheduler: Scheduler, tasks: Tasks
    ) -> None:
        """`key` is the setting of the listener's address."""
        self._key = key
        self._reactor = reactor
        self._port: Any = None
        self.registry = registry
        self.scheduler = scheduler
        self.tasks = tasks
        self.uses = EndpointUses()

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the listener while it is open."""
        if self._port is not None:
            now = {"connections": len(self.connections)}
            yield open_port(self._key, self._port, now | self.uses.counted())

    async def stop(self) -> None:
        """Close the listener at once, and each connection when its commands are answered."""
        if self._port is not None:
            port, self._port = self._port, None
            with suppress(FileNotFoundError):  # an operator removed the socket's file or its folder
                await maybeDeferred(port.stopListening)
        for connection in list(self.connections):
            connection.close("server is stopping", self.scheduler.now())
        await self.tasks.finished()


ORIGIN = "console"
HAS_SOCKET_FILES: Final = hasattr(socket, "AF_UNIX")
LOOPBACK: Final = "127.0.0.1"
TOKEN_BYTES: Final = 32
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
        """Start the session, as the user whose process is the peer."""
        token = self._server.token
        # The kernel reports the user of the process at the other side; the peer cannot forge it.
        # Who has the token can read this user's files.
        user = own_user() if token else _user_behind(self.transport.getHandle())
        if not self._server.takes(self, user):
            self.transport.abortConnection()
            return
        self.start(ConsoleSession(Caller(user_name(user), OWNER, ORIGIN), token))

    def take_event(self, event: object, now: Monotonic) -> None:
        """Handle an event; a command marks the connection as busy."""
        if isinstance(event, CommandGiven):
            # A console whose command runs is evicted after the idle ones.
            self._server.connections.answering(self)
        super().take_event(event, now)

    def answered(self) -> None:
        """Mark the connection as idle: it may be closed for a new one."""
        self._server.connections.waiting(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Forget the connection."""
        super().connectionLost(reason)
        self._server.connections.remove(self)


class ConsoleServer(CommandServer):
    """The listener for local consoles. Call `listen`, then `stop`."""

    connections: Connections[ConsoleConnection]

    def __init__(
        self, registry: Registry, reactor: Any, scheduler: Scheduler, most: int = 64
    ) -> None:
        """Accept at most `most` connections."""
        super().__init__("console.path", registry, reactor, scheduler, Tasks(_console_log))
        self.most = most
        self.connections = Connections(_evict_console)
        self.token = ""
        """What a connection begins with; empty at a UNIX socket, whose peers the kernel names."""
        self._file: Path | None = None

    def listen(self, path: Path) -> None:
        """Listen. Raises `StoreError` if another server has the socket or it cannot be created."""
        if HAS_SOCKET_FILES:
            self._listen_at(path)
        else:
            self._listen_beside(path)

    def _listen_at(self, path: Path) -> None:
        _remove_stale(path)
        # Twisted changes the mode after the socket exists; the mask closes the moment between.
        before = os.umask(0o177)
        try:
            self._port = self._reactor.listenUNIX(str(path), self, mode=0o600)
        except CannotListenError as error:
            raise StoreError(
                f"{path}: cannot listen there ({error.socketError}); set console.path"
            ) from None
        finally:
            os.umask(before)

    def _listen_beside(self, path: Path) -> None:
        """Listen on a TCP port; write it and the token into a file that only its owner can read."""
        _remove_stale(path)
        self.token = secrets.token_hex(TOKEN_BYTES)
        try:
            self._port = self._reactor.listenTCP(0, self, interface=LOOPBACK)
            with partial_file(path) as fresh:
                fresh.write_text(ConsoleFile(self._port.getHost().port, self.token).written())
                fresh.replace(path)
        except (CannotListenError, OSError) as error:
            reason = getattr(error, "socketError", None) or getattr(error, "strerror", error)
            raise StoreError(f"{path}: cannot listen there ({reason}); set console.path") from None
        self._file = path

    async def stop(self) -> None:
        """Close the listener, remove its file, and end each connection when it is answered."""
        file, self._file = self._file, None
        if file is not None:
            file.unlink(missing_ok=True)
        await super().stop()

    def buildProtocol(self, addr: IAddress | None) -> ConsoleConnection | None:  # noqa: ARG002
        """Return a connection; called by Twisted."""
        return ConsoleConnection(self)

    def takes(self, connection: ConsoleConnection, user: int) -> bool:
        """Register a new connection of a user; return False if the limit is reached.

        Users other than the server's own and root have a quarter of the connections each.
        """
        most = self.most if user in (own_user(), 0) else max(1, self.most // 4)
        reason = self.connections.admit(f"user {user}", ConnectionLimits(self.most, most, most))
        if reason is not None:
            self.uses.ended[reason] += 1
            return False
        self.connections.add_connection(connection, f"user {user}")
        return True


def _remove_stale(path: Path) -> None:
    """Remove a file of a console at which no server answers."""
    try:
        if HAS_SOCKET_FILES and stat.S_ISSOCK(path.stat().st_mode):
            family: int = socket.AF_UNIX
            address: str | tuple[str, int] = str(path)
        else:
            found = ConsoleFile.parse(path.read_bytes()[:LONGEST_TOKEN].decode("utf-8", "replace"))
            if found is None:
                raise StoreError(f"{path}: exists and is no socket; set console.path")
            family, address = socket.AF_INET, (LOOPBACK, found.port)
    except FileNotFoundError:
        return
    # Any other error, such as a timeout, may mean a busy server: the file stays.
    with socket.socket(family) as probe, suppress(OSError):
        probe.settimeout(1.0)
        try:
            probe.connect(address)
        # No process listens at the socket any more.
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
    raise StoreError(f"{path}: another server listens there; set console.path")


def _evict_console(connection: ConsoleConnection) -> None:
    """Close an idle console in favor of a new one."""
    connection.cut_off("idle and replaced")


def _user_behind(handle: Any) -> int:
    """Return the number of the user whose process is the peer of a UNIX socket."""
    raw = handle.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, user, _ = _CREDENTIALS.unpack(raw)
    return int(user)


RCON_LIMITS = StreamLimits(stall_timeout=15.0)
OWN_USER = "rcon"
"""The user of the password ``rcon.password``."""
_rcon_log = logger("rcon")


def rcon_users(config: RconConfig) -> RconUsers:
    """Return the users of a configuration. Raises `ConfigError` if their file is wrong."""
    users = [RconUser(OWN_USER, ADMINISTRATOR, config.password.encode())] if config.password else []
    listed = read_listed("rcon.users_file", config.users_file, read_users) or []
    return RconUsers([*users, *listed])


class RconConnection(CommandStream):
    """One RCON connection."""

    def __init__(self, server: RconServer, address: str) -> None:
        super().__init__(server.registry, server.tasks, server.scheduler, RCON_LIMITS, server.uses)
        self._server = server
        self.address = address

    def connectionMade(self) -> None:
        """Start the session, which waits for the password."""
        self.transport.setTcpNoDelay(True)
        self.transport.setTcpKeepAlive(True)
        self.start(self._server.session(self.address))

    def take_event(self, event: object, now: Monotonic) -> None:
        """Handle an event; logins are reported to the server as well."""
        super().take_event(event, now)
        if isinstance(event, UserAuthenticated):
            self._server.logged_in(self, event.name)
        elif isinstance(event, LoginFailed):
            self._server.login_failed(self.address)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Forget the connection."""
        super().connectionLost(reason)
        self._server.connections.remove(self)


class RconServer(CommandServer):
    """The listener for RCON. Call `listen`, then `stop`; without users it stays closed."""

    connections: Connections[RconConnection]

    def __init__(
        self,
        config: RconConfig,
        registry: Registry,
        reactor: Any,
        scheduler: Scheduler,
        watch: Watch,
    ) -> None:
        """Raises `ConfigError` if the users' file is wrong."""
        super().__init__("rcon.listen", registry, reactor, scheduler, Tasks(_rcon_log))
        self._users = rcon_users(config)
        self._config = config
        self.connections = Connections(_evict)
        self._failures = Failures(
            FailureRules(banned_after=config.banned_after, banned_for=config.banned_for)
        )
        self._refusals = RefusalLog(_rcon_log, scheduler)
        self._report = watch.port("rcon", self._write)
        watch.listener("rcon", self.uses, lambda: len(self.connections))

    def configure(self, config: RconConfig) -> None:
        """Change settings and users; logged-in users stay. Raises `ConfigError`."""
        self._users = rcon_users(config)
        self._config = config

    def listen(self) -> None:
        """Open the port and log its address, or why it stays closed. Raises `CannotListenError`."""
        if not self._users:
            _rcon_log.info("closed: rcon.password and rcon.users_file are not set")
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
        """Return a connection, or None if the limit is reached or the address is banned."""
        address = plain_host(str(addr.host))
        limits = ConnectionLimits(
            self._config.max_connections,
            self._config.connections_per_address,
            self._config.connections_per_address,
        )
        # A banned address is refused before its connection costs anything.
        banned = self._failures.keeps_out(address, self.scheduler.now())
        reason = "banned" if banned else self.connections.admit(address, limits)
        if reason is not None:
            self.uses.ended[reason] += 1
            return None
        connection = RconConnection(self, address)
        self.connections.add_connection(connection, address)
        return connection

    def logged_in(self, connection: RconConnection, name: str) -> None:
        """Count and report a login."""
        self.connections.introduced(connection)
        self.uses.logins["accepted"] += 1
        self._report(UserCame(name, connection.address))

    def login_failed(self, address: str) -> None:
        """Count and report a wrong password."""
        self.uses.logins["refused"] += 1
        self._report(WrongPassword(address))

    def _write(self, event: RconEvent) -> None:
        """Log an event; repeated wrong passwords are summarized."""
        address = event.address
        if isinstance(event, UserCame):
            _rcon_log.info("{name} logged in from {address}", name=event.name, address=address)
        elif self._refusals.is_news("wrong passwords", "", address, "wrong password"):
            _rcon_log.warn("wrong password from {address}", address=address)
        # Else an operator who mistyped the password only sees that connections end at once.
        if (
            not isinstance(event, UserCame)
            and self._failures.is_banned(address, self.scheduler.now())
            and self._refusals.is_news("wrong passwords", "", address, "banned")
        ):
            rules = self._failures.rules
            _rcon_log.warn(
                "{address} is banned for {seconds:.0f} s after {count} wrong passwords; "
                "emu admin needs no password",
                address=address, seconds=rules.banned_for, count=rules.banned_after,
            )  # fmt: skip


def _evict(connection: RconConnection) -> None:
    """Close a connection that has not logged in, in favor of a new one."""
    connection.cut_off("replaced before login")
