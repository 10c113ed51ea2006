"""Acts of spells: to cast at oneself, at others and at creatures, and to end what lasts."""

from __future__ import annotations

from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.act import Act
from tests.simulation.acts_of_things import several
from tests.simulation.content_of_spells import HEAL, SPELLS
from tests.simulation.people import ClientProgram, Person


async def _cast(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Cast a spell at whoever is in sight; move away or cast another one meanwhile."""
    seen = client.core.surroundings
    if seen is None:
        return
    indexes: list[int | None] = [None, *sorted(seen)]
    index = person.chance.choice(indexes)
    client.act(lambda core: core.target(index))
    await client.pause(0.3)
    for _ in range(person.chance.choice((1, 1, 2))):
        client.command(f"useability {person.chance.choice(SPELLS)}")
    if person.chance.random() < 0.2:
        place = client.core.place
        client.walk_to(place.x + 5.0, place.y, place.z)
    await client.pause(2.0)


async def _end(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """End an effect of one's own, or one on oneself."""
    line = person.chance.choice(("cancel_maintained 0", "cancel_maintained 1",
                                 f"cancel_effect {HEAL}"))  # fmt: skip
    several(person, client, line)


async def _order(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Give a pet an order, also without one."""
    word = person.chance.choice(("attack", "backoff", "stay", "follow", "getlost"))
    client.command(f"pet {word}")


ACTS = (
    Act("cast", 14, _cast),
    Act("end a spell", 3, _end),
    Act("order a pet", 3, _order),
)
