"""What scripts change of the appearance of spawns, as a client is shown it."""

from pathlib import Path

import pytest

from emu.content.figures import Figures
from emu.world.scripts.bodies import Home
from emu.world.scripts.functions.looks import LOOKS
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_fields_are_shown_to_those_who_see_the_spawn(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SpawnSet(NPC, "level", 14) SpawnSet(NPC, "size", 50.5)
            SpawnSet(NPC, "hair_color1", "10 20 30") SpawnSet(NPC, "visual_state", "540")
            SpawnSet(NPC, "no_such_field", "1") SpawnSet(NPC, "name", "")
            SpawnSet(nil, "level", 3) SpawnSet(Spawn, "name", "King")
            SpawnSet(NPC, "hp", 180.0)
            SpawnSet(NPC, "name", "Captain")
        end""")
    scene.hail(guard)
    scene.harness.run(1.0)
    fields = scene.client.fields_of("Captain")
    assert (fields["level"], fields["visual_state"]) == (14, 540)
    assert list(fields["hair_color1"]) == [10, 20, 30]
    assert (guard.size, guard.sheet.health.most) == (50, 180)
    assert scene.player.spawn.name == "Aldana"
    assert scene.scripts.counters["fields that are not set"] == 2
    assert scene.lines == []


def test_what_spawn_and_respawn_set_is_seen(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function spawn(NPC) SpawnSet(NPC, "sub_title", "the Watch") end
        function respawn(NPC) spawn(NPC) SpawnSet(NPC, "mood_state", 11859) end""")
    assert guard.guild == "the Watch"
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None
    scene.scripts.call(body, "respawn")
    scene.harness.run(1.0)
    assert scene.client.fields_of("Guard")["mood_state"] == 11859


def test_all_spawns_near(scene: ScriptScene) -> None:
    far = scene.spawn("", "Far", location=71)
    far.move(far.position._replace(x=far.position.x + 50))
    near = scene.spawn("", "Near", location=72)
    guard = scene.spawn("""
        function hailed(NPC, Spawn) SpawnSetByDistance(NPC, 10, "level", 30) end""")
    scene.hail(guard)
    assert (far.level, near.level, guard.level) == (12, 30, 30)


def test_clothes_mounts_and_shapes(scene: ScriptScene) -> None:
    other = scene.spawn("", "Other", location=71)
    other.set_info(appearance={"skin_color": [7, 8, 9], "model_type": 77})
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetEquipment(NPC, 3, 5460, 1, 2, 3, 4, 5, 6)
            SetMount(NPC, 3400) SetMountColor(NPC, 9, 9, 9, 8, 8, 8)
            SetModelType(NPC, "134") SetIllusion(NPC, 40) ResetIllusion(NPC)
            SetAttackable(NPC, 1) SetVisualFlag(NPC) SetInfoFlag(NPC)
            Say(NPC, GetMount(NPC) .. " " .. GetModelType(NPC))
            CopySpawnAppearance(NPC, GetSpawnByLocationID(GetZone(NPC), 71))
            Say(NPC, GetMount(NPC) .. " " .. GetModelType(NPC))
        end""")
    assert [text for _, text in scene.hail(guard)] == ["3400 134", "0 77"]
    scene.harness.run(1.0)
    assert list(scene.client.fields_of("Guard")["skin_color"]) == [7, 8, 9]
    assert guard.attackable


def test_the_own_script_can_be_replaced(scene: ScriptScene) -> None:
    scene.script("function hailed(NPC, Spawn) Say(NPC, 'Other') end", "other.lua")
    guard = scene.spawn("""
        function hailed(NPC, Spawn) SpawnSet(NPC, "spawn_script", "other.lua") end""")
    assert scene.hail(guard) == []
    assert scene.hail(guard) == [("Guard", "Other")]


def test_a_spawn_that_expires_goes(scene: ScriptScene) -> None:
    removed = []
    scene.scripts.waits.despawn = lambda _zone, spawn: removed.append(spawn)
    guard = scene.spawn('function hailed(NPC, Spawn) SpawnSet(NPC, "expire", 5) end')
    scene.hail(guard)
    scene.harness.run(4.5)
    assert removed == []
    scene.harness.run(1.0)
    assert removed == [guard]


@pytest.mark.parametrize(
    ("word", "setting", "seen"),
    [
        ("invisible", "", "false"), ("invisible", "SetSeeInvis(NPC, 1)", "true"),
        ("stealth", "SetSeeInvis(NPC, 1)", "false"), ("stealth", "SetSeeHide(NPC, 1)", "true"),
        ("afk", "", "true"),
    ],
)  # fmt: skip
def test_who_sees_the_invisible(scene: ScriptScene, word: str, setting: str, seen: str) -> None:
    guard = scene.spawn(f"""
        function hailed(NPC, Spawn) {setting} Say(NPC, tostring(CanSeeInvis(NPC, Spawn))) end""")
    scene.player.spawn.words = frozenset((word,))
    assert scene.hail(guard) == [("Guard", seen)]


def test_when_a_place_is_filled_again(scene: ScriptScene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def set_respawn(_home: Home, location: int, seconds: int) -> bool:
        asked.append((location, seconds))
        return True

    monkeypatch.setattr(scene.scripts.maker, "set_respawn", set_respawn)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SpawnSet(NPC, "respawn", 90) SpawnSet(NPC, "respawn", "-4")
            SpawnSet(NPC, "respawn", 99999999) SpawnSet(Spawn, "respawn", 5)
        end""")
    scene.hail(guard)
    assert asked == [(70, 90), (70, 0), (70, 2_592_000)]


def test_lists_of_commands(tmp_path: Path) -> None:
    row = {
        "list_id": 11, "id": 1, "text": "Attack", "command": "attack", "distance": 10.0,
        "error": "0", "cast_time": 0, "visual": 0,
    }  # fmt: skip
    scene = ScriptScene(tmp_path, figures=Figures(commands={11: [row]}))
    guard = scene.spawn("""
        function hailed(NPC, Spawn) SpawnSet(NPC, "command_primary", 11)
            SpawnSet(NPC, "command_secondary", "11") SpawnSet(NPC, "command_secondary", 99)
            SpawnSet(Spawn, "command_primary", 11) end""")
    scene.hail(guard)
    assert [verb.name for verb in (*guard.verbs, *guard.more_verbs)] == ["Attack", "Attack"]
    assert scene.player.spawn.verbs == ()


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), LOOKS) == []
