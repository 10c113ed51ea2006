"""The login service on the reactor: its UDP port, the worlds' TCP port, and client sessions.

It connects `emu.login` with ports, stores and threads. An exception from a coroutine of the service
ends that one session and is logged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from twisted.internet.error import CannotListenError
from twisted.logger import Logger, LogLevel

from emu.admin.status import OpenPort
from emu.appearance import Models
from emu.commands.registry import GUIDE
from emu.config import Address, Config
from emu.link.settings import LinkServerConfig
from emu.login.accounts import AccountService, may_log_in
from emu.login.client import Client
from emu.login.directory import WorldDirectory
from emu.login.passwords import SALT_SIZE, hash_password, password_fault
from emu.login.ports import LoginRefusalReason
from emu.login.registration import AccountRegistration
from emu.login.server import LoginServer
from emu.login.service import LoginService
from emu.login.settings import DirectoryConfig
from emu.login.shared import GuessScope
from emu.login.shared_worlds import SharedWorlds
from emu.model import Account
from emu.net import parameters
from emu.net.cluster.service import BusEndpoint
from emu.net.link.server import LinkServer
from emu.net.link.tls import server_options
from emu.net.login.password_workers import PasswordWorkers
from emu.net.login.shared_port import PORT_TRIES, InheritedPort
from emu.net.logs import is_written, logger
from emu.net.machine import machine_of
from emu.net.scheduler import Scheduler, Tasks
from emu.net.store import Storage
from emu.net.stream import listen_address, open_port
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.session_port import Accounting, SessionPort, nothing
from emu.net.udp.sockets import adopt, listen
from emu.net.watch import RefusalLog, Watch, log_event
from emu.opcodes import OpcodeTables
from emu.session import (
    AddressChanged,
    DatagramDropped,
    Endpoint,
    Event,
    KeyEstablished,
    Message,
    SessionClosed,
    SessionEstablished,
)
from emu.structs import shipped_catalog
from emu.times import Moment, Monotonic

STORE_WORK = 0.001
"""Seconds of work charged for a message that reads the store, which works in another thread."""


class LoginHandler:
    """One session of the login port, as the dispatcher uses it."""

    __slots__ = ("_log", "_port", "_server", "client")

    def __init__(self, port: SessionPort, server: LoginServer, log: Logger, now: Monotonic) -> None:
        self._port = port
        self._server = server
        self._log = log
        self.client: Client = server.connect(port, port.address[0], now)
        port.closing = partial(self.client.closed, "ended by the server")
        self.client.mailbox.idle = self._idle

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Handle one event of the session."""
        kind = type(event)
        if kind is Message:
            client = self.client
            client.message(event.opcode, event.payload, now)  # type: ignore[union-attr]
            # A client that is not logged in may send only a few messages in all.
            if client.mailbox.is_working and client.is_logged_in:
                # The cost must be known before the next message is read.
                self._port.set_busy(busy=True)
                self._port.charge(STORE_WORK)
        elif kind is SessionClosed:
            self.client.closed(event.reason)  # type: ignore[union-attr]
            # Cut the reference cycle: under a flood the garbage collector is too slow.
            self._port.closing = nothing
            del self.client
        elif kind is AddressChanged:
            host, number = event.now  # type: ignore[union-attr, misc]
            self._server.moved(self.client, host, number)
        # The remaining events are only for the log at the debug level.
        elif not is_written(LogLevel.debug):
            return
        elif kind is DatagramDropped:
            reason = event.reason  # type: ignore[union-attr]
            self._log.debug(
                "datagram of {address} dropped: {reason}", address=self._peer(), reason=reason
            )
        elif kind is SessionEstablished or kind is KeyEstablished:
            self._log.debug("{event} with {address}", event=kind.__name__, address=self._peer())

    def _idle(self) -> None:
        self._port.set_busy(busy=False)

    def get_timer(self) -> Monotonic | None:
        """Return when the client's timer is due."""
        return self.client.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the client's deadlines."""
        self.client.handle_timer(now)

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait."""
        return self.client.mailbox.held_bytes

    def _peer(self) -> Address:
        host, port = self._port.address[:2]
        return Address(host, port)


DRAIN_TIME = 2.0
"""Seconds that clients have to end their sessions when the server stops."""

_log = logger("login")
_link_log = logger("link")


class LoginEndpoint:
    """The login service, the world directory and their ports. `listen`, then `stop`."""

    def __init__(
        self,
        config: Config,
        storage: Storage,
        opcodes: Callable[[], OpcodeTables],
        reactor: Any,
        scheduler: Scheduler,
        *,
        watch: Watch | None = None,
        inherited: InheritedPort | None = None,
        bus: BusEndpoint | None = None,
    ) -> None:
        """Make the service; a worker of several adopts its `inherited` sockets in `listen`.

        Without `bus` it is the only login server.
        """
        self._inherited = inherited
        watch = watch or Watch()
        self._bus = bus or BusEndpoint(scheduler)
        self._config = config
        self._storage = storage
        self._reactor = reactor
        self._scheduler = scheduler
        self._passwords = PasswordWorkers(
            reactor,
            threads=config.login.password_threads,
            most_waiting=config.login.password_waiting,
        )
        self._tasks = Tasks(_link_log)
        self._refusals = RefusalLog(_log, scheduler)
        self._link_refusals = RefusalLog(_link_log, scheduler)
        self._make_account_services()
        self.directory = self._make_directory(watch)
        self.worlds = SharedWorlds(
            self._bus.member, self.directory, spawn=self._tasks.spawn, clock=scheduler
        )
        """The worlds that are linked to any login server."""
        self._bus.ticks.append(self.worlds.tick)
        self.links = LinkServer(
            parameters.taken_from(config.link, LinkServerConfig),
            self.directory,
            self._tasks,
            reactor,
            scheduler,
        )
        self.service = self._make_service(opcodes, watch)
        if self.service.shared_logins is not None:
            self._bus.ticks.append(self.service.shared_logins.tick)
        self._server = LoginServer(self.service)
        endpoint = Endpoint(
            parameters.endpoint_config(config, config.login.crc_seed), random_bytes=os.urandom
        )
        machine = machine_of(reactor)
        accounting = Accounting(parameters.turn_rules(config), machine.work, machine.processor)
        watch.turns("login", accounting)
        self.dispatcher = Dispatcher(
            endpoint, scheduler, self._new_client, _log, accounting=accounting
        )
        self._measure(watch, endpoint)
        self._port: Any = None
        self._link_ports: dict[str, Any] = {}

    def _make_account_services(self) -> None:
        """Make the checks of passwords: for players, for the dashboard, for new accounts."""
        account_service = partial(
            AccountService,
            self._storage.accounts,
            workers=self._passwords,
            is_address_banned=self._storage.bans.is_address_banned,
            random_bytes=os.urandom,
            start=self._tasks.spawn,
            clock=self._scheduler,
            member=self._bus.member,
        )
        self._accounts = account_service(
            config=parameters.account_config(self._config), scope=GuessScope.PLAYERS
        )
        self.staff = account_service(
            config=parameters.staff_config(self._config),
            rule=self._may_sign_in,
            scope=GuessScope.STAFF,
        )
        """Checks logins to the dashboard; wrong attempts there do not draw on players' budgets."""
        self._registering = account_service(
            config=parameters.staff_config(self._config), scope=GuessScope.REGISTRATION
        )
        self.registration = AccountRegistration(
            self._storage.accounts,
            self._registering,
            workers=self._passwords,
            is_address_banned=self._storage.bans.is_address_banned,
            random_bytes=os.urandom,
            clock=self._scheduler,
            config=parameters.registration_config(self._config),
        )

    def _make_directory(self, watch: Watch) -> WorldDirectory:
        return WorldDirectory(
            parameters.taken_from(self._config.link, DirectoryConfig),
            worlds=self._storage.worlds,
            characters=self._storage.characters,
            logs=self._storage.reports,
            is_address_banned=self._storage.bans.is_address_banned,
            catalog=shipped_catalog(),
            spawn=self._tasks.spawn,
            clock=self._scheduler,
            report=watch.port("link", log_event(_link_log, self._link_refusals)),
        )

    def _make_service(self, opcodes: Callable[[], OpcodeTables], watch: Watch) -> LoginService:
        return LoginService(
            config=parameters.login_config(self._config),
            opcodes=opcodes,
            structs=shipped_catalog(),
            authenticator=self._accounts,
            characters=self._storage.characters,
            logs=self._storage.reports,
            worlds=self.worlds,
            zones=self._storage.worlds,
            models=Models(self._storage.models),
            is_barred=self._is_barred,
            is_trial=lambda name: self._accounts.trials.use_trial(name, self._scheduler.now()),
            start=self._tasks.spawn,
            clock=self._scheduler,
            log=watch.port("login", log_event(_log, self._refusals)),
            member=self._bus.member,
        )

    async def _may_sign_in(
        self, account: Account | None, moment: Moment
    ) -> LoginRefusalReason | None:
        """Return why an account may not sign in as an operator. Raises `StoreError`."""
        rank = await self._storage.world_characters.rank_of(account.id if account else 0)
        refusal = await may_log_in(account, moment)
        return refusal or (LoginRefusalReason.NO_RANK if rank < GUIDE else None)

    async def _is_barred(self, account_id: int, address: str) -> bool:
        """Return whether a ban or a disabled account bars an account or address.

        Raises `StoreError`.
        """
        return bool(await self._storage.login_gate.kept_out([(account_id, address)]))

    def _measure(self, watch: Watch, endpoint: Endpoint) -> None:
        watch.endpoint("login", endpoint)
        watch.queue("passwords", "Password checks that wait.", lambda: self._passwords.waiting)
        journal = self.service.journal
        watch.reasons(
            "login_drops", "Messages of clients without an effect.", lambda: journal.counters
        )
        watch.reasons(
            "login_outcomes",
            "What came of messages of clients that had an effect.",
            lambda: self.service.counters,
        )
        watch.reasons(
            "link_drops",
            "What came over links to worlds and had no effect, and links that were refused.",
            lambda: self.directory.counters + self.links.counters,
        )

    def configure(self, config: Config) -> None:
        """Apply changed settings to what happens from now on."""
        self._accounts.config = parameters.account_config(config)
        self.staff.config = parameters.staff_config(config)
        self._registering.config = parameters.staff_config(config)
        self.registration.config = parameters.registration_config(config)
        self.service.config = parameters.login_config(config)
        self.directory.config = parameters.taken_from(config.link, DirectoryConfig)
        self.links.config = parameters.taken_from(config.link, LinkServerConfig)

    async def hash_password(self, password: str) -> str:
        """Return a new password's hash for the store.

        Made in a worker thread, after those of players. Raises `ValueError` if the password cannot
        be set.
        """
        fault = password_fault(password.encode(), self._accounts.config.shortest_password)
        if fault:
            raise ValueError(fault)
        config = self._accounts.config.passwords
        salt = os.urandom(SALT_SIZE)
        # All commands share one source, so that a script cannot take the turns of players.
        async with self._passwords.turn("administration", lambda: True):
            return await self._passwords.run(
                partial(hash_password, password.encode(), salt, config)
            )

    def expect_trial(self, name: str) -> None:
        """Let the next login of an account change nothing; see `emu.login.accounts.TrialLogins`."""
        self._accounts.trials.expect(name, self._scheduler.now())

    def send_away(self, account_id: int, reason: str, notice: str) -> None:  # noqa: ARG002
        """End the session of an account's client, if it has one; it can show no notice."""
        client = self.service.logged_in.find(account_id)
        if client is not None:
            client.close(reason)

    @property
    def port(self) -> int:
        """The UDP port for clients; 0 before `listen`."""
        return int(self._port.getHost().port) if self._port is not None else 0

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the ports that are open."""
        if self._port is not None:
            yield open_port("login.listen", self._port, {})
        for key, port in self._link_ports.items():
            yield open_port(
                key, port, {"connections": self.links.connections, **self.links.counters}
            )

    def listen(self) -> tuple[str, int]:
        """Open the ports, log them, and return their address, where worlds register too.

        Raises `CannotListenError`.
        """
        listening = self._open_both() if self._inherited is None else self._adopt(self._inherited)
        self._refusals.start()
        self._link_refusals.start()
        host = self._port.getHost()
        _log.info("clients on UDP {at}", at=Address(host.host, host.port))
        # Of several workers, one has the port of links.
        if listening is not None:
            self._link_ports["login.listen"] = listening
            tcp = listening.getHost()
            _link_log.info("worlds on TCP {at}", at=Address(tcp.host, tcp.port))
            self._listen_securely()
        return host.host, host.port

    def _listen_securely(self) -> None:
        """Open the TLS port of links, if the configuration names one."""
        pem = parameters.read_certificate(self._config)
        secure = self._config.link.tls_listen
        if pem is not None and secure is not None:
            secure = listen_address("link.tls_listen", secure)
            secured: Any = self.links.listen(secure.host, secure.port, server_options(pem))
            self._link_ports["link.tls_listen"] = secured
            tls = secured.getHost()
            _link_log.info("worlds on TLS {at}", at=Address(tls.host, tls.port))

    def _adopt(self, inherited: InheritedPort) -> Any:
        """Use the sockets of the supervisor; return the TCP port, None in most workers."""
        self._port = adopt(self._reactor, inherited.clients, self.dispatcher)
        return None if inherited.links is None else self.links.adopt(inherited.links)

    def _open_both(self) -> Any:
        """Open UDP and TCP on one number and return the TCP port."""
        address = listen_address("login.listen", self._config.login.listen)
        number, tries = address.port, PORT_TRIES
        while not number:
            # The system chooses a free TCP port; the UDP port of that number may still be in use.
            tcp: Any = self.links.listen(address.host, 0)
            tries -= 1
            try:
                self._port = listen(
                    self._reactor, address.host, tcp.getHost().port, self.dispatcher
                )
            except CannotListenError:
                # The system chooses another number in the next try.
                tcp.stopListening()
                if not tries:
                    raise
            else:
                return tcp
        self._port = listen(self._reactor, address.host, number, self.dispatcher)
        return self.links.listen(address.host, number)

    async def stop(self, deadline: Monotonic) -> None:
        """End the sessions and links, and wait until their requests are stored."""
        drained_by = Monotonic(min(self._scheduler.now() + DRAIN_TIME, deadline))
        # The clients first: their sessions end while the links and the passwords are stopped.
        self.dispatcher.close(self._scheduler.now())
        await self.links.stop()
        # Logins that wait for a thread are refused here; otherwise their tasks would not finish.
        await self._passwords.stop()
        await self._tasks.finished()
        await drained(self.dispatcher, self._scheduler, drained_by)
        if self._port is not None:
            await self._port.stopListening()
            # A port that is closed has no address any more.
            self._port = None
        self._refusals.stop()
        self._link_refusals.stop()

    def _new_client(self, port: SessionPort, now: Monotonic) -> LoginHandler:
        return LoginHandler(port, self._server, _log, now)


async def drained(dispatcher: Dispatcher, scheduler: Scheduler, deadline: Monotonic) -> None:
    """Wait until every session is over or the deadline has passed, then stop the dispatcher."""
    while dispatcher.session_count and scheduler.now() < deadline:
        # A session ends when its client answers the SessionDisconnect, so this only waits.
        await scheduler.pause(0.02)
    dispatcher.abandon()
