"""The state that nodes share in their database: nodes, zone instances and leases.

A node is alive while its last beat is younger than the lease by the database's clock. What a node
holds is stored with its term, a number that only grows: a zone or a lease is held while the node is
alive and still has that term.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

BEAT: Final = 2.0
"""Seconds between two beats of a node."""
LEASE: Final = 6.0
"""Seconds after its last beat for which a node counts as alive."""
CLOCK_TOLERANCE: Final = 5.0
"""Seconds by which the clock of a node's machine may differ from the database's."""


class NodeState(enum.StrEnum):
    """What an operator has decided about a node."""

    UP = "up"
    DRAINING = "draining"
    """It gets no new zones, and sends its players to other nodes."""
    STOPPED = "stopped"
    """It has stopped in order; its row remains for its term."""


@dataclass(frozen=True, slots=True)
class NodeAbout:
    """What a node reports of itself when it takes a term."""

    host: str = ""
    """Where clients reach its zones; empty without a world."""
    port: int = 0
    version: str = ""
    capacity: int = 0
    """Players that it should have at most, compared with those of other nodes; 0: no zones."""
    pinned: tuple[int, ...] = ()
    """Ids of the zones that are placed on it while it lives."""
    content: str = ""
    """Digest of the content file that it serves; empty without one."""
    clock_ahead: float = 0.0
    """Seconds by which its clock is ahead of the database's; 0 up to `CLOCK_TOLERANCE`."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node as the database has it."""

    name: str
    term: int
    about: NodeAbout
    state: NodeState
    players: int
    instances: int
    """Zone instances that it holds."""
    silence: float
    """Seconds since its last beat, by the database's clock."""
    leaving: Sequence[tuple[int, int]] = ()
    """Zone and number of the instances that it still runs, but that were placed on another node."""

    def is_alive(self, lease: float = LEASE) -> bool:
        """Return whether its last beat is younger than the lease."""
        return self.state is not NodeState.STOPPED and self.silence < lease

    @property
    def is_clock_right(self) -> bool:
        """Whether its clock agrees with the database's; else it takes no zones."""
        return abs(self.about.clock_ahead) <= CLOCK_TOLERANCE


@dataclass(frozen=True, slots=True)
class ZonePlace:
    """The node that runs a zone instance."""

    zone_id: int
    instance: int
    node: str
    node_term: int
    full: bool = False
    """It has as many players as its zone allows."""


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """The holder of work that only one node does."""

    name: str
    node: str
    node_term: int


@dataclass(frozen=True, slots=True)
class ZonePlacement:
    """What the node of a zone is chosen from: all nodes, and the zone's instances."""

    nodes: Sequence[NodeRow]
    places: Sequence[ZonePlace]


@dataclass(frozen=True, slots=True)
class Beat:
    """What a node reads at each beat."""

    nodes: Sequence[NodeRow]
    """All nodes, itself included."""
    places: Sequence[ZonePlace]
    """The zone instances that it holds."""
    leases: Sequence[LeaseRow]
    """The leases whose holders are alive."""
    moment: float = math.nan
    """The time of the database, in seconds since 1970."""


def odd_contents(nodes: Sequence[NodeRow]) -> dict[str, list[str]]:
    """Return the nodes that run zones by the digest of their content file, if these differ.

    The digest of the most nodes comes first.
    """
    found: dict[str, list[str]] = {}
    for node in nodes:
        if node.about.host and node.about.capacity:
            found.setdefault(node.about.content, []).append(node.name)
    return {} if len(found) < 2 else dict(sorted(found.items(), key=lambda one: -len(one[1])))


def clock_text(ahead: float) -> str:
    """Return how far a node's clock is off, as a text."""
    return f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the database's"


def contents_text(contents: Mapping[str, Sequence[str]]) -> str:
    """Return the result of `odd_contents` as a text: each digest with its nodes."""
    return ", ".join(
        f"{digest or 'none'} ({', '.join(names)})" for digest, names in contents.items()
    )


class NodeStore(Protocol):
    """The nodes, zone instances and leases of one world.

    `lease` is the number of seconds for which a beat counts, the same in all nodes. Every call may
    raise `StoreError`.
    """

    async def take_term(self, name: str, about: NodeAbout, state: NodeState | None = None) -> int:
        """Give a node a new term, larger than all it had before, and count that as a beat.

        With None its state remains, or is `NodeState.UP` for a new node. What it held with earlier
        terms is held by nobody from then on.
        """

    async def beat(self, name: str, term: int, players: int, lease: float) -> Beat | None:
        """Record that a node lives, and return what it has to know.

        None if the lease has ended, or the term is not its last one: the node was away.
        """

    async def set_content(self, name: str, digest: str) -> None:
        """Record which content file a node serves from now on."""

    async def set_clock(self, name: str, ahead: float) -> None:
        """Record `NodeAbout.clock_ahead` of a node."""

    async def set_leaving(self, name: str, leaving: Sequence[tuple[int, int]]) -> None:
        """Record `NodeRow.leaving` of a node; a new term begins without any."""

    async def moment(self) -> float:
        """Return the time of the database, in seconds since 1970."""

    async def leave(self, name: str, term: int) -> None:
        """Record that a node stops, if the term is its last one."""

    async def nodes(self) -> Sequence[NodeRow]:
        """Return all nodes by name, those that are not alive included."""

    async def set_state(self, name: str, state: NodeState) -> bool:
        """Set the state of a node that has not stopped; return whether there is one."""

    async def forget(self, name: str, lease: float) -> bool:
        """Remove a node that is not alive, with all it held; return whether it was removed."""

    async def placement(self, zone_id: int) -> ZonePlacement:
        """Return what the node of a zone is chosen from."""

    async def places(self, lease: float) -> Sequence[ZonePlace]:
        """Return the zone instances that nodes hold which are alive."""

    async def claim(self, place: ZonePlace, instead_of: ZonePlace | None) -> bool:
        """Place a zone instance on a node; return whether that was done.

        It is done only if its row is as in `instead_of`, or there is none for None: of two nodes
        that place an instance at the same time, one succeeds and the other reads again.
        """

    async def mark_full(self, place: ZonePlace) -> None:
        """Store `ZonePlace.full` of an instance, if that node and term hold it."""

    async def release(self, place: ZonePlace) -> None:
        """Remove an instance that has ended, if that node and term hold it."""

    async def hold_lease(self, name: str, node: str, term: int, lease: float) -> bool:
        """Take or keep a lease; return False if another node that is alive holds it."""

    async def release_lease(self, name: str, node: str, term: int) -> None:
        """Give up a lease, if that node and term hold it."""

    async def leases(self, lease: float) -> Sequence[LeaseRow]:
        """Return the leases whose holders are alive."""
