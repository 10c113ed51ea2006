"""Menders: the list of what is worn down, prices and texts, as in items-546-deal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emu.items.held import Where
from emu.items.kinds import MoreFlag
from emu.versions import LAST_OLD_CLIENT
from emu.world.events import Died
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import VERSIONS, TradeScene, coins_of, player_of

BOOTS = "\\aITEM 910032 Worn Patrol Boots:Worn Patrol Boots\\/a"
CAP = "\\aITEM 910008 Dented Iron Cap:Dented Iron Cap\\/a"


def scene(version: int = 546, **values: Any) -> TradeScene:
    """Return a scene in which the first player wears two things that a death has worn down."""
    made = TradeScene(version, **({"coins": 900} | values))
    for item in (kinds.BOOTS, kinds.CAP):
        made.one.types(f"/summonitem {item}")
        made.one.types("/inventory equip 0")
    inventory = player_of(made.one).holdings.inventory
    for thing in inventory.in_list(Where.WORN):
        inventory.set(thing, condition=90)
    made.harness.parts.items.changed(player_of(made.one))
    made.mender()
    return made


def conditions(made: TradeScene) -> list[int]:
    found = player_of(made.one).holdings.inventory.in_list(Where.WORN)
    return [thing.condition for thing in found]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_window_of_a_mender_has_what_is_worn_down(version: int) -> None:
    made = scene(version)
    assert made.one.types("/repair") == []
    window = made.one.decoded("WS_UpdateMerchant")[-1]
    assert window["type"] == (112 if version <= LAST_OLD_CLIENT else 96)
    rows = [(row["item_id"], row["price"], row["quantity"]) for row in window["item_array"]]
    assert rows == [(kinds.CAP, 1, 255), (kinds.BOOTS, 1, 255)]


def test_one_thing_is_repaired_and_paid() -> None:
    made = scene()
    made.one.types("/repair")
    before = len(made.one.log)
    text = f"You give Mender Sallow 1 Copper to repair your {BOOTS}."
    assert made.one.types(f"/mender_repair {kinds.BOOTS}") == [text]
    assert (conditions(made), coins_of(made.one)) == ([90, 100], 899)
    shown = [
        "OP_UpdateInventoryMsg", "OP_EqExamineInfoCmd", "OP_EqDisplayTextCmd",
        "OP_EqPlaySoundCmd", "OP_EqUpdateMerchantCmd",
    ]  # fmt: skip
    assert [name for name, _ in made.one.log[before:] if name in shown] == shown
    assert made.one.decoded("WS_PlaySound")[-1]["name"] == "coin_cha_ching"
    assert made.is_right()


def test_all_things_are_repaired_together() -> None:
    made = scene()
    made.one.types("/repair")
    assert made.one.types("/mender_repair_all") == [
        "You give 2 Copper to repair all of your items.",
        f"Repaired: {CAP}.",
        f"Repaired: {BOOTS}.",
    ]
    assert (conditions(made), coins_of(made.one)) == ([100, 100], 898)
    assert made.one.decoded("WS_UpdateMerchant")[-1]["item_array"] == []
    assert made.one.types("/mender_repair_all") == []


def test_who_is_too_poor_keeps_worn_down_things() -> None:
    made = scene(coins=1)
    made.one.types("/repair")
    assert made.one.types("/mender_repair_all") == [f"You do not have enough coin to repair {CAP}."]
    assert (conditions(made), coins_of(made.one)) == ([90, 90], 1)


@pytest.mark.parametrize("words", ["", "x", "0", "-1", "910005", "4294967296"])
def test_what_is_not_in_the_window_is_not_repaired(words: str) -> None:
    made = scene()
    made.one.types("/repair")
    assert made.one.types(f"/mender_repair {words}") == []
    assert (conditions(made), coins_of(made.one)) == ([90, 90], 900)


def test_nothing_is_repaired_without_the_window() -> None:
    made = scene()
    assert made.one.types("/mender_repair_all") == []
    assert conditions(made) == [90, 90]


def test_a_death_takes_a_tenth_of_the_condition_of_what_is_worn() -> None:
    made = scene()
    made.one.types(f"/summonitem {kinds.TUNIC}")
    client, player = made.one, player_of(made.one)
    before = len(client.decoded("WS_ExamineInfo"))
    harness = made.harness
    harness.world.events.publish(
        Died(zone=player.zone, victim=player.spawn, killer=None, fighters=())
    )
    assert conditions(made) == [80, 80]
    (tunic,) = player.holdings.inventory.in_list(Where.BAGS)
    assert tunic.condition == 100
    assert len(client.decoded("WS_ExamineInfo")) == before + 2
    for _ in range(9):
        made.harness.parts.trading.menders.wear_down(player, 10)
    assert conditions(made) == [0, 0]
    assert not made.harness.parts.trading.menders.wear_down(player, 10)


def test_what_cannot_be_repaired_keeps_its_condition() -> None:
    """Source: eq2-items.md 2.3 (the flag no repair)."""
    made = scene()
    inventory, menders = player_of(made.one).holdings.inventory, made.harness.parts.trading.menders
    cap, boots = (
        one for item in (kinds.CAP, kinds.BOOTS) for one in inventory.in_list(Where.WORN)
        if one.item_id == item
    )  # fmt: skip
    inventory._kinds[kinds.CAP] = replace(inventory.kind(cap), more_flags=MoreFlag.NO_REPAIR)
    assert menders.wear_down(player_of(made.one), 10)
    assert sorted(conditions(made)) == [80, 90]
    assert cap.id != boots.id
    made.one.types("/repair")
    window = made.one.decoded("WS_UpdateMerchant")[-1]
    assert [row["item_id"] for row in window["item_array"]] == [kinds.BOOTS]
