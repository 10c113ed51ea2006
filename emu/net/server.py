"""The whole server in one process: what `emu.tap` starts, reloads and stops.

The order of a start is database, login, world; a stop has the reverse order and one deadline. If a
service cannot start, the reason is one line. A reload applies the settings that are declared
`live`, and reports changed settings that need a restart. The services do not know each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Final, NoReturn

from twisted.application.service import Service
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.error import CannotListenError
from twisted.logger import ILogObserver, globalLogPublisher

from emu.admin.commands.server import Reload
from emu.admin.snapshot import snapshot_value
from emu.admin.status import OpenPort, in_short
from emu.built import form
from emu.commands.registry import OWNER
from emu.config import Config
from emu.config.live import differences, merged
from emu.database.files import begin_anew
from emu.errors import ConfigError, EmuError, unusable
from emu.net import logs, parameters
from emu.net.admin.service import AdminEndpoints
from emu.net.login.service import LoginEndpoint
from emu.net.logs import logger
from emu.net.opcode_source import OpcodeSource, last_changes
from emu.net.scheduler import Scheduler
from emu.net.service_manager import ServiceManager
from emu.net.store import Storage, StoreWorker
from emu.net.stream import cannot_listen, key_of
from emu.net.trace import TraceFile
from emu.net.upkeep import Upkeep
from emu.net.watch import Watch
from emu.net.web.dashboard import DashboardEndpoint, StaffAccounts
from emu.net.web.service import WebEndpoint
from emu.net.webhook import Webhook
from emu.net.world.registration import built_in_account
from emu.net.world.service import WorldEndpoint
from emu.opcodes import OpcodeStore
from emu.partial import remove_stale
from emu.store import Store
from emu.store.repository import schema
from emu.store.server_lock import ServerLock
from emu.structs.catalog import read_shipped, shipped_catalog
from emu.times import Monotonic

_log = logger("server")


async def reread(reads: Mapping[str, Reload]) -> None:
    """Read everything again; log each fault, and keep the previous content then."""
    for name, read in reads.items():
        try:
            await read()
        except ConfigError as error:
            for problem in error.problems:
                _log.error("the {name} is as before: {problem}", name=name, problem=problem)
        except (EmuError, OSError) as error:
            reason = unusable(error) if isinstance(error, OSError) else str(error)
            _log.error("the {name} are as before: {reason}", name=name, reason=reason)


class CannotStart(SystemExit, Exception):
    """Ends the program with one line and exit status 1.

    It is also an `Exception`, because a daemon's `twistd` reports only those to its parent process,
    which would otherwise wait for ever.
    """

    def __init__(self, line: str, *, is_logged: bool) -> None:
        """Print `line` at the end, unless the log has it: twistd also writes its errors there."""
        super().__init__(f"emu: {line}")
        if is_logged:
            self.code = 1


NO_DATABASE: Final = "the database file was deleted, replaced or overwritten: see the log"
"""The reason for anonymous clients; the log has the file and the cure."""


def check_files(config: Config, *, anew: bool = False) -> bool:
    """Create or upgrade the database, and check every file in the configuration.

    `anew`: also create one in place of an empty file, or of one that a server has lost. Incomplete
    files of killed programs are removed. No file stays open, because a daemon forks after this.
    Return whether the last server ended without an orderly stop. Raises `EmuError` with one line
    that says what to do.
    """
    path = config.database.path
    with ServerLock(path, anew=anew) as lock:
        remove_stale(path.parent)
        if anew:
            begin_anew(path, schema())
        Store.create(path).close()
        OpcodeStore.ensure(config.database.path).close()
    parameters.read_certificate(config)
    return lock.after_crash


class EmuService(Service):
    """The whole server as one Twisted service."""

    def __init__(
        self,
        config: Config,
        reactor: Any = None,
        log_observer: ILogObserver | None = None,
        *,
        warnings: Sequence[str] = (),
        after_crash: bool = False,
        given_up: Callable[[], object] = lambda: None,
        reread: Callable[[], Config] | None = None,
        end: Callable[[], object] | None = None,
    ) -> None:
        """Make the service; with an observer the whole application's log goes there.

        `warnings` are lines for the operator, logged at the start. `after_crash`: the last server
        on this database ended without an orderly stop. `given_up` is called when the start fails,
        before the failure is reported. `reread` reads the configuration again, or raises
        `ConfigError`. `end` stops the program, in place of the reactor.
        """
        self.config = config
        self._warnings = warnings
        self._after_crash = after_crash
        self._given_up = given_up
        self._reread = reread
        self._end = end
        self._log_observer = log_observer
        self._writes_log = False
        self._reactor = reactor
        self._lock: ServerLock | None = None
        self._scheduler: Scheduler | None = None
        self._storage: Storage | None = None
        self._upkeep: Upkeep | None = None
        self._opcode_worker: StoreWorker | None = None
        self._opcodes: OpcodeSource | None = None
        self._tracer: TraceFile | None = None
        self.admin: AdminEndpoints | None = None
        self.login: LoginEndpoint | None = None
        self.world: WorldEndpoint | None = None
        self._reloads: dict[str, Reload] = {}
        """What is read again at SIGHUP and by the command `reload`, by name."""
        self._web: WebEndpoint | None = None
        self._webhook: Webhook | None = None
        self._listening = False
        self._manager: ServiceManager | None = None
        self.watch = Watch()
        """The server's reports and metrics."""
        logs.set_level(config.log.level)

    def setServiceParent(self, parent: Any) -> None:
        """Join the application, and write its log in our form when it takes an observer."""
        if self._log_observer is not None and hasattr(parent, "setComponent"):
            parent.setComponent(ILogObserver, self._log_observer)
            self._writes_log = True
        super().setServiceParent(parent)  # type: ignore[no-untyped-call]

    def privilegedStartService(self) -> None:
        """Open the ports while the process may still use those below 1024."""
        super().privilegedStartService()  # type: ignore[no-untyped-call]
        self._listen()

    def startService(self) -> None:
        """Start to serve."""
        super().startService()  # type: ignore[no-untyped-call]
        self._listen()
        for line in self._warnings:
            _log.warn("{line}", line=line)
        if self._opcodes is not None:
            self._opcodes.start()
        if self._upkeep is not None:
            self._upkeep.start()
        if self.world is not None:
            self.world.register()
        # From inside the reactor's loop: from then on, a signal stops the server in order.
        self._reactor.callWhenRunning(self._ready)

    def _ready(self) -> None:
        _log.info("ready, {form}", form=form())
        if self._manager is not None and self.running:
            self._manager.start()
        if self._webhook is not None and self.running:
            self._webhook.start(after_crash=self._after_crash)

    def reload(self) -> None:
        """Read configuration, structs, opcode tables and all other files again."""
        if self.running:
            Deferred.fromCoroutine(self._reload_all())

    async def _reload_all(self) -> None:
        assert self._manager is not None  # noqa: S101  # it runs
        self._manager.reloading()
        try:
            await reread(self._reloads)
        finally:
            self._manager.reloaded()

    async def _reread_config(self) -> str:
        if self._reread is None:
            return "it is not from a file"
        fresh = self._reread()
        if self.admin is not None:
            self.admin.check(fresh)
        changed = differences(self.config, fresh)
        self.config = merged(self.config, fresh)
        logs.set_level(self.config.log.level)
        for service in (self.login, self.world, self.admin, self._web):
            if service is not None:
                service.configure(self.config)
        if self._webhook is not None:
            self._webhook.configure(self.config.webhook)
        now = ", ".join(one.key for one in changed if one.rule.live) or "nothing"
        later = ", ".join(one.key for one in changed if not one.rule.live)
        _log.info("the configuration was read again; changed: {now}", now=now)
        if later:
            _log.warn("at the next start only: {later}", later=later)
        return f"changed: {now}" + (f"; at the next start only: {later}" if later else "")

    async def _reread_structs(self) -> str:
        assert self._opcode_worker is not None  # noqa: S101  # it runs
        shipped_catalog().exchange(await self._opcode_worker.run(read_shipped))
        return "new sessions use what was read"

    def stopService(self) -> Deferred[None]:
        """Close sessions in order and flush the store; the result comes when all is done."""
        super().stopService()  # type: ignore[no-untyped-call]
        return Deferred.fromCoroutine(self._stop())

    def _listen(self) -> None:
        if self._listening:
            return
        self._listening = True
        globalLogPublisher.addObserver(self.watch.lines)
        if self._reactor is None:
            from twisted.internet import reactor  # noqa: PLC0415  # after it was chosen

            self._reactor = reactor
        try:
            self._lock = ServerLock(self.config.database.path)
            self._open()
        except CannotListenError as error:
            self._give_up(cannot_listen(key_of(self.config, error), error))
        except EmuError as error:
            self._give_up(str(error))
        except OSError as error:
            self._give_up(unusable(error))

    def _give_up(self, line: str) -> NoReturn:
        """End a failed start; it has changed nothing."""
        if self._lock is not None:
            self._lock.release()
        self._given_up()
        globalLogPublisher.removeObserver(self.watch.lines)
        if self._writes_log:
            _log.error("{line}", line=line)
        raise CannotStart(line, is_logged=self._writes_log) from None

    def _open(self) -> None:
        """Open the database, then the ports; change nothing before all are open."""
        config, reactor = self.config, self._reactor
        self._scheduler = scheduler = Scheduler(reactor)
        self._manager = ServiceManager(scheduler, self._in_short)
        keep_deleted = parameters.keep_deleted(config)
        self._storage = storage = Storage(
            config.database.path,
            reactor,
            scheduler,
            keep_deleted=keep_deleted,
            knows_accounts=parameters.knows_accounts(config),
            lock_wait=config.database.lock_wait,
            remembered=config.database.remembered,
            durability=config.database.durability,
        )
        self._opcode_worker = StoreWorker(reactor, nullcontext, name="emu-opcodes")
        self._opcodes = OpcodeSource(config.database.path, scheduler, self._opcode_worker.run)
        tables = self._opcodes.tables
        self.watch.queue("store", "Calls to the database that wait.", lambda: storage.waiting)
        self.watch.queue("writes", "Writes that nobody waits for.", lambda: storage.deferred)
        if config.trace.file is not None:
            self._tracer = TraceFile(config.trace.file, config.trace.max_bytes, _log)
        link_address: tuple[str, int] | None = None
        self.admin = AdminEndpoints(
            config, reactor, scheduler, self._end or reactor.stop, self.watch
        )
        if config.login.enabled:
            self.login = LoginEndpoint(
                config, storage, tables, reactor, scheduler, watch=self.watch
            )
            link_address = self.login.listen()
        if config.world.enabled:
            self.world = WorldEndpoint(
                config, storage, tables, reactor, scheduler,
                commands=self.admin.commands, login_address=link_address, watch=self.watch,
            )  # fmt: skip
            self.world.listen()
        self._open_administration(self.admin, self._opcodes, storage)
        if self.world is not None and not config.world.login_servers:
            self.world.account = built_in_account(
                storage.direct, config.world.name, scheduler.moment(), self.world.atlas
            )
        if self.world is not None:
            self.world.spool.load(storage.direct if config.processes.hub is None else None)
        self._trace()
        self._open_web(self.admin, scheduler)
        self._webhook = Webhook(
            config.webhook, config.world.name, reactor, scheduler, self.watch, self._conceals
        )
        assert self._lock is not None  # noqa: S101  # it was taken before
        # Last, because it writes its mark into the database, and a failed start must not.
        self._upkeep = Upkeep(
            config.database, self._lock, reactor, scheduler, self._lose, commits=storage.commits
        )

    def _open_web(self, admin: AdminEndpoints, scheduler: Scheduler) -> None:
        """Open the web endpoint, when the configuration names an address."""
        listen, worker = self.config.web.listen, self._opcode_worker
        if listen is None or worker is None:
            return
        self._web = WebEndpoint(
            listen,
            self._reactor,
            scheduler,
            status=lambda: admin.status.status(scheduler.now()),
            conceals=self._conceals,
            missing=self._missing,
            history=partial(worker.run, partial(last_changes, self.config.database.path)),
            watch=self.watch,
            dashboard=self._dashboard(admin, scheduler),
            config=self.config.web,
        )
        self._web.listen()

    def _missing(self) -> str:
        """Return the reason why the server cannot serve players; empty if it can."""
        if self._problem():
            return NO_DATABASE
        if not self.running:
            return "the server is not ready"
        return self.world.not_ready() if self.world is not None else ""

    def _problem(self) -> str:
        """Return how the database was lost; empty if it was not."""
        return self._upkeep.problem if self._upkeep is not None else ""

    def _lose(self, problem: str) -> None:
        """Refuse all work on a lost database file. In another thread."""
        if self._storage is not None:
            self._storage.lose(problem)
        if self.world is not None:
            self.world.spool.lose()
        if self._opcodes is not None:
            self._opcodes.lose()

    def _dashboard(self, admin: AdminEndpoints, scheduler: Scheduler) -> DashboardEndpoint | None:
        """Return the way to act from the page, when the configuration lets anybody."""
        if not self.config.web.admin or self.login is None or self._storage is None:
            return None
        staff = StaffAccounts(self.login.staff, self._storage, scheduler)
        return DashboardEndpoint(self.config.web, staff, admin.commands, scheduler, self.watch)

    def _open_administration(
        self, admin: AdminEndpoints, opcodes: OpcodeSource, storage: Storage
    ) -> None:
        self._reloads = {
            "configuration": self._reread_config,
            "structs": self._reread_structs,
            "opcodes": opcodes.reread,
        }
        if self.world is not None:
            self._reloads |= self.world.reloads
        admin.commands.refusal = self._problem
        admin.join(self.login, self.world, storage, self._reloads, self._snapshot)
        admin.listen()

    def _snapshot(self) -> dict[str, Any]:
        assert self.admin is not None  # noqa: S101  # its command asks
        assert self._scheduler is not None  # noqa: S101
        now = self._scheduler.now()
        return snapshot_value(
            self.admin.status.status(now, OWNER), now, self.watch.measures.read(),
            self._open_ports(), lines=self.watch.lines.lines(), process=os.getpid(),
        )  # fmt: skip

    def _conceals(self, text: str) -> bool:
        """Return whether a text names a player that is hidden from anonymous clients."""
        return self.world is not None and self.world.concealed.names(text)

    def _open_ports(self) -> Iterator[OpenPort]:
        for service in (self.login, self.world, self.admin, self._web):
            if service is not None:
                yield from service.open_ports()

    def _trace(self) -> None:
        """Start the capture of sessions, if the configuration names a file."""
        if self._tracer is None:
            return
        for service in (self.login, self.world):
            if service is not None:
                service.dispatcher.tracer = self._tracer
        _log.warn(
            "every session is written to {path} WITH ITS KEYS: passwords can be read there",
            path=str(self._tracer.path),
        )

    def _in_short(self) -> str:
        """Return the server's state in one line."""
        assert self.admin is not None  # noqa: S101  # it runs
        assert self._scheduler is not None  # noqa: S101
        return in_short(self.admin.status.status(self._scheduler.now()))

    async def _stop(self) -> None:
        """Stop everything by one deadline; do not wait longer for a step that hangs."""
        scheduler = self._scheduler
        if scheduler is not None:
            begun, most = scheduler.now(), self.config.network.shutdown_time
            await self._stop_services(scheduler, Monotonic(begun + most))
        if self._tracer is not None:
            self._tracer.close()
        if self._lock is not None:
            self._lock.release()
        _log.info("stopped")
        globalLogPublisher.removeObserver(self.watch.lines)
        if self._manager is not None:
            self._manager.stop()

    async def _stop_services(self, scheduler: Scheduler, deadline: Monotonic) -> None:
        if self._manager is not None:
            self._manager.stopping()
        if self._storage is not None:
            self._storage.flush_soon()
        patience = (deadline - scheduler.now()) * 3 / 4
        await self._stop_administration(scheduler, deadline)
        # Near the deadline, writes no longer wait for another program's lock.
        giving_up = None
        if self._storage is not None:
            giving_up = scheduler.later(patience, self._storage.give_up)
        # These save players: they need the database, which is closed after them.
        stops = [one.stop(deadline) for one in (self.world, self.login) if one is not None]
        if self._web is not None:
            stops.append(self._web.stop())
        await DeferredList(
            [
                Deferred.fromCoroutine(self._within(deadline, "players and worlds", stop))
                for stop in stops
            ]
        )
        if giving_up is not None:
            giving_up.cancel()
        await self._close_database(deadline)

    async def _stop_administration(self, scheduler: Scheduler, deadline: Monotonic) -> None:
        """Stop the webhook and the listeners for operators, within a quarter of the time."""
        now = scheduler.now()
        soon = Monotonic(now + (deadline - now) / 4)
        if self._webhook is not None:
            await self._within(soon, "the webhook's events", self._webhook.stop())
            self._webhook.abandon()
        if self.admin is not None:
            await self._within(soon, "the ports of administrators", self.admin.stop())

    async def _close_database(self, deadline: Monotonic) -> None:
        if self._opcodes is not None:
            await self._within(deadline, "the opcode tables", self._opcodes.stop())
        if self._opcode_worker is not None:
            await self._within(deadline, "the opcode tables", self._opcode_worker.stop())
        storage = self._storage
        if storage is not None:
            await self._within(deadline, "the database", storage.close(is_last=False))
        if self._upkeep is not None:
            await self._within(deadline, "the upkeep of the database", self._upkeep.stop())
        if storage is not None and not storage.waiting:
            storage.close_watch()

    async def _within(
        self, deadline: Monotonic, what: str, work: Coroutine[Any, Any, None] | Deferred[None]
    ) -> None:
        """Wait for one step of the stop until a deadline; an error does not end the stop."""
        assert self._scheduler is not None  # noqa: S101  # it ran
        step = work if isinstance(work, Deferred) else Deferred.fromCoroutine(work)
        try:
            if not await self._scheduler.within(deadline, step):
                _log.warn("{what} did not stop in time and are left behind", what=what)
        except Exception:  # noqa: BLE001  # the next steps store what players have
            _log.failure("{what} could not be stopped in order", what=what)
