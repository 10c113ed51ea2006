"""A beginner of the real isle buys, wears, loots, sells, banks and trades, and comes back with all.

Two clients play on the Isle of Refuge over UDP: with a content file whose things are described
(EMU_CONTENT) and the scripts (EMU_CONTENT_SCRIPTS). Source: ../shared/spec/eq2-items.md 18,
eq2-real-content.md 3.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.world.surroundings import Place
from emu.items.held import Where
from emu.net.client.world_connection import enter_world
from emu.world.actors.player import Player
from tests.server.test_content_trade import BAG, CRAB, MASTER, is_described, says
from tests.server.test_content_travel import CONTENT, SCRIPTS, Traveller
from tests.support.running.whole_server import HOST, Harness, harness

pytestmark = pytest.mark.skipif(
    not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
)
SETTINGS = {"world.content": CONTENT, "world.scripts": SCRIPTS}
ACCOUNTS = {"aldana": "pass", "borvik": "pass"}
MERCHANT, BANKER = "Quartermaster Brennar", "Banker Bogfoot"
BANK = Place(-12.7, -3.2, 111.1)
"""Beside the banker of Queen's Colony."""
ARMOR, WEAPON, SHIELD, ARROW, SPARE = 172582, 89163, 51683, 20509, 172585
"""Wares of Brennar that stand-ins describe."""
BODIES = 10
RICH = 20_000


async def enters(server: Harness, user: str, version: int, coins: int = 0) -> Traveller:
    """Enter with a character on the isle; `coins` makes it first."""
    name = user.capitalize()
    entrance = Entrance(Credentials(user, "pass"), name, create=bool(coins), version=version)
    if coins:
        async with await server.begun(user, "pass", version=version) as login:
            await login.run(granted(login.core, entrance))
        with closing(sqlite3.connect(server.database)) as database, database:
            database.execute(
                "UPDATE world_characters SET zone_id = 325, client_version = ?, coins = ?,"
                " admin_status = ? WHERE name = ?",
                (version, coins, MASTER, name),
            )
    events: list[object] = []
    client = await enter_world(
        server.clock, HOST, server.login_port, entrance, timeout=120.0, on_event=events.append
    )
    one = Traveller(client, events)
    await one.enters("Isle of Refuge")
    return one


def player(server: Harness, name: str) -> Player:
    world = server.service.server.world
    assert world is not None
    return next(one for one in world.parts.world.players if one.name == name)


def place_of(owner: Player, item: int) -> int:
    """Return where a client's list has a thing of a kind that it carries."""
    carried = owner.holdings.inventory.in_list(Where.BAGS)
    thing = next(one for one in carried if one.item_id == item)
    place = owner.session.items.place_of(thing.id)
    assert place is not None
    return place


async def shops(one: Traveller) -> None:
    merchant = await one.find(MERCHANT)
    await one.approach(merchant)
    one.client.act(lambda core: core.use(merchant))
    await one.pause(3.0)
    text = await says(one, f"buy_from_merchant {BAG} 1", "You buy")
    assert text.endswith(f"from {MERCHANT} for 1 Silver 5 Copper.")
    for item, number in ((ARMOR, 1), (WEAPON, 1), (SHIELD, 1), (ARROW, 20), (SPARE, 1)):
        await says(one, f"buy_from_merchant {item} {number}", "You buy")


async def wears(one: Traveller, owner: Player) -> None:
    for item in (ARMOR, WEAPON, SHIELD):
        place = place_of(owner, item)
        one.client.act(lambda core, at=place: core.command(f"inventory equip {at}"))  # type: ignore[misc]
        await one.pause(2.0)
    worn = {thing.item_id for thing in owner.holdings.inventory.in_list(Where.WORN)}
    assert {ARMOR, WEAPON, SHIELD} <= worn


def crabs(one: Traveller, seen: set[int]) -> Iterator[int]:
    """Yield the crabs in sight that have not been looted."""
    around = one.core.surroundings
    assert around is not None
    for index in list(around):
        if index not in seen and around.name(index) == CRAB:
            yield index


async def loots(one: Traveller) -> None:
    """Kill crabs as they come, and take what each leaves."""
    await one.approach(await one.find(CRAB))
    seen: set[int] = set()
    for number in range(BODIES):
        await one.client.until(
            lambda: next(crabs(one, seen), None) is not None, "another crab", timeout=600.0
        )
        crab = next(crabs(one, seen))
        seen.add(crab)
        one.client.act(lambda core, index=crab: core.target(index))  # type: ignore[misc]
        copper = 11 + number
        await says(one, f"loot setcoin {copper}", f"your target has {copper} Copper")
        one.client.act(lambda core: core.command("kill"))
        await one.pause(2.0)
        await one.approach(crab)
        await says(one, "loot", f"You loot {copper} Copper from the corpse of {CRAB}")


async def banks(server: Harness, one: Traveller) -> None:
    # The banker of the isle serves only those who are on a quest.
    one.client.act(lambda core: core.command("zone QueensColony"))
    await one.enters("Queen's Colony")
    owner = player(server, "Aldana")
    seen = one.core.surroundings
    assert seen is not None
    for _ in range(30):
        # The server may put the client back while it enters.
        one.client.act(lambda core: core.command(f"move {BANK.x} {BANK.y} {BANK.z}"))
        await one.pause(10.0)
        if seen.find(BANKER) is not None:
            break
    banker = await one.find(BANKER)
    one.client.act(lambda core: core.target(banker))
    one.client.act(lambda core: core.use(banker))
    await one.pause(3.0)
    await says(one, "bank_deposit 500", "5 Silver deposited")
    await says(one, "bank_withdraw 120", "1 Silver 20 Copper withdrawn")
    place = place_of(owner, SPARE)
    one.client.act(lambda core: core.command(f"inventory move {place} 0 -3 1"))
    await one.pause(2.0)
    assert [thing.item_id for thing in owner.holdings.inventory.in_list(Where.BANK)] == [SPARE]
    one.client.act(lambda core: core.command("zone IsleRefuge1"))
    await one.enters("Isle of Refuge")


async def trades(server: Harness, one: Traveller, two: Traveller) -> None:
    """Let the first give five arrows for ten copper."""
    two.client.act(lambda core: core.command("goto Aldana"))
    other = await one.find("Borvik")
    place = place_of(player(server, "Aldana"), ARROW)
    for trader, line in (
        (one, f"start_trade {other}"), (one, f"add_trade_item {place} 0 5"),
        (two, "add_trade_copper 10"), (one, "accept_trade"), (two, "accept_trade"),
    ):  # fmt: skip
        trader.client.act(lambda core, text=line: core.command(text))  # type: ignore[misc]
        await trader.pause(2.0)
    found = player(server, "Borvik").holdings.inventory.in_list(Where.BAGS)
    assert [thing.count for thing in found if thing.item_id == ARROW] == [5]


def owned(server: Harness, name: str) -> list[tuple[Any, ...]]:
    """Return what a character has, as its records say."""
    return server.rows(
        "SELECT list, bag, slot, item_id, count, condition FROM world_things"
        " JOIN world_characters AS one ON one.id = keeper_id AND keeper = 'character'"
        " WHERE name = ? ORDER BY 1, 2, 3",
        name,
    )


def shown(owner: Player) -> list[tuple[Any, ...]]:
    """Return what a character in the world has, in the order of `owned`."""
    return sorted(
        (str(thing.place.where), thing.place.bag, thing.place.slot, thing.item_id, thing.count,
         thing.condition)
        for thing in owner.holdings.inventory
        if thing.place.where is not Where.SHARED
    )  # fmt: skip


@pytest.mark.parametrize("version", [1208, 60114])
async def test_a_first_evening_with_things(tmp_path: Path, version: int) -> None:
    if not is_described():
        pytest.skip("the content file describes no things")
    async with harness(tmp_path, SETTINGS, accounts=ACCOUNTS, speed=10) as server:
        await server.world_registered()
        one = await enters(server, "aldana", version, RICH)
        owner = player(server, "Aldana")
        await shops(one)
        await wears(one, owner)
        text = await says(one, f"sell_to_merchant {ARROW} 3", "You sell")
        assert f"to {MERCHANT} for" in text
        await loots(one)
        await banks(server, one)
        two = await enters(server, "borvik", version, 50)
        await trades(server, one, two)
        before = shown(player(server, "Aldana"))
        await one.client.leave()
        await two.client.leave()
        assert "fault" not in server.log.text.casefold()
    async with harness(tmp_path, SETTINGS, accounts={}, speed=10) as server:
        await server.world_registered()
        assert owned(server, "Aldana") == before
        one = await enters(server, "aldana", version)
        back = player(server, "Aldana")
        assert shown(back) == before
        (coins,) = server.rows("SELECT coins FROM world_characters WHERE name = 'Aldana'")
        assert back.character.coins == coins[0]
        (looted,) = server.rows(
            "SELECT count(*), sum(amount) FROM world_ledger"
            " WHERE reason = 'looted' AND what = 'coins' AND taker = 'character'"
        )
        assert looted == (BODIES, sum(range(11, 11 + BODIES)))
        await one.client.leave()
