"""Scripts of things are called when something happens to them."""

from pathlib import Path

import pytest

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
