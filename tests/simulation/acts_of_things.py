"""Acts with things: to move, wear, destroy, trade, buy, sell, bank and loot them."""

from __future__ import annotations

from collections.abc import Sequence

from emu.items.held import Thing, Where
from emu.items.inventory import BANK, BASE, OVERFLOW, SHARED
from emu.net.client.world_connection import ClientWorldConnection
from emu.versions import LAST_OLD_CLIENT
from tests.simulation.act import Act, approach, choose
from tests.simulation.content import BANKER, MERCHANT
from tests.simulation.content_of_things import (
    BAG,
    BOOK,
    BREAD,
    COST,
    JEWEL,
    LENS,
    ORE,
    SCROLL,
    STACK,
    SWORD,
    THINGS,
)
from tests.simulation.people import ClientProgram, Person

ALL_OF_IT = 0xFFFFFFFF
TO_USE = (BREAD, LENS, JEWEL, JEWEL)
"""What the peddler sells to be used up, jewels more often than the rest."""
WARES = (*(item for item in COST if item not in TO_USE), STACK, ORE, ORE)
"""What else the peddler sells; components are bought more often."""
SUMMONED = (*THINGS, ORE, BOOK, SCROLL)


def shown(person: Person) -> list[tuple[int, Thing]]:
    """Return the things that a client shows, with the places of their records."""
    player = person.player()
    if player is None:
        return []
    found = []
    for thing in player.holdings.inventory:
        place = player.session.items.place_of(thing.id)
        if place is not None:
            found.append((place, thing))
    return sorted(found, key=lambda one: one[0])


def carried(person: Person) -> list[tuple[int, Thing]]:
    """Return the things in the bags that a client shows, with the places of their records."""
    return [(place, thing) for place, thing in shown(person) if thing.place.where is Where.BAGS]


def has_things(person: Person) -> bool:
    """Return whether a client shows any thing."""
    return bool(shown(person))


def several(person: Person, client: ClientWorldConnection, line: str) -> int:
    """Type a line, sometimes twice at once, as an impatient player does; return how often."""
    times = person.chance.choice((1, 1, 2))
    for _ in range(times):
        client.command(line)
    return times


async def _summon(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    item, count = person.chance.choice(SUMMONED), person.chance.randint(1, 4)
    line = f"summonitem {item} {count}{person.chance.choice(('', '', ' bank'))}"
    for _ in range(person.chance.randint(1, 2)):
        person.simulation.asked_things[item] += count
        client.command(line)


def _move_line(person: Person) -> str:
    place, thing = person.chance.choice(shown(person))
    bags = [one.id for _, one in shown(person) if one.item_id == BAG]
    to = person.chance.choice((BASE, BASE, BANK, SHARED, OVERFLOW, *bags))
    slot, count = person.chance.randint(-1, 6), person.chance.randint(0, thing.count)
    return f"inventory move {place} {slot} {to} {count}"


async def _move(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    several(person, client, _move_line(person))


async def _wear(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    swords = [place for place, thing in shown(person) if thing.item_id == SWORD]
    line = "inventory unequip 0"
    if swords and person.chance.random() < 0.6:
        line = f"inventory equip {person.chance.choice(swords)}"
    several(person, client, line)


async def _destroy(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    place, _ = person.chance.choice(shown(person))
    several(person, client, f"inventory destroy {place}")


# -- trades of players ----------------------------------------------------------------------------


def _offer(person: Person, client: ClientWorldConnection) -> None:
    things = shown(person)
    for slot in range(person.chance.randint(0, 2)):
        if things:
            place, thing = person.chance.choice(things)
            count = person.chance.randint(1, thing.count)
            client.command(f"add_trade_item {place} {slot} {count}")
    client.command(f"add_trade_copper {person.chance.randint(0, 20)}")


async def _trade(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Trade with somebody, who agrees mostly."""
    other = person.other()
    if other is None:
        return
    index = await approach(client, other.name)
    program = other.program
    if index is None or program is None or not program.stands or program.connection is None:
        return
    client.command(f"start_trade {index}")
    await client.pause(0.5)
    if not program.stands:
        return
    _offer(person, client)
    _offer(other, program.connection)
    await client.pause(0.5)
    # In the same moment, or one after the other.
    for one in (client, program.connection):
        word = "accept_trade" if person.chance.random() < 0.85 else "cancel_trade"
        if one is client or program.stands:
            one.command(word)
        if person.chance.random() < 0.5:
            await client.pause(0.2)
    await client.pause(1.0)
    client.command("cancel_trade")


# -- merchants and the bank -----------------------------------------------------------------------


async def go_to(client: ClientWorldConnection, name: str, command: str) -> bool:
    """Go to somebody, and open its window."""
    index = await choose(client, name)
    if index is None:
        return False
    client.command(command)
    await client.pause(1.0)
    return True


async def _buy(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    await _buy_one_of(WARES, person, client)


async def _buy_to_use(
    person: Person, _program: ClientProgram, client: ClientWorldConnection
) -> None:
    await _buy_one_of(TO_USE, person, client)


async def _buy_one_of(wares: Sequence[int], person: Person, client: ClientWorldConnection) -> None:
    if await go_to(client, MERCHANT, "frommerchant"):
        item, count = person.chance.choice(wares), person.chance.randint(1, 3)
        several(person, client, f"buy_from_merchant {item} {count}")
        await client.pause(1.0)
        client.command("cancel_merchant")


async def _sell(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    if not await go_to(client, MERCHANT, "tomerchant"):
        return
    for _, thing in shown(person)[: person.chance.randint(1, 3)]:
        number = thing.id << 32 | thing.item_id
        several(person, client, f"sell_to_merchant {number} {person.chance.randint(1, 2)}")
    await client.pause(0.5)
    if person.chance.random() < 0.5:
        several(
            person, client, f"buyback_from_merchant {person.chance.choice((*WARES, *TO_USE))} 1"
        )
    await client.pause(0.5)


async def _bank(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    if not await go_to(client, BANKER, "bank"):
        return
    for _ in range(person.chance.randint(1, 4)):
        line = f"bank_deposit {person.chance.randint(1, 60)}"
        if person.chance.random() < 0.3:
            line = f"bank_withdraw {person.chance.randint(1, 60)}"
        elif has_things(person) and person.chance.random() < 0.6:
            line = _move_line(person)
        person.simulation.asked_lines[person.name, line] += several(person, client, line)
        await client.pause(0.4 * person.chance.random())
    client.command("cancel_bank")


# -- loot -----------------------------------------------------------------------------------------


async def loot(client: ClientWorldConnection, name: str) -> None:
    """Take all that a dead creature has."""
    index = await choose(client, name)
    if index is None:
        return
    client.command("loot")
    await client.pause(0.7)
    everything = b"\1" if client.core.version <= LAST_OLD_CLIENT else b"\0\1\1"
    payload = index.to_bytes(4, "little") + everything + ALL_OF_IT.to_bytes(4, "little")
    client.act(lambda core: core.send("OP_LootItemsRequestMsg", payload))


def _is_master(person: Person) -> bool:
    return person.is_master


def _has_stack(person: Person) -> bool:
    return any(thing.item_id == STACK for _, thing in carried(person))


async def _split(person: Person, _program: ClientProgram, client: ClientWorldConnection) -> None:
    """Part a stack, or join its parts again."""
    stacks = [place for place, thing in shown(person) if thing.item_id == STACK]
    line = f"inventory move {person.chance.choice(stacks)} {person.chance.randint(-1, 5)} 0 1"
    several(person, client, line)


ACTS = (
    Act("summon", 6, _summon, _is_master),
    Act("move a thing", 12, _move, has_things),
    Act("part a stack", 6, _split, _has_stack),
    Act("wear", 6, _wear, has_things),
    Act("destroy", 2, _destroy, has_things),
    Act("trade", 8, _trade),
    Act("buy", 10, _buy),
    Act("buy to use", 5, _buy_to_use),
    Act("sell", 8, _sell, has_things),
    Act("bank", 8, _bank),
)
