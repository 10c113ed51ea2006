"""Acts that use things up, have them repaired, or share what the dead have left."""

from __future__ import annotations

from functools import partial

from emu.client.world import WorldClientCore
from emu.items.held import FULL, Thing
from emu.items.kinds import Slot
from emu.items.remains import LootMethod
from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.act import Act
from tests.simulation.acts_of_things import carried, go_to, loot, several, shown
from tests.simulation.content_of_things import BREAD, LENS
from tests.simulation.content_of_uses import MENDER
from tests.simulation.people import ClientProgram, Person

OLD_SLOT_OF_FOOD = 20
"""The slot of food, as clients up to 561 number it."""
OLD_INDEX = 255
"""Those clients count the places of things that they use from here downwards."""


def _has_old_windows(client: ClientWorldConnection) -> bool:
    return client.core.messages.dialect.world_rules.older_windows


def _of_kind(person: Person, item: int) -> list[tuple[int, Thing]]:
    return [(place, thing) for place, thing in carried(person) if thing.item_id == item]


def _has_food(person: Person) -> bool:
    return any(thing.item_id == BREAD for _, thing in shown(person))


async def _eat(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Put bread where one eats from, and eat, also when there is none or one is full."""
    bread, chance = _of_kind(person, BREAD), person.chance
    if bread and chance.random() < 0.6:
        client.command(f"inventory equip {chance.choice(bread)[0]}")
    slot = OLD_SLOT_OF_FOOD if _has_old_windows(client) else int(Slot.FOOD)
    several(person, client, f"consume_food {slot}")
    if chance.random() < 0.3:
        client.command(f"set_auto_consume {slot} {chance.choice((0, 1))}")
    await client.pause(1.0)


def _answer(core: WorldClientCore, choice: int) -> None:
    core.answer(choice)


async def _look_through(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    """Use a lens, which asks for a jewel to break, and answer what it asks."""
    place, _ = person.chance.choice(_of_kind(person, LENS))
    several(person, client, f"use_item {OLD_INDEX - place if _has_old_windows(client) else place}")
    for _ in range(2):
        await client.pause(0.7)
        dialog = client.core.dialog
        if dialog is None:
            return
        # The first answers are the jewels, or the agreement.
        choice = person.chance.choice((1, 1, 1, len(dialog.choices)))
        client.act(partial(_answer, choice=choice))
    await client.pause(1.0)


def _damaged(person: Person) -> list[int]:
    """Return the kinds of a person's things that are not whole."""
    player = person.player()
    things = () if player is None else player.holdings.inventory
    return sorted({one.item_id for one in things if one.condition < FULL})


async def _repair(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Have one damaged thing repaired, or all of them."""
    damaged = _damaged(person)
    if not await go_to(client, MENDER, "repair"):
        return
    lines = ["mender_repair_all", *(f"mender_repair {item}" for item in damaged)]
    line = person.chance.choice(lines)
    person.simulation.asked[f"repair {person.name}"] += several(person, client, line)
    await client.pause(1.0)


async def _choose_sharing(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    """Choose how the groups that one leads share things and coins."""
    chance = person.chance
    fields = {
        "loot_method": int(chance.choice((*LootMethod,))), "auto_split_coin": chance.choice((0, 1)),
    }  # fmt: skip
    layout = client.core.messages.dialect.layout("WS_DefaultGroupOptions")
    client.act(lambda core: core.send("OP_DefaultGroupOptionsMsg", layout.encode(fields)))


def _wolves(person: Person) -> list[str]:
    program = person.program
    connection = None if program is None else program.connection
    seen = None if connection is None else connection.core.surroundings
    if seen is None:
        return []
    return sorted({seen.name(index) for index in seen if " wolf of " in seen.name(index)})


async def _loot(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Take what lies in a body, whoever has killed it, or answer what a group draws lots for."""
    for _ in range(person.chance.choice((1, 1, 2))):
        wolves = _wolves(person)
        if wolves:  # after the first one all may be out of sight
            await loot(client, person.chance.choice(wolves))


ACTS = (
    Act("eat", 5, _eat, _has_food),
    Act("look through a lens", 6, _look_through, lambda person: _of_kind(person, LENS)),
    Act("repair", 10, _repair, _damaged),
    Act("choose how to share", 2, _choose_sharing),
    Act("loot", 4, _loot, _wolves),
)
