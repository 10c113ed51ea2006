"""What an auditor is, and when it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emu.world.world import World
    from tests.simulation.servers import SimulatedServer
    from tests.simulation.simulation import Simulation


class Moment(Enum):
    """When an auditor looks."""

    ANY = "at any moment"
    QUIET = "after a time without faults and acts"
    EMPTY = "after all players have gone"
    STOPPED = "after all servers have stopped"


@dataclass(frozen=True)
class Auditor:
    """One auditor; `look` yields what is wrong."""

    name: str
    moment: Moment
    look: Callable[[Simulation], Iterator[str]]


def parts(simulation: Simulation) -> Iterator[tuple[SimulatedServer, Any]]:
    """Yield the parts of the worlds that run."""
    for one in simulation.servers:
        if one.is_up and one.server is not None and one.server.world is not None:
            yield one, one.server.world.parts


def worlds(simulation: Simulation) -> Iterator[tuple[SimulatedServer, World]]:
    """Yield the worlds that run."""
    for server, found in parts(simulation):
        yield server, found.world
