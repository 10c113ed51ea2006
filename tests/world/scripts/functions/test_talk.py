"""What scripts say: who hears it, and in which channel."""

from pathlib import Path

import pytest

from emu.content.figures import Figures
from emu.world.scripts.functions.talk import TALK
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.mark.parametrize(
    ("call", "channel"),
    [
        ('Say(NPC, "Hm")', "8"),
        ('Shout(NPC, "Hm")', "9"),
        ('Emote(NPC, "Hm", Spawn)', "10"),
        ('SayOOC(NPC, "Hm", Spawn)', "30"),
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


@pytest.mark.parametrize(
    ("color", "number"), [("redder", 3), ("yellow", 5), ("white", 12), ("22", 22)]
)
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


def test_a_spoken_line_is_no_chat(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            PlayFlavor(NPC, "voice.mp3", "Hm", "agree", 7, 8, Spawn)
            PlayFlavor(NPC, "", "To all", "", 0, 0)
        end""")
    other = scene.harness.stand(6, 1208, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    scene.harness.run(2.0)
    assert scene.hail(guard) == []
    first, second = scene.client.decoded("WS_HearPlayFlavor")
    assert (first["mp3"], first["text"], first["key1"], first["key2"]) == ("voice.mp3", "Hm", 7, 8)
    assert (first["name"], second["text"]) == ("Guard", "To all")
    assert [one["text"] for one in other.decoded("WS_HearPlayFlavor")] == ["To all"]


@pytest.mark.parametrize(("away", "heard"), [(29.0, 1), (31.0, 0)])
def test_a_spoken_line_to_all_is_heard_within_thirty_units(
    scene: ScriptScene, away: float, heard: int
) -> None:
    guard = scene.spawn("""
        function speak(NPC) PlayFlavor(NPC, "", "To all", "", 0, 0) end
        function hailed(NPC, Spawn) AddTimer(NPC, 1000, "speak") end""")
    scene.hail(guard)
    scene.go(away)
    scene.harness.run(1.5)
    assert len(scene.client.decoded("WS_HearPlayFlavor")) == heard


def test_a_longer_distance_reaches_farther_than_players_do(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function speak(NPC) Say(NPC, "near") Say(NPC, "far", nil, 60) end
        function hailed(NPC, Spawn) AddTimer(NPC, 1000, "speak") end""")
    scene.hail(guard)
    scene.go(50.0)
    scene.harness.run(1.5)
    assert [text for _, text in scene.heard()] == ["far"]


def test_an_emote_names_the_one_it_is_for(scene: ScriptScene) -> None:
    guard = scene.spawn("""function hailed(NPC, Spawn) Emote(NPC, "bows", NPC) end""")
    scene.hail(guard)
    assert scene.client.decoded("WS_HearChat")[-1]["to"] == "Guard"


def test_a_line_in_a_color_of_the_client(scene: ScriptScene) -> None:
    guard = scene.spawn("""function hailed(NPC, Spawn) DisplayText(Spawn, 34, "Hm") end""")
    scene.hail(guard)
    line = scene.client.decoded("WS_DisplayText")[-1]
    assert (line["color"], line["text"]) == (34, "Hm")


@pytest.mark.parametrize("version", [561, 1208])
def test_a_language_is_understood_by_those_who_know_it(tmp_path: Path, version: int) -> None:
    scene = ScriptScene(tmp_path, version)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Say(NPC, "a", Spawn, 30, 15) PlayFlavor(NPC, "", "b", "", 0, 0, Spawn, 15)
            AddLanguage(Spawn, 15)
            Say(NPC, "c", Spawn, 30, 15) PlayFlavor(NPC, "", "d", "", 0, 0, Spawn, 15)
            Say(NPC, "e")
        end""")
    scene.hail(guard)
    said = [one for one in scene.client.decoded("WS_HearChat") if one["from"] == "Guard"]
    played = scene.client.decoded("WS_HearPlayFlavor")
    understood = {one.get("message") or one["text"]: one["understood"] for one in (*said, *played)}
    assert understood == {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1}
    assert [one["language"] for one in played] == [15, 15]


def test_breaks_and_tabs_of_a_text_stay(scene: ScriptScene) -> None:
    guard = scene.spawn(r"""
        function hailed(NPC, Spawn)
            local answers = CreateConversation()
            AddConversationOption(answers, "So\tbe\r\nit.\7")
            StartConversation(answers, NPC, Spawn, "One\r\n\r\ntwo\tthree\0")
        end""")
    scene.hail(guard)
    (page,) = scene.dialogs()
    assert page["text"] == "One\r\n\r\ntwo\tthree "
    assert [one["response"] for one in page["response_array"]] == ["So\tbe\r\nit. "]


def test_a_line_of_the_content_file_is_garbled_for_those_who_lack_its_language(
    tmp_path: Path,
) -> None:
    row = {"file": "a.mp3", "text": "Hello.", "emote": "wave", "key1": 1, "key2": 2,
           "is_garbled": 0, "garbled_link": 0}  # fmt: skip
    other = row | {"file": "b.mp3", "text": "Grr.", "is_garbled": 1}
    figures = Figures(voices={(2, 100, 0): row, (2, 100, 1): other})
    scene = ScriptScene(tmp_path, figures=figures)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            PlayFlavorID(NPC, 2, 100, 0, Spawn) PlayFlavorID(NPC, 2, 100, 0, nil, 9)
            PlayFlavorID(NPC, 2, 100, 7, Spawn) PlayFlavorID(nil, 2, 100, 0, Spawn)
        end""")
    scene.hail(guard)
    lines = [(one["text"], one["mp3"], one["key2"])
             for one in scene.client.decoded("WS_HearPlayFlavor")]  # fmt: skip
    assert lines == [("Hello.", "a.mp3", 2), ("Grr.", "b.mp3", 2)]


def test_letters_are_stored_and_announced_once(scene: ScriptScene) -> None:
    letter = '"Ian", "Help", "Find me.", 0, 5, 1'
    assert scene.says(
        "", f"AddPlayerMail(Spawn, {letter})", f"AddPlayerMail(Spawn, {letter})",
        f"AddPlayerMail(NPC, {letter})", f"AddPlayerMailByCharID(0, {letter})",
        "AddPlayerMailByCharID(GetCharacterID(Spawn), 'Ian', 'Hello', 'You.')",
    ) == ["true", "true", "false", "false", "true"]  # fmt: skip
    scene.harness.run(1.0)
    harness = scene.harness
    mailbox = harness.stored.store.world.mail.open(
        0, scene.player.id, harness.command_context.mail.postage, harness.world.clock.moment()
    )
    assert sorted((one.sender, one.subject, one.coins) for one in mailbox.letters) == [
        ("Ian", "Hello", 0), ("Ian", "Help", 105),
    ]  # fmt: skip


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), TALK) == []
