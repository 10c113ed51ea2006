"""`emu.processes.ports.ZoneServers` of a node: which node runs a zone, asked in the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from emu.cluster.node import Node
from emu.cluster.placement import Choice, choose
from emu.cluster.ports import NodeRow, NodeState
from emu.errors import CommandError, Unanswered
from emu.processes.ports import Bus, Note, ZoneAddress
from emu.times import Clock, Monotonic

TRIES: Final = 5
"""Attempts to place an instance while other nodes place the same one."""


RETRY: Final = 0.5
"""Seconds until the node of a zone that does not answer is chosen again."""


class ClusterZones:
    """The zones of all nodes, for one of them."""

    __slots__ = ("_bus", "_clock", "_node", "_pause")

    def __init__(self, node: Node, clock: Clock) -> None:
        self._node = node
        self._clock = clock
        self._bus: Bus | None = None
        self._pause: Callable[[float], Awaitable[None]] | None = None

    def join(self, bus: Bus, pause: Callable[[float], Awaitable[None]]) -> None:
        """Answer the other nodes on the bus, and ask them before players are sent to them.

        `pause` waits for some seconds.
        """
        self._bus, self._pause = bus, pause
        bus.answer(_topic(self._node.name), self._answer)

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

    async def elsewhere(self, zone_id: int) -> ZoneAddress | None:
        """Return the node for a player who enters a zone, or None for this one.

        A zone that no node runs is placed. While the node of a zone does not answer on the bus,
        this waits until it does, or until its lease has ended and another node is chosen. Raises
        `Unanswered` when no node can run the zone, and `StoreError`.
        """
        until = Monotonic(self._clock.now() + self._node.lease + self._node.interval)
        while (choice := await self._chosen(zone_id)) is not None:
            row = choice.node
            if self._pause is None or await self._is_there(row):
                about = row.about
                return ZoneAddress(row.name, about.host, about.port, choice.place.instance)
            if self._clock.now() >= until:
                raise Unanswered("the node that runs that zone does not answer; try again")
            await self._pause(RETRY)
        return None

    async def _answer(self, _note: Note) -> Note:
        return {}

    async def _is_there(self, row: NodeRow) -> bool:
        """Return whether a node answers, as far as that can be found out."""
        bus = self._bus
        # A program of another version may not know the question.
        if bus is None or not bus.is_connected or row.about.version != self._node.about().version:
            return True
        try:
            await bus.request(_topic(row.name), {})
        except (Unanswered, CommandError):
            # Without the bus the database alone decides.
            return not bus.is_connected
        return True

    async def _chosen(self, zone_id: int) -> Choice | None:
        """Return the choice of another node for a zone, None for this node."""
        node = self._node
        now = self._clock.now()
        # No question to the database for the zones that this node certainly holds.
        is_certain = node.state is NodeState.UP and not node.is_away(now)
        if is_certain and await node.free_instance(zone_id) is not None:
            return None
        for _ in range(TRIES):
            found = await node.store.placement(zone_id)
            choice = choose(zone_id, found, node.lease)
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


def _topic(name: str) -> str:
    """Return the topic that one node answers: it lives."""
    return f"node.there.{name}"
