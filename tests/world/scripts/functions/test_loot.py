"""Functions for loot, called by scripts."""

from pathlib import Path

import pytest

from tests.support.world import item_kinds as kinds
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.trade_scenes import coins_of

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    made = ScriptScene(tmp_path)
    made.harness.parts.items.kinds = kinds.item_kinds()
    return made


def test_a_script_changes_what_a_creature_drops(scene: ScriptScene) -> None:
    guard = scene.spawn(f"""
        function hailed(NPC, Spawn)
            AddLootItem(NPC, {kinds.MARBLE}) AddLootItem(NPC, {kinds.PEBBLE}, 5)
            AddLootItem(NPC, {kinds.SWORD}) RemoveLootItem(NPC, {kinds.SWORD})
            SetLootCoin(NPC, 40) AddLootCoin(NPC, 2)
            Say(NPC, tostring(HasLootItem(NPC, {kinds.MARBLE})))
            Say(NPC, tostring(HasLootItem(NPC, {kinds.SWORD})))
            Say(NPC, tostring(GetLootCoin(NPC)))
            Say(NPC, tostring(SetLootTier(NPC, 2)) .. GetLootTier(NPC))
            KillSpawn(NPC, Spawn)
        end""")
    scene.heard()
    scene.use(guard, "frommerchant")
    assert [text for _, text in scene.heard()] == ["true", "false", "42", "true2"]
    remains = scene.harness.parts.trading.loots.remains[guard.id]
    assert remains.coins == 42
    assert [(lot.kind.id, lot.count) for lot in remains.lots] == [
        (kinds.MARBLE, 1), (kinds.PEBBLE, 5),
    ]  # fmt: skip
    assert remains.entitled == {scene.player.id}


def test_a_player_finds_what_a_script_gives_it(scene: ScriptScene) -> None:
    chest = scene.spawn(f"""
        function hailed(NPC, Spawn)
            if HasPendingLoot(NPC, Spawn) then
                Say(NPC, tostring(HasPendingLootItem(NPC, Spawn, {kinds.CAP})))
                ShowLootWindow(Spawn, NPC)
            else
                GiveLoot(NPC, Spawn, 12, {kinds.CAP}, 77)
            end
        end""")
    scene.heard()
    scene.use(chest, "frommerchant")
    assert scene.heard() == []
    assert coins_of(scene.client) == 12
    (row,) = scene.client.decoded("WS_UpdateLoot")[-1]["loot_array"]
    assert row["loot_id"] == kinds.CAP
    scene.use(chest, "frommerchant")
    assert [text for _, text in scene.heard()] == ["true"]
    assert len(scene.client.decoded("WS_UpdateLoot")) == 2
