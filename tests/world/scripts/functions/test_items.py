"""Functions for things and coins, called by scripts."""

from pathlib import Path

import pytest

from emu.items.held import Where
from emu.ledger import Owner
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    made = ScriptScene(tmp_path)
    made.harness.parts.items.kinds = kinds.item_kinds()
    return made


def held(scene: ScriptScene, where: Where = Where.BAGS) -> list[tuple[int, int]]:
    return [(one.item_id, one.count) for one in scene.player.holdings.inventory.in_list(where)]


def test_things_are_given_and_taken(scene: ScriptScene) -> None:
    body = f"""
a = SummonItem(Spawn, {kinds.PEBBLE}, 1, "", 5) b = AddItem(Spawn, {kinds.CAP})
c = SummonItem(Spawn, {kinds.MARBLE}, 0, "bank") d = SummonItem(Spawn, 12345)
e = RemoveItem(Spawn, {kinds.PEBBLE}, 2) f = RemoveItem(Spawn, {kinds.PEBBLE}, 4)
"""
    values = ["a", "b", "c", "d", "e", "f", f"HasItem(Spawn, {kinds.MARBLE})",
              f"HasItem(Spawn, {kinds.MARBLE}, 1)", f"HasItem(Spawn, {kinds.PEBBLE})",
              "HasFreeSlot(Spawn)"]  # fmt: skip
    assert scene.says(body, *values) == [
        "true", "true", "true", "false", "true", "false", "false", "true", "true", "true",
    ]  # fmt: skip
    assert held(scene) == [(kinds.PEBBLE, 3), (kinds.CAP, 1)]
    assert held(scene, Where.BANK) == [(kinds.MARBLE, 1)]
    assert "You receive Grey River Pebble." in scene.shown()
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


def test_lore_is_refused_to_scripts_too(scene: ScriptScene) -> None:
    said = scene.says("", f"AddItem(Spawn, {kinds.SEAL})", f"AddItem(Spawn, {kinds.SEAL})")
    assert said == ["true", "false"]


def test_worn_things_are_set_asked_and_taken_off(scene: ScriptScene) -> None:
    body = f"""
a = SetEquippedItemByID(Spawn, 2, {kinds.CAP}) b = SetEquippedItemByID(Spawn, 3, {kinds.CAP})
c = GetEquippedItemBySlot(Spawn, 2) d = GetEquippedItemByID(Spawn, {kinds.CAP}) same = c == d
"""
    values = ["a", "b", "same", "GetItemID(c)", "GetItemType(c)", "GetItemCount(c)",
              "GetItemSkillReq(c, 1)", f"HasItemEquipped(Spawn, {kinds.CAP})",
              "GetEquippedItemBySlot(Spawn, 5)", "UnequipSlot(Spawn, 2, true)"]  # fmt: skip
    assert scene.says(body, *values) == [
        "true", "false", "true", str(kinds.CAP), "3", "1", "0", "true", "nil", "true",
    ]  # fmt: skip
    assert held(scene) == [(kinds.CAP, 1)]


def test_a_slot_is_emptied_for_good(scene: ScriptScene) -> None:
    said = scene.says(f"SetEquippedItemByID(Spawn, 2, {kinds.CAP})", "UnequipSlot(Spawn, 2)")
    assert said == ["true"]
    assert len(scene.player.holdings.inventory) == 0


def test_a_stack_is_counted_down(scene: ScriptScene) -> None:
    body = f"AddItem(Spawn, {kinds.PEBBLE}, 9) item = GetItemByID(Spawn, {kinds.PEBBLE})"
    assert scene.says(f"{body} SetItemCount(item, Spawn, 4)", "GetItemCount(item)") == ["4"]
    assert held(scene) == [(kinds.PEBBLE, 4)]


def test_coins_move_by_the_ledger(scene: ScriptScene) -> None:
    before = scene.player.character.coins
    values = [f"HasCoin(Spawn, {before + 120})", f"HasCoin(Spawn, {before + 121})",
              "RemoveCoin(Spawn, 20)", f"RemoveCoin(Spawn, {before + 500})"]  # fmt: skip
    assert scene.says("AddCoin(Spawn, 120)", *values) == ["true", "false", "true", "false"]
    assert scene.player.character.coins == before + 100
    entries = finish(scene.harness.stored.ledger.of_owner(Owner.character(5), 2))
    assert [(one.reason, one.amount) for one in entries] == [("script", 20), ("script", 120)]
