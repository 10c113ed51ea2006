"""Acts of houses: to buy, pay, enter, furnish and leave one, and to visit that of another."""

from __future__ import annotations

from typing import Any

from emu.client.world import WorldClientCore
from emu.items.held import Where
from emu.net.client.world_connection import ClientWorldConnection
from emu.world.housing.entrances import Offers
from emu.world.housing.housing import house_of
from tests.simulation.act import Act, approach
from tests.simulation.acts_of_things import several, shown
from tests.simulation.auditing import parts
from tests.simulation.content_of_houses import ENTRANCE, INN
from tests.simulation.content_of_things import CHAIR
from tests.simulation.people import ClientProgram, Person


def _asks(core: WorldClientCore, message: str, struct: str, **fields: Any) -> None:
    core.send(message, core.messages.dialect.layout(struct).encode(fields))


def _offers(person: Person) -> Offers | None:
    """Return what windows of houses show a person."""
    player = person.player()
    for _server, found in parts(person.simulation):
        if player is not None and found.world.players.named(person.name) is player:
            offers: Offers | None = found.housing.entrances._shown.get(player.id)
            return offers
    return None


def _is_inside(person: Person) -> bool:
    player = person.player()
    return player is not None and house_of(player.zone) > 0


async def _deal(person: Person, client: ClientWorldConnection) -> None:
    """Do what an open window of a house offers."""
    offers, chance = _offers(person), person.chance
    if offers is None:
        return
    times = chance.choice((1, 1, 2))
    if offers.home is not None:
        for _ in range(times):
            client.act(
                lambda core: _asks(core, "OP_BuyPlayerHouseMsg", "WS_BuyHouse", house_id=INN)
            )
        await client.pause(1.0)
        return
    if not offers.houses:
        return
    number = chance.choice(sorted(offers.houses))
    match chance.choice(("enter", "enter", "pay", "deposit")):
        case "enter":
            client.act(
                lambda core: _asks(core, "OP_EnterHouseMsg", "WS_EnterHouse", house_id=number)
            )
            await client.pause(6.0)
        case "pay":
            for _ in range(times):
                client.act(
                    lambda core: _asks(
                        core, "OP_PayHouseUpkeepMsg", "WS_PayUpkeep", house_id=number
                    )
                )
            await client.pause(1.0)
        case _:
            several(person, client, f"house_deposit {number} {chance.randint(1, 9)} 0")
            await client.pause(1.0)


async def _use_entrance(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    """Use the way into an inn, and what its window offers, once or several times."""
    index = await approach(client, ENTRANCE)
    if index is None:
        return
    verb = person.chance.choice(("access", "access", "access", "visit"))
    client.act(lambda core: core.use(index, verb))
    for _ in range(person.chance.randint(1, 3)):
        await client.pause(1.0)
        if _is_inside(person):
            return
        await _deal(person, client)


def _chairs(person: Person) -> list[int]:
    """Return the numbers of the chairs in a person's bags."""
    return [
        thing.id for _, thing in shown(person)
        if thing.item_id == CHAIR and thing.place.where is Where.BAGS
    ]  # fmt: skip


def _standing(person: Person) -> list[int]:
    """Return the numbers of the chairs in the house in which a person is."""
    player = person.player()
    if player is None:
        return []
    rows = person.simulation.rows(
        "SELECT number FROM world_things WHERE keeper = 'house' AND keeper_id = ? ORDER BY number",
        house_of(player.zone),
    )
    return [row[0] for row in rows]


async def _furnish(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Place a chair, move one, or pick one up."""
    chance = person.chance
    mine, standing = _chairs(person), _standing(person)
    if mine and (not standing or chance.random() < 0.5):
        client.command(f"place_house_item {chance.choice(mine)}")
    elif standing and chance.random() < 0.6:
        several(person, client, f"pickup {chance.choice(standing)}")
        await client.pause(0.5)
        return
    elif standing:
        client.command(f"move_item {chance.choice(standing)}")
    else:
        return
    await client.pause(1.5)
    seen, here = client.core.surroundings, client.core.place
    index = seen.find("a chair") if seen is not None else None
    for _ in range(chance.choice((1, 1, 2))):
        client.act(
            lambda core: _asks(
                core, "OP_PositionMoveableObject", "WS_PlaceMoveableObject",
                spawn_id=index or 0, x=here.x + 4.0 * chance.random(), y=here.y,
                z=here.z + 4.0 * chance.random(), heading=0.0,
            )
        )  # fmt: skip
    await client.pause(0.5)


async def _leave(_person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    client.command("leave_house")
    await client.pause(6.0)


def _can_furnish(person: Person) -> bool:
    return _is_inside(person) and bool(_chairs(person) or _standing(person))


ACTS = (
    Act("go to a house", 8, _use_entrance, lambda person: not _is_inside(person)),
    Act("furnish", 40, _furnish, _can_furnish),
    Act("leave a house", 8, _leave, _is_inside),
)
