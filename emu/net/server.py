"""Everything that runs in one process, joined: what `emu.tap` starts and stops.

Owns the order of starting (database, login, world) and of stopping (the other way round, within
five seconds), and says in one line what cannot be started. The parts know nothing of each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NoReturn

from twisted.application.service import Service
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.error import CannotListenError
from twisted.logger import ILogObserver, globalLogPublisher

from emu.admin.commands.running import Reload
from emu.admin.snapshot.making import snapshot_value
from emu.admin.status import OpenDoor, in_short
from emu.built import form
from emu.config import Config
from emu.errors import EmuError, unusable
from emu.net import logs, parameters
from emu.net.admin.part import AdminPart
from emu.net.hosts import cannot_listen, key_of
from emu.net.login.part import LoginPart
from emu.net.opcode_source import OpcodeSource, last_changes
from emu.net.reload import LIVE, differences, merged, reread
from emu.net.scheduler import Scheduler
from emu.net.service_manager import ServiceManager
from emu.net.stores.storage import Storage
from emu.net.stores.workers import StoreWorker
from emu.net.trace import TraceFile
from emu.net.watch import Watch
from emu.net.web.desk import DeskPart
from emu.net.web.part import WebPart
from emu.net.web.staff import Staff
from emu.net.world.account import built_in_account
from emu.net.world.part import WorldPart
from emu.opcodes import OpcodeStore
from emu.store import Store
from emu.store.server_lock import ServerLock
from emu.structs.catalog import read_shipped, shipped_catalog

_log = logs.logger("server")


class CannotStart(SystemExit, Exception):
    """Ends the program with one line and exit status 1.

    An `Exception` as well, because a daemon's `twistd` tells the process that was started by hand
    of nothing else, and that one would wait for ever.
    """

    def __init__(self, line: str, *, told: bool) -> None:
        """Say `line` at the end, unless the log has told it: twistd's errors go there as well."""
        super().__init__(f"emu: {line}")
        if told:
            self.code = 1


def check_files(config: Config) -> None:
    """Make or upgrade the database and look at every file the configuration names.

    Nothing is kept open: a daemon forks after this. Raises `EmuError` with one line that says
    what to do.
    """
    with ServerLock(config.database.path):
        Store.create(config.database.path).close()
        OpcodeStore.ensure(config.database.path).close()
    parameters.read_certificate(config)


class EmuService(Service):
    """The whole server as one Twisted service."""

    def __init__(
        self,
        config: Config,
        reactor: Any = None,
        log_observer: ILogObserver | None = None,
        *,
        warnings: Sequence[str] = (),
        given_up: Callable[[], object] = lambda: None,
        reread: Callable[[], Config] | None = None,
        end: Callable[[], object] | None = None,
    ) -> None:
        """Make the service; with an observer the whole application's log goes there.

        `warnings` are lines for the operator that are written there at the start; `given_up` is
        called when the start fails, before anybody is told; `reread` reads the configuration
        again, or raises `ConfigError`; `end` stops the program, in place of the reactor.
        """
        self.config = config
        self._warnings = warnings
        self._given_up = given_up
        self._reread = reread
        self._end = end
        self._log_observer = log_observer
        self._writes_log = False
        self._reactor = reactor
        self._lock: ServerLock | None = None
        self._scheduler: Scheduler | None = None
        self._storage: Storage | None = None
        self._opcode_worker: StoreWorker | None = None
        self._opcodes: OpcodeSource | None = None
        self._tracer: TraceFile | None = None
        self.admin: AdminPart | None = None
        self.login: LoginPart | None = None
        self.world: WorldPart | None = None
        self._reloads: dict[str, Reload] = {}
        """What is read again at SIGHUP and by the command `reload`, by name."""
        self._web: WebPart | None = None
        self._listening = False
        self._manager: ServiceManager | None = None
        self.watch = Watch()
        """What the server tells of itself: its reports and its measures."""
        logs.set_level(config.log.level)

    def setServiceParent(self, parent: Any) -> None:
        """Join the application, and write its log in our form when it takes an observer."""
        if self._log_observer is not None and hasattr(parent, "setComponent"):
            parent.setComponent(ILogObserver, self._log_observer)
            self._writes_log = True
        super().setServiceParent(parent)  # type: ignore[no-untyped-call]

    def privilegedStartService(self) -> None:
        """Open the ports while the process may still take low ones."""
        super().privilegedStartService()  # type: ignore[no-untyped-call]
        self._listen()

    def startService(self) -> None:
        """Begin to serve."""
        super().startService()  # type: ignore[no-untyped-call]
        self._listen()
        for line in self._warnings:
            _log.warn("{line}", line=line)
        if self._opcodes is not None:
            self._opcodes.start()
        if self.world is not None:
            self.world.register()
        # Said from inside the reactor's loop: from then on a signal ends the server in order.
        self._reactor.callWhenRunning(self._ready)

    def _ready(self) -> None:
        _log.info("ready, {form}", form=form())
        if self._manager is not None and self.running:
            self._manager.start()

    def reload(self) -> None:
        """Read configuration, structs, opcode tables and all else again; what is wrong is left."""
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
        changed = sorted(differences(self.config, fresh))
        self.config = merged(self.config, fresh)
        logs.set_level(self.config.log.level)
        for part in (self.login, self.world, self.admin, self._web):
            if part is not None:
                part.configure(self.config)
        now = ", ".join(key for key in changed if key in LIVE) or "nothing"
        later = ", ".join(key for key in changed if key not in LIVE)
        _log.info("the configuration was read again; changed: {now}", now=now)
        if later:
            _log.warn("at the next start only: {later}", later=later)
        return f"changed: {now}" + (f"; at the next start only: {later}" if later else "")

    async def _reread_structs(self) -> str:
        assert self._opcode_worker is not None  # noqa: S101  # it runs
        shipped_catalog().exchange(await self._opcode_worker.run(read_shipped))
        return "new sessions use what was read"

    def stopService(self) -> Deferred[None]:
        """Close sessions in order, flush the store, and answer when all is done."""
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
        """End a start that failed; it has changed nothing."""
        if self._lock is not None:
            self._lock.release()
        self._given_up()
        globalLogPublisher.removeObserver(self.watch.lines)
        if self._writes_log:
            _log.error("{line}", line=line)
        raise CannotStart(line, told=self._writes_log) from None

    def _open(self) -> None:
        """Open the database, then the ports, and change something only when all are ours."""
        config, reactor = self.config, self._reactor
        self._scheduler = scheduler = Scheduler(reactor)
        self._manager = ServiceManager(scheduler, self._in_short)
        keep_deleted = parameters.keep_deleted(config)
        self._storage = storage = Storage(
            config.database.path, reactor, scheduler, keep_deleted=keep_deleted
        )
        self._opcode_worker = StoreWorker(reactor, nullcontext, name="emu-opcodes")
        self._opcodes = OpcodeSource(config.database.path, scheduler, self._opcode_worker.run)
        tables = self._opcodes.tables
        self.watch.queue("store", "Calls to the database that wait.", lambda: storage.waiting)
        self.watch.queue("writes", "Writes that nobody waits for.", lambda: storage.put_off)
        if config.trace.file is not None:
            self._tracer = TraceFile(config.trace.file, config.trace.max_bytes, _log)
        link_address: tuple[str, int] | None = None
        self.admin = AdminPart(config, reactor, scheduler, self._end or reactor.stop, self.watch)
        if config.login.enabled:
            self.login = LoginPart(config, storage, tables, reactor, scheduler, watch=self.watch)
            link_address = self.login.listen()
        if config.world.enabled:
            self.world = WorldPart(
                config, storage, tables, reactor, scheduler,
                commands=self.admin.commands, login_address=link_address, watch=self.watch,
            )  # fmt: skip
            self.world.listen()
        self._open_administration(self.admin, self._opcodes, storage)
        if self.world is not None and not config.world.login_servers:
            self.world.account = built_in_account(
                storage.direct, config.world.name, scheduler.moment(), self.world.atlas
            )
        self._trace()
        self._open_web(self.admin, scheduler)

    def _open_web(self, admin: AdminPart, scheduler: Scheduler) -> None:
        """Open the web endpoint, when the configuration names an address."""
        listen = self.config.web.listen
        if listen is None:
            return
        self._web = WebPart(
            listen,
            self._reactor,
            scheduler,
            status=lambda: admin.status.status(scheduler.now()),
            missing=lambda: "" if self.running else "the server is not ready",
            history=partial(last_changes, self.config.database.path),
            watch=self.watch,
            desk=self._desk(admin, scheduler),
        )
        self._web.listen()

    def _desk(self, admin: AdminPart, scheduler: Scheduler) -> DeskPart | None:
        """Return the way to act from the page, when the configuration lets anybody."""
        if not self.config.web.admin or self.login is None or self._storage is None:
            return None
        staff = Staff(self.login.staff, self._storage, scheduler)
        return DeskPart(self.config.web, staff, admin.commands, scheduler, self.watch)

    def _open_administration(
        self, admin: AdminPart, opcodes: OpcodeSource, storage: Storage
    ) -> None:
        self._reloads = {
            "configuration": self._reread_config,
            "structs": self._reread_structs,
            "opcodes": opcodes.reread,
        }
        if self.world is not None:
            self._reloads |= self.world.reloads
        admin.join(self.login, self.world, storage, self._reloads, self._snapshot)
        admin.listen()

    def _snapshot(self) -> dict[str, Any]:
        assert self.admin is not None  # noqa: S101  # its command asks
        assert self._scheduler is not None  # noqa: S101
        now = self._scheduler.now()
        return snapshot_value(
            self.admin.status.status(now), now, self.watch.measures.read(), self._doors(),
            lines=self.watch.lines.lines(), process=os.getpid(),
        )  # fmt: skip

    def _doors(self) -> Iterator[OpenDoor]:
        for part in (self.login, self.world, self.admin, self._web):
            if part is not None:
                yield from part.doors()

    def _trace(self) -> None:
        """Begin to write sessions to a file, when the configuration names one."""
        if self._tracer is None:
            return
        for part in (self.login, self.world):
            if part is not None:
                part.dispatcher.tracer = self._tracer
        _log.warn(
            "every session is written to {path} WITH ITS KEYS: passwords can be read there",
            path=str(self._tracer.path),
        )

    def _in_short(self) -> str:
        """Say in one line how the server does."""
        assert self.admin is not None  # noqa: S101  # it runs
        assert self._scheduler is not None  # noqa: S101
        return in_short(self.admin.status.status(self._scheduler.now()))

    async def _stop(self) -> None:
        if self._manager is not None:
            self._manager.stopping()
        if self._storage is not None:
            self._storage.hasten()
        if self.admin is not None:
            await self.admin.stop()
        parts = [part for part in (self._web, self.world, self.login) if part is not None]
        await DeferredList([Deferred.fromCoroutine(part.stop()) for part in parts])
        if self._opcodes is not None:
            await self._opcodes.stop()
        if self._opcode_worker is not None:
            await self._opcode_worker.stop()
        if self._storage is not None:
            await self._storage.close()
        if self._tracer is not None:
            self._tracer.close()
        if self._lock is not None:
            self._lock.release()
        _log.info("stopped")
        globalLogPublisher.removeObserver(self.watch.lines)
        if self._manager is not None:
            self._manager.stop()
