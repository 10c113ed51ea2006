"""Emotes, mood, posture and status words, as players use them."""

from __future__ import annotations

import pytest

from emu.world.actors.spawn import SITTING, STANDING, StateWord
from tests.support.world.worlds import WorldHarness


def test_an_unknown_emote_is_refused_and_all_are_listed(harness: WorldHarness) -> None:
    one = harness.stand(5)
    assert one.types("cannedemote fly") == ["there is no emote fly"]
    [line] = one.types("cannedemote")
    assert "wave" in line


def test_a_muted_player_shows_no_emote(harness: WorldHarness) -> None:
    one, near = harness.stand(5, name="Aldana"), harness.stand(6)
    harness.console("mute Aldana 10")
    assert one.types("cannedemote wave")[-1] == "you are muted"
    assert near.decoded("WS_CannedEmote") == []


def test_emotes_are_paced_like_speech(harness: WorldHarness) -> None:
    one = harness.stand(5)
    lines = [line for _ in range(100) for line in one.types("cannedemote wave")]
    assert "you speak too fast" in lines
    assert len(one.decoded("WS_CannedEmote")) < 100


def test_posture_and_mood_are_shown_to_others(harness: WorldHarness) -> None:
    one, near = harness.stand(5, name="Aldana"), harness.stand(6)
    for line, field, value in (
        ("sit", "visual_state", SITTING), ("stand", "visual_state", STANDING),
        ("mood happy", "mood_state", 11854), ("mood", "mood_state", 11855),
    ):  # fmt: skip
        one.types(line)
        harness.run(1.0)
        assert near.fields_of("Aldana")[field] == value
    assert "none of" in one.types("mood strange")[0]


def test_standing_up_stops_the_camp_timer(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.say("OP_RequestCampMsg", b"\0\0")
    one.types("stand")
    assert "OP_CampAbortedMsg" in [name for name, _ in one.log]


@pytest.mark.parametrize(
    ("command", "word"),
    [("anon", StateWord.ANONYMOUS), ("role", StateWord.ROLEPLAYING),
     ("lfg", StateWord.LOOKING_FOR_GROUP), ("lfw", StateWord.LOOKING_FOR_WORK)],
)  # fmt: skip
def test_status_words_are_switched(harness: WorldHarness, command: str, word: StateWord) -> None:
    one = harness.stand(5)
    states = []
    for line in (command, command, f"{command} on", f"{command} on", f"{command} off"):
        one.types(line)
        states.append(word in one.player.spawn.words)
    assert states == [True, False, True, True, False]


def test_an_anonymous_player_is_listed_without_level_class_and_zone(harness: WorldHarness) -> None:
    one, other = harness.stand(5, name="Aldana", level=9), harness.stand(6)
    guide = harness.stand(7, admin_status=50)
    one.types("anon")
    shown = {}
    for client in (one, other, guide):
        client.types("who aldana")
        [row] = client.decoded("WS_WhoQueryReply")[-1]["characters_array"]
        shown[client] = row["level"], bool(row["zone"])
    assert shown == {one: (9, True), other: (0, False), guide: (9, True)}
