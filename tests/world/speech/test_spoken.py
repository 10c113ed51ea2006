"""Spoken lines, gestures and sounds, in the bytes that were recorded at EQ2Emulator's server."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.world.speech.spoken import (
    SpokenLine,
    play_animation,
    play_gesture,
    play_line,
    play_sound,
    play_visual,
    play_voice,
    send_state,
)  # fmt: skip
from emu.world_stream.movement import Position
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

LINE = SpokenLine("They pinch!", gesture="agree")
NEWER = (
    "020000000000000000000e004562696b20576f62626c65636f6700000b00546865792070696e636821"
    "000005006167726565000000000000000000000100010000000001000000"
)
RECORDED = {
    546: "020000000000000000000e004562696b20576f62626c65636f6700000b00546865792070696e6368210000"
    "000000000000000000000001",
    561: "020000000000000000000e004562696b20576f62626c65636f6700000b00546865792070696e63682100"
    "000000000000000000000000000100010000000001000000",
    1096: NEWER,
    1208: NEWER,
    60114: NEWER,
}


def sent(scene: ScriptScene, name: str) -> list[str]:
    return [payload.hex() for one, payload in scene.client.log if one == name]


@pytest.mark.parametrize("version", RECORDED)
def test_a_spoken_line_has_the_recorded_bytes(tmp_path: Path, version: int) -> None:
    scene = ScriptScene(tmp_path, version)
    speaker = scene.spawn("", "Ebik Wobblecog")
    index = scene.player.index_of(speaker)
    assert index == 2
    play_line(speaker, [scene.player], LINE, scene.harness.world.knowledge)
    assert sent(scene, "OP_EqHearPlayFlavorCmd") == [RECORDED[version]]
    # To older clients the gesture is an emote of its own.
    emotes = ["0200000000003e0000000000"] if version <= 561 else []
    assert sent(scene, "OP_EqCannedEmoteCmd") == emotes


def test_nothing_is_sent_of_a_spawn_that_the_client_does_not_have(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    far = scene.spawn("", "Far")
    scene.go(2000.0)
    scene.harness.run(5.0)
    assert scene.player.index_of(far) is None
    before = len(scene.client.log)
    play_line(far, [scene.player], LINE, scene.harness.world.knowledge)
    play_gesture(far, [scene.player], "agree")
    play_animation(far, [scene.player], 62)
    play_voice(far, [scene.player], "a.mp3", (1, 2))
    play_visual(far, [scene.player], 7)
    send_state(far, [scene.player], 5)
    assert len(scene.client.log) == before


def test_a_gesture_that_is_no_emote_has_an_animation(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    guard = scene.spawn("")
    for name in ("orate", "converse_female01", "1h_sword_attack"):
        play_gesture(guard, [scene.player], name)
    shown = [one["anim_type"] for one in scene.client.decoded("WS_CannedEmote")]
    assert shown == [401, 2968, 1026]


def test_an_unknown_gesture_is_not_shown(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    play_gesture(scene.spawn(""), [scene.player], "no such gesture")
    assert sent(scene, "OP_EqCannedEmoteCmd") == []


@pytest.mark.parametrize("version", [546, 1208])
def test_sounds_have_the_recorded_bytes(tmp_path: Path, version: int) -> None:
    scene = ScriptScene(tmp_path, version)
    play_sound([scene.player], "coin_cha_ching")
    tail = "" if version == 546 else "00000000"
    assert sent(scene, "OP_EqPlaySoundCmd") == ["0e00636f696e5f6368615f6368696e67" + tail]
    play_sound([scene.player], "sounds/ui/shard_absorb.wav", Position(1.0, 2.0, -4.0, 0.0))
    assert sent(scene, "OP_EqPlaySound3DCmd") == [
        (
            "1a00736f756e64732f75692f73686172645f6162736f72622e776176"
            "0000803f00000040000080c00000803f0000204000007041"
        )
    ]


@pytest.mark.parametrize(("version", "visual"), [(546, 70000 & 0xFFFF), (1208, 70000)])
def test_the_visual_of_a_spell_suits_its_version(tmp_path: Path, version: int, visual: int) -> None:
    scene = ScriptScene(tmp_path, version)
    caster = scene.spawn("")
    play_visual(caster, [scene.player], 70000, 1.5)
    (cast,) = scene.client.decoded("WS_HearSpellCast")
    assert (cast["spawn_id"], cast["visual"], cast["seconds"]) == (2, visual, 1.5)
    assert cast["target_array"] == [{"target": 2}]
