"""All lists of merchants of the real content are opened, and what is missing has a reason.

It needs a content file (EMU_CONTENT). EMU_MERCHANTS is how many lists are opened (40, 0: all).
Source: ../shared/spec/eq2-content.md 9.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emu.content.items import ItemKinds, TomlItems, shipped_items
from tests.support.world.trade_scenes import TradeScene, player_of

CONTENT = os.environ.get("EMU_CONTENT", "")
MOST = int(os.environ.get("EMU_MERCHANTS", "40"))
WINDOW = "OP_EqUpdateMerchantCmd"
pytestmark = pytest.mark.skipif(not CONTENT, reason="no real content on this machine (EMU_CONTENT)")


def rows(query: str, *values: Any) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{CONTENT}?mode=ro", uri=True)) as file:
        return file.execute(query, values).fetchall()


def reasons(merchant: int) -> tuple[set[int], Counter[str]]:
    """Return the items of a merchant, and why rows of its lists are left out."""
    found: set[int] = set()
    why: Counter[str] = Counter()
    for item, cash, described in rows(
        "SELECT row.item_id, price_station_cash, items.id FROM merchants"
        " JOIN merchant_items AS row USING (inventory_id)"
        " LEFT JOIN items ON items.id = row.item_id WHERE merchant_id = ?", merchant,
    ):  # fmt: skip
        if cash:
            why["costs station cash"] += 1
        elif described is None:
            why["nothing describes it"] += 1
        elif item in found:
            why["is twice in the list"] += 1
        else:
            found.add(item)
    return found, why


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_every_list_opens_with_all_that_is_described(version: int) -> None:
    numbers = [number for (number,) in rows("SELECT DISTINCT merchant_id FROM merchants")]
    scene = TradeScene(version)
    path = Path(CONTENT)
    kinds = ItemKinds(path, TomlItems([shipped_items()]))
    scene.harness.kinds = scene.harness.parts.items.kinds = kinds
    scene.harness.trade.reload(path)
    layout = scene.one.dialect.layout("WS_UpdateMerchant")
    missing: Counter[str] = Counter()
    opened = wares = 0
    for merchant in numbers[:: max(1, len(numbers) // MOST)] if MOST else numbers:
        spawn = scene.merchant(merchant=merchant)
        before = len(scene.one.log)
        assert scene.one.types("/frommerchant") == []
        sent = next(body for name, body in scene.one.log[before:] if name == WINDOW)
        shown = [row["item_id"] for row in layout.decode(sent)["item_array"]]
        expected, why = reasons(merchant)
        assert len(shown) == len(set(shown))
        assert set(shown) == expected, merchant
        missing += why
        opened, wares = opened + 1, wares + len(shown)
        scene.one.types("/cancel_merchant")
        player_of(scene.one).zone.remove(spawn, scene.harness.now)
    print(version, opened, "lists,", wares, "things, missing:", dict(missing))  # noqa: T201  # with -s
    assert opened >= min(MOST or len(numbers), len(numbers))
    unknown = scene.harness.faults.drops["thing of a merchant that nothing describes"]
    assert bool(unknown) == bool(missing["nothing describes it"])
