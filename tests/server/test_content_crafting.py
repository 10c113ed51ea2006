"""Clients of three versions make a thing of a real content file at a forge of it, over UDP.

It needs a content file whose things are described (EMU_CONTENT) and the scripts
(EMU_CONTENT_SCRIPTS).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.content.crafts import CraftTables
from emu.content.items import ItemKinds
from emu.net.client.world_connection import enter_world
from tests.server.test_content_travel import CONTENT, SCRIPTS
from tests.server.test_crafting import CREATION, END, Crafter
from tests.support.running.whole_server import HOST, Harness, harness

pytestmark = pytest.mark.skipif(
    not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
)
ZONE, NAME = 281, "The Ironforge Exchange"
FORGE = (-16.0, -6.44, -24.24)
"""Beside a forge of the zone."""
BOOK, RECIPE = 30253, 52825
"""A book of Artisan Essentials, and one of its recipes of level 0: a bronze dirk."""
MASTER, SPEED = 100, 10


async def entered(server: Harness, version: int, events: list[object]) -> Crafter:
    """A game master beside the forge."""
    entrance = Entrance(Credentials("aldana", "pass"), "Aldana", create=True, version=version)
    async with await server.begun("aldana", "pass", version=version) as login:
        await login.run(granted(login.core, entrance))
    with closing(sqlite3.connect(server.database)) as database, database:
        database.execute(
            "UPDATE world_characters SET zone_id = ?, x = ?, y = ?, z = ?, client_version = ?,"
            " admin_status = ?",
            (ZONE, *FORGE, version, MASTER),
        )
    client = await enter_world(
        server.clock, HOST, server.login_port, entrance, on_event=events.append
    )
    await client.stand()
    return Crafter(client, events)


def components() -> list[tuple[int, int]]:
    """A described thing for each component of the recipe, with its quantity."""
    recipe = CraftTables(Path(CONTENT)).recipes([RECIPE])[RECIPE]
    kinds = ItemKinds(Path(CONTENT))
    found = []
    for one in (recipe.primary, *recipe.secondary, recipe.fuel):
        if one is not None:
            item = next(item for item in one.items if kinds.get(item) is not None)
            found.append((item, one.quantity))
    return found


@pytest.mark.parametrize("version", [546, 1208, 60114])
async def test_a_bronze_dirk_is_made(tmp_path: Path, version: int) -> None:
    settings = {"world.content": CONTENT, "world.scripts": SCRIPTS}
    events: list[object] = []
    async with harness(tmp_path, settings, accounts={"aldana": "pass"}, speed=SPEED) as server:
        await server.world_registered()
        one = await entered(server, version, events)
        await one.enters(NAME)
        one.client.act(lambda core: core.command(f"summonitem {BOOK}"))
        await one.pause(3.0)
        query = "SELECT number FROM world_things WHERE item_id = ?"
        ((number,),) = server.rows(query, BOOK)
        await one.says(f"scribe_scroll_item {number}", 'Recipe: "Bronze Dirk" put in recipe book.')
        for item, count in components():
            one.client.act(
                lambda core, item=item, count=count: core.command(f"summonitem {item} {count}")  # type: ignore[misc]
            )
        await one.pause(2.0)
        window = await one.opens(RECIPE, "Forge")
        assert window["recipe_name"] == "Bronze Dirk"
        begin = one.dialect.layout("WS_BeginItemCreation").encode({})
        one.client.act(lambda core: core.send("OP_BeginItemCreationMsg", begin))
        await one.gets(CREATION)
        await one.gets(END)
        await one.reads("You created ")
        await one.pause(3.0)
        rows = server.rows(
            "SELECT giver, number, amount FROM world_ledger WHERE reason = 'crafted'"
        )
        taken = {(item, count) for giver, item, count in rows if giver == "character"}
        assert taken == set(components())
        assert any(giver == "recipe" for giver, *_ in rows)
        assert "fault" not in server.log.text.casefold()
