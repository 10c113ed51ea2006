"""What an act of people is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.people import ClientProgram, Person

Work = Callable[[Person, ClientProgram, ClientWorldConnection], Awaitable[None]]


@dataclass(frozen=True)
class Act:
    """One kind of act; `is_possible` says whether a person can do it now."""

    name: str
    weight: float
    work: Work
    is_possible: Callable[[Person], object] = lambda _person: True


async def approach(client: ClientWorldConnection, name: str) -> int | None:
    """Walk to somebody that the client sees, and return its index; None if it is not there."""
    seen = client.core.surroundings
    index = seen.find(name) if seen is not None else None
    if seen is None or index is None:
        return None
    there = seen.place(index)
    client.walk_to(there.x, client.core.place.y, there.z + 1.5)
    await client.arrival(timeout=60.0)
    is_there = client.core.surroundings is seen and index in seen
    return index if is_there else None


async def choose(client: ClientWorldConnection, name: str) -> int | None:
    """Walk to somebody and make it the target; return its index, None if it is not there."""
    index = await approach(client, name)
    if index is not None:
        client.act(lambda core: core.target(index))
        await client.pause(0.3)
    return index
