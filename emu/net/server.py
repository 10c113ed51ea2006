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
from pathlib import Path
from typing import Any, Final

from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.error import CannotListenError
from twisted.logger import ILogObserver, globalLogPublisher

from emu.admin.commands.server import MOST_PROBLEMS, Reload, each_once
from emu.admin.snapshot import snapshot_value
from emu.admin.status import OpenPort, in_short
from emu.built import form
from emu.commands import Registry
from emu.commands.registry import OWNER
from emu.config import Config
from emu.config.load import differences, merged
from emu.database.sqlite.files import begin_anew
from emu.errors import ConfigError, EmuError, FileFormatError, unusable
from emu.files import data_file, remove_stale
from emu.net import logs, parameters
from emu.net.admin.service import COMMANDS_AREA, AdminEndpoints, ServerControls
from emu.net.cluster.node import node_of
from emu.net.cluster.service import bus_endpoint
from emu.net.login.service import LoginEndpoint
from emu.net.login.shared_port import InheritedPort, SupervisorPipe
from emu.net.logs import current_failure, log_fault, logger
from emu.net.machine import machine_of
from emu.net.opcode_source import OpcodeSource, last_changes
from emu.net.program import ProgramService
from emu.net.scheduler import Scheduler
from emu.net.service_manager import ServiceManager
from emu.net.store import Storage
from emu.net.store_worker import StoreWorker
from emu.net.stream import key_of
from emu.net.trace import TraceFile
from emu.net.upkeep import make_upkeep
from emu.net.watch import Watch
from emu.net.web.accounts import AccountEndpoint
from emu.net.web.dashboard import DashboardEndpoint, StaffAccounts
from emu.net.web.service import WebEndpoint
from emu.net.webhook import Webhook
from emu.net.world.registration import LinkAccount, built_in_account
from emu.net.world.service import WorldEndpoint
from emu.opcodes import OpcodeStore
from emu.processes.settings import SOURCE
from emu.store import Store
from emu.store.repository import schema
from emu.store.server_lock import ServerLock
from emu.structs.catalog import StructCatalog, read_shipped, shipped_catalog
from emu.times import Monotonic

_log = logger("server")


async def reread_all(reads: Mapping[str, Reload]) -> None:
    """Read everything again; log each fault, and keep the previous content then."""
    for name, read in each_once(reads).items():
        try:
            await read()
        # One faulty file must not prevent the others from being read.
        except (ConfigError, FileFormatError) as error:
            verb = "is" if name == "configuration" else "are"
            for problem in error.problems[:MOST_PROBLEMS]:
                _log.error("the {name} {verb} as before: {problem}",
                           name=name, verb=verb, problem=problem)  # fmt: skip
        except (EmuError, OSError) as error:
            reason = unusable(error) if isinstance(error, OSError) else str(error)
            _log.error("the {name} are as before: {reason}", name=name, reason=reason)


NO_DATABASE: Final = "the database file was deleted, replaced or overwritten: see the log"
"""The reason for anonymous clients; the log has the file and the cure."""
DATABASE_AWAY: Final = "the server of the database does not answer: see the log"
"""The same for a database on a server."""


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
        if anew and isinstance(config.database.url, Path):
            begin_anew(path, schema())
        # Opening upgrades the schema of a file, so a failure is shown before the daemon detaches.
        Store.create(config.database.url).close()
        OpcodeStore.ensure(path).close()
    parameters.read_certificate(config)
    return lock.after_crash


class EmuServer:
    """Everything that serves: database, endpoints, timers. Call `open`, `start`, then `stop`.

    `login`, `world` and the web endpoint are None where the configuration leaves them out.
    """

    def __init__(
        self,
        config: Config,
        reactor: Any,
        lock: ServerLock,
        watch: Watch,
        *,
        end: Callable[[], object],
        reread: Callable[[], Config] | None,
        inherited: InheritedPort | None = None,
    ) -> None:
        """Make all endpoints; `open` opens their ports.

        `end` stops the program. `reread` reads the configuration again, or raises `ConfigError`;
        None: it is not from a file. `inherited` are the sockets of a worker. Raises `EmuError` and
        `OSError`.
        """
        self._inherited = inherited
        self.config = config
        self.watch = watch
        self._reread = reread
        self._lock = lock
        self._serves = False
        self._login_address: tuple[str, int] | None = None
        """Where worlds register in this process; None without a login service."""
        self._link_account = LinkAccount(config.world.account, config.world.password)
        """The account with which the world registers; `open` may replace it by its own."""
        # Opened first: a capture file that cannot be written ends the start before any port is
        # open.
        self._tracer = self._open_trace()
        self.scheduler = scheduler = Scheduler(reactor, machine_of(reactor).moment)
        self.storage = storage = Storage(
            config.database.url,
            reactor,
            scheduler,
            keep_deleted=parameters.keep_deleted(config),
            knows_accounts=parameters.knows_accounts(config),
            lock_wait=config.database.lock_wait,
            remembered=config.database.remembered,
            durability=config.database.durability,
            threads=config.database.threads,
        )
        self.commands = Registry(watch.reports.port(COMMANDS_AREA), refusal=self._problem)
        self.node = node_of(
            config, storage, scheduler, self.commands, watch.measures,
            address=lambda: self.world.public_address() if self.world else self._login_address,
            atlas=lambda: None if self.world is None else self.world.parts.ports.atlas,
        )  # fmt: skip
        self._bus = bus_endpoint(config, reactor, scheduler, self.node, watch.measures)
        self._opcode_worker = StoreWorker(reactor, nullcontext, name="emu-opcodes")
        self._opcodes = OpcodeSource(config.database.path, scheduler, self._opcode_worker.run)
        watch.storage(storage)
        self.login = self._make_login(reactor)
        self.world = self._make_world(reactor)
        self._reloads = self._what_is_reread()
        self.admin = AdminEndpoints(
            config, reactor, scheduler, watch, commands=self.commands, bus=self._bus.member,
            controls=ServerControls(end, self._reloads, self._snapshot, reread_all),
            login=self.login, world=self.world, storage=storage, node=self.node,
        )  # fmt: skip
        self._web = self._make_web(reactor)
        self._webhook = Webhook(
            config.webhook, config.world.name, reactor, scheduler, watch, self._conceals
        )
        self._manager = ServiceManager(scheduler, self._in_short)
        self._upkeep = make_upkeep(
            config.database, lock, reactor, scheduler, self._lose, commits=storage.commits
        )

    # -- opening ----------------------------------------------------------------------------------

    def open(self) -> None:
        """Open the ports; change nothing before all of them are open.

        Raises `EmuError`, `OSError` and `CannotListenError`.
        """
        if self.login is not None:
            self._login_address = self.login.listen()
        if self.world is not None:
            self.world.listen()
        self.admin.listen()
        if self.world is not None:
            self._link_account = self._prepare_world(self.world)
        self._trace()
        if self._web is not None:
            self._web.listen()
        if self.node is not None:
            self.node.open(self.storage.direct)
        # Last: it writes its mark into the database, and a start that fails changes nothing.
        self._upkeep.open()

    def _make_login(self, reactor: Any) -> LoginEndpoint | None:
        config = self.config
        if not config.login.enabled:
            return None
        return LoginEndpoint(
            config, self.storage, self._opcodes.tables, reactor, self.scheduler,
            watch=self.watch, inherited=self._inherited, bus=self._bus,
        )  # fmt: skip

    def _make_world(self, reactor: Any) -> WorldEndpoint | None:
        config = self.config
        if not config.world.enabled:
            return None
        return WorldEndpoint(
            config, self.storage, self._opcodes.tables, reactor, self.scheduler,
            commands=self.commands, watch=self.watch, bus=self._bus, node=self.node,
        )  # fmt: skip

    def _prepare_world(self, world: WorldEndpoint) -> LinkAccount:
        """Load what the last stop could not save, and return the account of the world.

        If the configuration names no login server, the account is made here; in a cluster, that
        is done by the node that registers the world.
        """
        config, storage = self.config, self.storage
        account = self._link_account
        if not config.world.login_servers and self.node is None:
            account = built_in_account(
                storage.direct, config.world.name, self.scheduler.moment(), world.parts.ports.atlas
            )
        world.parts.world.settings.load(storage.direct.login.settings.of_source(SOURCE))
        world.spool.load(storage.direct)
        return account

    def _make_web(self, reactor: Any) -> WebEndpoint | None:
        """Make the web endpoint, if the configuration names an address."""
        config, scheduler = self.config, self.scheduler
        if config.web.listen is None:
            return None
        return WebEndpoint(
            config.web.listen, reactor, scheduler,
            status=lambda: self.admin.status.status(scheduler.now()),
            conceals=self._conceals,
            missing=self._missing,
            history=partial(self._opcode_worker.run, partial(last_changes, config.database.path)),
            watch=self.watch,
            dashboard=self._dashboard(),
            account_page=self._account_page(),
            config=config.web,
        )  # fmt: skip

    def _dashboard(self) -> DashboardEndpoint | None:
        """Return the actions of the page, if the configuration allows signing in there."""
        if not self.config.web.admin or self.login is None:
            return None
        staff = StaffAccounts(self.login.staff, self.storage, self.scheduler)
        return DashboardEndpoint(self.config.web, staff, self.commands, self.scheduler, self.watch)

    def _account_page(self) -> AccountEndpoint | None:
        """Return the page on which players register; None without a login service."""
        if self.login is None:
            return None
        template = data_file("web", "account.html").read_text(encoding="utf-8")
        return AccountEndpoint(
            self.config.web, self.login.registration, self.scheduler, self.watch, template
        )

    def _open_trace(self) -> TraceFile | None:
        """Open the capture file, if the configuration names one."""
        trace = self.config.trace
        return TraceFile(trace.file, trace.max_bytes, _log) if trace.file is not None else None

    def _trace(self) -> None:
        """Begin to write sessions to the capture file, if there is one."""
        if self._tracer is None:
            return
        for endpoint in (self.login, self.world):
            if endpoint is not None:
                endpoint.dispatcher.tracer = self._tracer
        _log.warn(
            "every session is written to {path} WITH ITS KEYS: passwords can be read there",
            path=str(self._tracer.path),
        )

    # -- serving ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to serve: start the periodic work, and register the world."""
        self._serves = True
        self._bus.start()
        self._opcodes.start()
        self._upkeep.start()
        if self.node is not None:
            self.node.start()
        if self.world is not None:
            self.world.register(self._login_address, self._link_account)

    def report_ready(self, *, after_crash: bool) -> None:
        """Report to systemd and to the webhook that players can log in."""
        self._manager.start()
        self._webhook.start(after_crash=after_crash)

    def _missing(self) -> str:
        """Return what prevents the server from serving players; empty if nothing does."""
        if self._problem():
            return NO_DATABASE
        if self.storage.is_away:
            return DATABASE_AWAY
        if not self._serves:
            return "the server is not ready"
        return self.world.not_ready() if self.world is not None else ""

    def _problem(self) -> str:
        """Return what happened to the database; empty while it is intact."""
        return self._upkeep.problem

    def _lose(self, problem: str) -> None:
        """Refuse all work on a database file that is not ours any more. Runs in another thread."""
        self.storage.lose(problem)
        if self.world is not None:
            self.world.spool.lose()
        self._opcodes.lose()

    def _snapshot(self) -> dict[str, Any]:
        now = self.scheduler.now()
        return snapshot_value(
            self.admin.status.status(now, OWNER), now, self.watch.measures.read_samples(),
            self._ports(), lines=self.watch.lines.lines(), process=os.getpid(),
        )  # fmt: skip

    def _conceals(self, text: str) -> bool:
        """Return whether a text names a hidden player."""
        return self.world is not None and self.world.parts.concealed.names(text)

    def _ports(self) -> Iterator[OpenPort]:
        for endpoint in (self.login, self.world, self.admin, self._web):
            if endpoint is not None:
                yield from endpoint.open_ports()

    def _in_short(self) -> str:
        """Return the server's state in one line."""
        return in_short(self.admin.status.status(self.scheduler.now()))

    # -- reloading --------------------------------------------------------------------------------

    async def reload(self) -> None:
        """Read settings, structs, opcode tables and the rest again; skip faulty files."""
        self._manager.reloading()
        try:
            await reread_all(self._reloads)
        finally:
            self._manager.reloaded()

    def _what_is_reread(self) -> dict[str, Reload]:
        """Return what SIGHUP and the command `reload` read again, by name."""
        reloads: dict[str, Reload] = {
            "configuration": self._reread_config,
            "structs": self._reread_structs,
            "opcodes": self._opcodes.reread,
        }
        return reloads | (self.world.reloads if self.world is not None else {})

    async def _reread_config(self) -> str:
        if self._reread is None:
            return "it is not from a file"
        fresh = self._reread()
        # Before any setting is applied, so that a faulty file changes nothing.
        self.admin.check(fresh)
        changed = differences(self.config, fresh)
        # Settings that need a restart keep their present value, also for the next comparison.
        self.config = config = merged(self.config, fresh)
        logs.set_level(config.log.level)
        for endpoint in (self.login, self.world, self.admin, self._web):
            if endpoint is not None:
                endpoint.configure(config)
        self._webhook.configure(config.webhook)
        if self.node is not None:
            self.node.configure(config)
        now = ", ".join(one.key for one in changed if one.rule.live) or "nothing"
        later = ", ".join(one.key for one in changed if not one.rule.live)
        _log.info("the configuration was read again; changed: {now}", now=now)
        if later:
            _log.warn("at the next start only: {later}", later=later)
        return f"changed: {now}" + (f"; at the next start only: {later}" if later else "")

    async def _reread_structs(self) -> str:
        catalog = shipped_catalog()

        def read() -> StructCatalog | None:
            """Compare in the thread as well: it takes a twentieth of a second."""
            found = read_shipped()
            return None if catalog.is_like(found) else found

        found = await self._opcode_worker.run(read)
        if found is None:
            # What was made of the structs stays: all layouts anew take half a second.
            return "nothing was edited"
        if self._serves:  # the structs are shared: a stopped server changes nothing of others
            catalog.exchange(found)
        return "new sessions use what was read"

    # -- stopping ---------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Stop everything by one deadline. Work that hangs is abandoned, and the process ends.

        A node sends its players to other nodes first, as long as ``node.drain_wait`` allows.
        """
        if self.node is not None:
            await self.node.drain()
        self._serves = False
        now = self.scheduler.now()
        await self._stop_by(now, Monotonic(now + self.config.network.shutdown_time))
        if self._tracer is not None:
            self._tracer.close()
        self._lock.release()
        _log.info("stopped")
        self._manager.stop()

    async def _stop_by(self, now: Monotonic, deadline: Monotonic) -> None:
        scheduler, storage = self.scheduler, self.storage
        self._manager.stopping()
        storage.flush_soon()
        # A receiver of events that hangs must not use up the time in which players are saved.
        soon = Monotonic(now + (deadline - now) / 4)
        await self._within(soon, "the webhook's events", self._webhook.stop())
        self._webhook.abandon()
        await self._within(soon, "the ports of administrators", self.admin.stop())
        # From then on the server does not wait for work that a database lock delays.
        giving_up = scheduler.later((deadline - now) * 3 / 4, storage.give_up)
        stops = [one.stop(deadline) for one in (self.world, self.login) if one is not None]
        if self._web is not None:
            stops.append(self._web.stop())
        await DeferredList(
            [
                Deferred.fromCoroutine(self._within(deadline, "players and worlds", stop))
                for stop in stops
            ]
        )
        await self._within(deadline, "the bus", self._bus.stop())
        await self._within(deadline, "the opcode tables", self._opcodes.stop())
        await self._within(deadline, "the opcode tables", self._opcode_worker.stop())
        giving_up.cancel()
        if self.node is not None:
            await self._within(deadline, "the node", self.node.stop())
        await self._within(deadline, "the database", storage.close(is_last=False))
        await self._within(deadline, "the upkeep of the database", self._upkeep.stop())
        # A call that hangs may still use the database; closing its watch would disturb it.
        if not storage.waiting:
            storage.close_watch()

    async def _within(
        self, deadline: Monotonic, what: str, work: Coroutine[Any, Any, None] | Deferred[None]
    ) -> None:
        """Wait for one step of the stop until a time; a fault does not end the stop."""
        try:
            if not await self.scheduler.within(deadline, work):
                _log.warn("{what} did not stop in time and are left behind", what=what)
        except Exception:  # noqa: BLE001  # the next steps store what players have
            log_fault(_log, "{what} could not be stopped in order", current_failure(), what=what)


class EmuService(ProgramService):
    """The server as a Twisted service: opens, starts, reloads and stops an `EmuServer`."""

    def __init__(
        self,
        config: Config,
        reactor: Any = None,
        log_observer: ILogObserver | None = None,
        *,
        warnings: Sequence[str] = (),
        after_crash: bool = False,
        started: Callable[[], object] = lambda: None,
        failed: Callable[[str], object] | None = None,
        reread: Callable[[], Config] | None = None,
        end: Callable[[], object] | None = None,
        inherited: InheritedPort | None = None,
    ) -> None:
        """Make the service; with an observer the whole application's log goes there.

        `warnings`: lines for the operator, written at the start. `after_crash`: the last server on
        this database ended without an orderly stop. `started` is called when the server is ready.
        `failed` prints why it cannot start; without it the log is at the terminal and shows that.
        `reread` reads the configuration again, or raises `ConfigError`. `end` stops the program, in
        place of the reactor. `inherited` are the sockets of a worker of several.
        """
        super().__init__(
            _log, config.log.level, reactor=reactor, log_observer=log_observer, warnings=warnings,
            started=started, failed=failed,
        )  # fmt: skip
        self._inherited = inherited
        self._pipe: SupervisorPipe | None = None
        self._first_config = config
        self._after_crash = after_crash
        self._reread = reread
        self._end = end
        self._lock: ServerLock | None = None
        self._opened: EmuServer | None = None
        self.watch = Watch()
        """The server's reports and metrics."""

    @property
    def server(self) -> EmuServer:
        """The server; there is one from `privilegedStartService` on."""
        if self._opened is None:
            raise RuntimeError("the service has not been started")
        return self._opened

    @property
    def config(self) -> Config:
        """The configuration in use."""
        return self._opened.config if self._opened is not None else self._first_config

    def _serve(self) -> None:
        self.server.start()
        if self._inherited is not None:
            self._pipe = SupervisorPipe(self._reactor.stop)
            self._reactor.addReader(self._pipe)
        # Reported from inside the reactor's loop: from then on a signal stops the server in order.
        self._reactor.callWhenRunning(self._ready)

    def _ready(self) -> None:
        _log.info("ready, {form}", form=form())
        self._started()
        # `started` may have stopped the service already.
        if self.running:
            self.server.report_ready(after_crash=self._after_crash)

    def reload(self) -> None:
        """Read settings, structs, opcode tables and the rest again; skip faulty files."""
        if self.running:
            Deferred.fromCoroutine(self.server.reload())

    def stopService(self) -> Deferred[None]:
        """Close sessions in order, flush the store, and answer when all is done."""
        super().stopService()  # type: ignore[no-untyped-call]
        return Deferred.fromCoroutine(self._stop())

    async def _stop(self) -> None:
        if self._pipe is not None:
            self._reactor.removeReader(self._pipe)
        if self._opened is not None:
            await self._opened.stop()
        # The observer is global: a later service of this process would get every line twice.
        globalLogPublisher.removeObserver(self.watch.lines)

    def _open(self) -> None:
        globalLogPublisher.addObserver(self.watch.lines)
        config = self._first_config
        self._lock = lock = ServerLock(config.database.path)
        self._opened = EmuServer(
            config, self._reactor, lock, self.watch,
            end=self._end or self._reactor.stop, reread=self._reread, inherited=self._inherited,
        )  # fmt: skip
        self._opened.open()

    def _key_of(self, error: CannotListenError) -> str:
        return key_of(self._first_config, error)

    def _take_back(self) -> None:
        if self._lock is not None:
            self._lock.release()
        globalLogPublisher.removeObserver(self.watch.lines)
