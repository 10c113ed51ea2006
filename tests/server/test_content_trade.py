"""Clients of several versions buy, sell, bank and loot in a real content file, over UDP.

It needs a content file whose things are described (EMU_CONTENT) and the scripts
(EMU_CONTENT_SCRIPTS).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from emu.client.world.events import LineShown
from emu.content.file import ContentFile
from tests.server.test_content_travel import CONTENT, SCRIPTS, Traveller, entered
from tests.support.running.whole_server import harness

pytestmark = pytest.mark.skipif(
    not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
)
BAG = 20904
"""What Quartermaster Brennar of the Isle of Refuge sells for 105 copper."""
RICH, MASTER = 10_000, 100
CRAB = "a shore crab"


def is_described() -> bool:
    """Return whether the content file has the bag."""
    with ContentFile(Path(CONTENT)) as file:
        return any(True for _ in file.rows("items", "id", [BAG]))


async def says(one: Traveller, line: str, answer: str) -> str:
    """Type a command, and wait for a line with a text; return that line."""
    begin = len(one.events)
    one.client.act(lambda core: core.command(line))

    def found() -> str | None:
        lines = (event for event in one.events[begin:] if isinstance(event, LineShown))
        return next((event.text for event in lines if answer in event.text), None)

    await one.client.until(lambda: found() is not None, f"the answer to {line}", timeout=30.0)
    text = found()
    assert text is not None
    return text


async def loots_a_crab(one: Traveller) -> None:
    """Kill a creature of the isle, and take all that it leaves."""
    crab = await one.find(CRAB)
    await one.approach(crab)
    one.client.act(lambda core: core.target(crab))
    await says(one, "loot setcoin 33", "your target has 33 Copper")
    await says(one, f"loot additem {BAG}", "your target has")
    one.client.act(lambda core: core.command("kill"))
    await one.pause(2.0)
    await says(one, "loot", f"You loot 33 Copper from the corpse of {CRAB}")
    # What is described by a stand-in is of tier 3.
    chest = await one.find("Small Chest")
    one.client.act(lambda core: core.target(chest))
    one.client.act(lambda core: core.command("loot"))
    await one.pause(2.0)
    begin = len(one.events)
    is_old = one.core.version <= 561
    everything = b"\1" if is_old else b"\0\1\1"
    payload = chest.to_bytes(4, "little") + everything + b"\xff" * 4
    one.client.act(lambda core: core.send("OP_LootItemsRequestMsg", payload))
    await one.client.until(
        lambda: any(
            isinstance(event, LineShown) and "from the corpse of Small Chest" in event.text
            for event in one.events[begin:]
        ),
        "the thing in the chest", timeout=20.0,
    )  # fmt: skip


@pytest.mark.parametrize("version", [546, 1208, 60114])
async def test_a_beginner_buys_a_bag_on_the_isle(tmp_path: Path, version: int) -> None:
    if not is_described():
        pytest.skip("the content file describes no things")
    settings = {"world.content": CONTENT, "world.scripts": SCRIPTS}
    events: list[object] = []
    async with harness(tmp_path, settings, accounts={"aldana": "pass"}, speed=10) as server:
        await server.world_registered()
        one = Traveller(await entered(server, version, events, RICH, MASTER), events)
        await one.enters("Isle of Refuge")
        merchant = await one.find("Quartermaster Brennar")
        await one.approach(merchant)
        one.client.act(lambda core: core.use(merchant))
        await one.pause(3.0)
        text = await says(one, f"buy_from_merchant {BAG} 1", "You buy")
        assert text.endswith("from Quartermaster Brennar for 1 Silver 5 Copper.")
        text = await says(one, f"sell_to_merchant {BAG} 1", "You sell")
        assert "to Quartermaster Brennar for" in text
        await loots_a_crab(one)
        assert "fault" not in server.log.text.casefold()
    with sqlite3.connect(server.database) as database:
        rows = database.execute(
            "SELECT reason, what, number, amount FROM world_ledger WHERE reason <> 'command'"
        ).fetchall()
    database.close()
    assert ("bought", "coins", 0, 105) in rows
    assert ("bought", "things", BAG, 1) in rows
    assert ("looted", "coins", 0, 33) in rows
    assert ("looted", "things", BAG, 1) in rows
