"""`NodeStore` in memory, for tests and for the simulation of many nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from emu.cluster.ports import (
    Beat,
    LeaseRow,
    NodeAbout,
    NodeRow,
    NodeState,
    ZonePlace,
    ZonePlacement,
)


@dataclass(slots=True)
class _Node:
    term: int
    about: NodeAbout
    state: NodeState
    players: int
    seen: float
    leaving: tuple[tuple[int, int], ...] = ()


class NodesInMemory:
    """The nodes, zone instances and leases of one world; `clock` is that of the database."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._nodes: dict[str, _Node] = {}
        self._places: dict[int, dict[int, ZonePlace]] = {}
        """By zone and instance."""
        self._held: dict[str, dict[tuple[int, int], ZonePlace]] = {}
        """The same by node."""
        self._leases: dict[str, LeaseRow] = {}

    async def take_term(self, name: str, about: NodeAbout, state: NodeState | None = None) -> int:
        """Give a node a new term, and count that as a beat."""
        known = self._nodes.get(name)
        term = known.term + 1 if known is not None else int(self._clock() * 1000)
        if state is None:
            state = known.state if known is not None else NodeState.UP
        self._drop(name)
        self._nodes[name] = _Node(term, about, state, 0, self._clock())
        return term

    async def beat(self, name: str, term: int, players: int, lease: float) -> Beat | None:
        """Record that a node lives; None if it was away."""
        if not self._is_alive(name, term, lease):
            return None
        node = self._nodes[name]
        node.seen, node.players = self._clock(), players
        held = tuple(self._held.get(name, {}).values())
        return Beat(await self.nodes(), held, await self.leases(lease), self._clock())

    async def set_content(self, name: str, digest: str) -> None:
        """Record which content file a node serves from now on."""
        if name in self._nodes:
            node = self._nodes[name]
            node.about = replace(node.about, content=digest)

    async def set_clock(self, name: str, ahead: float) -> None:
        """Record how far the clock of a node is off."""
        if name in self._nodes:
            node = self._nodes[name]
            node.about = replace(node.about, clock_ahead=ahead)

    async def set_leaving(self, name: str, leaving: Sequence[tuple[int, int]]) -> None:
        """Record which instances a node still runs that were placed elsewhere."""
        if name in self._nodes:
            self._nodes[name].leaving = tuple(leaving)

    async def moment(self) -> float:
        """Return the time of the database."""
        return self._clock()

    async def leave(self, name: str, term: int) -> None:
        """Record that a node stops."""
        node = self._nodes.get(name)
        if node is not None and node.term == term:
            node.state, node.players = NodeState.STOPPED, 0
            self._drop(name)

    async def nodes(self) -> Sequence[NodeRow]:
        """Return all nodes by name."""
        now = self._clock()
        return [
            NodeRow(
                name, one.term, one.about, one.state, one.players,
                len(self._held.get(name, ())), now - one.seen, one.leaving,
            )
            for name, one in sorted(self._nodes.items())
        ]  # fmt: skip

    async def set_state(self, name: str, state: NodeState) -> bool:
        """Set the state of a node that has not stopped."""
        node = self._nodes.get(name)
        if node is None or node.state is NodeState.STOPPED:
            return False
        node.state = state
        return True

    async def forget(self, name: str, lease: float) -> bool:
        """Remove a node that is not alive."""
        node = self._nodes.get(name)
        if node is None or self._is_alive(name, node.term, lease):
            return False
        self._drop(name)
        del self._nodes[name]
        return True

    async def placement(self, zone_id: int) -> ZonePlacement:
        """Return what the node of a zone is chosen from."""
        return ZonePlacement(await self.nodes(), tuple(self._places.get(zone_id, {}).values()))

    async def places(self, lease: float) -> Sequence[ZonePlace]:
        """Return the zone instances of nodes that are alive."""
        return [
            place
            for zone_id in sorted(self._places)
            for _, place in sorted(self._places[zone_id].items())
            if self._is_alive(place.node, place.node_term, lease)
        ]

    async def claim(self, place: ZonePlace, instead_of: ZonePlace | None) -> bool:
        """Place a zone instance on a node, if its row is as in `instead_of`."""
        found = self._places.get(place.zone_id, {}).get(place.instance)
        holder = None if found is None else (found.node, found.node_term)
        before = None if instead_of is None else (instead_of.node, instead_of.node_term)
        if holder != before:
            return False
        if found is not None:
            self._remove(found)
        self._put(place)
        return True

    async def mark_full(self, place: ZonePlace) -> None:
        """Store whether an instance is full, if that node and term hold it."""
        if self._is_held(place):
            self._put(place)

    async def release(self, place: ZonePlace) -> None:
        """Remove an instance that has ended."""
        if self._is_held(place):
            self._remove(place)

    async def hold_lease(self, name: str, node: str, term: int, lease: float) -> bool:
        """Take or keep a lease; return False if another node holds it."""
        found = self._leases.get(name)
        own = LeaseRow(name, node, term)
        if (
            found is not None
            and found != own
            and self._is_alive(found.node, found.node_term, lease)
        ):
            return False
        if not self._is_alive(node, term, lease):
            return False
        self._leases[name] = own
        return True

    async def release_lease(self, name: str, node: str, term: int) -> None:
        """Give up a lease."""
        if self._leases.get(name) == LeaseRow(name, node, term):
            del self._leases[name]

    async def leases(self, lease: float) -> Sequence[LeaseRow]:
        """Return the leases whose holders are alive."""
        return [
            one
            for _, one in sorted(self._leases.items())
            if self._is_alive(one.node, one.node_term, lease)
        ]

    def _is_alive(self, name: str, term: int, lease: float) -> bool:
        node = self._nodes.get(name)
        if node is None or node.term != term or node.state is NodeState.STOPPED:
            return False
        return self._clock() - node.seen < lease

    def _is_held(self, place: ZonePlace) -> bool:
        found = self._places.get(place.zone_id, {}).get(place.instance)
        return found is not None and replace(found, full=place.full) == place

    def _put(self, place: ZonePlace) -> None:
        self._places.setdefault(place.zone_id, {})[place.instance] = place
        self._held.setdefault(place.node, {})[place.zone_id, place.instance] = place

    def _remove(self, place: ZonePlace) -> None:
        del self._places[place.zone_id][place.instance]
        self._held[place.node].pop((place.zone_id, place.instance))

    def _drop(self, name: str) -> None:
        """Remove everything that a node holds."""
        for place in list(self._held.get(name, {}).values()):
            self._remove(place)
        self._leases = {key: one for key, one in self._leases.items() if one.node != name}
