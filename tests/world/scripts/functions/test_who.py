"""What scripts ask about spawns and zones, and what they remember."""

from pathlib import Path

import pytest

from emu.world.scripts.functions.who import WHO
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("GetName(NPC)", "Guard"), ("GetLevel(NPC)", "12"), ("GetRace(NPC)", "9"),
        ("GetClass(NPC)", "3"), ("GetGender(NPC)", "1"), ("IsPlayer(NPC)", "false"),
        ("GetDifficulty(NPC)", "6"), ("GetDifficulty(nil)", "nil"), ("IsHeroic(NPC)", "true"),
        ("IsEpic(NPC)", "false"), ("IsHeroic(Spawn)", "false"), ("GetDifficulty(Spawn)", "0"),
        ("IsPlayer(Spawn)", "true"), ("IsAlive(NPC)", "true"), ("GetX(NPC)", "3.0"),
        ("GetY(NPC)", "-7.9699997901917"), ("GetZ(NPC)", "243.44999694824"),
        ("GetHeading(NPC)", "90.0"), ("GetDistance(NPC, Spawn)", "1.0"),
        ("GetSpawnLocationID(NPC)", "70"), ("GetSpawnID(NPC)", "970"),
        ("GetSpawnLocationID(Spawn)", "0"), ("GetSpawnID(Spawn)", "0"),
        ("GetZoneID(GetZone(NPC))", "325"), ("GetZone(325) == GetZone(NPC)", "true"),
        ("GetZone('325') == GetZone(NPC)", "true"), ("GetZone(325.0) == GetZone(NPC)", "true"),
        ("GetZone('nowhere')", "nil"), ("GetSpawn(NPC, 970) == NPC", "true"),
        ("GetSpawn(NPC, 5)", "nil"),
        ("GetSpawnByLocationID(GetZone(NPC), 70) == NPC", "true"),
        ("GetSpawnByLocationID(GetZone(NPC), 5)", "nil"),
        ("GetTarget(Spawn) == NPC", "true"), ("GetTarget(NPC)", "nil"),
        ("GetName(nil)", "nil"), ("GetX(nil)", "nil"), ("GetDistance(NPC, nil)", "nil"),
        ("IsAlive(nil)", "false"), ("GetZone(nil)", "nil"), ("GetSpawn(nil, 5)", "nil"),
        ("MakeRandomInt(4, 4)", "4"), ("MakeRandomInt(5, 2)", "5"),
        ("MakeRandomFloat(2, 2)", "2.0"),
    ],
)  # fmt: skip
def test_answers(scene: ScriptScene, asked: str, answer: str) -> None:
    guard = scene.spawn(f"function hailed(NPC, Spawn) Say(NPC, tostring({asked})) end")
    assert scene.hail(guard) == [("Guard", answer)]
    assert scene.lines == []


def test_targets(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetTarget(NPC, Spawn)
            Say(NPC, GetName(GetTarget(NPC)))
            SetTarget(NPC)
            Say(NPC, tostring(GetTarget(NPC)))
        end""")
    assert [text for _, text in scene.hail(guard)] == ["Aldana", "nil"]


def test_temporary_variables(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetTempVariable(NPC, "n", 5)
            SetTempVariable(NPC, "who", Spawn)
            SetTempVariable(NPC, "none", false)
            Say(NPC, GetTempVariable(NPC, "n") .. GetName(GetTempVariable(NPC, "who")))
            Say(NPC, tostring(GetTempVariable(NPC, "no")) .. "|" .. GetTempVariable(NPC, "none"))
            AddTimer(NPC, 1000, "later")
            for i = 1, 80 do SetTempVariable(Spawn, "v" .. i, "x") end
        end
        function later(NPC) Say(NPC, tostring(GetTempVariable(NPC, "who"))) end""")
    assert [text for _, text in scene.hail(guard)] == ["5Aldana", "nil|"]
    body = scene.scripts.player_body(scene.player)
    assert len(body.variables) == 64
    body.end()
    scene.harness.run(1.2)
    assert scene.heard() == [("Guard", "nil")]


def test_nil_removes_a_temporary_variable(scene: ScriptScene) -> None:
    # How scripts of content use it: nil in `spawn` and after a timer, `== nil` to answer again.
    guard = scene.spawn("""
        function spawn(NPC)
            SetTempVariable(NPC, "busy", nil)
            for i = 1, 80 do
                SetTempVariable(NPC, "v" .. i, "x")
                SetTempVariable(NPC, "v" .. i, nil)
            end
        end
        function hailed(NPC, Spawn)
            if GetTempVariable(NPC, "busy") == nil then
                SetTempVariable(NPC, "busy", 1)
                Say(NPC, "Well met.")
                AddTimer(NPC, 1000, "rested")
            end
        end
        function rested(NPC) SetTempVariable(NPC, "busy", nil) end""")
    well_met = [("Guard", "Well met.")]
    assert scene.hail(guard) == well_met
    assert scene.hail(guard) == []
    scene.harness.run(1.2)
    assert scene.hail(guard) == well_met


def test_the_target_of_a_player_is_set(scene: ScriptScene) -> None:
    """Source: eq2-lua.md 3 (SetTarget: S is any spawn; 12 scripts clear a player's)."""
    other = scene.spawn("", "Other", 71)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetTarget(Spawn, GetSpawnByLocationID(GetZone(NPC), 71))
            AddTimer(NPC, 500, "clear", 1, Spawn)
        end
        function clear(NPC, Spawn) SetTarget(Spawn, nil) end""")
    scene.hail(guard)
    assert scene.player.target is other
    scene.harness.run(1.0)
    assert scene.player.target is None


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), WHO) == []
