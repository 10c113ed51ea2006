"""The host of scripts: hails, turning, and what ends a handle."""

import pytest

from emu.scripts.folder import ScriptFolder
from emu.world.events import Provoked
from emu.world.scripts.host import FORGOTTEN_AT_ONCE
from tests.support.times import IDLE, waiting
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_hail_calls_the_script_with_spawn_and_player(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            FaceTarget(NPC, Spawn)
            Say(NPC, "Well met, " .. GetName(Spawn), Spawn)
        end""")
    assert scene.hail(guard) == [("Guard", "Well met, Aldana")]
    assert guard.position.heading == guard.position.heading_to(scene.player.position) != 180.0
    scene.harness.run(31.0)
    assert guard.position.heading == guard.origin.heading


@pytest.mark.parametrize(("away", "answers"), [(4.9, 1), (5.1, 0)])
def test_a_hail_reaches_five_units(scene: ScriptScene, away: float, answers: int) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) Say(NPC, 'Yes?') end")
    scene.go(away)
    assert len(scene.hail(guard)) == answers


def test_a_handle_ends_with_its_player(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) last = Spawn AddTimer(NPC, 1000, "ask") end
        function ask(NPC) Say(NPC, IsPlayer(last) and "here" or "gone") end""")
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    scene.hail(guard)
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    other.player.teleport(guard.position, scene.harness.now)
    scene.harness.run(1.2)
    assert [text for _, name, text in other.hears() if name == "Guard"] == ["gone"]


def test_an_ended_zone_leaves_nothing(scene: ScriptScene) -> None:
    guard = scene.spawn("function spawn(NPC) AddTimer(NPC, 1000, 'beat') end")
    freed: list[bool] = []
    scene.scripts.collected = lambda: freed.append(True)
    scene.scripts.ended(scene.zone)
    assert scene.scripts.body_of(guard, scene.zone) is None
    # What its scripts had is freed in steps.
    scene.harness.run(30.0)
    assert freed == [True]
    assert waiting(scene.harness.timetable) <= IDLE


@pytest.mark.slow
def test_the_spawns_of_an_ended_zone_are_forgotten_in_slices(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The clock of a test stands still.
    monkeypatch.setattr("emu.world.deadlines.WORK_SECONDS", 0.0)
    scene.script("function spawn(NPC) AddTimer(NPC, 1000, 'beat') end")
    standing = scene.standing("npc.lua")
    bodies = [scene.scripts.body_of(scene.put(standing, "Guard"), scene.zone) for _ in range(700)]
    scene.scripts.ended(scene.zone)
    steps = []
    while any(body is not None and not body.is_gone for body in bodies):
        scene.harness.run(0.02)
        steps.append(sum(body is not None and body.is_gone for body in bodies))
    assert steps[0] <= 2 * FORGOTTEN_AT_ONCE
    assert steps[1] - steps[0] == FORGOTTEN_AT_ONCE
    assert scene.scripts.body_of(bodies[0].spawn, scene.zone) is None  # type: ignore[union-attr]


def test_the_files_of_an_ended_zone_are_let_go(scene: ScriptScene) -> None:
    guard = scene.spawn("count = 0 function hailed(NPC) count = count + 1 Say(NPC, count) end")
    wrong = scene.spawn("function hailed(NPC) while true do end end", "Wrong")
    assert [text for _ in range(2) for _, text in scene.hail(guard)] == ["1", "2"]
    for _ in range(3):
        scene.hail(wrong)
    scene.scripts.ended(scene.zone)
    scene.harness.run(1.0)
    guard = scene.place("Guard.lua", "Guard")
    wrong = scene.place("Wrong.lua", "Wrong", 71)
    # The globals of the file are new; a file that is switched off stays so.
    assert scene.hail(guard) == [("Guard", "1")]
    assert scene.hail(wrong) == []
    assert scene.scripts.files.switched_off() == ["Wrong.lua"]


def test_files_that_nobody_needs_are_let_go_some_at_a_time(scene: ScriptScene) -> None:
    """Thousands of them at once would keep the players of other zones waiting."""
    for number in range(4):
        scene.spawn("count = 0", f"Guard{number}", 70 + number)
    scripts = scene.scripts
    held = [file.environment for file in scripts.files._files.values() if file is not None]
    assert len(held) == 4
    scripts.keep(())
    gone = []
    while not scripts.files.collect_some(lambda: False):
        gone.append(sum(one.lua is None for one in held))
    assert gone[:4] == [1, 2, 3, 4]


def test_a_file_that_another_zone_uses_keeps_its_globals(scene: ScriptScene) -> None:
    guard = scene.spawn("count = 0 function hailed(NPC) count = count + 1 Say(NPC, count) end")
    assert scene.hail(guard) == [("Guard", "1")]
    scene.scripts.keep({"Guard.lua"})
    assert scene.hail(guard) == [("Guard", "2")]


def test_a_file_that_a_living_cast_uses_is_not_read_again(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a cast runs its script: reading that anew would keep everybody waiting."""
    scene.spawn("function cast(Caster) return 7 end", "Ward")
    scripts = scene.scripts
    environment = scripts.begin_apart("Ward.lua")
    assert environment is not None
    scripts.keep(())
    read = list[str]()
    monkeypatch.setattr(ScriptFolder, "read_file", lambda _folder, path: read.append(path))
    assert scripts.run_apart("Ward.lua", environment, "a cast", "cast").value == 7
    assert read == []
    scripts.end_apart("Ward.lua", environment)
    assert environment.lua is None
    monkeypatch.undo()
    scripts.keep(())
    again = scripts.begin_apart("Ward.lua")
    assert again is not None
    assert scripts.run_apart("Ward.lua", again, "a cast", "cast").value == 7


def test_who_has_no_foe_calls_nothing(scene: ScriptScene) -> None:
    wolf = scene.spawn("function aggro(NPC) Say(NPC, 'Grr') end", "Wolf")
    scene.heard()
    scene.scripts.provoked(Provoked(zone=scene.zone, spawn=wolf))
    assert scene.heard() == []
    scene.scripts.provoked(Provoked(zone=scene.zone, spawn=wolf, foe=scene.player.spawn))
    assert scene.heard() == [("Wolf", "Grr")]
