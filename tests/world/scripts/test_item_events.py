"""Scripts of things are called when something happens to them."""

from pathlib import Path

import pytest

from emu.world.items.shop_rows import flags_of
from tests.support.world import item_kinds as kinds
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SCRIPT = """
function obtained(Item, Player) SendMessage(Player, "obtained " .. GetItemID(Item)) end
function equipped(Item, Player) SendMessage(Player, "equipped") kept = Item end
function unequipped(Item, Player) SendMessage(Player, "unequipped") end
function examined(Item, Player) SendMessage(Player, "examined") end
function destroyed(Item, Player) SendMessage(Player, "destroyed") end
function removed(Item, Player) SendMessage(Player, "removed " .. tostring(GetItemID(kept))) end
"""
CAP = 920001
ROW = f'id = {CAP}, name = "Cap", slots = 4, armor = {{low = 1}}, script = "ItemScripts/cap.lua"'


def test_the_functions_of_a_thing_are_called(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    scene.script(SCRIPT, "ItemScripts/cap.lua")
    scene.harness.parts.items.kinds = kinds.item_kinds([ROW])
    scene.shown()
    scene.says(f"AddItem(Spawn, {CAP})")
    (thing,) = scene.player.holdings.inventory
    number = thing.id.to_bytes(4, "little")
    for act in ("equip 0", "unequip 2"):
        scene.client.types(f"/inventory {act}")
    scene.client.say("OP_ExamineInfoRequestMsg", bytes(1) + number + number + bytes(2))
    scene.client.types("/inventory destroy 0")
    lines = [line for line in scene.shown() if line.split()[0] != "You"]
    assert lines == [
        f"obtained {CAP}", "equipped", "unequipped", "examined", "destroyed", f"removed {CAP}",
    ]  # fmt: skip


def thing_scene(folder: Path, script: str, row: str = ROW) -> ScriptScene:
    """Return a scene whose player has a thing with a script."""
    scene = ScriptScene(folder)
    scene.script(script, "ItemScripts/cap.lua")
    scene.harness.parts.items.kinds = kinds.item_kinds([row])
    scene.says(f"AddItem(Spawn, {CAP})")
    scene.shown()
    return scene


def examine(scene: ScriptScene) -> None:
    (thing,) = scene.player.holdings.inventory
    number = thing.id.to_bytes(4, "little")
    scene.client.say("OP_ExamineInfoRequestMsg", bytes(1) + number + number + bytes(2))


TALK = """
function examined(Item, Player)
    local talk = CreateConversation()
    AddConversationOption(talk, "Read on", "page")
    AddConversationOption(talk, "Put it away", "CloseItemConversation")
    StartDialogConversation(talk, KIND, Item, Player, "It says: turn me.")
end
function page(Item, Player)
    SendMessage(Player, "page of " .. GetItemID(Item))
    CloseItemConversation(Item, Player)
end
"""


@pytest.mark.parametrize(("kind", "is_blue"), [(2, True), (4, False)])
def test_a_thing_talks_with_its_player(tmp_path: Path, kind: int, is_blue: bool) -> None:
    scene = thing_scene(tmp_path, TALK.replace("KIND", str(kind)))
    examine(scene)
    (dialog,) = scene.dialogs()
    assert dialog["text"] == "It says: turn me."
    own = scene.player.index_of(scene.player.spawn)
    assert dialog["spawn_id"] == (0xFFFFFFFF if is_blue else own)
    scene.answer(dialog["conversation_id"], 0)
    assert scene.shown() == [f"page of {CAP}"]
    assert scene.closes() == [dialog["conversation_id"]]


def test_functions_of_the_server_answer_too(tmp_path: Path) -> None:
    scene = thing_scene(tmp_path, TALK.replace("KIND", "2"))
    examine(scene)
    (dialog,) = scene.dialogs()
    scene.answer(dialog["conversation_id"], 1)
    assert scene.closes() == [dialog["conversation_id"]]


def test_the_talk_of_a_thing_ends_with_it(tmp_path: Path) -> None:
    scene = thing_scene(tmp_path, TALK.replace("KIND", "2"))
    examine(scene)
    (dialog,) = scene.dialogs()
    scene.client.types("/inventory destroy 0")
    assert scene.closes() == [dialog["conversation_id"]]
    scene.answer(dialog["conversation_id"], 0)
    assert scene.shown() == []


def test_a_spawn_has_no_talk_of_a_thing(tmp_path: Path) -> None:
    scene = thing_scene(tmp_path, TALK.replace("KIND", "1"))
    examine(scene)
    assert scene.dialogs() == []


CHARM_ROW = (
    f'id = {CAP}, name = "Charm", is_usable = 1, most_charges = 3, description = "Plain.", '
    'script = "ItemScripts/cap.lua", baubles = {cast_time = 1}'
)


@pytest.mark.parametrize(("result", "left"), [("", 2), ("return 1", 2), ("return -1", 3)])
def test_a_use_takes_a_charge_unless_the_script_returns_less_than_0(
    tmp_path: Path, result: str, left: int
) -> None:
    script = f"""function used(Item, Player, Target)
        SendMessage(Player, tostring(GetName(Target)))
        {result}
    end"""
    scene = thing_scene(tmp_path, script, CHARM_ROW)
    guard = scene.spawn("function hailed(NPC, Spawn) end")
    scene.player.set_target(guard)
    scene.client.types("/use_item 256")
    assert scene.shown() == ["Guard"]
    (thing,) = scene.player.holdings.inventory
    assert thing.count == left


def test_a_failed_use_keeps_the_charge(tmp_path: Path) -> None:
    scene = thing_scene(tmp_path, "function used(Item, Player) error('no') end", CHARM_ROW)
    scene.client.types("/use_item 256")
    (thing,) = scene.player.holdings.inventory
    assert thing.count == 3


def test_a_script_may_take_the_thing_that_is_used(tmp_path: Path) -> None:
    script = f"function used(Item, Player) RemoveItem(Player, {CAP}, 3) end"
    scene = thing_scene(tmp_path, script, CHARM_ROW)
    scene.client.types("/use_item 256")
    assert list(scene.player.holdings.inventory) == []


def test_a_script_describes_its_thing(tmp_path: Path) -> None:
    script = 'function item_description(Item, Player) return "Known to " .. GetName(Player) end'
    scene = thing_scene(tmp_path, script, CHARM_ROW)
    examine(scene)
    (window,) = scene.client.decoded("WS_ExamineInfo")[-1:]
    assert window["item"]["footer"]["description"] == "Known to Aldana"


def test_food_calls_cast(tmp_path: Path) -> None:
    row = (
        f'id = {CAP}, name = "Bun", slots = 4194304, script = "ItemScripts/cap.lua", stack = 5, '
        "foods = {kind = 1, duration = 60}"
    )
    script = 'function cast(Item, Player) SendMessage(Player, "tasty " .. GetItemCount(Item)) end'
    scene = thing_scene(tmp_path, script, row)
    scene.client.types("/inventory equip 0")
    scene.client.types("/consume_food 20")
    assert scene.shown() == ["tasty 1", "You eat a Bun."]


def test_a_script_says_how_a_merchant_shows_its_kind(tmp_path: Path) -> None:
    scene = thing_scene(
        tmp_path, "function buy_display_flags(Item, Player) return 128 end", CHARM_ROW
    )
    kind = scene.scripts.items_of_players.kinds.get(CAP)
    assert kind is not None
    assert flags_of(scene.harness.world.events, scene.player, [kind]) == {CAP: 128}
    assert flags_of(scene.harness.world.events, scene.player, [kind], is_bought_back=True) == {}


def test_a_zone_hears_what_players_put_on(tmp_path: Path) -> None:
    """Source: eq2-lua.md 2.5; the script of the Far Journey goes on with its tutorial so."""
    scene = ScriptScene(tmp_path)
    scene.zone_script("""
        function item_equipped(Zone, Player, Item, Name, Number)
            SendMessage(Player, "on " .. Item .. " " .. Name .. " " .. Number)
        end
        function item_unequipped(Zone, Player, Item, Name, Number)
            SendMessage(Player, "off " .. Item .. " " .. Name .. " " .. Number)
        end""")
    row = f'id = {CAP}, name = "Cap", slots = 4, armor = {{low = 1}}'
    scene.harness.parts.items.kinds = kinds.item_kinds([row])
    scene.says(f"AddItem(Spawn, {CAP})")
    (thing,) = scene.player.holdings.inventory
    scene.shown()
    for act in ("equip 0", "unequip 2"):
        scene.client.types(f"/inventory {act}")
    lines = [line for line in scene.shown() if line.split()[0] in ("on", "off")]
    assert lines == [f"on {CAP} Cap {thing.id}", f"off {CAP} Cap {thing.id}"]
