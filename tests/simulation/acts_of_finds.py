"""Acts with what is found: to gather, to complete a collection, and to ask a keeper for a gift."""

from __future__ import annotations

from emu.items.held import Where
from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.act import Act, approach, choose
from tests.simulation.acts_of_things import several, shown
from tests.simulation.content import KEEPER
from tests.simulation.content_of_finds import CHOICES, COLLECTION, COLLECTOR, PIECES, ROOTS
from tests.simulation.people import ClientProgram, Person


def _pieces(person: Person) -> list[int]:
    """Return the places of the pieces of the collection in a person's bags."""
    return [
        place for place, thing in shown(person)
        if thing.item_id in PIECES and thing.place.where is Where.BAGS
    ]  # fmt: skip


async def _gather(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Gather from a node to its end, walk away meanwhile, or gather once more at once."""
    index = await approach(client, ROOTS)
    if index is None:
        return
    for _ in range(person.chance.choice((1, 1, 2))):
        person.simulation.asked["gather"] += 1
        client.act(lambda core: core.use(index))
    if person.chance.random() < 0.2:
        await client.pause(2.0)
        place = client.core.place
        client.walk_to(place.x + 8.0, place.y, place.z)
    await client.pause(6.0)


async def _collect(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    several(
        person, client, f"collection_additem {COLLECTION} {person.chance.choice(_pieces(person))}"
    )
    await client.pause(0.5)


async def _hand_in(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Hand in the collection, also without all of its pieces, and choose what it gives."""
    index = await choose(client, COLLECTOR)
    if index is None:
        return
    several(person, client, "hand_in_collections")
    await client.pause(0.5)
    several(person, client, f"accept_reward {person.chance.choice((0, *CHOICES))}")
    await client.pause(1.0)


async def _ask(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Hail a keeper, whose script gives an ore, or takes one and pays for it."""
    index = await choose(client, KEEPER)
    if index is None:
        return
    for _ in range(person.chance.choice((1, 1, 2))):
        person.simulation.asked["hail"] += 1
        client.command("hail")
    await client.pause(1.0)


def _has_collected(person: Person) -> bool:
    player = person.player()
    return player is not None and any(player.holdings.put_away.values())


ACTS = (
    Act("gather", 10, _gather),
    Act("collect", 15, _collect, _pieces),
    Act("hand in a collection", 4, _hand_in, _has_collected),
    Act("ask for a gift", 5, _ask),
)
