"""`emu.processes.ports.ZoneServers` of a node: which node runs a zone, asked in the database.

A node that was killed keeps its zones until its lease has ended. Until then its address would send
players to nobody. So the chosen node is asked on the bus first. One that answers gets the player at
once. The player of any other one waits until the database shows a newer beat, which proves that the
node lives, or until the lease has ended and another node is chosen. Silence on the bus alone
refuses nobody: nodes may be on different buses, and a busy one may answer late.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final

from emu.cluster.node import Node
from emu.cluster.placement import Choice, choose
from emu.cluster.ports import NodeRow, NodeState, ZonePlacement
from emu.errors import CommandError, Unanswered
from emu.gather import both
from emu.processes.ports import Bus, Note, ZoneAddress
from emu.times import Clock

TRIES: Final = 5
"""Attempts to place an instance while other nodes place the same one."""
RETRY: Final = 0.5
"""Seconds until a node that does not answer is looked for in the database again."""
LATE: Final = 1.5
"""Times the interval of beats, after which a node is late."""


class ClusterZones:
    """The zones of all nodes, for one of them."""

    __slots__ = ("_bus", "_clock", "_last", "_node", "_pause", "_reached")

    def __init__(self, node: Node, clock: Clock) -> None:
        self._node = node
        self._clock = clock
        self._bus: Bus | None = None
        self._reached: Collection[str] = ()
        self._last: dict[int, NodeRow] = {}
        """The node of each zone to which a player was sent last."""
        self._pause: Callable[[float], Awaitable[None]] | None = None

    def join(
        self, bus: Bus, reached: Collection[str], pause: Callable[[float], Awaitable[None]]
    ) -> None:
        """Answer the other nodes on the bus, and ask them before players are sent to them.

        `reached` are the names of the processes that the bus reaches at any moment. `pause` waits
        for some seconds.
        """
        self._bus, self._reached, self._pause = bus, reached, pause
        bus.answer(_topic(self._node.name), self._answer)

    @property
    def may_run(self) -> bool:
        """Whether this node has a capacity for players."""
        return self._node.about().capacity > 0

    def serves(self, zone_id: int) -> bool:
        """Return whether this node holds an instance of a zone."""
        return bool(self._node.held(zone_id))

    def instances(self, zone_id: int) -> list[int]:
        """Return the numbers of the instances that this node holds."""
        return [place.instance for place in self._node.held(zone_id)]

    async def servers(self) -> Mapping[int, list[str]]:
        """Return the names of the nodes that run each zone. Raises `StoreError`."""
        found: dict[int, list[str]] = {}
        for place in await self._node.store.places(self._node.lease):
            names = found.setdefault(place.zone_id, [])
            if place.node not in names:
                names.append(place.node)
        return found

    async def elsewhere(self, zone_id: int, instance: int | None = None) -> ZoneAddress | None:
        """Return the node for a player who enters a zone, or None for this one.

        `instance` is one that was placed on another node: its players go there. A zone that no node
        runs is placed. A player whose node may be lost waits for a lease at most. Raises
        `Unanswered` when no node can run it, and `StoreError`.
        """
        begun = self._clock.now()
        if instance is None and await self._is_here(zone_id):
            return None
        # The node of the zone until now is asked meanwhile: it is the same one nearly always.
        guess = self._last.get(zone_id)
        if guess is not None and self._can_ask(guess):
            choice, answers = await both(self._chosen(zone_id, instance), self._is_there(guess))
        else:
            choice, answers, guess = await self._chosen(zone_id, instance), False, None
        if choice is None:
            return None
        first = self._last[zone_id] = choice.node
        if guess is None or (guess.name, guess.term) != (first.name, first.term):
            answers = self._pause is None or await self._is_there(first)
        is_sure = answers
        while not is_sure and self._pause is not None:
            # Read anew before it is judged: the question may have taken seconds.
            choice = await self._chosen(zone_id, instance)
            if choice is None:
                return None
            waited = self._clock.now() - begun
            if self._has_beaten(first, choice.node, waited) or waited > 2 * self._node.lease:
                break
            await self._pause(RETRY)
        found = self._last[zone_id] = choice.node
        about = found.about
        return ZoneAddress(found.name, about.host, about.port, choice.place.instance)

    async def _is_here(self, zone_id: int) -> bool:
        """Return whether this node certainly holds a zone: that needs no question."""
        return self._is_certain and await self._node.free_instance(zone_id) is not None

    @property
    def _is_certain(self) -> bool:
        node = self._node
        return node.state is NodeState.UP and not node.is_away(self._clock.now())

    async def _answer(self, _note: Note) -> Note:
        return {}

    async def _is_there(self, row: NodeRow) -> bool:
        """Return whether a node answers; without a question to it, whether its beats are in time.

        A node on another bus, or of another version, is not asked.
        """
        bus = self._bus
        if bus is None or not self._can_ask(row):
            return row.silence <= LATE * self._node.interval
        try:
            await bus.request(_topic(row.name), {})
        except (Unanswered, CommandError):
            return False
        return True

    def _can_ask(self, row: NodeRow) -> bool:
        bus = self._bus
        return (
            bus is not None
            and bus.is_connected
            and row.name in self._reached
            and row.about.version == self._node.about().version
        )

    def _has_beaten(self, before: NodeRow, now: NodeRow, waited: float) -> bool:
        """Return whether a node has beaten since it was read before, or is another one."""
        if (before.name, before.term) != (now.name, now.term):
            return True
        # Without a beat its silence has grown by the time since; with one, by an interval less.
        return now.silence < before.silence + waited - self._node.interval / 2

    async def _chosen(self, zone_id: int, instance: int | None) -> Choice | None:
        """Return the choice of another node for a zone, None for this node."""
        node = self._node
        if instance is None and await self._is_here(zone_id):
            return None
        for _ in range(TRIES):
            found = await node.store.placement(zone_id)
            choice = None
            if instance is not None or self._is_certain:
                choice = self._placed(found, instance)
            choice = choice or choose(zone_id, found, node.lease)
            if choice is None:
                raise Unanswered("no node of this world can run that zone now; start one")
            if not choice.is_new or await node.store.claim(choice.place, choice.instead_of):
                break
        else:
            raise Unanswered("that zone is placed by other nodes at the moment; try again")
        if choice.node.name == node.name:
            node.hold(choice.place, self._clock.now())
            return None
        return choice

    def _placed(self, found: ZonePlacement, instance: int | None) -> Choice | None:
        """Return the node of an instance; without one, this node if it holds any.

        An operator may have moved one here since the last beat.
        """
        up = {
            (one.name, one.term): one
            for one in found.nodes
            if one.is_alive(self._node.lease) and one.state is NodeState.UP
        }
        for place in found.places:
            holder = up.get((place.node, place.node_term))
            is_wanted = (
                place.node == self._node.name and not place.full
                if instance is None
                else place.instance == instance
            )
            if holder is not None and is_wanted:
                return Choice(holder, place)
        return None


def _topic(name: str) -> str:
    """Return the topic that one node answers: it lives."""
    return f"node.there.{name}"
