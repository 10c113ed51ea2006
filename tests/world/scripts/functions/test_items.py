"""Functions for things and coins, called by scripts."""

from pathlib import Path

import pytest

from emu.items.held import Where
from emu.ledger import Owner
from emu.world.scripts.functions.items import ITEMS
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    made = ScriptScene(tmp_path)
    made.harness.parts.items.kinds = kinds.item_kinds()
    return made


def held(scene: ScriptScene, where: Where = Where.BAGS) -> list[tuple[int, int]]:
    return [(one.item_id, one.count) for one in scene.player.holdings.inventory.in_list(where)]


def says_again(scene: ScriptScene, body: str, *values: str, number: int = 71) -> list[str]:
    """Hail another guard, with a script of its own."""
    said = "\n".join(f"Say(NPC, tostring({value}))" for value in values)
    source = f"function hailed(NPC, Spawn)\n{body}\n{said}\nend"
    return [text for _, text in scene.hail(scene.spawn(source, f"Guard {number}", number))]


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
    pebble = scene.harness.parts.items.kinds.get(kinds.PEBBLE)
    assert pebble is not None
    most, item = pebble.stack, f"GetItemByID(Spawn, {kinds.PEBBLE})"
    body = f"""local function set(number)
    SetItemCount({item}, Spawn, number) return GetItemCount({item}) end"""
    calls = [f"set({number})" for number in (7, 7, most + 1, most)]
    assert says_again(scene, body, *calls) == ["7", "7", "7", str(most)]
    assert held(scene) == [(kinds.PEBBLE, most)]
    says_again(scene, f"SetItemCount({item}, Spawn, 0)", number=72)
    assert held(scene) == [], "eq2-lua.md 3: 0 removes it"
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


def test_only_what_a_slot_takes_is_put_on(scene: ScriptScene) -> None:
    worn = f"SetEquippedItemByID(Spawn, 2, {kinds.CAP})"
    cap = f"GetItemByID(Spawn, {kinds.CAP})"
    said = scene.says(
        f"{worn} AddItem(Spawn, {kinds.CAP})",
        worn, f"SetEquippedItemByID(Spawn, 2, {kinds.PEBBLE})", "SetEquippedItemByID(Spawn, 2, 1)",
        f"SetEquippedItem(Spawn, 2, {cap})", f"SetEquippedItem(Spawn, 3, {cap})",
        "UnequipSlot(Spawn, 3)", "UnequipSlot(NPC, 2)", f"AddItem(NPC, {kinds.CAP})",
        f"RemoveItem(NPC, {kinds.CAP})", "UnequipSlot(Spawn, 2, true)", "UnequipSlot(Spawn, 2)",
    )  # fmt: skip
    assert said == [*["false"] * 9, "true", "false"]
    assert held(scene, Where.WORN) == []
    assert held(scene) == [(kinds.CAP, 1), (kinds.CAP, 1)]
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


def test_while_an_act_is_stored_nothing_is_put_on_or_counted(scene: ScriptScene) -> None:
    """docs/contributing/architecture.md#ledger: other acts wait in the gates of the holdings."""
    scene.says(f"SetEquippedItemByID(Spawn, 2, {kinds.CAP}) AddItem(Spawn, {kinds.PEBBLE}, 3)")
    gate = scene.player.holdings.gate
    before = held(scene, Where.WORN), held(scene)
    gate.is_closed = True
    said = says_again(
        scene, f"SetItemCount(GetItemByID(Spawn, {kinds.PEBBLE}), Spawn, 1)",
        f"SetEquippedItemByID(Spawn, 2, {kinds.CAP})", "UnequipSlot(Spawn, 2)",
        f"SetEquippedItem(Spawn, 2, GetItemByID(Spawn, {kinds.PEBBLE}))",
        "DamageEquippedItems(Spawn, 30)",
    )  # fmt: skip
    assert said == ["false"] * 4
    assert (held(scene, Where.WORN), held(scene)) == before
    gate.is_closed = False


def test_coins_move_by_the_ledger(scene: ScriptScene) -> None:
    before = scene.player.character.coins
    values = [f"HasCoin(Spawn, {before + 120})", f"HasCoin(Spawn, {before + 121})",
              "RemoveCoin(Spawn, 20)", f"RemoveCoin(Spawn, {before + 500})"]  # fmt: skip
    assert scene.says("AddCoin(Spawn, 120)", *values) == ["true", "false", "true", "false"]
    assert scene.player.character.coins == before + 100
    entries = finish(scene.harness.stored.ledger.of_owner(Owner.character(5), 2))
    assert [(one.reason, one.amount) for one in entries] == [("script", 20), ("script", 120)]


def test_a_thing_in_the_bags_is_put_on(scene: ScriptScene) -> None:
    said = scene.says(
        f"AddItem(Spawn, {kinds.CAP}) AddItem(Spawn, {kinds.MARBLE})",
        f"SetEquippedItem(Spawn, 2, GetItemByID(Spawn, {kinds.MARBLE}))",
        f"SetEquippedItem(Spawn, 2, GetItemByID(Spawn, {kinds.CAP}))",
        "SetEquippedItem(Spawn, 2, GetEquippedItemBySlot(Spawn, 2))",
        f"SetEquippedItem(NPC, 2, GetEquippedItemByID(Spawn, {kinds.CAP}))",
        "DamageEquippedItems(Spawn, 30)", "DamageEquippedItems(NPC, 30)",
    )  # fmt: skip
    assert said == ["false", "true", "false", "true", "true", "false"]
    (cap,) = scene.player.holdings.inventory.in_list(Where.WORN)
    assert (cap.item_id, cap.condition) == (kinds.CAP, 70)
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


def test_windows_of_books_and_shops_are_opened(scene: ScriptScene) -> None:
    book = (
        'id = 920104, name = "Almanac", books = {title = "Days"}, book_pages = {id = 1, text = "1"}'
    )
    scene.harness.parts.items.kinds = kinds.item_kinds([book])
    scene.says(f"SendBook(Spawn, 920104) SendBook(Spawn, {kinds.CAP}) ShowShopWindow(Spawn, NPC)")
    (shown,) = scene.client.decoded("WS_EqShowBook")
    assert shown["book_title"] == "Days"
    assert scene.client.decoded("WS_UpdateMerchant") == []  # the guard sells nothing


@pytest.mark.parametrize(
    ("text", "cure"),
    [("", 0), ("Heals the target.", 0), ("Dispels 10 levels of trauma hostile effects.", 1),
     ("Cures arcane effects.", 2), ("Cures elemental and noxious effects.", 7)],
)  # fmt: skip
def test_the_effects_of_a_thing_say_what_it_cures(scene: ScriptScene, text: str, cure: int) -> None:
    row = f'id = 920105, name = "Potion", effects = [{{text = "{text}", percentage = 100}}]'
    scene.harness.parts.items.kinds = kinds.item_kinds([row])
    body = "AddItem(Spawn, 920105)"
    assert scene.says(body, "GetItemEffectType(GetItemByID(Spawn, 920105))") == [str(cure)]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), ITEMS) == []
