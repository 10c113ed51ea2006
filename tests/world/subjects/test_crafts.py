"""Functions for scripts about nodes and collections, and the collector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.content.crafts import Collection, CollectionReward
from emu.items.held import Place, Thing, Where
from emu.ledger import OwnerKind
from emu.rules.harvest import COMMON, HarvestItem, HarvestNode
from emu.world.actors.dealings import Dealing, NodeSkill
from emu.world.actors.spawn import Verb
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import BOOK, CRAFT_ROWS, NODE, RECIPE, SURE, buckle
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


def collection(scene: ScriptScene) -> None:
    """Let the player have all pieces of a collection."""
    shells = Collection(77, "Marbles", "Odd", 1, (kinds.MARBLE,), (CollectionReward("coin", 5, 1),))
    scene.harness.crafts._collections[77] = shells
    piece = Thing(5000, kinds.MARBLE, Place(Where.HELD, 77, 0))
    scene.player.holdings.put_away[OwnerKind.PIECES] = [piece]


def test_scripts_hand_in_collections(scene: ScriptScene) -> None:
    asked = "HasCollectionsToHandIn(Spawn)"
    assert scene.says("HandInCollections(Spawn)", asked) == ["false"]
    collection(scene)
    assert scene.says("HandInCollections(Spawn)", asked) == ["true"]
    assert scene.client.types("/accept_reward 0 0") == [
        "You receive 5 Copper for completing Marbles"
    ]
    assert scene.says("", asked) == ["false"]


def test_a_collector_is_a_spawn_with_the_verb(scene: ScriptScene) -> None:
    line = "/hand_in_collections"
    assert scene.client.types(line) == ["your target is no collector"]
    guard = scene.spawn("")
    guard.verbs = (Verb("Hand In", 10.0, "hand_in_collections"),)
    scene.player.set_target(guard)
    assert scene.client.types(line) == ["you have no collection of which all pieces are found"]
    collection(scene)
    assert scene.client.types(line) == []
    assert scene.client.decoded("WS_QuestRewardPackMsg")
    scene.go(40.0)
    scene.player.set_target(guard)
    assert scene.client.types(line) == ["you are too far away"]


def test_scripts_give_and_take_recipe_books(scene: ScriptScene) -> None:
    parts, crafts = scene.harness.parts, scene.harness.crafts
    parts.items.kinds = kinds.item_kinds(CRAFT_ROWS)
    crafts._recipes[RECIPE], crafts._books[BOOK] = buckle(), [RECIPE]
    guard = scene.spawn(f"""
function hailed(NPC, Spawn)
    Say(NPC, tostring(HasRecipeBook(Spawn, {BOOK})))
    Say(NPC, tostring(AddRecipeBookToPlayer(Spawn, {BOOK})))
    Say(NPC, tostring(AddRecipeBookToPlayer(Spawn, {kinds.PEBBLE})))
    AddRecipeBookToPlayer(Spawn, {BOOK})
    Say(NPC, tostring(HasRecipeBook(Spawn, {BOOK})))
    Say(NPC, tostring(HasRecipeBook(Spawn, {kinds.PEBBLE})))
    Say(NPC, tostring(RemoveRecipeFromPlayer(Spawn, 77)))
    Say(NPC, tostring(HasRecipeBook(Spawn, {BOOK})))
    Say(NPC, tostring(RemoveRecipeFromPlayer(Spawn, {RECIPE})))
    Say(NPC, tostring(HasRecipeBook(Spawn, {BOOK})))
end
""")
    said = [text for _, text in scene.hail(guard)]
    # Source of the results: eq2-lua.md 3 (both promise a truth).
    assert said == [
        "false", "true", "false", "true", "false", "false", "true", "true", "false",
    ]  # fmt: skip
    assert finish(scene.harness.stored.ledger.audit()).wrong_things == ()
