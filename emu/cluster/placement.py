"""The choice of the node that runs a zone instance.

An instance stays where it is while its node is alive and up. A new one goes to the node with the
least load for its capacity; of equally loaded nodes, rendezvous hashing chooses the same one for
every asker (Thaler, Ravishankar: A Name-Based Mapping Scheme for Rendezvous, 1996).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from zlib import crc32

from emu.cluster.ports import NodeRow, NodeState, ZonePlace, ZonePlacement


@dataclass(frozen=True, slots=True)
class Choice:
    """A node for a player who enters a zone."""

    node: NodeRow
    place: ZonePlace
    """The instance on that node."""
    instead_of: ZonePlace | None = None
    """The row that the place replaces, of a node that is lost or drained."""
    is_new: bool = False
    """The place has to be claimed before a player may be sent there."""


def choose(zone_id: int, found: ZonePlacement, lease: float) -> Choice | None:
    """Return the node and instance for a player who enters a zone; None if no node can run it."""
    alive = [node for node in found.nodes if node.is_alive(lease) and node.about.capacity]
    # A node that is drained gets players only if there is no other one.
    open_ = [node for node in alive if node.state is NodeState.UP] or alive
    by_name = {node.name: node for node in open_}
    free: ZonePlace | None = None
    taken = set()
    for place in sorted(found.places, key=lambda place: place.instance):
        node = by_name.get(place.node)
        if node is not None and node.term == place.node_term:
            if not place.full:
                return Choice(node, place)
            taken.add(place.instance)
        elif free is None:
            free = place
    # The zones of a node whose clock is wrong stay until they end; it takes no new ones.
    best = least_loaded(zone_id, [node for node in open_ if node.is_clock_right])
    if best is None:
        return None
    # The lowest number, so that the numbers do not grow with each node that is lost.
    if free is None:
        instance = next(n for n in range(len(taken) + 1) if n not in taken)
    else:
        instance = free.instance
    return Choice(best, ZonePlace(zone_id, instance, best.name, best.term), free, is_new=True)


def least_loaded(
    zone_id: int, nodes: Sequence[NodeRow], besides: Collection[str] = ()
) -> NodeRow | None:
    """Return the node for a new instance of a zone, None without nodes.

    Nodes that pin the zone come first. `besides` are names of nodes that are left out.
    """
    candidates = [node for node in nodes if node.name not in besides]
    pinning = [node for node in candidates if zone_id in node.about.pinned]
    instances = sum(node.instances for node in nodes)
    mean = max(1.0, sum(node.players for node in nodes) / max(1, instances))
    return min(
        pinning or candidates,
        key=lambda node: (load(node, mean), -_weight(zone_id, node)),
        default=None,
    )


def load(node: NodeRow, mean: float = 1.0) -> float:
    """Return the load of a node for its capacity; 1 is full.

    `mean` is how many players an instance has on average.
    """
    # Instances that were just placed have no players yet, but will have. Without them, all zones
    # that are asked for between two beats would go to one node.
    return max(node.players, node.instances * mean) / max(1, node.about.capacity)


def _weight(zone_id: int, node: NodeRow) -> int:
    return crc32(f"{zone_id} {node.name}".encode())
