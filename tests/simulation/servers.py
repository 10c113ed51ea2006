"""The servers of a simulation: real `EmuServer` objects on simulated machines."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from twisted.internet.defer import Deferred
from twisted.logger import globalLogPublisher

from emu.config import Config, load
from emu.content.damage import has_wrong_rows
from emu.content.tables import Table
from emu.files import parse_document
from emu.net.server import EmuServer, check_files
from emu.net.watch import Watch
from emu.net.world.content import _digest_of
from emu.session import Session
from emu.store.server_lock import ServerLock
from emu.structs.catalog import shipped_catalog
from emu.world.events import Died
from emu.world.knowledge import read_knowledge
from emu.world.population.atlas import read_atlas
from emu.world.zones.definitions import Atlas
from tests.simulation.bus import Broker, SimulatedTransport
from tests.simulation.content import content_file
from tests.simulation.disk import Disk
from tests.simulation.frames import FramedConnection
from tests.simulation.network import Network, SimulatedReactor
from tests.simulation.server_database import ModelDatabase, ModelServer, empty_database

LOGIN_PORT = 9100
WORLD_PORT = 9001
LINK_PORT = 9200
OPCODE_SECONDS = 10.0
"""Seconds between two checks of the tables of opcodes for edits."""
COMMON: Mapping[str, object] = {
    "login.password_memory_cost": 64, "login.password_iterations": 1, "login.password_memory": 0,
    "login.password_min_length": 1, "login.auto_create_accounts": True,
    "login.logins_at_once": 10_000, "login.logins_per_minute": 100_000,
    "world.entries_at_once": 10_000, "world.entries_per_minute": 100_000,
    "world.creations_per_hour": 10_000, "world.camp_seconds": 3, "world.link_dead": 20,
    "world.save_seconds": 15, "database.watch_seconds": 2,
    "console.enabled": False, "network.shutdown_time": 5,
}  # fmt: skip


def settings_of(values: Mapping[str, object]) -> list[str]:
    """Return settings as the words of ``--set``."""
    return [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in values.items()
    ]


@cache
def empty_file() -> bytes:
    """Return the file of a new database, made by the program itself."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "emu.sqlite"
        check_files(load(None, settings_of({"database.url": f"sqlite:{path}"})))
        return path.read_bytes()


def prepare() -> None:
    """Make the empty databases, which are the same in every run."""
    empty_file()
    empty_database()
    content_file()


class SimulatedServer:
    """One process of the server, which can be started again after its end."""

    def __init__(
        self, network: Network, name: str, host: str, folder: Path, chance: random.Random,
        settings: Mapping[str, object],
    ) -> None:  # fmt: skip
        self.network = network
        self.name = name
        self.host = host
        self.folder = folder
        self.chance = chance
        self.settings = dict(settings)
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "emu.sqlite"
        self.reactor: SimulatedReactor | None = None
        self.server: EmuServer | None = None
        self.faults: list[str] = []
        self.starts = 0
        self.disk: Disk | None = None
        """The disk of the machine, if it has the database."""
        self.is_stopping = False
        # Some machines are slower: what happens between a change and its answer is then seen.
        self.slowness = chance.choice((0.001, 0.02, 0.3))
        self.killed: Callable[[], object] = lambda: None
        """Called when the process is killed."""
        self.died: Callable[[Died], object] = lambda _event: None
        """Called when somebody dies in the world of the process."""
        self.after_crash = False
        self.is_kept_down = False
        """A fault keeps the process from starting again."""
        self.failed_starts = 0
        self._auditor: sqlite3.Connection | None = None
        self._lock: ServerLock | None = None
        self._config: Config | None = None

    @property
    def is_up(self) -> bool:
        """Whether the process runs."""
        return self.reactor is not None and not self.reactor.is_dead

    def rows(self, sql: str, values: tuple[object, ...]) -> list[Any]:
        """Return rows of the database file, on a connection of its own."""
        if self._auditor is None:
            if not self.path.exists():
                return []
            # Nobody could end a lock while it waits.
            self._auditor = sqlite3.connect(self.path, isolation_level=None, timeout=0.0)
        return self._auditor.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the connection of the auditors."""
        if self._auditor is not None:
            self._auditor.close()
            self._auditor = None

    def start(self) -> None:
        """Start the process. Raises what the program's start raises."""
        if not self.path.exists():
            self.path.write_bytes(empty_file())
        self.starts += 1
        self.reactor = reactor = SimulatedReactor(self.network, self.name, self.host, self.chance)
        reactor.fault = self._failed
        reactor.machine.slowness = self.slowness
        if self.disk is not None:
            reactor.machine.delayed = self.disk.delayed
        if ModelServer.present is not None:
            ModelServer.present.opening = reactor
        if self._config is None:
            self._config = load(None, settings_of(self.settings))
        watch = Watch()
        self._lock = ServerLock(self.path)
        self.server = None
        try:
            self.server = server = EmuServer(
                self._config, reactor, self._lock, watch, end=lambda: None, reread=None
            )
            server.open()
            server.start()
            if server.world is not None:
                server.world.parts.world.events.subscribe(Died, self.died)
        except BaseException:
            self._end()
            raise
        server.report_ready(after_crash=self._lock.after_crash)
        self.network.timeline.note("server", self.name, "started")

    def _failed(self, error: BaseException) -> None:
        text = f"{type(error).__name__}: {error}"
        self.faults.append(f"{self.name}: {text}")
        self.network.timeline.note("server", self.name, "fault", text)

    def _close_files(self, server: EmuServer) -> None:
        """Close the files of a process as its kernel does: SQLite makes no checkpoint then."""
        self.close()
        kept = None if self.disk is None else self.disk.kept()
        keeper = getattr(server._upkeep, "_keeper", None)
        spool = None if server.world is None else server.world.spool._file
        for one in (*server.storage._stores, keeper, spool, server._opcodes._watcher):
            if one is not None:
                with suppress(Exception):
                    one.close()
        server.storage.close_watch()
        admin = getattr(server, "admin", None)
        if admin is not None:
            # It hears the log of Twisted, which this process goes on with.
            globalLogPublisher.removeObserver(admin._open_files)
        if self.disk is not None and kept is not None and not self.is_stopping:
            self.disk.restore(kept)

    def lock_file(self) -> Callable[[], object]:
        """Lock the database file, as another program does; return what ends that."""
        if not self.path.exists():
            return lambda: None
        holder = sqlite3.connect(self.path, isolation_level=None, timeout=0.0)
        try:
            holder.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            holder.close()
            return lambda: None
        return holder.close

    def fail_disk(self, chance: random.Random) -> Callable[[], object]:
        """Let the disk be full, slow, or fail at some of its writes; return what ends that."""
        disk = self.disk
        if disk is None:
            return lambda: None
        match chance.choice(("full", "fails", "slow")):
            case "full":
                disk.is_full = True
            case "fails":
                disk.fails = 0.05 + 0.3 * chance.random()
            case _:
                disk.seconds_of_flush = chance.choice((0.05, 0.5, 2.0))

        def undo() -> None:
            disk.is_full, disk.fails, disk.seconds_of_flush = False, 0.0, 0.0

        return undo

    def cut_power(self) -> None:
        """End the process and its machine; the disk loses what was not flushed."""
        self.kill()
        if self.disk is not None:
            self.disk.cut_power()

    def kill(self) -> None:
        """End the process at once."""
        if self.is_up:
            self.network.timeline.note("server", self.name, "killed")
            self.killed()
            self._end()

    def _end(self) -> None:
        reactor, server = self.reactor, self.server
        assert reactor is not None
        reactor.die()
        self.network.close_all(reactor)
        if server is not None:
            self._close_files(server)
        if self._lock is not None:
            # The kernel closes the descriptor; the record of the process stays.
            self._lock._close()
        self.server = None

    def stop(self, then: Callable[[], object] = lambda: None) -> None:
        """Stop in order; `then` is called at the end."""
        if not self.is_up or self.server is None:
            then()
            return
        reactor = self.reactor
        self.network.timeline.note("server", self.name, "stops")
        stopping = Deferred.fromCoroutine(self.server.stop())

        def ended(_result: object) -> None:
            if self.reactor is reactor and self.is_up:
                self.network.timeline.note("server", self.name, "stopped")
                self.is_stopping = True
                self._end()
                self.is_stopping = False
            then()

        def failed(failure: Any) -> None:
            self._failed(failure.value)

        stopping.addErrback(failed)
        stopping.addCallback(ended)


@contextmanager
def seeded_chance(seed: int) -> Iterator[None]:
    """Let every source of chance of this process depend on a seed."""
    source = random.Random(f"chance {seed}")
    before = random.getstate()
    random.seed(seed)
    # All of `secrets` and `SystemRandom` draw from the second name.
    with (
        patch("os.urandom", source.randbytes),
        patch.object(random, "_urandom", source.randbytes),
        # SQLite would really sleep while another program has a lock.
        patch("emu.net.store.LOCK_TRY", 0.0),
        # The default of an argument is bound when its module is imported.
        patch.dict(Session.client.__func__.__kwdefaults__, random_bytes=source.randbytes),  # type: ignore[attr-defined]
    ):
        try:
            yield
        finally:
            random.setstate(before)


@contextmanager
def shared_files() -> Iterator[None]:
    """Let all processes share what each reads at its start and does not change.

    The files are the program's own and those of `tests.simulation.content`. What a process or a
    client does often, and what shows nothing here, is done less often.
    """
    with (
        patch("emu.net.world.ports.read_knowledge", _knowledge),
        patch("emu.net.world.service.read_atlas", _atlas),
        patch("emu.world.behaviors.library.entry_points", _installed),
        patch("emu.net.client.world_connection.ClientWorldConnection", FramedConnection),
        # To read hundreds of files again, and to find them unchanged, shows nothing here.
        patch("emu.net.server.read_shipped", shipped_catalog),
        # Nobody edits the tables of opcodes; to check them is a step of a thread each time.
        patch("emu.net.opcode_source.INTERVAL", OPCODE_SECONDS),
        patch("emu.net.world.content._digest_of", _digest),
        patch("emu.content.file.has_wrong_rows", _has_wrong_rows),
        # Those who read a document change nothing in it.
        patch("emu.files.parse_document", _document),
    ):
        yield


_knowledge = cache(read_knowledge)
_installed = cache(entry_points)
_digest = cache(_digest_of)
_document = cache(parse_document)


def _atlas(folder: Path | None, content: Path | None) -> Atlas:
    # A reload changes the atlas of its process.
    return copy(_read_atlas(folder, content))


_read_atlas = cache(read_atlas)
_wrong_rows: dict[tuple[object, ...], bool] = {}


def _has_wrong_rows(
    database: sqlite3.Connection, table: Table, where: str = "WHERE TRUE",
    values: Sequence[object] = (),
) -> bool:  # fmt: skip
    # There is one content file for all runs of a process.
    key = (table.name, where, *values)
    if key not in _wrong_rows:
        _wrong_rows[key] = has_wrong_rows(database, table, where, values)
    return _wrong_rows[key]


@contextmanager
def model_of(broker: Broker | None, server: ModelServer | None) -> Iterator[None]:
    """Let nodes use the model of a database server and of a broker."""
    if broker is None or server is None:
        yield
        return

    def transport(_config: Config, reactor: Any, scheduler: Any) -> SimulatedTransport:
        return SimulatedTransport(broker, reactor, scheduler)

    ModelServer.present = server
    try:
        with (
            patch("emu.database.engines._server", lambda _where: ModelDatabase),
            patch("emu.net.cluster.service.transport_of", transport),
        ):
            yield
    finally:
        ModelServer.present = None


def scratch_folder() -> str | None:
    """Return a folder in memory, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def remove(folder: Path) -> None:
    """Remove the files of a simulation."""
    shutil.rmtree(folder, ignore_errors=True)
