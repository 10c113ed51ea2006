"""Acts of crafting: to learn a recipe, to begin a creation, and to end it in several ways."""

from __future__ import annotations

from emu.client.world import WorldClientCore
from emu.items.held import Where
from emu.ledger import OwnerKind
from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.act import Act, choose
from tests.simulation.acts_of_things import several, shown
from tests.simulation.content_of_crafts import FORGE, NEEDED, RECIPE
from tests.simulation.content_of_things import BOOK, ORE, SCROLL
from tests.simulation.people import ClientProgram, Person

STRUCT = "WS_BeginItemCreation"


def _own(person: Person, *items: int) -> list[int]:
    """Return the numbers of things of some kinds in a person's bags."""
    return [
        thing.id for _, thing in shown(person)
        if thing.item_id in items and thing.place.where is Where.BAGS
    ]  # fmt: skip


def _can_craft(person: Person) -> bool:
    """Return whether a person knows the recipe, and has something for each component."""
    player = person.player()
    books = player.holdings.put_away.get(OwnerKind.LIBRARY) if player is not None else None
    return bool(books) and all(_own(person, item) for item in NEEDED)


async def _learn(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Learn what a recipe book or a scroll teaches."""
    number = person.chance.choice(_own(person, BOOK, SCROLL))
    several(person, client, f"scribe_scroll_item {number}")
    await client.pause(1.0)


def _begin(core: WorldClientCore, ore: int, count: int) -> None:
    """Send what a window sends that has chosen a primary component; the rest is the server's."""
    dialect = core.messages.dialect
    values = {
        "primary_component_id": ore, "num_primary_selected_items": 1,
        "primary_selected_items_array": [{"item_id": ore, "qty": 1}],
        "fuel_id": ore, "fuel_qty": count, "num_fuel_items": 1,
        "fuel_item_array": [{"item_id": ore, "qty": count}],
    }  # fmt: skip
    payload = dialect.encode_known(STRUCT, values)
    core.send("OP_BeginItemCreationMsg", payload)


async def _create(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Make something at the forge for a while; stop it, walk away, or wait for its end."""
    index = await choose(client, FORGE)
    if index is None:
        return
    client.command(f"createfromrecipe {RECIPE}")
    await client.pause(0.5)
    ores = _own(person, ORE)
    if not ores:
        return
    ore, count = person.chance.choice(ores), person.chance.randint(0, 3)
    for _ in range(person.chance.choice((1, 1, 2))):
        client.act(lambda core: _begin(core, ore, count))
    await client.pause(person.chance.choice((0.0, 3.0, 30.0, 60.0, 95.0)))
    if person.chance.random() < 0.7:
        for _ in range(person.chance.choice((1, 2))):
            client.act(lambda core: core.send("OP_StopItemCreationMsg"))
    # What it uses may be moved, sold or traded with the next acts.


def _has_what_teaches(person: Person) -> bool:
    return bool(_own(person, BOOK, SCROLL))


async def _read_recipes(
    _person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    client.command("recipes")


ACTS = (
    Act("learn", 20, _learn, _has_what_teaches),
    Act("create", 20, _create, _can_craft),
    Act("recipes", 1, _read_recipes),
)
