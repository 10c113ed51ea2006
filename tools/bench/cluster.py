"""A cluster in virtual time: its real cores, with as many players and nodes as are wanted.

Each node has the core of `emu.cluster.node`, its zone servers, and its presence; all share a store
in memory and a bus that delivers at once. To hold 50,000 players in every of 100 nodes would need
gigabytes, so only some nodes hear the notes of all others; they are measured.

Players change their zone every 10 minutes and play for 1.5 hours. They say something in a channel
every 100 seconds, and something to one other player every 200 seconds. A save is due every minute
and writes two rows, a change of the zone three.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any, Final, TypeVar

from rich.console import Console
from rich.table import Table

from emu.cluster.drain import Drain
from emu.cluster.memory import NodesInMemory
from emu.cluster.node import Node, NodeEvent
from emu.cluster.ports import LEASE, NodeAbout, NodeState, ZonePlace
from emu.cluster.zone_servers import ClusterZones
from emu.errors import Unanswered
from emu.model import Present
from emu.processes.ports import Note
from emu.processes.presence import SharedPresence
from emu.processes.tables import DIGEST, run_now
from emu.times import Moment, Monotonic
from tools.bench.figures import Figure, Round

SIZES: Final = ((1_000, 2), (10_000, 20), (50_000, 100))
"""Players and nodes."""
IN_ZONE, SESSION, CHANNEL, PRIVATE, SAVE = 600.0, 5400.0, 100.0, 200.0, 60.0
"""Seconds between two changes of the zone, of a session, between two texts, two saves."""
ROWS_OF_SAVE, ROWS_OF_ZONING = 2, 3
ZONES, IN_INSTANCE = 120, 150
"""Zones of the world, and players that an instance takes."""
OBSERVED = 2
"""Nodes that hear the notes of all others."""
STEP = 0.25
"""Virtual seconds between two steps."""
TOLERANCE = 0.2
"""How far a figure may be from the one that was reckoned."""

T = TypeVar("T")


def done(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise RuntimeError("the coroutine waits")


class Subscription:
    """A subscription that is never cancelled."""

    def cancel(self) -> None:
        """Do nothing."""


class SimulatedBus:
    """The bus of one node; what it publishes reaches itself and the observed nodes."""

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._simulation = simulation
        self.name = name
        self.is_connected = True
        self.heard: Counter[str] = Counter()
        self.cpu = 0.0
        """Seconds in which the notes of others were handled."""
        self.subscribers: dict[str, list[Callable[[Note], None]]] = {}
        self.answers: dict[str, Callable[[Note], Awaitable[Note]]] = {}

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note."""
        self._simulation.published[topic] += 1
        self.deliver(topic, note)
        for other in self._simulation.observed:
            if other.bus is not self:
                begun = process_time()
                other.bus.heard[topic] += 1
                other.bus.deliver(topic, note)
                other.bus.cpu += process_time() - begun

    def deliver(self, topic: str, note: Note) -> None:
        """Call the subscribers of this node."""
        for hear in self.subscribers.get(topic, ()):
            hear(note)

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> Subscription:
        """Call `hear` with each note of a topic."""
        self.subscribers.setdefault(topic, []).append(hear)
        return Subscription()

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> Subscription:
        """Answer the questions of a topic."""
        self._simulation.answers[topic] = answer
        return Subscription()

    async def request(self, topic: str, note: Note) -> Note:
        """Ask the node that answers a topic. Raises `Unanswered`."""
        answer = self._simulation.answers.get(topic)
        if answer is None:
            raise Unanswered(f"nobody answers {topic}")
        return await answer(note)


class SimulatedNode:
    """One node with its players."""

    def __init__(self, simulation: Simulation, name: str, capacity: int) -> None:
        self.simulation = simulation
        self.name = name
        self.bus = SimulatedBus(simulation, name)
        self.here: dict[int, tuple[int, int]] = {}
        """Zone and instance of each player."""
        self.counts: Counter[tuple[int, int]] = Counter()
        self.events: list[NodeEvent] = []
        self.is_dead = False
        about = NodeAbout(name, 9001, "", capacity)
        self.node = Node(
            name, simulation.store, about=lambda: about, zones=self, report=self.events.append
        )
        self.zones = ClusterZones(self.node, simulation)
        self.presence = SharedPresence(
            self.bus, name, simulation.moment, spawn=run_now, run=len(simulation.nodes) + 1
        )
        self.drain = Drain(lambda: self.here)

    @property
    def players(self) -> int:
        """Players of this node."""
        return len(self.here)

    def runs(self, place: ZonePlace) -> bool:
        """Return whether an instance has players."""
        return bool(self.counts[place.zone_id, place.instance])

    def is_full(self, place: ZonePlace) -> bool:
        """Return whether an instance is full."""
        return self.counts[place.zone_id, place.instance] >= IN_INSTANCE

    def moved(self, places: Sequence[ZonePlace]) -> None:
        """Send the players of instances elsewhere, at once."""
        gone = {(place.zone_id, place.instance) for place in places}
        for player in [one for one, key in self.here.items() if key in gone]:
            self.simulation.change_zone(player, self.here[player][0])

    def add(self, player: int, zone_id: int) -> None:
        """Let a player enter the first instance here that has space."""
        held = self.node.held(zone_id)
        free = [one for one in held if not self.is_full(one)]
        key = zone_id, (free or held)[0].instance
        self.here[player] = key
        self.counts[key] += 1
        self.presence.entered(Present(player, player, zone_id, name=f"p{player}"), _nothing)

    def remove(self, player: int) -> None:
        """Take a player out; what has no players is released by the node's own timer."""
        key = self.here.pop(player)
        self.counts[key] -= 1
        self.presence.left(player)


def _nothing() -> None:
    """Stand for sending a player away."""


@dataclass
class Simulation:
    """A cluster of nodes with players. `fill`, then `run`."""

    players: int
    nodes_wanted: int
    seed: int = 20
    time: Monotonic = field(default_factory=lambda: Monotonic(1000.0))
    nodes: dict[str, SimulatedNode] = field(default_factory=dict)
    observed: list[SimulatedNode] = field(default_factory=list)
    published: Counter[str] = field(default_factory=Counter)
    answers: dict[str, Callable[[Note], Awaitable[Note]]] = field(default_factory=dict)
    where: dict[int, SimulatedNode] = field(default_factory=dict)
    rows: int = 0
    logins: int = 0
    zonings: int = 0
    stranded: list[int] = field(default_factory=list)
    """Players who were sent to a node that is dead; they have to log in again."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # a simulation
        self.store = NodesInMemory(lambda: self.time + 1_700_000_000)
        capacity = 2 * self.players // self.nodes_wanted
        for number in range(self.nodes_wanted):
            node = SimulatedNode(self, f"n{number:03}", capacity)
            self.nodes[node.name] = node
            done(node.node.start(self.time))
        self.observed = list(self.nodes.values())[:OBSERVED]
        self._digest = self.time
        self._next_player = 0

    # As a clock.

    def now(self) -> Monotonic:
        """Return the virtual time."""
        return self.time

    def moment(self) -> Moment:
        """Return the virtual time of the day."""
        return Moment(self.time + 1_700_000_000)

    @property
    def alive(self) -> list[SimulatedNode]:
        """The nodes that are not dead."""
        return [node for node in self.nodes.values() if not node.is_dead]

    def fill(self) -> None:
        """Let all players in, 500 in a second."""
        for number in range(self.players):
            self.log_in()
            if not number % 100:
                self.time = Monotonic(self.time + 0.2)
                self.beat_all()

    def log_in(self) -> None:
        """Let one player in, into a zone that some like more than others."""
        self._next_player += 1
        node = self.random.choice(self.alive)
        self._enter(node, self._next_player, self._some_zone())
        self.logins += 1

    def change_zone(self, player: int, zone_id: int) -> None:
        """Send a player to a zone; it stays where it is if no node can run that."""
        node = self.where[player]
        there = done(node.zones.elsewhere(zone_id))
        self.rows += ROWS_OF_ZONING
        self.zonings += 1
        node.remove(player)
        target = node if there is None else self.nodes[there.node]
        self._arrive(target, player, zone_id)

    def run(self, seconds: float) -> None:
        """Let time pass, with everything that the players and nodes do in it."""
        end = self.time + seconds
        while self.time < end:
            self.time = Monotonic(self.time + STEP)
            self.beat_all()
            self._players_act()
            if self.time - self._digest >= DIGEST:
                self._digest = self.time
                for node in self.alive:
                    node.presence.tick()

    def beat_all(self) -> None:
        """Call the timers of all nodes that are due."""
        for node in self.alive:
            due = node.node.get_timer()
            if due is not None and due <= self.time:
                done(node.node.beat(self.time))

    def kill(self, node: SimulatedNode) -> list[int]:
        """Kill a node; return the players who lost their session."""
        node.is_dead = True
        lost = list(node.here)
        for player in lost:
            del self.where[player]
        return lost

    def return_lost(self, players: Sequence[int]) -> None:
        """Let players in again who lost their session; they go to the zones that they like."""
        stranded, self.stranded = self.stranded, []
        for player in (*players, *stranded):
            self._enter(self.random.choice(self.alive), player, self._some_zone())

    @property
    def doubled(self) -> list[ZonePlace]:
        """Instances that a node holds although the store has another node for them."""
        stored = {(one.zone_id, one.instance): one for one in done(self.store.places(LEASE))}
        return [
            place
            for node in self.alive
            for place in node.node.held_places
            if (found := stored.get((place.zone_id, place.instance))) is None
            or found.node != node.name
        ]

    def drain_node(self, node: SimulatedNode) -> float:
        """Drain a node; return the seconds until its last player has left."""
        begun = self.time
        done(self.store.set_state(node.name, NodeState.DRAINING))
        while node.here:
            self.run(STEP)
            if node.node.state is NodeState.DRAINING:
                for player in node.drain.due(self.time):
                    self.change_zone(player, node.here[player][0])
        return self.time - begun

    def _players_act(self) -> None:
        present = list(self.where)
        for player in self._some(present, IN_ZONE):
            self.change_zone(player, self._some_zone())
        for player in self._some(present, SESSION):
            self.where.pop(player).remove(player)
            self.rows += ROWS_OF_ZONING
            self.log_in()
        for player in self._some(list(self.where), CHANNEL):
            self.where[player].bus.publish("channel", {"text": "selling turnips"})
        for player in self._some(present, PRIVATE):
            self.published["tell"] += 1
            target = self.where.get(self.random.choice(present))
            if target is not None and target is not self.where.get(player):
                target.bus.heard["tell"] += 1
        self.rows += ROWS_OF_SAVE * sum(1 for _ in self._some(present, SAVE))

    def _some(self, players: Sequence[int], period: float) -> Iterator[int]:
        """Yield those who do in this step what each does once in `period` seconds."""
        expected = len(players) * STEP / period
        count = int(expected) + (self.random.random() < expected % 1)
        return iter(self.random.sample(players, min(count, len(players))))

    def _some_zone(self) -> int:
        return 1 + int(ZONES * self.random.random() ** 2)

    def _enter(self, node: SimulatedNode, player: int, zone_id: int) -> None:
        there = done(node.zones.elsewhere(zone_id))
        self._arrive(node if there is None else self.nodes[there.node], player, zone_id)

    def _arrive(self, node: SimulatedNode, player: int, zone_id: int) -> None:
        """Show the key at a node, which asks once more; the player may be sent on."""
        there = None if node.is_dead else done(node.zones.elsewhere(zone_id))
        if there is not None:
            node = self.nodes[there.node]
        if node.is_dead:
            self.stranded.append(player)
            self.where.pop(player, None)
            return
        # The node learns that the zone was placed on it.
        done(node.zones.elsewhere(zone_id))
        node.add(player, zone_id)
        self.where[player] = node


@dataclass(frozen=True)
class Result:
    """What a simulation has counted, per second; and what was reckoned."""

    players: int
    nodes: int
    figures: dict[str, tuple[float, float]]
    """Name -> what was counted, what was reckoned."""
    cpu: float
    """Seconds of CPU per second that a node spent on the notes of others, of this machine."""
    balance: float
    """Players of the fullest node, as a multiple of the mean."""
    seconds: float
    """How long was counted."""

    @property
    def wrong(self) -> list[str]:
        """The figures that are too far from what was reckoned."""
        return [
            f"{name}: {found:.1f} per second, reckoned {reckoned:.1f}"
            for name, (found, reckoned) in self.figures.items()
            # Few events in all differ by chance; most of such counts are within three deviations.
            if abs(found - reckoned)
            > max(TOLERANCE * reckoned, 3 * (reckoned / self.seconds) ** 0.5)
        ]


def reckoned(players: int, nodes: int) -> dict[str, float]:
    """Return how often things happen in a second, by their names.

    A character is in the world from a login, and changes its place in the presence when it leaves
    one zone and enters another, and when it leaves the world.
    """
    presence = players * (2 / IN_ZONE + 2 / SESSION)
    channels, private = players / CHANNEL, players / PRIVATE
    heard = (presence + channels + nodes / DIGEST + private / nodes) * (nodes - 1) / nodes
    return {
        "presence": presence,
        "channel notes": channels,
        "private messages": private,
        "heard by a node": heard,
        "rows saved": players
        * (ROWS_OF_SAVE / SAVE + ROWS_OF_ZONING / IN_ZONE + ROWS_OF_ZONING / SESSION),
        "logins": players / SESSION,
    }


def measure(players: int, nodes: int, seconds: float = 20.0) -> Result:
    """Run a cluster for some virtual seconds and count what happens."""
    one = Simulation(players, nodes)
    one.fill()
    one.run(DIGEST)
    one.published.clear()
    one.rows = one.logins = 0
    for node in one.observed:
        node.bus.heard.clear()
        node.bus.cpu = 0.0
    one.run(seconds)
    heard = sum(sum(node.bus.heard.values()) for node in one.observed) / len(one.observed)
    found = {
        "presence": one.published["presence.changed"],
        "channel notes": one.published["channel"],
        "private messages": one.published["tell"],
        "heard by a node": heard,
        "rows saved": one.rows,
        "logins": one.logins,
    }
    table = reckoned(players, nodes)
    sizes = [node.players for node in one.nodes.values()]
    for node in one.observed:
        if node.presence.players != len(one.where):
            raise AssertionError(f"{node.name} knows {node.presence.players} players")
    return Result(
        players, nodes,
        {name: (count / seconds, table[name]) for name, count in found.items()},
        sum(node.bus.cpu for node in one.observed) / len(one.observed) / seconds,
        max(sizes) / (sum(sizes) / len(sizes)),
        seconds,
    )  # fmt: skip


def show(console: Console, _rounds: int, *, files: bool = False) -> None:
    """Print what was counted for each size, with what was reckoned in brackets."""
    table = Table(title="a cluster in virtual time, per second (reckoned)")
    table.add_column("players / nodes")
    for name in reckoned(1, 1):
        table.add_column(name, justify="right")
    table.add_column("CPU of hearing", justify="right")
    table.add_column("fullest node", justify="right")
    wrong = []
    for players, nodes in SIZES:
        result = measure(players, nodes)
        wrong += [f"{players} players, {line}" for line in result.wrong]
        cells = [f"{found:.1f} ({aim:.1f})" for found, aim in result.figures.values()]
        table.add_row(f"{players} / {nodes}", *cells, f"{result.cpu:.1%}", f"{result.balance:.2f}")
    console.print(table)
    for line in wrong if files or wrong else ():
        console.print(line, style="bold red")


def report(_rounds: int) -> Iterator[Figure]:
    """Yield each figure as a multiple of what was reckoned."""
    for players, nodes in SIZES:
        result = measure(players, nodes)
        for name, (found, aim) in result.figures.items():
            yield Figure(
                f"{players} players on {nodes} nodes: {name}", "per second", "reckoned",
                [Round(found, aim)],
            )  # fmt: skip
