"""Functions for loot, called by scripts."""

from pathlib import Path

import pytest

from emu.content.trade import GlobalLoot
from emu.world.scripts.functions.loot import LOOT
from tests.support.world import item_kinds as kinds
from tests.support.world.script_calls import failing_without
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


def test_what_is_given_far_away_waits_there_without_a_word(scene: ScriptScene) -> None:
    """The script of a quest puts things into a box on the other side of a ship."""
    chest = scene.spawn(f"""
        function hailed(NPC, Spawn)
            AddTimer(NPC, 1000, "fill", 1, Spawn)
        end
        function fill(NPC, Spawn)
            GiveLoot(NPC, Spawn, 0, {kinds.CAP})
        end""")
    scene.use(chest, "frommerchant")
    begin = len(scene.client.decoded("WS_DisplayText"))
    scene.go(40.0)
    scene.harness.run(2.0)
    assert scene.client.decoded("WS_DisplayText")[begin:] == []
    assert scene.client.decoded("WS_UpdateLoot") == []
    assert (chest.id, scene.player.id) in scene.harness.parts.trading.loots.pending


def test_all_loot_may_lie_on_the_body(scene: ScriptScene) -> None:
    guard = scene.spawn(f"""
        function hailed(NPC, Spawn)
            AddLootItem(NPC, {kinds.CAP})
            Say(NPC, tostring(SetLootDropType(NPC, 1)) .. GetLootDropType(NPC))
            Say(NPC, tostring(SetLootDropType(Spawn, 1)))
            KillSpawn(NPC, Spawn)
        end""")
    scene.heard()
    scene.use(guard, "frommerchant")
    assert [text for _, text in scene.heard()] == ["true1", "false"]
    remains = scene.harness.parts.trading.loots.remains
    assert [lot.kind.id for lot in remains[guard.id].lots] == [kinds.CAP]


@pytest.mark.parametrize(("result", "is_allowed"), [("return 0", False), ("return 1", True),
                                                    ("", True), ("error('no')", True)])  # fmt: skip
def test_a_zone_refuses_the_loot_of_levels(
    scene: ScriptScene, result: str, is_allowed: bool
) -> None:
    """The functions of the page; ../shared/spec/eq2-lua.md has them, 2.5."""
    scene.zone_script(f"""function loot_criteria_level(Zone, Spawn, Table, Low, High)
        if Table ~= 4 or Low ~= 2 or High ~= 9 then return 0 end
        {result}
    end""")
    spawn = scene.spawn("function hailed(NPC, Spawn) end")
    allows = scene.harness.parts.trading.loots._allows(scene.zone, spawn)
    assert allows is not None
    assert allows(GlobalLoot(4, "level", 0, (2, 9), 0)) is is_allowed
    assert allows(GlobalLoot(4, "zone", 12, (2, 9), 0))


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), LOOT) == []
