"""The services that one process shares with others; a process may be the only one of its world.

Another process may be of another version or faulty, and may send the same malformed message a
thousand times a second, so its faults are logged in sums.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from twisted.python.failure import Failure

from emu.config import Config
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler, Tasks
from emu.net.store import Storage
from emu.net.watch import RefusalLog
from emu.processes.bus import LocalBus
from emu.processes.ports import (
    AccountGate,
    BusMember,
    GuildStore,
    MailStore,
    MemoryStore,
    ModelSource,
    PetitionStore,
    Processes,
    WorldCharacterStore,
)
from emu.processes.presence import SharedPresence
from emu.processes.shared import LocalHandoffKeys, ServedHere
from emu.processes.tables import DIGEST
from emu.world.content.atlas import Atlas

_log = logger("processes")
WHO: Final = "another process"
RUN_BITS: Final = 53
"""Bits of the number of a process' start, which fits into a number of JSON."""


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


class BusEndpoint:
    """The bus of this process, which the login service and the world share. `start`, then `stop`.

    This one reaches no other process.
    """

    member: BusMember

    def __init__(self, scheduler: Scheduler) -> None:
        self.faults = ProcessFaults(scheduler)
        self.ticks: list[Callable[[], None]] = []
        """Called every `emu.processes.tables.DIGEST` seconds."""
        self._scheduler = scheduler
        self._loop: DelayedCall | None = None
        self.member = BusMember("here", secrets.randbits(RUN_BITS), LocalBus(self.faults))

    def start(self) -> None:
        """Begin to reach the others."""
        self.faults.start()
        self._loop = self._scheduler.every(DIGEST, self._tick)

    async def stop(self) -> None:
        """Close the connection."""
        if self._loop is not None:
            self._loop.cancel()
        self.faults.stop()

    def _tick(self) -> None:
        for tick in self.ticks:
            tick()


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """What an endpoint needs of this process."""

    bus: BusEndpoint
    config: Config
    storage: Storage
    atlas: Atlas
    advertised_address: Callable[[], tuple[str, int]]
    """Returns where clients reach this process."""
    reactor: Any
    scheduler: Scheduler
    tasks: Tasks


class ProcessesEndpoint:
    """The services that this process shares with others. `start`, then `stop`."""

    has_others: ClassVar[bool] = False
    """Whether other processes play characters of the same world, so that terms are needed."""
    processes: Processes
    characters: WorldCharacterStore
    accounts: AccountGate
    models: ModelSource
    memories: MemoryStore
    guilds: GuildStore
    mail: MailStore
    petitions: PetitionStore
    faults: ProcessFaults

    def start(self) -> None:
        """Begin to reach the others."""

    async def stop(self) -> None:
        """Close all connections."""


def processes_endpoint(ground: ProcessContext) -> ProcessesEndpoint:
    """Return the endpoint for the configuration."""
    return Alone(ground)


class Alone(ProcessesEndpoint):
    """The only process of its world."""

    def __init__(self, ground: ProcessContext) -> None:
        member = ground.bus.member
        bus, name = member.bus, member.name
        presence = SharedPresence(
            bus, name, ground.scheduler.moment, spawn=ground.tasks.spawn, run=member.run
        )
        ground.bus.ticks.append(presence.tick)
        self.processes = Processes(name, bus, _keys(ground), presence, ServedHere())
        self.characters = ground.storage.world_characters
        self.accounts = ground.storage.account_gate
        self.models = ground.storage.models
        self.memories = ground.storage.memories
        self.guilds = ground.storage.guilds
        self.mail = ground.storage.mail
        self.petitions = ground.storage.petitions


def _keys(ground: ProcessContext) -> LocalHandoffKeys:
    return LocalHandoffKeys(lambda: secrets.randbits(32), ground.scheduler)
