"""What scripts say: who hears it, and in which channel."""

from pathlib import Path

import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)


@pytest.mark.parametrize(
    ("call", "channel"),
    [
        ('Say(NPC, "Hm")', "8"),
        ('Shout(NPC, "Hm")', "9"),
        ('Emote(NPC, "Hm", Spawn)', "10"),
        ('PlayFlavor(NPC, "", "Hm", "wave", 0, 0, Spawn)', "8"),
        ('PlayFlavor(NPC, "", "Hm", "", 0, 0)', "8"),
    ],
)
def test_channels(scene: ScriptScene, call: str, channel: str) -> None:
    guard = scene.spawn(f"function hailed(NPC, Spawn) {call} end")
    scene.player.set_target(guard)
    scene.client.hears()
    scene.client.types("/hail")
    assert scene.client.hears()[1:] == [(channel, "Guard", "Hm")]


def test_who_hears_it(scene: ScriptScene) -> None:
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    guard = scene.spawn("""
        function hailed(NPC, Spawn) Say(NPC, "to you", Spawn) Say(NPC, "to all") end""")
    other.hears()
    assert [text for _, text in scene.hail(guard)] == ["to you", "to all"]
    assert [text for _, name, text in other.hears() if name == "Guard"] == ["to all"]


def test_a_far_player_hears_nothing_beyond_the_distance(scene: ScriptScene) -> None:
    guard = scene.spawn("""function hailed(NPC, Spawn) Say(NPC, "a", nil, 2) Say(NPC, "b") end""")
    scene.go(4.0)
    assert scene.hail(guard) == [("Guard", "b")]


@pytest.mark.parametrize(("color", "number"), [("red", 3), ("yellow", 5), ("white", 12)])
def test_lines_of_text(scene: ScriptScene, color: str, number: int) -> None:
    guard = scene.spawn(
        f'function hailed(NPC, Spawn) SendMessage(Spawn, "It is late", "{color}") end'
    )
    scene.hail(guard)
    line = scene.client.decoded("WS_DisplayText")[-1]
    assert (line["color"], line["text"]) == (number, "It is late")


def test_missing_handles_do_nothing(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Say(nil, "a") SendMessage(NPC, "a") FaceTarget(NPC, nil) CloseConversation(NPC, nil)
            PlayFlavor(nil, "", "a", "", 0, 0) StartConversation(nil, NPC, Spawn, "a")
            AddConversationOption(nil, "a")
            Say(NPC, "done")
        end""")
    assert scene.hail(guard) == [("Guard", "done")]
    assert scene.lines == []
