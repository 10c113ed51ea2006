"""The RCON port: who may connect and how often. What is said is `emu.admin.rcon`."""

from __future__ import annotations

from typing import Any

from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure

from emu.admin.events import LoggedIn, LoginFailed
from emu.admin.rcon.events import RconEvent, UserCame, WrongPassword
from emu.admin.rcon.session import RconRules, RconSession
from emu.admin.rcon.users import RconUser, RconUsers, read_users
from emu.commands import Registry
from emu.commands.ranks import ADMINISTRATOR
from emu.config import Address, RconConfig
from emu.limits.addresses import plain_host
from emu.limits.connections import ConnectionLimits, Connections, StreamLimits
from emu.limits.failures import FailureRules, Failures
from emu.net.admin.command_stream import CommandServer, CommandStream
from emu.net.hosts import BACKLOG, listen_address
from emu.net.logs import logger
from emu.net.parameters import read_listed
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.tasks import Tasks
from emu.net.watch import Watch
from emu.times import Monotonic

OWN_USER = "rcon"
"""Name of the user whose password is ``rcon.password``."""
_log = logger("rcon")


def rcon_users(config: RconConfig) -> RconUsers:
    """Return the users of a configuration. Raises `ConfigError` when their file is wrong."""
    users = [RconUser(OWN_USER, ADMINISTRATOR, config.password.encode())] if config.password else []
    listed = read_listed("rcon.users_file", config.users_file, read_users) or []
    return RconUsers([*users, *listed])


class RconConnection(CommandStream):
    """One connection."""

    def __init__(self, server: RconServer, address: str) -> None:
        super().__init__(
            server.registry, server.tasks, server.scheduler, StreamLimits(), server.uses
        )
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
        if isinstance(event, LoggedIn):
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
        super().__init__("rcon.listen", registry, reactor, scheduler, Tasks(_log))
        self._users = rcon_users(config)
        self._config = config
        self.connections = Connections(_evict)
        self._failures = Failures(
            FailureRules(banned_after=config.banned_after, banned_for=config.banned_for)
        )
        self._refusals = RefusalLog(_log, scheduler)
        self._tell = watch.port("rcon", self._write)
        watch.door("rcon", self.uses, lambda: len(self.connections))

    def configure(self, config: RconConfig) -> None:
        """Let other users in from now on; whoever is logged in stays. Raises `ConfigError`."""
        self._users = rcon_users(config)
        self._config = config

    def listen(self) -> None:
        """Open the port and say where, or why not. Raises `CannotListenError`."""
        if not self._users:
            _log.info("closed: neither rcon.password nor rcon.users_file names anybody")
            return
        address = listen_address("rcon.listen", self._config.listen)
        self._port = self._reactor.listenTCP(
            address.port, self, backlog=BACKLOG, interface=address.host
        )
        host: Any = self._port.getHost()
        self._refusals.start()
        _log.info("administrators on TCP {at}", at=Address(host.host, host.port))

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
        banned = self._failures.is_banned(address, self.scheduler.now())
        reason = "banned" if banned else self.connections.make_room(address, limits)
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
            _log.info("{name} logged in from {address}", name=event.name, address=address)
        elif self._refusals.is_news("wrong passwords", "", address, "wrong password"):
            _log.warn("wrong password from {address}", address=address)


def _evict(connection: RconConnection) -> None:
    """Close a connection that nobody has logged in on, in favor of a new one."""
    connection.cut_off("not logged in when room was needed")
