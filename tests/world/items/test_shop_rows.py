"""Rows of merchants' windows: the difficulty of a thing's level, and lists that are too long."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from emu.content.trade import Ware
from emu.dialects.dialect import wire_texts
from emu.errors import StructValueError
from emu.items.kinds import ItemKind
from emu.world.items.shop_rows import (
    MOST_LISTS,
    NUMBERS,
    STRUCT,
    WindowCache,
    row,
    send_rows,
    write_rows,
)
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_kinds import PEBBLE
from tests.support.world.trade_scenes import TradeScene, coins_of, held, player_of

TOKEN = {"token_icon": 7, "token_qty": 3, "token_id": 910031, "token_name": "Brass Æ Token"}
BYTES = {
    "price": 8, "item_id": 4, "item_id2": 4, "unique_item_id": 4, "stack_size": 2,
    "stack_size2": 2, "icon": 2, "status": 4, "status2": 4,
}  # fmt: skip
"""Sizes of a row's numbers that have more than one byte."""
SIGNED = ("item_id", "item_id2", "unique_item_id")


def some_row(chance: Random, **texts: Any) -> dict[str, Any]:
    bits = {name: 8 * BYTES.get(name, 1) - (name in SIGNED) for name in NUMBERS}
    values = {
        name: chance.choice((0, 1, chance.getrandbits(size), (1 << size) - 1))
        for name, size in bits.items()
    }
    return {"item_name": "", "token_array": (), "description": "", **values, **texts}


@pytest.mark.parametrize("version", [546, 561, 893, 1096, 1208, 57080, 60085, 60114, 63119, 64753])
def test_rows_are_written_as_their_struct_is_encoded(version: int) -> None:
    dialect, chance = DIALECTS.for_version(version), Random(version)
    rows = [
        some_row(chance, item_name="Oak"), some_row(chance, item_name="Élan Œuvre"),
        some_row(chance), some_row(chance, item_name="x" * 255),
        some_row(chance, item_name="Hat", token_array=[TOKEN]),
        some_row(chance, item_name="Boots", description="They have walked far."),
    ]  # fmt: skip
    fields = {
        "num_items": len(rows), "item_array": [wire_texts(one) for one in rows], "type": 2,
    }  # fmt: skip
    assert write_rows(dialect, rows, 2) == dialect.encode_known(STRUCT, fields)


@pytest.mark.parametrize(
    ("level", "difficulty"),
    [(0, 6), (1, 6), (20, 3), (21, 2), (25, 1), (30, 0), (15, 4), (5, 6)],
    ids=["none", "first", "white", "yellow", "orange", "red", "blue", "grey"],
)
def test_a_level_has_the_color_of_an_enemy_of_that_level(level: int, difficulty: int) -> None:
    player = player_of(TradeScene(level=20).one)
    kind = ItemKind(5, "a cap", level=level)
    assert row(player, kind, 7, stack=1)["item_difficulty"] == difficulty


def test_a_client_without_the_merchant_is_sent_no_list() -> None:
    scene = TradeScene()
    spawn = scene.merchant()
    player = player_of(scene.one)
    kind = ItemKind(5, "a cap")
    send_rows(player, spawn, [row(player, kind, 7, stack=1)], 1)
    player.zone.remove(spawn, scene.harness.now)
    scene.harness.run(1.0)
    send_rows(player, spawn, [row(player, kind, 7, stack=1)], 1)
    assert len(scene.one.decoded("WS_UpdateMerchant")) == 1


def test_a_number_that_no_client_can_be_sent_is_named() -> None:
    rows = [some_row(Random(1), level=256)]
    with pytest.raises(StructValueError, match="level"):
        write_rows(DIALECTS.for_version(546), rows, 1)


def test_a_name_that_is_too_long_is_cut() -> None:
    dialect, chance = DIALECTS.for_version(1208), Random(2)
    long = some_row(chance, item_name="x" * 300)
    assert write_rows(dialect, [long], 1) == write_rows(
        dialect, [long | {"item_name": "x" * 255}], 1
    )


def test_a_client_without_such_windows_buys_and_sells_by_its_commands() -> None:
    """EQ2Emulator's struct files have no merchant for the trial client, 373."""
    scene = TradeScene(373, coins=1000)
    scene.merchant()
    for line in ("frommerchant", f"buy_from_merchant {PEBBLE} 2", f"sell_to_merchant {PEBBLE} 1"):
        scene.one.types(f"/{line}")
    assert held(scene.one) == [(PEBBLE, 1)]
    assert coins_of(scene.one) == 1000 - 2 * 3 + 3


def test_lists_are_encoded_once_and_few_are_kept() -> None:
    scene, made = TradeScene(), list[int]()
    merchant, cache, sources = scene.merchant(), WindowCache(), [object(), object()]

    def shown(number: int, source: object) -> None:
        def encoded() -> bytes:
            made.append(number)
            return bytes(4)

        cache.send(player_of(scene.one), merchant, (number,), source, encoded)

    before = scene.one.names.count("OP_EqUpdateMerchantCmd")
    for source in (sources[0], sources[0], sources[1], sources[1]):
        shown(1, source)
    assert made == [1, 1]
    assert scene.one.names.count("OP_EqUpdateMerchantCmd") == before + 4
    for number in range(2, MOST_LISTS + 2):
        shown(number, sources[0])
    assert len(cache._payloads) == MOST_LISTS
    shown(1, sources[1])
    assert made[-1] == 1, "the oldest one was dropped"


def test_kinds_with_scripts_are_looked_for_once_for_each_list() -> None:
    asked: list[int] = []
    kinds = {1: ItemKind(1, "Plain"), 2: ItemKind(2, "Magic", script="magic.lua")}

    def kind_of(number: int) -> ItemKind | None:
        asked.append(number)
        return kinds.get(number)

    cache, wares = WindowCache(), [Ware(one, None, 0, 0, ()) for one in (1, 2, 3)]
    for _ in range(2):
        assert cache.scripted(7, wares, kind_of) == (kinds[2],)
    assert asked == [1, 2, 3]
    assert cache.scripted(7, [Ware(1, None, 0, 0, ())], kind_of) == ()
    assert asked == [1, 2, 3, 1]
