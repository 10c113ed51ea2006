"""What scripts play and show, and to whom."""

from pathlib import Path

import pytest

from emu.world.scripts.functions.shows import SHOWS
from emu.world_stream.ghosts import CREATE_GHOST
from tests.support.world.ghost_views import View
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.worlds import Client

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path, 1208)


def stand_beside(scene: ScriptScene) -> Client:
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    scene.harness.run(2.0)
    return other


@pytest.mark.parametrize(
    ("call", "here", "beside"),
    [
        ("PlayAnimation(NPC, 62)", [62], [62]),
        ("PlayAnimation(NPC, 62, Spawn, 1)", [62], []),
        ("PlayAnimation(NPC, 62, Spawn, 2)", [], [62]),
        ("PlayAnimation(NPC, 62, NPC, 1)", [], []),
        ('PlayAnimationString(NPC, "agree")', [10745], [62]),
    ],
)
def test_animations(scene: ScriptScene, call: str, here: list[int], beside: list[int]) -> None:
    guard = scene.spawn(f"function hailed(NPC, Spawn) {call} end")
    other = stand_beside(scene)
    scene.hail(guard)
    for client, expected in ((scene.client, here), (other, beside)):
        shown = [one["anim_type"] for one in client.decoded("WS_CannedEmote")]
        assert shown == expected
    assert scene.lines == []


def test_sounds_and_voices(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            PlayVoice(NPC, "voice.mp3", 7, 8, Spawn)
            PlaySound(NPC, "bell", 0, 0, 0)
            PlaySound(NPC, "bell", 1, 2, 3, Spawn)
            ApplySpellVisual(NPC, 300)
            SendHearCast(Spawn, 301, 20, NPC, Spawn)
            Say(NPC, tostring(SendStateCommand(NPC, 11001)))
        end""")
    other = stand_beside(scene)
    assert scene.hail(guard) == [("Guard", "true")]
    (voice,) = scene.client.decoded("WS_PlayVoice")
    assert (voice["mp3"], voice["key1"], voice["key2"]) == ("voice.mp3", 7, 8)
    assert other.decoded("WS_PlayVoice") == []
    assert [one["name"] for one in other.decoded("WS_PlaySound")] == ["bell"]
    (sound,) = scene.client.decoded("WS_PlaySoundAt")
    assert (sound["x"], sound["y"], sound["z"]) == (1.0, 2.0, 3.0)
    casts = [(one["visual"], one["seconds"]) for one in scene.client.decoded("WS_HearSpellCast")]
    assert casts == [(300, 0.0), (301, 2.0)]
    assert scene.client.decoded("WS_StateCmd")[-1]["state"] == 11001


def test_windows(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SendPopUpMessage(Spawn, "Look there", 255, 0, 0)
            local window = CreateOptionWindow()
            AddOptionWindowOption(window, "Red", "A red one", 1, 2, "red", "Sure?")
            AddOptionWindowOption(window, "", "no name")
            SendOptionWindow(window, Spawn, "Which?", "none")
            SendOptionWindow(window, Spawn, "Twice", "none")
            InstructionWindow(Spawn, 5, "Walk", "", 0, 0, "walked", "Go", "Press W", "Stop", "Wait")
            InstructionWindowGoal(Spawn, 1)
            InstructionWindowClose(Spawn)
            ShowWindow(Spawn, "Bag", 1) FlashWindow(Spawn, "Bag", 2) EnableGameEvent(Spawn, "e", 1)
            PerformCameraShake(Spawn, 0.5, 1) SetServerControlFlag(Spawn, 1, 8, 1)
            Say(NPC, GetCoinMessage(10500) .. "." .. GetCoinMessage(0))
        end""")
    assert scene.hail(guard) == [("Guard", " 1 Gold 5 Silver.0 copper")]
    assert scene.client.decoded("WS_OnScreenMsg")[-1]["text"] == "Look there"
    (options,) = scene.client.decoded("WS_SelectOption")
    assert [one["name"] for one in options["options"]] == ["Red"]
    (window,) = scene.client.decoded("WS_InstructionWindow")
    assert [one["goal"] for one in window["goals"]] == ["Go", "Stop"]
    for struct in ("InstructionWindowGoal", "ShowWindow", "FlashWindow", "EnableGameEvent",
                   "CameraShake", "ServerControlFlags"):  # fmt: skip
        assert len(scene.client.decoded(f"WS_{struct}")) == 1, struct
    assert scene.client.log[-1][0] != "OP_EqInstructionWindowCloseCmd"
    assert scene.lines == []


# The first window of The Far Journey, recorded in real-entry-1208-start-fighter-priest.
def test_a_task_without_a_text_is_a_goal(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            InstructionWindow(Spawn, 10.0, "Welcome", "a.mp3", 5, 6, "introduction", "", "continue")
            InstructionWindow(Spawn, 10.0, "Alone")
        end""")
    scene.hail(guard)
    first, second = scene.client.decoded("WS_InstructionWindow")
    assert first["goals"] == [{"goal": "", "num_tasks": 1, "tasks": [{"task": "continue"}]}]
    assert (first["done_sound"], first["signal"]) == ("click", "introduction")
    assert second["goals"] == [{"goal": "", "num_tasks": 1, "tasks": [{"task": ""}]}]


def test_a_spawn_that_is_no_player_is_shown_nothing(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SendPopUpMessage(NPC, "a", 1, 2, 3) PerformCameraShake(nil, 1) ShowWindow(NPC, "a", 1)
            SendOptionWindow(CreateOptionWindow(), nil, "a") InstructionWindow(NPC, 5, "a")
            PlayAnimation(nil, 5) PlaySound(nil, "a") ApplySpellVisual(nil, 5)
            Say(NPC, "done")
        end""")
    before = len(scene.client.decoded("WS_OnScreenMsg"))
    assert scene.hail(guard) == [("Guard", "done")]
    assert len(scene.client.decoded("WS_OnScreenMsg")) == before
    assert scene.lines == []


@pytest.mark.parametrize(
    ("call", "wait", "shown"),
    [
        ("SetSpawnAnimation(NPC, 13016)", 3.0, 13016),
        ("SetSpawnAnimation(NPC, 13016)", 6.0, 0xFFFF),
        ("SetSpawnAnimation(NPC, 13016, 8000)", 6.0, 13016),
        ("SetSpawnAnimation(NPC, 13016) SetSpawnAnimation(NPC, 0)", 1.0, 0xFFFF),
        ("SetSpawnAnimation(nil, 13016)", 1.0, 0xFFFF),
    ],
)
def test_who_sees_a_spawn_first_is_shown_its_entrance(
    scene: ScriptScene, call: str, wait: float, shown: int
) -> None:
    guard = scene.spawn(f"function hailed(NPC, Spawn) {call} end")
    scene.hail(guard)
    scene.harness.run(wait)
    other = stand_beside(scene)
    view = View(other.dialect.version)
    made = [payload for name, payload in other.log if name == CREATE_GHOST]
    headers = [view.create(payload) for payload in made]
    animations = {view.fields(header["index"])["name"]: header["spawn_anim"] for header in headers}
    assert animations["Guard"] == shown
    assert animations["Aldana"] == 0xFFFF


def test_a_question_needs_a_text_and_what_its_answer_does(scene: ScriptScene) -> None:
    calls = (
        'NPC, Spawn, "", "Yes", "casted_on"', 'NPC, Spawn, "Well?", "Yes", ""',
        'nil, Spawn, "Well?", "Yes", "casted_on"', 'NPC, NPC, "Well?", "Yes", "casted_on"',
    )  # fmt: skip
    answers = scene.says("", *(f"CreateChoiceWindow({call})" for call in calls))
    assert answers == ["false"] * 4
    assert scene.client.decoded("WS_ChoiceWindow") == []


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), SHOWS) == []
