"""This process as a node of a cluster: its beats, its leases, and its drain.

`open` takes the node's term with the store that the start uses, `start` begins the beats, and
`stop` gives everything up.
"""

from __future__ import annotations

import math
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

import emu
from emu.admin.commands import nodes
from emu.cluster.node import (
    ClockChanged,
    LeaseMoved,
    Node,
    NodeAway,
    NodeEvent,
    NodeReturned,
    OtherNode,
    RunningZones,
    StateChanged,
)
from emu.cluster.ports import (
    CLOCK_TOLERANCE,
    NodeAbout,
    NodeRow,
    NodeState,
    ZonePlace,
    clock_text,
    contents_text,
    odd_contents,
)
from emu.cluster.zone_servers import ClusterZones
from emu.commands import Registry
from emu.commands.registry import Command
from emu.config import Config
from emu.errors import ConfigError, EmuError, StoreError
from emu.facts import PlacementFact
from emu.metrics import MetricRegistry
from emu.model import SpawnMemory
from emu.net import parameters
from emu.net.logs import logger
from emu.net.scheduler import Scheduler, Tasks
from emu.net.store import Storage
from emu.processes.ports import MemoryStore, PlacementFactStore
from emu.store import Store
from emu.store.nodes import NodeTable
from emu.times import Moment, Monotonic
from emu.world.zones.definitions import Atlas

_log = logger("node")
PAUSE: Final = 0.2
"""Seconds between two checks whether another node of the same name beats."""


class NodeZones(RunningZones, Protocol):
    """The zones of this process, and the sending of their players to other nodes."""

    def drain(self, *, is_draining: bool) -> None:
        """Send all players to other nodes from now on, or no longer."""

    def stop(self) -> None:
        """Send nobody any more."""


class NoZones:
    """`NodeZones` of a process without a world."""

    players = 0

    def runs(self, _place: ZonePlace) -> bool:
        """Return that no zone runs here."""
        return False

    def is_full(self, _place: ZonePlace) -> bool:
        """Return that no zone is full here."""
        return False

    def moved(self, _places: Sequence[ZonePlace]) -> None:
        """Do nothing: no player is here."""

    def drain(self, *, is_draining: bool) -> None:
        """Do nothing: no player is here."""

    def stop(self) -> None:
        """Do nothing: no player is here."""


class NodeService:
    """The node of this process. `open`, then `start`, then `stop`."""

    def __init__(
        self,
        config: Config,
        storage: Storage,
        scheduler: Scheduler,
        *,
        address: Callable[[], tuple[str, int] | None],
        atlas: Callable[[], Atlas | None] = lambda: None,
    ) -> None:
        """Make the node.

        `address` returns where clients reach this process, if anywhere; `atlas` returns the zones
        of its world, if it has one. Both are called when the node takes a term.
        """
        settings = config.node
        self._config = config
        self._address = address
        self._atlas = atlas
        self._scheduler = scheduler
        self._tasks = Tasks(_log)
        self.running: NodeZones = NoZones()
        self.node = Node(
            settings.name or machine_name(),
            storage.nodes,
            about=self._about,
            zones=self,
            report=self._report,
            moment=scheduler.moment,
            interval=settings.beat,
            lease=settings.lease,
        )
        self.zone_servers = ClusterZones(self.node, scheduler)
        self.others: dict[str, dict[str, Any]] = {}
        """The other nodes that are alive, each with ``host`` and ``port`` for clients."""
        self._timer = scheduler.timer(self)
        self.content = ""
        """Digest of the content file that this node serves; empty without one."""

    @property
    def name(self) -> str:
        """The unique name of this node."""
        return self.node.name

    # -- start and stop ---------------------------------------------------------------------------

    def open(self, store: Store) -> None:
        """Take a term.

        Raises `ConfigError` if a node of this name runs elsewhere, or a zone is unknown.
        """
        table = store.world.nodes
        before = self._scheduler.moment()
        there = table.moment()
        self.node.compare_clocks(before, there, self._scheduler.moment())
        about = self._about()
        self._check_alone(table, about)
        self.node.began(
            table.take_term(self.name, about, NodeState.UP), Monotonic(self._scheduler.now())
        )
        _log.info(
            "{name}, term {term}, {capacity} players at most",
            name=self.name, term=self.node.term, capacity=about.capacity,
        )  # fmt: skip

    def start(self) -> None:
        """Begin the beats."""
        self._arm()

    async def stop(self) -> None:
        """Give up zones and leases, so that other nodes need not wait for the lease's end."""
        self._scheduler.drop(self._timer)
        self.running.stop()
        await self._tasks.finished()
        try:
            await self.node.stop()
        except StoreError as error:
            _log.warn("other nodes have to wait until the lease ends: {why}", why=str(error))

    async def drain(self) -> None:
        """Send all players to other nodes; wait until all have gone, or ``node.drain_wait``.

        Without another node for them, the players stay, and this returns at once.
        """
        wait = self._config.node.drain_wait
        if not wait or not self.running.players:
            return
        end = Monotonic(self._scheduler.now() + wait)
        try:
            # Read now: another node may have been started after the last beat.
            if not any(self._may_take(row) for row in await self.node.store.nodes()):
                return
            await self.node.store.set_state(self.name, NodeState.DRAINING)
        except EmuError as error:
            _log.warn("not drained: {why}", why=str(error))
            return
        self.node.note_state(NodeState.DRAINING)
        while self.running.players and self._scheduler.now() < end:
            await self._scheduler.pause(0.1)
        if self.running.players:
            _log.warn("{n} players could not be sent in time", n=self.running.players)

    def commands(self) -> list[Command]:
        """Return the commands about nodes."""
        names: Callable[[], list[str]] = lambda: [row.name for row in self.node.alive]  # noqa: E731
        context = nodes.Nodes(self.node.store, self.name, self.node.lease, names)
        return nodes.COMMANDS.commands(context)

    def troubles(self) -> list[str]:
        """Return a line for each node that is drained, away or lost."""
        found = []
        if self.node.is_away(self._scheduler.now()):
            found.append(f"node {self.name} gets no answer of the database in time")
        if self.node.clock_ahead:
            found.append(f"node {self.name} takes no zones: {self._clock_line()}")
        for row in self.node.rows:
            state = nodes.state_of(row, self.node.lease)
            if state in (nodes.LOST, NodeState.DRAINING):
                found.append(f"node {row.name} is {state}")
        if contents := odd_contents(self.node.alive):
            found.append(f"nodes serve different content files: {contents_text(contents)}")
        return found

    def _clock_line(self) -> str:
        return f"its clock is {clock_text(self.node.clock_ahead)}"

    def measure(self, measures: MetricRegistry) -> None:
        """Make the metrics of this node and of those that it knows."""
        measures.gauge(
            "nodes",
            "Nodes of the cluster that this one knows, by state.",
            lambda: {
                (state,): count
                for state, count in Counter(
                    nodes.state_of(row, self.node.lease) for row in self.node.rows
                ).items()
            },
            ("state",),
        )
        measures.gauge(
            "node_zones", "Zone instances that this node holds.",
            lambda: {(): len(self.node.held_places)},
        )  # fmt: skip
        measures.gauge(
            "node_contents",
            "Different content files that the nodes serve; more than 1 is a fault.",
            lambda: {(): max(1, len(odd_contents(self.node.alive)))},
        )
        measures.gauge(
            "node_clock_ahead_seconds",
            "Seconds by which this machine's clock is ahead of the database's; 0 up to"
            f" {CLOCK_TOLERANCE:g}. Otherwise the node takes no zones.",
            lambda: {(): self.node.clock_ahead},
        )
        measures.gauge(
            "node_away", "1 while the database does not answer this node in time.",
            lambda: {(): self.node.is_away(self._scheduler.now())},
        )  # fmt: skip

    def note_content(self, digest: str) -> None:
        """Let the other nodes know that this one serves another content file from now on."""
        if digest != self.content:
            self.content = digest
            self._tasks.spawn(self._note_content(digest))

    async def _note_content(self, digest: str) -> None:
        try:
            await self.node.store.set_content(self.name, digest)
        except StoreError as error:
            _log.warn("other nodes do not know this node's content file: {why}", why=str(error))

    def configure(self, config: Config) -> None:
        """Apply other settings."""
        self._config = config

    # -- beats ------------------------------------------------------------------------------------

    def handle_timer(self, now: Monotonic) -> None:
        """Beat; called by the scheduler."""
        self.node.check(now)
        self._tasks.spawn(self._beat(now))

    async def _beat(self, now: Monotonic) -> None:
        try:
            await self.node.beat(now)
        finally:
            self._arm()
        self.others.clear()
        self.others.update(
            {
                row.name: {"host": row.about.host, "port": row.about.port}
                for row in self.node.alive
                if row.name != self.name
            }
        )

    def _arm(self) -> None:
        self._scheduler.arm(self._timer, self.node.get_timer())

    def _about(self) -> NodeAbout:
        host, port = self._address() or ("", 0)
        atlas, settings = self._atlas(), self._config.node
        if atlas is None:
            return NodeAbout(host, port, emu.__version__, clock_ahead=self.node.clock_ahead)
        found = {name: atlas.named(name) for name in settings.zones}
        unknown = [f"node.zones: there is no zone {name}" for name in found if not found[name]]
        if unknown:
            raise ConfigError(unknown)
        pinned = tuple(zone.id for zone in found.values() if zone is not None)
        return NodeAbout(
            host, port, emu.__version__, settings.capacity, pinned, self.content,
            self.node.clock_ahead,
        )  # fmt: skip

    def _check_alone(self, table: NodeTable, about: NodeAbout) -> None:
        """Wait until a killed node of this name is lost; raise `ConfigError` if it beats."""
        silence = math.inf
        while True:
            row = next((one for one in table.nodes() if one.name == self.name), None)
            if row is None or not row.is_alive(self._config.node.lease):
                return
            before = (row.about.host, row.about.port)
            # At the same address it was this one, because the port is open here now.
            if before == (about.host, about.port):
                return
            if row.silence < silence < math.inf:
                host, port = before
                line = f"node.name: a node {row.name} runs at {host}:{port}; use another name"
                raise ConfigError([line])
            silence = row.silence
            # In the reactor's thread: nothing is served yet.
            time.sleep(PAUSE)

    def _may_take(self, row: NodeRow) -> bool:
        is_open = row.state is NodeState.UP and row.is_alive(self._config.node.lease)
        return is_open and bool(row.about.capacity) and row.name != self.name and row.is_clock_right

    # -- what the node asks of its process --------------------------------------------------------

    @property
    def players(self) -> int:
        """Players in this process."""
        return self.running.players

    def runs(self, place: ZonePlace) -> bool:
        """Return whether an instance runs here."""
        return self.running.runs(place)

    def is_full(self, place: ZonePlace) -> bool:
        """Return whether an instance has as many players as its zone allows."""
        return self.running.is_full(place)

    def moved(self, places: Sequence[ZonePlace]) -> None:
        """Send the players of instances to the nodes where those were placed."""
        self.running.moved(places)

    def _report(self, event: NodeEvent) -> None:
        match event:
            case NodeAway(seconds, why):
                _log.warn(
                    "no answer of the database for {s:.0f} seconds ({why}): other nodes may take"
                    " this node's zones",
                    s=seconds, why=why or "this process stood still",
                )  # fmt: skip
            case NodeReturned(term, moved):
                _log.info("back, term {term}; {n} zones run elsewhere now", term=term, n=moved)
            case ClockChanged(ahead) if ahead:
                _log.error(
                    "this node takes no zones: {clock}; set the clock of this machine by NTP:"
                    " timedatectl set-ntp true",
                    clock=self._clock_line(),
                )  # fmt: skip
            case ClockChanged():
                _log.info("this machine's clock is right again; this node takes zones")
            case OtherNode(name, is_alive):
                _log.info("{name} {does}", name=name, does="came" if is_alive else "is gone")
            case StateChanged(state):
                _log.info("{state}", state=state)
                self.running.drain(is_draining=state is NodeState.DRAINING)
            case LeaseMoved(name, is_held):
                _log.info("{does} lease {name}", name=name, does="holds" if is_held else "lost")


def node_of(
    config: Config,
    storage: Storage,
    scheduler: Scheduler,
    commands: Registry,
    measures: MetricRegistry,
    *,
    address: Callable[[], tuple[str, int] | None],
    atlas: Callable[[], Atlas | None],
) -> NodeService | None:
    """Return this process as a node; None if its database can have only one process.

    The node's commands are added to `commands`, and its metrics to `measures`.
    """
    if not parameters.in_cluster(config):
        return None
    made = NodeService(config, storage, scheduler, address=address, atlas=atlas)
    commands.extend(made.commands())
    made.measure(measures)
    return made


class NodeMemories:
    """`MemoryStore` of a node: it stores nothing of zones that other nodes run by now."""

    def __init__(self, memories: MemoryStore, node: Node, scheduler: Scheduler) -> None:
        self._memories = memories
        self._node = node
        self._scheduler = scheduler

    async def of_zone(self, zone_id: int, first: int, most: int) -> Sequence[SpawnMemory]:
        """Return some memories of a zone's spawns."""
        return await self._memories.of_zone(zone_id, first, most)

    async def save_memories(self, memories: Sequence[SpawnMemory]) -> None:
        """Store memories of the zones that this node holds.

        Raises `StoreError` while the node is away: it cannot know which those are.
        """
        held = _held(memories, self._node, self._scheduler.now())
        if held:
            await self._memories.save_memories(held)


class NodePlacementFacts:
    """`PlacementFactStore` of a node: it stores nothing of zones that other nodes run by now."""

    def __init__(self, store: PlacementFactStore, node: Node, scheduler: Scheduler) -> None:
        self._store = store
        self._node = node
        self._scheduler = scheduler

    async def of_zone(
        self, kind: type[Any], zone_id: int, instance: int, moment: Moment
    ) -> Sequence[Any]:
        """Return the rows of an instance of a zone."""
        return await self._store.of_zone(kind, zone_id, instance, moment)

    async def save(self, kind: type[Any], rows: Sequence[PlacementFact], moment: Moment) -> None:
        """Store rows of the zones that this node holds.

        Raises `StoreError` while the node is away: it cannot know which those are.
        """
        held = _held(rows, self._node, self._scheduler.now())
        if held:
            await self._store.save(kind, held, moment)

    async def forget(self, kind: type[Any], zone_id: int, instance: int) -> None:
        """Remove the rows of an instance of a zone."""
        await self._store.forget(kind, zone_id, instance)


OfZone = TypeVar("OfZone", SpawnMemory, PlacementFact)


def _held(rows: Sequence[OfZone], node: Node, now: Monotonic) -> list[OfZone]:
    """Return the rows of zones that a node holds. Raises `StoreError` while it is away."""
    if node.is_away(now):
        raise StoreError("the database does not answer; this is stored when it does")
    return [one for one in rows if node.held(one.zone_id)]


def machine_name() -> str:
    """Return the name of this machine in the form of a node's name."""
    name = socket.gethostname().partition(".")[0].lower()
    return "".join(one if one.isalnum() and one.isascii() else "-" for one in name)[:31] or "node"
