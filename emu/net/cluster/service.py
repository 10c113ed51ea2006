"""The services that one process shares with others: it is alone, the hub, or a member.

The hub has the database and the login link. Members use the hub's keys and characters over the bus.
If the hub is lost, a member keeps serving its players and saves them when the hub returns.

A process that has joined may still be of another version or faulty, and may send the same malformed
message a thousand times a second, so its faults are logged in sums.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.admin.status import OpenPort
from emu.config import Config
from emu.config.processes import ProcessesConfig
from emu.errors import ConfigError
from emu.net.cluster.connection import HubLink, HubPort
from emu.net.link.tls import server_options
from emu.net.logs import logger
from emu.net.parameters import read_pem
from emu.net.scheduler import Scheduler, Tasks
from emu.net.store import Storage
from emu.net.stream import listen_address
from emu.net.watch import RefusalLog
from emu.processes.bus import ClusterBus, Shell
from emu.processes.connection import OwnProcess
from emu.processes.ports import (
    CAME,
    AccountGate,
    MemoryStore,
    ModelSource,
    Note,
    Processes,
    WorldCharacterStore,
)
from emu.processes.remote import (
    LeasedCharacters,
    LeasedKeys,
    Leases,
    RemoteAccountGate,
    RemoteCharacters,
    RemoteKeys,
    RemoteMemories,
    RemoteModels,
    RemoteProcedures,
    RemoteProcedureServer,
)
from emu.processes.shared import LocalBus, LocalHandoffKeys, SharedPresence, ZoneTable, served_here
from emu.world.content.atlas import Atlas

_log = logger("processes")
WHO: Final = "another process"


class ProcessFaults:
    """Logs the errors of subscribers and answerers. `start`, then `stop`."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._refusals = RefusalLog(_log, scheduler)

    def start(self) -> None:
        """Begin to sum up repeated faults."""
        self._refusals.start()

    def stop(self) -> None:
        """Log the last sums."""
        self._refusals.stop()

    def __call__(self, error: Exception) -> None:
        """Log a fault."""
        reason = f"{type(error).__name__}: {error}"
        if self._refusals.is_news("faults", "", WHO, reason):
            _log.failure(
                "a message of another process could not be handled",
                failure=Failure(error),  # type: ignore[no-untyped-call]
            )


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """What an endpoint needs of this process."""

    config: Config
    storage: Storage
    atlas: Atlas
    advertised_address: Callable[[], tuple[str, int]]
    """Returns where clients reach this process."""
    reactor: Any
    scheduler: Scheduler
    tasks: Tasks


class ProcessesEndpoint:
    """The shared services of this process. `listen`, then `start`, then `stop`.

    The stores of characters and models are here or at the hub.
    """

    processes: Processes
    characters: WorldCharacterStore
    accounts: AccountGate
    models: ModelSource
    memories: MemoryStore
    faults: ProcessFaults

    def listen(self) -> None:
        """Open the port for members, if there is one. Raises `CannotListenError` and `EmuError`."""

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the port if it is open."""
        yield from ()

    @property
    def is_cut_off(self) -> bool:
        """Whether the process with the stores cannot be reached."""
        return False

    def start(self) -> None:
        """Begin to connect, if there is a hub to connect to."""
        self.faults.start()

    async def stop(self) -> None:
        """Close all connections."""
        self.faults.stop()


def processes_endpoint(ground: ProcessContext) -> ProcessesEndpoint:
    """Return the endpoint for the configuration. Raises `ConfigError`."""
    settings = ground.config.processes
    if settings.hub is not None:
        return Member(ground)
    if settings.listen is not None:
        return Hub(ground)
    return Alone(ground)


class Alone(ProcessesEndpoint):
    """The only process of its world."""

    def __init__(self, ground: ProcessContext) -> None:
        self.faults = ProcessFaults(ground.scheduler)
        bus, name = LocalBus(self.faults), "here"
        presence = SharedPresence(bus, name, ground.scheduler.moment)
        self.processes = Processes(name, bus, _keys(ground), presence, served_here())
        self.characters = ground.storage.world_characters
        self.accounts = ground.storage.account_gate
        self.models = ground.storage.models
        self.memories = ground.storage.memories


class Hub(ProcessesEndpoint):
    """The process that the others connect to."""

    def __init__(self, ground: ProcessContext) -> None:
        settings, storage = ground.config.processes, ground.storage
        self._ground = ground
        name = settings.own_name
        self.faults = ProcessFaults(ground.scheduler)
        bus = ClusterBus(name, _shell(ground, self.faults))
        keys, leases = _keys(ground), Leases()
        table = _zones(settings, ground.atlas)
        presence = SharedPresence(bus, name, ground.scheduler.moment)
        servers = ZoneTable(name, table=lambda: table, rest=lambda: name, others=bus.others)
        # The hub plays characters too, so it takes leases like a member.
        own_keys = LeasedKeys(keys, leases, name)
        self.processes = Processes(name, bus, own_keys, presence, servers, bus.others)
        self.characters = LeasedCharacters(storage.world_characters, leases, name)
        self.accounts = storage.account_gate
        self.models = storage.models
        self.memories = storage.memories
        # Keys depend on the process, which takes the lease; the others are the same for all.
        ports: dict[str, Callable[[str], Any]] = {
            "keys": lambda process: LeasedKeys(keys, leases, process),
            # Not the leased store: the server of the calls has checked the lease already.
            "characters": lambda _: storage.world_characters,
            "accounts": lambda _: storage.account_gate,
            "models": lambda _: storage.models,
            "memories": lambda _: storage.memories,
        }
        RemoteProcedureServer(lambda port_name, process: ports[port_name](process), leases).open(
            bus
        )
        # The bus carries plain values only, so the table is one text.
        zones = ",".join(f"{zone_id}={process}" for zone_id, process in table.items())
        own = OwnProcess(name, settings.secret.encode(), lambda: _about(ground) | {"zones": zones})
        names = set(table.values())
        self.port = HubPort(own, names, bus, ground.reactor, ground.scheduler)

    def listen(self) -> None:
        """Open the port. Raises `CannotListenError` and `EmuError`."""
        settings = self._ground.config.processes
        assert settings.listen is not None  # noqa: S101  # what makes it the hub
        pem = None if settings.certificate is None else read_pem(settings.certificate)
        at = listen_address("processes.listen", settings.listen)
        self.port.listen(at, server_options(pem) if pem is not None else None)

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the port of the members."""
        return self.port.open_ports()

    async def stop(self) -> None:
        """Close the port and all connections."""
        await self.port.stop()
        await super().stop()


class Member(ProcessesEndpoint):
    """A process that serves some zones and uses the hub for all else."""

    def __init__(self, ground: ProcessContext) -> None:
        settings = ground.config.processes
        assert settings.hub is not None  # noqa: S101  # what makes it a member
        name = settings.name
        self.faults = ProcessFaults(ground.scheduler)
        bus = ClusterBus(name, _shell(ground, self.faults))
        procedures = RemoteProcedures(bus, name)
        presence = SharedPresence(bus, name, ground.scheduler.moment)
        self._table: dict[int, str] = {}
        # Until the hub has sent its name.
        self._hub = "the hub"
        servers = ZoneTable(
            name, table=lambda: self._table, rest=lambda: self._hub, others=bus.others
        )
        self.processes = Processes(name, bus, RemoteKeys(procedures), presence, servers, bus.others)
        self.characters = RemoteCharacters(procedures)
        self.accounts = RemoteAccountGate(procedures)
        self.models = RemoteModels(procedures)
        self.memories = RemoteMemories(procedures)
        bus.subscribe(CAME, self._learn_zones)
        own = OwnProcess(name, settings.secret.encode(), lambda: _about(ground))
        self.link = HubLink(
            own, settings.hub, fingerprint=settings.hub_tls_fingerprint, bus=bus,
            reactor=ground.reactor, scheduler=ground.scheduler,
        )  # fmt: skip

    @property
    def is_cut_off(self) -> bool:
        """Whether the hub cannot be reached now."""
        return not self.processes.others

    def start(self) -> None:
        """Begin to connect to the hub."""
        super().start()
        self.link.start()

    async def stop(self) -> None:
        """Close the connection to the hub."""
        await self.link.stop()
        await super().stop()

    def _learn_zones(self, note: Note) -> None:
        """Store the hub's table of zones and processes; it stays in use while the hub is lost."""
        # Only the hub's note has zones; those of other members do not.
        zones = note.get("zones")
        if isinstance(zones, str):
            entries = (entry.partition("=") for entry in zones.split(",") if entry)
            # The table is replaced as a whole: the hub may have been restarted with other zones.
            self._table = {int(zone_id): process for zone_id, _, process in entries}
            self._hub = str(note["process"])


def _zones(settings: ProcessesConfig, atlas: Atlas) -> Mapping[int, str]:
    table: dict[int, str] = {}
    for entry in settings.zones:
        name, _, process = (part.strip() for part in entry.partition("="))
        zone = atlas.named(name)
        if zone is None:
            raise ConfigError([f"processes.zones: there is no zone {name}"])
        table[zone.id] = process
    return table


def _keys(ground: ProcessContext) -> LocalHandoffKeys:
    return LocalHandoffKeys(lambda: secrets.randbits(32), ground.scheduler)


def _shell(ground: ProcessContext, faults: ProcessFaults) -> Shell:
    return Shell(
        answer=Deferred, later=ground.scheduler.later, start=ground.tasks.spawn, failed=faults
    )


def _about(ground: ProcessContext) -> dict[str, Any]:
    host, port = ground.advertised_address()
    return {"host": host, "port": port}
