"""`emu.processes.ports.ZoneServers` of a node: which node runs a zone, asked in the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.cluster.node import Node
from emu.cluster.placement import Choice, choose
from emu.cluster.ports import NodeState, Placement
from emu.errors import Unanswered
from emu.processes.ports import ZoneAddress
from emu.times import Clock

TRIES: Final = 5
"""Attempts to place an instance while other nodes place the same one."""


class ClusterZones:
    """The zones of all nodes, for one of them."""

    __slots__ = ("_clock", "_node")

    def __init__(self, node: Node, clock: Clock) -> None:
        self._node = node
        self._clock = clock

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
        runs is placed. Raises `Unanswered` when no node can run it, and `StoreError`.
        """
        node = self._node
        now = self._clock.now()
        # No question to the database for the zones that this node certainly holds.
        is_certain = node.state is NodeState.UP and not node.is_away(now)
        if instance is None and is_certain and await node.free_instance(zone_id) is not None:
            return None
        for _ in range(TRIES):
            found = await node.store.placement(zone_id)
            choice = self._placed(found, instance) if instance is not None or is_certain else None
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
        about = choice.node.about
        return ZoneAddress(choice.node.name, about.host, about.port, choice.place.instance)

    def _placed(self, found: Placement, instance: int | None) -> Choice | None:
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
