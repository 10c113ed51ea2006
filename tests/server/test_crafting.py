"""A beginner of several versions crafts on the shipped Isle of Refuge, over UDP.

It buys a book, hides and charcoal, mines iron, learns the recipe and makes a buckle at the forge
(../shared/spec/eq2-items.md 15 and 18, R40 and R41). Another one loses its connection in between.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emu.client.world.events import LineShown
from emu.client.world.messages import ClientWorldMessages
from emu.dialects import Dialect
from emu.store import Store
from tests.server.test_content_travel import Traveller, entered
from tests.support.examples import nightly
from tests.support.running.whole_server import Harness, harness

IRON, HIDE, COAL, PRIMER = 2_000_000_049, 2_000_000_051, 2_000_000_053, 2_000_000_062
BUCKLE, SLAG, RECIPE = 2_000_000_054, 2_000_000_055, 2_000_000_001
MERCHANT, BOULDER, FORGE = "Maren Saltwick", "a rusty boulder", "a salt-worn forge"
RICH = 10_000
SPEED = 20
WINDOW, CREATION = "OP_ShowCreateFromRecipeUIMsg", "OP_ShowItemCreationProcessUIMsg"
ROUND, END = "OP_UpdateItemCreationProcessUIMsg", "OP_StopItemCreationMsg"


class Kept:
    """The reader of a client, which keeps what it reads."""

    def __init__(self, reader: ClientWorldMessages, seen: list[tuple[str, bytes]]) -> None:
        self._reader = reader
        self._seen = seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def read_message(self, name: str, payload: bytes) -> Any:
        self._seen.append((name, payload))
        return self._reader.read_message(name, payload)


class Crafter(Traveller):
    """A client that keeps the messages of crafting."""

    def __init__(self, client: Any, events: list[object]) -> None:
        super().__init__(client, events)
        self.seen: list[tuple[str, bytes]] = []
        self.core.messages = Kept(self.core.messages, self.seen)  # type: ignore[assignment]

    @property
    def dialect(self) -> Dialect:
        return self.core.messages.dialect

    async def gets(self, name: str, count: int = 1) -> bytes:
        """Wait for so many messages of a name; return the last one."""
        await self.client.until(
            lambda: sum(one == name for one, _ in self.seen) >= count, name, timeout=200.0
        )
        return [payload for one, payload in self.seen if one == name][-1]

    async def says(self, line: str, answer: str) -> None:
        """Type a command, and wait for a line with a text."""
        begin = len(self.events)
        self.client.act(lambda core: core.command(line))
        await self.reads(answer, begin)

    async def reads(self, answer: str, begin: int = 0) -> None:
        await self.client.until(
            lambda: any(
                isinstance(event, LineShown) and answer in event.text
                for event in self.events[begin:]
            ),
            answer, timeout=60.0,
        )  # fmt: skip

    def use(self, index: int) -> None:
        """Use what has an index, by its first verb."""
        self.client.act(lambda core: core.use(index))

    async def buys(self) -> None:
        merchant = await self.find(MERCHANT)
        await self.approach(merchant)
        self.use(merchant)
        await self.pause(2.0)
        for item, count in ((PRIMER, 1), (HIDE, 3), (COAL, 5)):
            await self.says(f"buy_from_merchant {item} {count}", "You buy")

    async def mines(self) -> None:
        """Mine until there is iron for a buckle: one try in a hundred gives a rare ore instead."""
        while self.mined < 2:
            boulder = await self.find(BOULDER)
            await self.approach(boulder)
            begin = len(self.events)
            self.use(boulder)
            await self.reads("Your Mining was successful", begin)
            await self.pause(1.0)

    @property
    def mined(self) -> int:
        """How often mining has given iron."""
        return sum(
            isinstance(event, LineShown) and event.text.startswith("You mine ")
            and "Lump of Bog Iron" in event.text
            for event in self.events
        )  # fmt: skip

    async def opens(self, number: int = RECIPE, device: str = FORGE) -> dict[str, Any]:
        """Open the window of a recipe at a device; return its fields."""
        forge = await self.find(device)
        await self.approach(forge)
        self.client.act(lambda core: core.target(forge))
        count = 1 + sum(one == WINDOW for one, _ in self.seen)
        await self.pause(0.5)
        self.client.act(lambda core: core.command(f"createfromrecipe {number}"))
        fields = self.dialect.layout("WS_CreateFromRecipe").decode(await self.gets(WINDOW, count))
        return dict(fields)

    def begins(self, window: dict[str, Any]) -> None:
        """Choose what a client has chosen when its window opens."""
        is_old = self.core.version < 1193
        fields: dict[str, Any]
        if is_old:
            first = window["primary_default_selected_id"]
            build, fuel = self._chosen_by_old(window)
            fields = {
                "primary_component_id": first, "num_build_components": 1, "component_array": [
                    {"component_num": 0, "component_unknown": 1,
                     "component_id": build[0], "component_qty": build[1]},
                ], "unknown2": 1, "fuel_id": fuel[0], "fuel_qty": fuel[1],
            }  # fmt: skip
        else:
            primary, strap, coal = self._chosen_by_new(window)
            fields = {
                "num_primary_selected_items": 1, "primary_selected_items_array": [primary],
                "num_build_components": 1, "component_array": [
                    {"slot": 0, "num_selected_items": 1, "selected_item_array": [strap]},
                ], "num_fuel_items": 1, "fuel_item_array": [coal],
            }  # fmt: skip
        payload = self.dialect.layout("WS_BeginItemCreation").encode(fields)
        self.client.act(lambda core: core.send("OP_BeginItemCreationMsg", payload))

    def _chosen_by_old(self, window: dict[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
        (row,) = window["build_array"]
        if self.core.version <= 561:
            build, fuel = row["selected"][0], window["fuel_items_selected_array"][0]
            return (build["item_id"], build["qty"]), (fuel["item_id"], fuel["qty"])
        return (
            (row["build_selected_item_id"], row["build_selected_item_qty"]),
            (window["fuel_selected_item_id"], window["fuel_selected_item_qty"]),
        )

    def _chosen_by_new(self, window: dict[str, Any]) -> list[dict[str, int]]:
        (row,) = window["build_array"]
        if self.core.version >= 57048:
            arrays = (
                window["primary_items_selected_array"], row["selected"],
                window["fuel_items_selected_array"],
            )  # fmt: skip
            return [{"item_id": one["item_id"], "qty": one["qty"]} for (one,) in arrays]
        return [
            {"item_id": window["primary_default_selected_id"],
             "qty": window["primary_selected_item_qty"]},
            {"item_id": row["selected_item_id"], "qty": row["selected_item_qty"]},
            {"item_id": window["fuel_selected_item_id"], "qty": window["fuel_selected_item_qty"]},
        ]  # fmt: skip


def held(server: Harness) -> dict[int, int]:
    """What the character has in its bags, as it is stored."""
    query = "SELECT item_id, count FROM world_things WHERE keeper = 'character' AND list = 'bags'"
    found: Counter[int] = Counter()
    with closing(sqlite3.connect(server.database)) as database:
        for item, count in database.execute(query):
            found[item] += count
    return {item: found[item] for item in (IRON, HIDE, COAL, BUCKLE, SLAG) if found[item]}


def number_of(server: Harness, item: int) -> int:
    with closing(sqlite3.connect(server.database)) as database:
        query = "SELECT number FROM world_things WHERE item_id = ?"
        ((number,),) = database.execute(query, (item,)).fetchall()
    return int(number)


async def prepared(server: Harness, version: int, events: list[object]) -> Crafter:
    """A beginner with the recipe and the components."""
    await server.world_registered()
    one = Crafter(await entered(server, version, events, RICH), events)
    await one.enters("Isle of Refuge")
    await one.buys()
    await one.pause(3.0)
    number = number_of(server, PRIMER)
    await one.says(f"scribe_scroll_item {number}", 'Recipe: "Iron Belt Buckle" put in recipe book.')
    await one.mines()
    return one


def is_right(server: Harness) -> bool:
    with closing(Store.create(server.database)) as store:
        audit = store.world.ledger.audit()
    wrong = [one for one in audit.differences if one.found - one.by_entries != RICH]
    return not wrong and not audit.wrong_things


@pytest.mark.parametrize("version", [546, nightly(561), nightly(1096), 1208, 60114])
async def test_a_beginner_makes_a_buckle_on_the_isle(tmp_path: Path, version: int) -> None:
    events: list[object] = []
    async with harness(tmp_path, {}, accounts={"aldana": "pass"}, speed=SPEED) as server:
        one = await prepared(server, version, events)
        forge = await one.find(FORGE)
        await one.approach(forge)
        one.client.act(lambda core: core.use(forge))
        assert (await one.gets("OP_ShowRecipeBookMsg"))[:6] == b"Forge\0"
        window = await one.opens()
        assert (window["recipe_name"], window["product_qty"]) == ("Iron Belt Buckle", 2)
        one.begins(window)
        await one.gets(CREATION)
        await one.gets(ROUND)
        await one.gets(END)
        await one.reads("You created ")
        rounds = [
            one.dialect.layout("WS_UpdateCreateItem").decode(payload)
            for name, payload in one.seen
            if name == ROUND
        ]
        assert len(rounds) > 9
        assert 1000 in (rounds[-1]["total_progress"], 1000 - rounds[-1]["total_durability"])
        await one.pause(3.0)
        things = held(server)
        assert (things.get(HIDE, 0), things.get(COAL, 0)) == (2, 3)
        assert things.get(BUCKLE, 0) or things.get(SLAG, 0)
        assert "fault" not in server.log.text.casefold()
    assert is_right(server)


async def test_who_loses_the_connection_keeps_the_components(tmp_path: Path) -> None:
    events: list[object] = []
    async with harness(tmp_path, {}, accounts={"aldana": "pass"}, speed=SPEED) as server:
        one = await prepared(server, 546, events)
        one.begins(await one.opens())
        await one.gets(ROUND, 2)
        iron = held(server)[IRON]
        await one.client.stop()
        await server.clock.sleep(200.0)
        assert held(server) == {IRON: iron, HIDE: 3, COAL: 5}
    assert is_right(server)
