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
from emu.errors import MalformedMessage, StoreError
from emu.metrics import MetricRegistry
from emu.net.bus.service import JoinedBus, transport_of
from emu.net.bus.transport import BrokerTransport
from emu.net.cluster.node import NodeMemories, NodePlacementFacts, NodeService
from emu.net.logs import log_fault, logger
from emu.net.scheduler import DelayedCall, Scheduler, Tasks
from emu.net.store import Storage
from emu.net.watch import RefusalLog
from emu.processes.bus import LocalBus
from emu.processes.claiming import ClaimingKeys
from emu.processes.exchange import OwnProcess
from emu.processes.house_store import HouseStore
from emu.processes.ports import (
    AccountGate,
    Bus,
    BusMember,
    GuildStore,
    LedgerStore,
    MailStore,
    MemoryStore,
    ModelSource,
    PetitionStore,
    PlacementFactStore,
    Processes,
    ThingStore,
    WorldCharacterStore,
)
from emu.processes.presence import SharedPresence
from emu.processes.shared import LocalHandoffKeys, ServedHere
from emu.processes.tables import DIGEST
from emu.world.zones.definitions import Atlas

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
        """Log a fault: one line if another process or an engine has it, else a traceback."""
        reason = f"{type(error).__name__}: {error}"
        if not self._refusals.is_news("faults", "", WHO, reason):
            return
        text = "a message of another process could not be handled"
        if isinstance(error, MalformedMessage):
            _log.warn("{text}: {why}", text=text, why=str(error))
        else:
            log_fault(_log, text, Failure(error))  # type: ignore[no-untyped-call]


class BusEndpoint:
    """The bus of this process, which the login service and the world share. `start`, then `stop`.

    Without a transport it reaches no other process.
    """

    member: BusMember

    def __init__(
        self, scheduler: Scheduler, name: str = "here", transport: BrokerTransport | None = None
    ) -> None:
        """Make the bus; `name` is the unique name of this process."""
        self.faults = ProcessFaults(scheduler)
        self.ticks: list[Callable[[], None]] = []
        """Called every `emu.processes.tables.DIGEST` seconds."""
        self._scheduler = scheduler
        self._loop: DelayedCall | None = None
        self.joined: JoinedBus | None = None
        bus: Bus = LocalBus(self.faults)
        if transport is not None:
            # The wall clock: a process that is started again has a higher term.
            own = OwnProcess(name, int(scheduler.moment() * 1000))
            self.joined = JoinedBus(
                own, transport, scheduler, start=Tasks(_log).spawn, failed=self.faults
            )
            bus = self.joined.exchange
        self.member = BusMember(name, secrets.randbits(RUN_BITS), bus)

    def start(self) -> None:
        """Begin to reach the others."""
        self.faults.start()
        self._loop = self._scheduler.every(DIGEST, self._tick)
        if self.joined is not None:
            self.joined.start()

    async def stop(self) -> None:
        """Close the connection."""
        if self._loop is not None:
            self._loop.cancel()
        if self.joined is not None:
            await self.joined.stop()
        self.faults.stop()

    def _tick(self) -> None:
        for tick in self.ticks:
            tick()


def bus_endpoint(
    config: Config,
    reactor: Any,
    scheduler: Scheduler,
    node: NodeService | None,
    measures: MetricRegistry,
) -> BusEndpoint:
    """Return the bus of a process that is alone, or of a node, whose metrics are made.

    Raises `ConfigError`.
    """
    if node is None:
        return BusEndpoint(scheduler)
    made = BusEndpoint(scheduler, node.name, transport_of(config, reactor, scheduler))
    if made.joined is not None:
        made.joined.measure(measures)
    return made


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
    node: NodeService | None = None
    """This process as a node; None if it is the only process of its world."""


class ProcessesEndpoint:
    """The services that this process shares with others. `start`, then `stop`."""

    has_others: ClassVar[bool] = False
    """Whether other processes play characters of the same world, so that terms are needed."""
    processes: Processes
    characters: WorldCharacterStore
    claiming_keys: ClaimingKeys | None = None
    """World keys that are beside the characters; None where they are in memory."""
    accounts: AccountGate
    models: ModelSource
    memories: MemoryStore
    placement_facts: PlacementFactStore
    guilds: GuildStore
    ledger: LedgerStore
    things: ThingStore
    mail: MailStore
    petitions: PetitionStore
    houses: HouseStore

    def _take_stores(self, storage: Storage) -> None:
        self.characters = storage.world_characters
        self.accounts = storage.account_gate
        self.models = storage.models
        self.memories = storage.memories
        self.placement_facts = storage.placement_facts
        self.guilds = storage.guilds
        self.ledger = storage.ledger
        self.things = storage.things
        self.mail = storage.mail
        self.petitions = storage.petitions
        self.houses = storage.houses

    def start(self) -> None:
        """Begin to reach the others."""

    async def withdraw_keys(self, account_id: int) -> None:
        """Make the world keys of an account invalid; log it if that fails."""
        try:
            await self.processes.handoffs.withdraw_account(account_id)
        except StoreError as error:
            _log.warn(
                "the keys of account {n} could not be withdrawn: {why}",
                n=account_id, why=str(error),
            )  # fmt: skip

    async def stop(self) -> None:
        """Close all connections."""


def processes_endpoint(ground: ProcessContext) -> ProcessesEndpoint:
    """Return the endpoint for a process that is alone, or for a node of a cluster."""
    return Alone(ground) if ground.node is None else InCluster(ground, ground.node)


class Alone(ProcessesEndpoint):
    """The only process of its world."""

    def __init__(self, ground: ProcessContext) -> None:
        member = ground.bus.member
        keys = LocalHandoffKeys(lambda: secrets.randbits(32), ground.scheduler)
        presence = _presence(ground)
        self.processes = Processes(member.name, member.bus, keys, presence, ServedHere())
        self._take_stores(ground.storage)


class InCluster(ProcessesEndpoint):
    """A node of a cluster: keys, zones and leases are in the database that all nodes share."""

    has_others = True

    def __init__(self, ground: ProcessContext, node: NodeService) -> None:
        member, storage = ground.bus.member, ground.storage
        self.processes = Processes(
            member.name, member.bus, storage.handoffs, _presence(ground), node.zone_servers,
            node.others, member.run,
        )  # fmt: skip
        joined = ground.bus.joined
        if joined is not None:
            node.zone_servers.join(member.bus, joined.exchange.others, ground.scheduler.pause)
        self._take_stores(storage)
        self.claiming_keys = storage.handoffs
        self.memories = NodeMemories(storage.memories, node.node, ground.scheduler)
        self.placement_facts = NodePlacementFacts(
            storage.placement_facts, node.node, ground.scheduler
        )


def _presence(ground: ProcessContext) -> SharedPresence:
    member = ground.bus.member
    presence = SharedPresence(
        member.bus, member.name, ground.scheduler.moment,
        spawn=ground.tasks.spawn, run=member.run,
    )  # fmt: skip
    ground.bus.ticks.append(presence.tick)
    return presence
