"""Windows that scripts show: what a client of each age decodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.world.speech import windows
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.mark.parametrize(("text", "seconds"), [("Hello", 5.0), ("one two three four five six", 6)])
def test_a_popup_stays_a_second_for_each_word(tmp_path: Path, text: str, seconds: float) -> None:
    scene = ScriptScene(tmp_path)
    windows.popup(scene.player, text, (255, 300, 3))
    shown = scene.client.decoded("WS_OnScreenMsg")[-1]
    assert (shown["text"], shown["size"], shown["message_type"]) == (
        text, seconds, "ui_harvested_normal",
    )  # fmt: skip
    assert (shown["red"], shown["green"], shown["blue"]) == (255, 44, 3)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "windows_sent"), [(546, 0), (1208, 1), (60114, 1)])
def test_options_are_sent_to_versions_that_have_them(
    tmp_path: Path, version: int, windows_sent: int
) -> None:
    scene = ScriptScene(tmp_path, version)
    rows = [windows.OfferedOption("Red", "A red one", 3, 9, "choose_red", "Red, really?")]
    windows.choose(scene.player, "Which?", rows, "none")
    if not windows_sent:
        assert scene.player.client.drops
        return
    (shown,) = scene.client.decoded("WS_SelectOption")
    assert (shown["title"], shown["cancel_command"]) == ("Which?", "none")
    (row,) = shown["options"]
    assert (row["name"], row["icon"], row["sheet"], row["command"], row["question"]) == (
        "Red", 9, 3, "choose_red", "Red, really?",
    )  # fmt: skip


@pytest.mark.parametrize(("given", "shown"), [(0.0, 2.0), (7.5, 7.5), (-1.0, -1.0)])
def test_an_instruction_stays_at_least_two_seconds(
    tmp_path: Path, given: float, shown: float
) -> None:
    scene = ScriptScene(tmp_path)
    goals = (("Go", "Press W"), ("Stop", ""))
    instruction = windows.Instruction(given, "Walk", "a.mp3", (1, 2), "walked", goals)
    windows.instruct(scene.player, instruction)
    (window,) = scene.client.decoded("WS_InstructionWindow")
    assert (window["most_seconds"], window["signal"], window["voice"]) == (shown, "walked", "a.mp3")
    decoded = [(one["goal"], [task["task"] for task in one["tasks"]]) for one in window["goals"]]
    assert decoded == [("Go", ["Press W"]), ("Stop", [""])]
    windows.mark_goal(scene.player, 1)
    assert scene.client.decoded("WS_InstructionWindowGoal") == [{"number": 1}]
    windows.end_instruction(scene.player)
    assert scene.client.log[-1] == ("OP_EqInstructionWindowCloseCmd", b"")


@pytest.mark.parametrize("version", [546, 1208])
def test_control_flags_in_one_of_five_bytes(tmp_path: Path, version: int) -> None:
    scene = ScriptScene(tmp_path, version)
    for byte in (0, 1, 2, 6):
        windows.set_control_flags(scene.player, byte, 16, 1)
    flags = scene.client.decoded("WS_ServerControlFlags")
    if version == 546:
        assert [(one["parameter"], one["value"]) for one in flags] == [(16, 1), (0, 1)]
    else:
        assert [one["parameters"] for one in flags] == [[16, 0, 0, 0, 0], [0, 16, 0, 0, 0]]


def test_windows_of_the_client(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, 1208)
    windows.show_window(scene.player, "Bag", is_open=True)
    windows.flash_window(scene.player, "Bag", 2.5)
    windows.enable_event(scene.player, "jump", is_on=False)
    windows.shake_camera(scene.player, 0.5, 3)
    assert scene.client.decoded("WS_ShowWindow") == [{"window": "Bag", "show": 1}]
    assert scene.client.decoded("WS_FlashWindow") == [{"window": "Bag", "seconds": 2.5}]
    assert scene.client.decoded("WS_EnableGameEvent") == [{"event": "jump", "enabled": 0}]
    assert scene.client.decoded("WS_CameraShake") == [{"strength": 0.5, "direction": 3}]
