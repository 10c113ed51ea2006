"""Windows of things are byte for byte those that EQ2Emulator was recorded to send.

The recordings are ../shared/data/recordings/items-*. What differs is one of its faults, which this
server does not copy.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from emu.dialects.dialect import wire_texts
from emu.errors import MalformedMessage
from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import ItemKind, Sort
from emu.structs.packed import read_client_cmds
from emu.world.items.windows import STRUCT, ItemWindow, plain_item
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_kinds import CAP, PEBBLE, SATCHEL, SWORD, item_kinds
from tests.support.world.item_recordings import recorded, recorded_kinds
from tests.support.world.trade_scenes import TradeScene, held, player_of

FAULTS = {
    Sort.FOOD: "the tier is that of the satiation",
    Sort.SCROLL: "the window of a spell, which this server does not have yet",
    Sort.ADORNMENT: "a set bonus that no item has",
}
FIRST = 910001
"""The stack of this one is sent as 0 from 1096 on; all others have theirs."""
LEAST = {546: 78, 561: 65, 1096: 45, 1208: 60, 60114: 60}
"""Recorded windows that are equal; fewer would be a mistake of the test."""


@pytest.mark.parametrize("version", LEAST)
def test_windows_have_the_recorded_bytes(version: int) -> None:
    kinds, dialect = recorded_kinds(), DIALECTS.for_version(version)
    equal, different = 0, Counter[str]()
    for name, payload in windows_of(version):
        window = dialect.layout(STRUCT).decode(payload)
        kind = kinds.get(item_of(window))
        if kind is None or kind.sort in FAULTS or kind.id == FIRST:
            continue
        if dialect.encode_known(STRUCT, ours(version, kind, window)) == payload:
            equal += 1
        else:
            different[f"{name} {kind.name}"] += 1
    assert not different
    assert equal >= LEAST[version]


def windows_of(version: int) -> list[tuple[str, bytes]]:
    """Return the recorded windows of things; those full of zeros are a fault."""
    dialect = DIALECTS.for_version(version)
    number = dialect.table.number("OP_EqExamineInfoCmd")
    found = []
    for name, _, body in recorded(version, "OP_EqExamineInfoCmd", "OP_ClientCmdMsg"):
        try:
            commands = read_client_cmds(body, version, examine_info=number)
            for one in commands:
                if one.opcode == number:
                    window = dialect.layout(STRUCT).decode(one.payload)
                    if item_of(window):
                        found.append((name, one.payload))
        except MalformedMessage:
            continue
    return found


def item_of(window: dict[str, Any]) -> int:
    info = window.get("item", {}).get("info", {})
    return int(info.get("item_id") or info.get("broker_item_id") or 0)


def ours(version: int, kind: ItemKind, window: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of our window for the thing that a recorded window shows."""
    item = window["item"]
    info, footer = item["info"], item["footer"]
    thing = Thing(
        info["unique_id"], kind.id, Place(Where.HELD, 0, 0), footer.get("charges_left", 1),
        info["condition"], bool(info["flags"] & 1), info["creator"],
    )  # fmt: skip
    is_link = info["unique_id"] in (0xFFFFFFFF, kind.id)
    made = ItemWindow(version, kind, thing, Inventory((), {})).fields(
        shows_name=window["show_name"], is_link=is_link
    )
    if kind.bag is not None:
        # What lay in it is not known here.
        for name in ("num_empty", "num_names", "name_array"):
            made["item"]["bag"][name] = item["bag"][name]
    return made


def test_a_bag_names_what_lies_in_it() -> None:
    kinds = item_kinds()
    purse, sword = kinds.get(910004), kinds.get(SWORD)
    assert purse is not None
    assert sword is not None
    numbers = iter(range(1000, 1010))
    inventory = Inventory((), {})
    bag = inventory.add_things(purse, 1, lambda: next(numbers))[0]
    inventory.add_things(sword, 1, lambda: next(numbers))
    fields = ItemWindow(546, purse, bag, inventory).fields()["item"]["bag"]
    assert (fields["num_slots"], fields["num_empty"]) == (2, 1)
    assert fields["name_array"] == [{"item_name": "Notched Training Sword"}]


def test_an_inspected_player_wears_what_was_recorded() -> None:
    kinds, dialect = recorded_kinds(), DIALECTS.for_version(546)
    ((_, _, body),) = recorded(546, "OP_InspectPlayerMsg")
    for number in (910005, 910008):
        kind = kinds.get(number)
        assert kind is not None
        thing = Thing(0, number, Place(Where.WORN, 0, 0))
        made = plain_item(dialect, Inventory([thing], {number: kind}), thing)
        name = kind.name.encode()
        begin = body.find(name) - made.find(name)
        # Its own number stands behind the empty name of its maker.
        own = body[begin + 1 : begin + 5]
        assert body[begin : begin + len(made)] == made[:1] + own + made[5:]


@pytest.mark.parametrize("version", LEAST)
def test_every_number_of_a_row_has_a_window(version: int) -> None:
    large = 1 << 30
    stats = (
        f"{{kind = 999, subkind = {large}, integer = {large}}}, {{kind = 5, integer = -{large}}}"
    )
    blade = f"weapons = {{wield = 9999, low = {large}, delay = {large}, damage = 999}}"
    more = f"weight = {large}, min_skill = {large}, effects = [{{text = 'x', bullet = 9999}}]"
    rows = [
        f"id = 1, name = 'Žlutý meč', {more}, {blade}, stats = [{stats}]",
        f"id = 2, name = 'Plate', armor = {{low = -5, high = {large}, absorb = {large}}}",
        f"id = 3, name = 'Bow', ranged = {{low = {large}, range_low = 9, delay = -1}}",
    ]
    dialect = DIALECTS.for_version(version)
    for number, kind in item_kinds(rows).load((1, 2, 3)).items():
        thing = Thing(1000, number, Place(Where.BAGS, 0, 0))
        fields = ItemWindow(version, kind, thing, Inventory([thing], {number: kind})).fields()
        dialect.encode_known(STRUCT, wire_texts(fields))


@pytest.mark.parametrize("version", LEAST)
def test_letters_beyond_ascii_come_once(version: int) -> None:
    """As UTF-8 (docs/protocol/structs.md), in windows of things and of bodies."""
    scene = TradeScene(version, coins=1000)
    row = 'id = 920001, name = "Grüne Kappe", description = "Für Größe.", slots = 4'
    scene.harness.kinds = scene.harness.parts.items.kinds = item_kinds([row])
    scene.one.types("/summonitem 920001")
    (thing,) = player_of(scene.one).holdings.inventory
    scene.one.say("OP_ExamineInfoRequestMsg", b"\0" + thing.id.to_bytes(4, "little") * 2 + b"\0\0")
    footer = scene.one.decoded("WS_ExamineInfo")[-1]["item"]["footer"]
    texts = [footer["name"], footer["description"]]
    scene.kill("a straw man", (920001, 1))
    scene.one.types("/loot")
    (row_of_body,) = scene.one.decoded("WS_UpdateLoot")[-1]["loot_array"]
    texts.append((row_of_body.get("footer") or row_of_body)["name"])
    found = [one.encode("latin-1").decode() for one in texts]
    assert found == ["Grüne Kappe", "Für Größe.", "Grüne Kappe"]


def test_a_client_without_windows_of_things_is_sent_none() -> None:
    """Version 373 has no layout of them: what is done with things goes on without."""
    scene = TradeScene(373, coins=1000)
    one = scene.one
    for item in (SATCHEL, SWORD, PEBBLE):
        assert one.types(f"/summonitem {item}") == []
    scene.kill("a straw man", (CAP, 1), coins=5)
    scene.targets(one, scene.chest())
    (text,) = one.types("/loot")
    assert text.startswith("You loot ")
    one.say("OP_ExamineInfoRequestMsg", b"\0" + (1).to_bytes(4, "little") * 2 + b"\0\0")
    assert [name for name, _ in one.log if name == "OP_EqExamineInfoCmd"] == []
    assert sorted(held(one)) == sorted([(SATCHEL, 1), (SWORD, 1), (PEBBLE, 1), (CAP, 1)])
    assert scene.is_right()
