"""The administration service: commands, status, shutdown, console, RCON and query ports.

It starts before the other services, whose commands join its registry, and stops before them: no
command can reach a service that is gone.

Repeated refusals are logged once and then summarized, so that no player can fill the log.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from emu.admin.commands import accounts, characters, server
from emu.admin.commands.accounts import AccountCommandContext
from emu.admin.commands.characters import CharacterCommandContext
from emu.admin.commands.server import Controls, Reload
from emu.admin.countdown import Countdown
from emu.admin.status import OpenPort
from emu.commands import Registry, Use
from emu.commands import help as help_commands
from emu.config import Config
from emu.errors import EmuError, StoreError
from emu.limits.addresses import BanList
from emu.login.accounts import account_name
from emu.metrics import EndpointUses
from emu.net.admin.commands import ConsoleServer, RconServer, rcon_users
from emu.net.admin.ggmp import ActorWorld, GgmpPort, ggmp_rules
from emu.net.admin.queries import QueryEndpoints, SsqPort
from emu.net.admin.status import StatusSource
from emu.net.login.service import LoginEndpoint
from emu.net.logs import logger
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.store import Storage
from emu.net.stream import OpenFiles
from emu.net.watch import Watch
from emu.net.world.service import WorldEndpoint
from emu.store import BannedAddress
from emu.times import Clock, Monotonic

REREAD: Final = 5.0
"""Seconds between two reads of the ban list."""


class KnownBans:
    """A cached ban list: answers at once, from the bans of a few seconds ago."""

    def __init__(
        self, read: Callable[[], Awaitable[Sequence[BannedAddress]]], clock: Clock
    ) -> None:
        self._read = read
        self._clock = clock
        self._list = BanList(())
        self._is_empty = True
        self._read_at = -math.inf

    def covers(self, host: str) -> bool:
        """Return whether a ban covers a host, and read the bans again when that is due."""
        now = self._clock.now()
        if now - self._read_at >= REREAD:
            self._read_at = now
            Deferred.fromCoroutine(self._refresh())
        return not self._is_empty and self._list.covers(host, self._clock.moment())

    async def _refresh(self) -> None:
        with suppress(EmuError):  # the known bans stay valid
            bans = await self._read()
            self._list = BanList([(ban.prefix, ban.until) for ban in bans])
            self._is_empty = not bans


LONGEST_REASON = 120


def report_use(log: Logger, refusals: RefusalLog) -> Callable[[Use], None]:
    """Return what `Registry.report` calls: it logs every use."""

    def write(use: Use) -> None:
        result = use.result.splitlines()[0] if use.result else "done"
        who = f"{use.caller} ({use.origin})"
        if not use.ok and not refusals.is_news("failed commands", "", who, result[:LONGEST_REASON]):
            return
        log.info(
            "command of {who} ({origin}): {command}: {result}",
            who=use.caller, origin=use.origin, command=use.line, ok=use.ok, result=result,
        )  # fmt: skip

    return write


_log = logger("admin")


class AdminEndpoints:
    """Commands and their listeners. Call `join` with the services, then `listen`, then `stop`."""

    def __init__(
        self,
        config: Config,
        reactor: Any,
        scheduler: Scheduler,
        end: Callable[[], object],
        watch: Watch,
    ) -> None:
        """`end` stops the whole server. Raises `ConfigError` if the RCON users are wrong."""
        self._config = config
        self._scheduler = scheduler
        self._watch = watch
        self._world: WorldEndpoint | None = None
        self._login: LoginEndpoint | None = None
        self._refusals = RefusalLog(_log, scheduler)
        self.commands = Registry(watch.port("commands", report_use(_log, self._refusals)))
        self.status = StatusSource(
            self._name, self._port, scheduler.now(), config.network.max_sessions
        )
        # In a later turn, so that the operator still gets the reply to `shutdown 0`.
        self._countdown = Countdown(self._announce, lambda: scheduler.soon(end))
        self._timer = scheduler.timer(self)
        self._console = ConsoleServer(self.commands, reactor, scheduler, config.console.connections)
        self.rcon = RconServer(config.rcon, self.commands, reactor, scheduler, watch)
        watch.listener("console", self._console.uses, lambda: len(self._console.connections))
        self.ssq = SsqPort(
            config.ssq, self.status.status, _game_host(config), reactor, scheduler,
            query=config.query,
        )  # fmt: skip
        watch.listener("ssq", EndpointUses(logins=self.ssq.core.logins))
        self.ggmp: GgmpPort | None = None
        self.queries: QueryEndpoints | None = None
        watch.measures.counter(
            "queries", "Datagrams at the query ports, by result.", ["port", "result"]
        ).also(self._queries_counted)
        self._open_files = OpenFiles(scheduler, watch)
        self._make_queries = partial(QueryEndpoints, reactor=reactor, scheduler=scheduler)
        self._make_ggmp = partial(GgmpPort, reactor=reactor, scheduler=scheduler)

    def join(
        self,
        login: LoginEndpoint | None,
        world: WorldEndpoint | None,
        storage: Storage,
        reloads: dict[str, Reload],
        snapshot: Callable[[], dict[str, Any]],
    ) -> None:
        """Add the commands that work on the services of this process.

        `snapshot` returns the data of the command of that name.
        """
        self._login, self._world = login, world
        controls = Controls(
            lambda rank: self.status.status(self._scheduler.now(), rank),
            reloads,
            self._countdown,
            snapshot,
            self._countdown_changed,
        )
        self.commands.extend(server.COMMANDS.commands(controls))
        self.commands.extend(server.SOURCE_COMMANDS.commands(self.commands))
        self.commands.extend(help_commands.COMMANDS.commands(self.commands))
        if login is not None:
            self.status.directory = login.directory
            self.commands.extend(accounts.COMMANDS.commands(self._accounts(login, storage)))
        if world is not None:
            self.status.world = world.world
            world.world.notifications.hidden_changed.subscribe(
                lambda _player: self.status.changed()
            )
            self.status.admission = world.admission
            self.status.behaviors = world.behaviors
            actors = ActorWorld(world.world, world.chat, self.status.status)
            self.ggmp = self._make_ggmp(self._config.ggmp, actors, report_use=self.commands.report)
            core = self.ggmp.core
            self._watch.listener("ggmp", EndpointUses(logins=core.logins), lambda: len(core))
        bans = KnownBans(storage.bans.every, self._scheduler)
        self.queries = self._make_queries(
            self._config, status=self.status.status, is_banned=bans.covers
        )
        store = CharacterCommandContext(
            storage.roster, storage.world_characters, self._is_playing, self._rank_changed
        )
        self.commands.extend(characters.COMMANDS.commands(store))

    def check(self, config: Config) -> None:
        """Raise `ConfigError` if `configure` would refuse a configuration."""
        rcon_users(config.rcon)
        ggmp_rules(config.ggmp)

    def configure(self, config: Config) -> None:
        """Apply a new configuration, and read the files that it names.

        Raises `ConfigError` if a setting or file is wrong, `CommandError` if a port cannot be
        opened.
        """
        self._config = config
        self.rcon.configure(config.rcon)
        self.ssq.configure(config.ssq)
        if self.ggmp is not None:
            self.ggmp.configure(config.ggmp)

    def listen(self) -> None:
        """Open the listeners. Raises `CannotListenError`, `CommandError`, `StoreError`.

        The console is optional unless `console.path` is set: the default path lies beside the
        database and can be too long for a socket.
        """
        self._open_files.start()
        self._refusals.start()
        for port in self._listeners():
            port.listen()
        if not self._config.console.enabled:
            return
        try:
            self._console.listen(self._config.console_path)
        except StoreError as error:
            if self._config.console.path is not None:
                raise
            _log.warn("emu admin cannot reach this server: {reason}", reason=str(error))

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the open listeners."""
        for listener in (self._console, *self._listeners()):
            yield from listener.open_ports()

    async def stop(self) -> None:
        """Close the listeners when their commands are answered."""
        self._scheduler.drop(self._timer)
        self._open_files.stop()
        for listener in (self._console, *self._listeners()):
            await listener.stop()
        self._refusals.stop()

    def _listeners(self) -> Iterator[RconServer | SsqPort | QueryEndpoints | GgmpPort]:
        """Yield the listeners other than the console."""
        yield self.rcon
        yield self.ssq
        if self.queries is not None:
            yield self.queries
        if self.ggmp is not None:
            yield self.ggmp

    def handle_timer(self, now: Monotonic) -> None:
        """Announce a shutdown, or stop; called by the scheduler."""
        try:
            self._countdown.handle_timer(now)
        finally:  # the server must stop in time even if an announcement fails
            self._countdown_changed()

    def _countdown_changed(self) -> None:
        self._scheduler.arm(self._timer, self._countdown.get_timer())

    def _announce(self, text: str) -> None:
        _log.info("{text}", text=text)
        if self._world is not None:
            self._world.chat.broadcast(text)

    def _queries_counted(self) -> Counter[tuple[str, ...]]:
        return Counter(
            {
                (listener.key.partition(".")[0], result): count
                for port in self._listeners()
                if port is not self.rcon
                for listener in port.open_ports()
                for result, count in listener.counters.items()
            }
        )

    def _name(self) -> str:
        return self._config.query.name or self._config.world.name

    def _port(self) -> int:
        service = self._login or self._world
        return service.port if service is not None else 0

    def _accounts(self, login: LoginEndpoint, storage: Storage) -> AccountCommandContext:
        return AccountCommandContext(
            storage.account_administration,
            storage.roster,
            account_name,
            login.hash_password,
            self._disconnect,
            self._scheduler.moment,
            storage.world_characters.authority_of,
        )

    def _disconnect(self, account_id: int, reason: str) -> None:
        for service in (self._world, self._login):
            if service is not None:
                service.send_away(account_id, reason)

    def _is_playing(self, char_id: int) -> bool:
        """Return whether a character is in the world, in any process."""
        return self._world is not None and self._world.world.presence.find(char_id) is not None

    def _rank_changed(self, char_id: int, rank: int) -> None:
        if self._world is not None:
            self._world.account_changes.rank_changed(char_id, rank)


def _game_host(config: Config) -> str:
    """Return the address that players connect to."""
    service = config.login if config.login.enabled else config.world
    return config.world.advertise or service.listen.host
