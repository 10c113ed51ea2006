"""What scripts set and ask of a creature's mind."""

import dataclasses
from pathlib import Path

import pytest

from emu.world.actors.spawn import SpawnKind
from emu.world.scripts.functions.hate import (
    HATE,
    attack,
    clear_encounter,
    encounter,
    encounter_size,
    most_hated,
)
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


WOLF = "local wolf = GetSpawnByLocationID(GetZone(NPC), 71)"
NAMES = "local function name(one) return one and GetName(one) end"


def test_attack_adds_hate(scene: ScriptScene) -> None:
    scene.spawn("", "Wolf", 71)
    assert scene.says(
        f"""{WOLF} {NAMES}
        local none, nothing = GetMostHated(NPC), GetHateList(NPC)
        Attack(NPC, Spawn)
        AddHate(wolf, NPC, 99)
        local player = GetMostHated(NPC)
        AddHate(wolf, NPC, 2)
        local wolf_now = GetMostHated(NPC)
        AdjustHatePosition(Spawn, NPC, true)
        local list = GetHateList(NPC)""",
        "none", "nothing", "name(player)", "name(wolf_now)",
        "name(list[1])", "name(list[2])", "#list",
    ) == ["nil", "nil", "Aldana", "Wolf", "Aldana", "Wolf", "2"]  # fmt: skip


def test_hate_is_cleared(scene: ScriptScene) -> None:
    scene.spawn("", "Wolf", 71)
    assert scene.says(
        f"""{WOLF} {NAMES}
        Attack(NPC, Spawn) AddHate(wolf, NPC, 5)
        ClearHate(NPC, Spawn)
        local left = GetMostHated(NPC)
        ClearHate(NPC)
        Attack(NPC, NPC) Attack(NPC, nil) Attack(Spawn, NPC) ClearHate(nil)""",
        "name(left)", "GetMostHated(NPC)", "GetMostHated(nil)",
    ) == ["Wolf", "nil", "nil"]  # fmt: skip


def test_the_dead_are_not_hated(scene: ScriptScene) -> None:
    scene.spawn("", "Wolf", 71)
    assert scene.says(
        f"{WOLF} AddHate(wolf, NPC, 5) KillSpawn(wolf) AddHate(wolf, NPC, 5)",
        "GetMostHated(NPC)",
    ) == ["nil"]
    victim, guard = scene.spawn("", "Wolf", 71), scene.spawn("")
    scene.harness.minds.harm.kill(scene.zone, victim, None)
    bodies = scene.scripts.homes.of(scene.zone).bodies
    attack(scene.scripts, bodies[guard.id], bodies[victim.id])
    assert not guard.mind.hates


def test_who_left_the_zone_is_not_hated(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) Attack(NPC, Spawn) end")
    scene.hail(guard)
    assert guard.mind.most_hated() is scene.player.spawn
    assert guard.mind.left_from is not None
    scene.harness.world.players.remove(scene.player)
    body = scene.scripts.homes.of(scene.zone).bodies[guard.id]
    assert most_hated(scene.scripts, body) is None
    assert not guard.mind.hates
    assert not guard.mind.fighters


def test_players_who_strike_are_the_encounter(scene: ScriptScene) -> None:
    """Whom a creature attacks by itself has no encounter yet: fight-546-death-a."""
    guard = scene.spawn("function hailed(NPC, Spawn) Attack(NPC, Spawn) end")
    body, scripts = scene.scripts.homes.of(scene.zone).bodies[guard.id], scene.scripts
    scene.hail(guard)
    assert (encounter_size(scripts, body), encounter(scripts, body)) == (0, None)
    scene.harness.minds.harm.take_health(scene.zone, guard, scene.player.spawn, 0)
    assert encounter_size(scripts, body) == 1
    player = scripts.body_of(scene.player.spawn, scene.zone)
    assert player is not None
    assert encounter(scripts, body)[1] is player.handle
    for one in (body, None):
        clear_encounter(scripts, one)
        assert encounter_size(scripts, one) == 0


def test_the_way_back(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Say(NPC, tostring(GetRunbackDistance(NPC)))
            SetLuaBrain(NPC)
            Attack(NPC, Spawn)
            SetSpeed(NPC, 4)
            MoveToLocation(NPC, GetX(NPC), GetY(NPC), GetZ(NPC) + 8)
            AddTimer(NPC, 8000, "returns")
        end
        function returns(NPC)
            Say(NPC, tostring(math.floor(GetRunbackDistance(NPC) + 0.5)))
            Runback(NPC) ClearHate(NPC)
            AddTimer(NPC, 1000, "arrives", 4)
        end
        function arrives(NPC)
            Say(NPC, tostring(math.floor(GetRunbackDistance(NPC))))
        end""")  # fmt: skip
    assert [text for _, text in scene.hail(guard)] == ["0.0"]
    scene.harness.run(8.5)
    assert [text for _, text in scene.heard()] == ["8"]
    scene.harness.run(4.5)
    heard = [text for _, text in scene.heard()]
    assert heard[-1] == "0"
    assert guard.position.distance_to(PLACE) < 0.1
    assert guard.mind.left_from is None


def test_a_way_back_is_forgotten(scene: ScriptScene) -> None:
    assert scene.says(
        "Attack(NPC, Spawn) SetPosition(NPC, GetX(NPC) + 3, GetY(NPC), GetZ(NPC))"
        " local far = GetRunbackDistance(NPC) ClearRunback(NPC) Runback(NPC)",
        "far", "GetRunbackDistance(NPC)", "IsRunning(NPC)", "GetRunbackDistance(Spawn)",
    ) == ["3.0", "0.0", "false", "nil"]  # fmt: skip


def test_spell_lists_and_thoughts(scene: ScriptScene) -> None:
    guard = scene.spawn("""function spawn(NPC)
        SetSpellList(NPC, 332, 4) SetLuaBrain(NPC) SetBrainTick(NPC, 5)
        SetSpellList(nil, 1) SetLuaBrain(nil) SetBrainTick(nil, 5)
    end""")
    mind = guard.mind
    assert (mind.spell_list, mind.second_spell_list) == (332, 4)
    assert (mind.thinks_by_script, mind.tick) == (True, 20)


def test_the_radius_of_attacks(scene: ScriptScene) -> None:
    standing = scene.standing(
        scene.script("""function hailed(NPC)
        Say(NPC, GetAggroRadius(NPC))
        SetAggroRadius(NPC, 20)
        Say(NPC, GetAggroRadius(NPC) .. " " .. GetBaseAggroRadius(NPC))
        Say(NPC, tostring(SetAggroRadius(NPC, 90000, true)))
        Say(NPC, GetBaseAggroRadius(NPC))
        Say(NPC, tostring(SetAggroRadius(nil, 1)))
    end""")
    )
    own = {**standing.template.own, "aggro_radius": 7.5}
    template = dataclasses.replace(standing.template, own=own)
    guard = scene.put(standing._replace(template=template), "Guard")
    scene.harness.run(1.5)
    assert [text for _, text in scene.hail(guard)] == [
        "7.5", "20.0 7.5", "true", "1000.0", "false",
    ]  # fmt: skip


def test_things_have_no_mind(scene: ScriptScene) -> None:
    chest = scene.spawn("", "Chest", 71)
    chest.kind = SpawnKind.OBJECT
    assert scene.says(f"{WOLF} Attack(NPC, wolf)", "GetMostHated(NPC)") == ["nil"]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), HATE) == []
