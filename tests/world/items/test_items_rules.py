"""The checks R01 to R42 of things, each by its number, for all versions of clients.

Those of merchants, banks, loot and trades are in test_trading_rules.py, those of crafting (R40,
R41) in tests/world/crafting.

Source: ../shared/spec/eq2-items.md 18; texts and numbers are those of
../shared/data/recordings/items-*. F are those which EQ2Emulator fails.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.items.held import Where
from emu.structs.packed import unpack_counted, xor
from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.item_lists import HEAD, LIST, STRUCT, WORN, Menu
from emu.world_stream.deltas import StateReader
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_recordings import recorded_kinds
from tests.support.world.trade_scenes import VERSIONS, TradeScene, coins_of, held, makes, player_of
from tests.support.world.worlds import Client

ALL = pytest.mark.parametrize("version", VERSIONS)
SHEET, STATE = "OP_UpdateCharacterSheetMsg", "WS_CharacterSheet"
NO_PLACE = "Could not move item to that location."
NONSENSE = ("-1", "0", "255", "256", "65536", "4294967295", "4294967296", "99999999999999999999",
            "x", "")  # fmt: skip


def records(client: Client, number: int = LIST) -> list[dict[str, Any]]:
    """Return the records of a list as a client has it after all messages."""
    layout = client.dialect.layout(STRUCT)
    size = len(client.dialect.encode_known(STRUCT, {"item_count": 1, "item_array": [{}]}))
    size -= HEAD + 1
    before: dict[int, bytes] = {}
    rows: dict[int, list[dict[str, Any]]] = {}
    for name, body in client.log:
        if name != "OP_UpdateInventoryMsg":
            continue
        count, packed, tail = unpack_counted(body, size, 1, client.dialect.version)
        base = before.get(tail[0], b"")[: len(packed)].ljust(len(packed), b"\0")
        whole = before[tail[0]] = xor(packed, base)
        plain = count.to_bytes(2, "little") + bytes(4) + whole + tail
        rows[tail[0]] = list(layout.decode(plain)["item_array"])
    return rows.get(number, [])


def carried(client: Client) -> list[dict[str, Any]]:
    return [row for row in records(client) if row["unique_id"]]


def place(client: Client, item: int, where: Where = Where.BAGS) -> int:
    found = player_of(client).holdings.inventory.in_list(where)
    number = next(one.id for one in found if one.item_id == item)
    at = player_of(client).session.items.place_of(number)
    assert at is not None
    return at


def sheet_of(client: Client) -> dict[str, Any]:
    """Return the sheet that a client has after all messages."""
    version = client.dialect.version
    reader = StateReader(client.dialect.layout(STATE), version)
    pairs = [reader.read_message(body) for name, body in client.log if name == SHEET]
    return reader.layout.decode(pairs[-1].now)


def examined(client: Client, item: int) -> dict[str, Any]:
    """Return the window of a carried or worn thing."""
    thing = next(one for one in player_of(client).holdings.inventory if one.item_id == item)
    number = thing.id.to_bytes(4, "little")
    client.say("OP_ExamineInfoRequestMsg", bytes(1) + number + number + bytes(2))
    window: dict[str, Any] = client.decoded("WS_ExamineInfo")[-1]["item"]
    return window


# -- carrying -------------------------------------------------------------------------------------


BOW, BISCUIT, BRACER, STOOL = 910011, 910013, 910021, 910022
"""Things of the recorded set."""


@ALL
def test_r01_a_summoned_thing_is_one_record(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.SWORD)
    (row,) = carried(scene.one)
    found = [row[name] for name in ("name", "icon", "tier", "count", "inv_slot_id", "slot_id")]
    assert found == ["Notched Training Sword", 158, 4, 1, 0, 0]
    assert row["item_id"] == kinds.SWORD


@ALL
def test_r02_lists_decode_and_number_their_records(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.MARBLE, kinds.CAP, kinds.SATCHEL)
    rows = records(scene.one)
    assert [row["slot_id"] for row in rows if row["unique_id"]] == [0, 1, 2]
    # The first new one is 256, 258, 260 for old clients, the place for later ones.
    expected = [256, 258, 260] if version <= LAST_OLD_CLIENT else [0, 1, 2]
    assert [row["index"] for row in rows if row["unique_id"]] == expected
    worn = records(scene.one, WORN)
    assert len(worn) == (22 if version <= LAST_OLD_CLIENT else 25)
    assert [row["index"] for row in worn] == list(range(len(worn)))


@ALL
def test_r03_a_stack_fills_before_a_second_record(version: int) -> None:
    scene = TradeScene(version)
    scene.one.types(f"/summonitem {kinds.PEBBLE} 15")
    scene.one.types(f"/summonitem {kinds.PEBBLE} 5")
    assert [row["count"] for row in carried(scene.one)] == [20]
    scene.one.types(f"/summonitem {kinds.PEBBLE} 3")
    assert [row["count"] for row in carried(scene.one)] == [20, 3]
    assert all(row["menu_type"] & Menu.STACK for row in carried(scene.one))


@ALL
def test_r04_a_window_has_the_facts_of_the_thing(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.SWORD)
    window = examined(scene.one, kinds.SWORD)
    footer, info = window["footer"], window["info"]
    assert footer["name"] == "Notched Training Sword"
    assert footer["description"] == "Blunted on purpose."
    assert (info["icon"], info["tier"], info["weight"]) == (158, 4, 30)


@ALL
def test_r05_windows_have_the_numbers_of_their_kind(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.SWORD, kinds.CAP, kinds.BUCKLER, kinds.SATCHEL)
    sword = examined(scene.one, kinds.SWORD)["weapon"]
    assert [sword[name] for name in ("damage_low3", "damage_high3", "delay")] == [1, 6, 16]
    cap = examined(scene.one, kinds.CAP)
    assert (cap["mitigation_low"], cap["mitigation_high"]) == (5, 8)
    buckler = examined(scene.one, kinds.BUCKLER)
    assert (buckler["mitigation_low"], buckler["mitigation_high"]) == (30, 130)
    satchel = examined(scene.one, kinds.SATCHEL)["bag"]
    assert (satchel["num_slots"], satchel["num_empty"]) == (6, 6)


@ALL
def test_r05_bow_food_and_furniture_have_their_numbers_too(version: int) -> None:
    """The numbers are those of items-set-A.json."""
    scene = TradeScene(version)
    scene.harness.kinds = scene.harness.parts.items.kinds = recorded_kinds()
    makes(scene.one, BOW, BISCUIT, STOOL)
    bow = examined(scene.one, BOW)["range"]
    names = ("damage_low3", "damage_high3", "delay", "range_low", "range_high")
    assert [bow[name] for name in names] == [2, 6, 35, 3, 25]
    food = examined(scene.one, BISCUIT)["food"]
    assert [food[name] for name in ("food_type", "level", "duration")] == [1, 3, 600.0]
    assert examined(scene.one, STOOL)["status_rent_reduction"] == 25


# -- wearing --------------------------------------------------------------------------------------


@ALL
def test_r06_what_is_put_on_goes_from_list_0_to_list_1_and_changes_the_sheet(version: int) -> None:
    """The facts of the sword, the buckler and the cap are those of items-set-A.json."""
    scene = TradeScene(version)
    makes(scene.one, kinds.SWORD, kinds.BUCKLER, kinds.CAP)
    before = sheet_of(scene.one)
    for item in (kinds.SWORD, kinds.BUCKLER, kinds.CAP):
        begin = len(scene.one.log)
        assert scene.one.types(f"/inventory equip {place(scene.one, item)}") == []
        scene.harness.run(1.0)
        names = [name for name, _ in scene.one.log[begin:]]
        lists = [at for at, name in enumerate(names) if name == "OP_UpdateInventoryMsg"]
        # Both lists, and the sheet after them.
        assert len(lists) == 2
        assert lists[-1] < names.index(SHEET)
    assert carried(scene.one) == []
    worn = [row for row in records(scene.one, WORN) if row["unique_id"]]
    assert [(row["item_id"], row["slot_id"]) for row in worn] == [
        (kinds.SWORD, 0), (kinds.BUCKLER, 1), (kinds.CAP, 2),
    ]  # fmt: skip
    assert all(row["bag_id"] == row["unique_id"] for row in worn)
    after = sheet_of(scene.one)
    assert {name: after[name] - before[name] for name in ("str", "sta", "agi", "wis", "int")} == {
        "str": 3, "sta": 4, "agi": 2, "wis": 0, "int": 0,
    }  # fmt: skip
    assert after["max_hp"] == before["max_hp"] + 12 + 4 * 3
    assert after["mitigation_cur"] == before["mitigation_cur"] + 130 + 8
    weapon = ("melee_pri_dmg_min", "melee_pri_dmg_max", "melee_pri_delay")
    names = [name for name in weapon if name in after]
    assert len(names) in (0, 3)
    for name, value in zip(weapon, (1, 6, 1.6), strict=True):
        assert name not in after or after[name] == pytest.approx(value)
    scene.one.types("/inventory unequip 2")
    scene.harness.run(1.0)
    assert sheet_of(scene.one)["sta"] == before["sta"]


@ALL
def test_r07_the_other_player_sees_model_and_colors_and_their_end(version: int) -> None:
    scene = TradeScene(version)
    two = scene.enter(2, version)
    name = player_of(scene.one).name
    makes(scene.one, kinds.CAP)
    scene.one.types("/inventory equip 0")
    scene.harness.run(1.0)
    shown = two.fields_of(name)
    assert shown["equipment_types"][2] == 1513
    assert shown["equipment_colors"][2] == [200, 100, 50]
    scene.one.types("/inventory unequip 2")
    scene.harness.run(1.0)
    assert "equipment_types" not in two.fields_of(name)  # all are 0


@ALL
def test_r08_what_is_taken_off_is_carried_again(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.CAP)
    scene.one.types("/inventory equip 0")
    assert scene.one.types("/inventory unequip 2") == []
    assert [row["item_id"] for row in carried(scene.one)] == [kinds.CAP]
    assert not any(row["unique_id"] for row in records(scene.one, WORN))


@ALL
@pytest.mark.parametrize(
    ("item", "text"),
    [
        (kinds.VISOR, "You must be at least level 60 to equip {}."),
        (kinds.COWL, "Your class may not equip {}."),
    ],
)
def test_r09_level_and_class_are_said_with_a_link(version: int, item: int, text: str) -> None:
    scene = TradeScene(version, level=1)
    makes(scene.one, item)
    kind = scene.harness.kinds.get(item)
    assert kind is not None
    first = kind.name if version <= LAST_OLD_CLIENT else "0"
    link = f"\\aITEM {item} {first}:{kind.name}\\/a"
    assert scene.one.types("/inventory equip 0") == [text.format(link)]
    assert (held(scene.one), held(scene.one, Where.WORN)) == ([(item, 1)], [])


@ALL
def test_r09_a_missing_skill_is_said(version: int) -> None:
    """Game masters read which one (items-*-carry)."""
    scene = TradeScene(version, class_=0)
    scene.harness.kinds = scene.harness.parts.items.kinds = recorded_kinds()
    makes(scene.one, BRACER)
    assert scene.one.types("/inventory equip 0") == [
        "You lack the skill (Fletching) required to equip this item."
    ]
    assert (held(scene.one), held(scene.one, Where.WORN)) == ([(BRACER, 1)], [])


@ALL
def test_r10_what_nobody_wears_stays_where_it_is(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.MARBLE)
    assert scene.one.types("/inventory equip 0") == ["Item Chipped Marble isn't equipable."]
    assert held(scene.one) == [(kinds.MARBLE, 1)]


@ALL
def test_r11_two_hands_hold_no_shield(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.BUCKLER, kinds.CLUB)
    scene.one.types("/inventory equip 0")
    scene.one.types(f"/inventory equip {place(scene.one, kinds.CLUB)}")
    assert held(scene.one, Where.WORN) == [(kinds.CLUB, 1)]
    assert scene.one.types(f"/inventory equip {place(scene.one, kinds.BUCKLER)}") == []
    assert held(scene.one, Where.WORN) == [(kinds.CLUB, 1)]
    assert held(scene.one) == [(kinds.BUCKLER, 1)]


@ALL
def test_r12_attuning_asks_and_its_command_attunes_and_equips(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.TUNIC)
    assert scene.one.types("/inventory equip 0") == []
    (window,) = scene.one.decoded("WS_ChoiceWindow")
    assert held(scene.one, Where.WORN) == []
    scene.one.types(f"/{window['accept_command']}")
    (thing,) = player_of(scene.one).holdings.inventory.in_list(Where.WORN)
    assert (thing.item_id, thing.is_attuned) == (kinds.TUNIC, True)


# -- places ---------------------------------------------------------------------------------------


@ALL
def test_r13_things_move_and_change_places(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.MARBLE, kinds.CAP)
    scene.one.types("/inventory move 0 4 0 1")
    scene.one.types("/inventory move 1 4 0 1")
    slots = {row["item_id"]: row["slot_id"] for row in carried(scene.one)}
    assert slots == {kinds.MARBLE: 1, kinds.CAP: 4}


@ALL
def test_r14_bags_are_named_by_their_number_and_show_what_is_in_them(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.PURSE)
    bag = carried(scene.one)[0]["unique_id"]
    makes(scene.one, kinds.MARBLE)
    row = next(row for row in carried(scene.one) if row["item_id"] == kinds.MARBLE)
    assert (row["inv_slot_id"], row["slot_id"]) == (bag, 0)  # new things go into bags
    scene.one.types(f"/inventory move {place(scene.one, kinds.MARBLE)} 1 {bag} 1")
    row = next(row for row in carried(scene.one) if row["item_id"] == kinds.MARBLE)
    assert (row["inv_slot_id"], row["slot_id"]) == (bag, 1)
    window = examined(scene.one, kinds.PURSE)["bag"]
    assert (window["num_slots"], window["num_empty"]) == (2, 1)


@ALL
def test_r15_no_bag_lies_in_a_bag(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.SATCHEL)
    bag = carried(scene.one)[0]["unique_id"]
    makes(scene.one, kinds.PURSE)
    scene.one.types(f"/inventory move {place(scene.one, kinds.PURSE)} 0 {bag} 1")
    assert {row["inv_slot_id"] for row in carried(scene.one)} == {0}


@ALL
def test_r16_a_stack_is_split_and_joined(version: int) -> None:
    scene = TradeScene(version)
    scene.one.types(f"/summonitem {kinds.PEBBLE} 10")
    scene.one.types("/inventory move 0 3 0 4")
    assert [(row["slot_id"], row["count"]) for row in carried(scene.one)] == [(0, 6), (3, 4)]
    scene.one.types("/inventory move 1 0 0 4")
    assert [(row["slot_id"], row["count"]) for row in carried(scene.one)] == [(0, 10)]
    assert scene.is_right()


@ALL
def test_r17_what_is_destroyed_is_gone_and_some_things_cannot_be(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.MARBLE, kinds.STONE)
    assert scene.one.types("/inventory destroy 0") == []
    assert scene.one.types("/inventory destroy 1") == ["You can't destroy this item."]
    assert held(scene.one) == [(kinds.STONE, 1)]
    assert scene.is_right()


@ALL
def test_r18_of_lore_there_is_one(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.SEAL)
    assert scene.one.types(f"/summonitem {kinds.SEAL}") == [
        "You cannot obtain Cracked Royal Seal due to lore conflict."
    ]
    assert held(scene.one) == [(kinds.SEAL, 1)]


@ALL
def test_r19_what_has_no_place_waits_and_comes_out(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, *[kinds.CAP] * 6, kinds.MARBLE)
    last = records(scene.one)[-1]
    assert (last["index"], last["slot_id"], last["unique_id"]) == (0xFFFF, 6, kinds.MARBLE)
    scene.one.types("/inventory destroy 2")
    scene.one.types("/inventory pop 2 0")
    assert (kinds.MARBLE, 1) in held(scene.one)
    assert records(scene.one)[-1]["index"] != 0xFFFF
    assert scene.is_right()


# -- links, weight, return ------------------------------------------------------------------------


@ALL
def test_r30_a_link_in_chat_arrives_and_opens_a_window(version: int) -> None:
    scene = TradeScene(version)
    two = scene.enter(2, version)
    scene.harness.run(1.0)
    first = "Notched Training Sword" if version <= LAST_OLD_CLIENT else "0"
    link = f"\\aITEM {kinds.SWORD} {first}:Notched Training Sword\\/a"
    scene.one.types(f"/say Look: {link}")
    assert [text for _, _, text in two.hears()][-1] == f"Look: {link}"
    layout = two.dialect.layout("WS_ExamineInfoRequestMsg")
    two.say("OP_ExamineInfoRequestMsg", layout.encode({"type": 2, "id": kinds.SWORD}))
    window = two.decoded("WS_ExamineInfo")[-1]["item"]
    assert window["footer"]["name"] == "Notched Training Sword"


@ALL
def test_r31_weight_and_coins_follow(version: int) -> None:
    scene = TradeScene(version)
    for line, weight in (
        (f"summonitem {kinds.PEBBLE} 20", 20 * 2 // 10),
        (f"summonitem {kinds.CLUB}", (20 * 2 + 120) // 10), ("inventory destroy 1", 4),
    ):  # fmt: skip
        before = len(scene.one.log)
        scene.one.types(f"/{line}")
        scene.harness.run(0.1)
        fields = scene.harness.parts.sheets.fields(player_of(scene.one))
        assert fields["weight"] == weight
        # The sheets of later clients have no weight.
        assert (SHEET in scene.one.names[before:]) == (version <= LAST_OLD_CLIENT)
    before = len(scene.one.log)
    scene.one.types("/player coins add 10203")
    scene.harness.run(0.1)
    assert SHEET in scene.one.names[before:]
    fields = scene.harness.parts.sheets.fields(player_of(scene.one))
    assert [fields[f"coins_{name}"] for name in ("gold", "silver", "copper")] == [1, 2, 3]


@ALL
def test_r32_everything_is_there_after_coming_back(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.PURSE, kinds.MARBLE, kinds.SWORD)
    scene.one.types(f"/summonitem {kinds.PEBBLE} 7")
    scene.one.types(f"/inventory equip {place(scene.one, kinds.SWORD)}")
    before = [held(scene.one, where) for where in Where]
    scene.harness.departures.leave(player_of(scene.one), "quit", scene.harness.now)
    back = scene.harness.stand(1, version)
    assert [held(back, where) for where in Where] == before
    known = {row["item_id"] for row in carried(back)}
    assert known == {kinds.PURSE, kinds.MARBLE, kinds.PEBBLE}
    assert scene.is_right()


# -- nonsense -------------------------------------------------------------------------------------


@ALL
def test_r33_nonsense_changes_nothing(version: int) -> None:
    """F: places and counts that do not exist doubled things."""
    scene = TradeScene(version, coins=77)
    makes(scene.one, kinds.MARBLE)
    scene.one.types(f"/summonitem {kinds.PEBBLE} 4")
    before = (sorted(held(scene.one)), coins_of(scene.one))
    for word in NONSENSE:
        for line in (
            f"inventory move {word} {word} 0 1", f"inventory move 9 0 {word} {word}",
            f"inventory destroy {word}9", f"inventory equip {word}9", f"inventory unequip {word}",
            f"inventory swap_equip {word} {word} 0", f"inventory pop {word} {word}",
            f"buy_from_merchant {word} {word}", f"sell_to_merchant {word} {word}",
            f"buyback_from_merchant {word} 1", f"mender_repair {word}", f"bank_deposit {word}",
            f"bank_withdraw {word}", f"start_trade {word}", f"add_trade_item {word} 0 1",
            f"add_trade_copper {word}", f"remove_trade_item {word}", f"use_item {word}9",
            f"scribe_scroll_item {word}9", "accept_trade",
        ):  # fmt: skip
            scene.one.types(f"/{line}")
    assert (sorted(held(scene.one)), coins_of(scene.one)) == before
    assert not scene.one.is_closed
    assert scene.is_right()


@ALL
def test_r36_unpacking_nothing_ends_nothing(version: int) -> None:
    """F: it ended the whole world."""
    scene = TradeScene(version)
    makes(scene.one, kinds.MARBLE)
    for word in ("0", "1", "77", *NONSENSE):
        assert scene.one.types(f"/inventory unpack {word}") == []
    assert held(scene.one) == [(kinds.MARBLE, 1)]


@ALL
def test_r39_a_bag_protects_what_may_not_be_destroyed(version: int) -> None:
    """F: with its bag it was destroyed."""
    scene = TradeScene(version)
    makes(scene.one, kinds.PURSE, kinds.STONE)
    assert scene.one.types(f"/inventory destroy {place(scene.one, kinds.PURSE)}") == [
        "You can't destroy this item."
    ]
    assert held(scene.one) == [(kinds.PURSE, 1), (kinds.STONE, 1)]


@ALL
@pytest.mark.parametrize("words", ["50 0", "99 -3", "5 -77", "2 -5", "255 0", "-1 -3", "0 -3"])
def test_r42_only_places_that_exist_and_the_bank_only_while_open(version: int, words: str) -> None:
    """F: unlimited hidden places, and a bank without a banker."""
    scene = TradeScene(version)
    makes(scene.one, kinds.MARBLE)
    assert scene.one.types(f"/inventory move 0 {words} 1") == [NO_PLACE]
    (row,) = carried(scene.one)
    assert (row["inv_slot_id"], row["slot_id"]) == (0, 0)
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()
