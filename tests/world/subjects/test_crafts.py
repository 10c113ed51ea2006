"""Functions for scripts about nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.rules.harvest import COMMON, HarvestItem, HarvestNode
from emu.world.actors.dealings import Dealing, NodeSkill
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import NODE, SURE
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    made = ScriptScene(tmp_path)
    made.harness.parts.items.kinds = kinds.item_kinds()
    return made


def harvested(scene: ScriptScene, needed: int = 0) -> list[str]:
    """Let a script harvest its own spawn, a node; return what it says and how often it could."""
    items = (HarvestItem(kinds.PEBBLE, COMMON, 0),)
    table = SURE._replace(min_skill=needed)
    scene.harness.crafts._nodes[NODE] = HarvestNode((table,), items)
    guard = scene.spawn("""
function hailed(NPC, Spawn)
    Say(NPC, tostring(CanHarvest(Spawn, NPC)))
    Harvest(Spawn, NPC)
end
""")
    dealing = Dealing(5, node=NODE, node_skill=NodeSkill.MINING, node_uses=2)
    guard.look = replace(guard.look, dealing=dealing)
    found = [text for _, text in scene.hail(guard)]
    found += [text for _, text in scene.hail(guard)]
    scene.harness.run(3.0)
    return [*found, str(scene.zone.spawn(guard.id) is guard)]


def test_scripts_harvest_nodes_until_they_are_used_up(scene: ScriptScene) -> None:
    assert harvested(scene) == ["true", "true", "False"]
    inventory = scene.player.holdings.inventory
    assert inventory.count_of(kinds.PEBBLE) == 2
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()


def test_scripts_hear_that_the_skill_is_too_small(scene: ScriptScene) -> None:
    assert harvested(scene, needed=200) == ["false", "false", "True"]
    assert "You lack the skills to harvest this node!" in scene.shown()
    assert len(scene.player.holdings.inventory) == 0


def test_a_spawn_that_is_no_node_gives_nothing(scene: ScriptScene) -> None:
    assert scene.says("Harvest(Spawn, NPC) Harvest(nil, nil)", "CanHarvest(Spawn, NPC)") == [
        "false"
    ]
    assert len(scene.player.holdings.inventory) == 0
