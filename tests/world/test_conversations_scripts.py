"""Conversations of scripts: pages, answers, numbers, and what closes a window."""

from pathlib import Path

import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

TALK = """
    function hailed(NPC, Spawn)
        conversation = CreateConversation()
        AddConversationOption(conversation, "Who are you?", "who")
        AddConversationOption(conversation, "")
        AddConversationOption(conversation, "Nothing.")
        AddConversationOption(conversation, "Bye.", "CloseConversation")
        AddConversationOption(conversation, "What?", "NoSuchFunction")
        StartConversation(conversation, NPC, Spawn, "Yes?", "voice.mp3", 7, 8)
        StartConversation(conversation, NPC, Spawn, "Twice")
        StartConversation(CreateConversation(), NPC, Spawn, "Without answers")
    end
    function who(NPC, Spawn)
        local page = CreateConversation()
        AddConversationOption(page, "I see.")
        StartConversation(page, NPC, Spawn, "A guard of level " .. GetLevel(NPC))
    end"""


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path, 1208)


def test_pages_of_a_talk_have_one_number(scene: ScriptScene) -> None:
    guard = scene.spawn(TALK)
    scene.hail(guard)
    (page,) = scene.dialogs()
    assert page["text"] == "Yes?"
    assert (page["voice"], page["key1"], page["key2"], page["closeable"]) == ("voice.mp3", 7, 8, 1)
    texts = [row["response"] for row in page["response_array"]]
    assert texts == ["Who are you?", "Nothing.", "Bye.", "What?"]
    scene.answer(page["conversation_id"], 0)
    second = scene.dialogs()[-1]
    assert second["text"] == "A guard of level 12"
    assert second["conversation_id"] == page["conversation_id"]
    assert scene.closes() == []


@pytest.mark.parametrize(("answer", "closes"), [(1, 1), (2, 1), (3, 0), (9, 1)])
def test_what_an_answer_closes(scene: ScriptScene, answer: int, closes: int) -> None:
    guard = scene.spawn(TALK)
    scene.hail(guard)
    number = scene.dialogs()[0]["conversation_id"]
    scene.answer(number, answer)
    assert scene.closes() == [number] * closes
    assert scene.lines == []


def test_a_talk_ends_with_its_speaker_or_by_the_player(scene: ScriptScene) -> None:
    guard = scene.spawn(TALK)
    scene.hail(guard)
    first = scene.dialogs()[0]["conversation_id"]
    scene.scripts.vanished(scene.zone, guard)
    assert len(scene.scripts.conversations) == 0
    scene.answer(first, 0)
    assert scene.closes() == [first]
    other = scene.spawn(TALK, "Other")
    scene.hail(other)
    number = scene.dialogs()[-1]["conversation_id"]
    scene.client.say("OP_DialogCloseMsg", number.to_bytes(4, "little"))
    scene.answer(number, 0)
    assert scene.closes() == [first, number]
    assert len(scene.dialogs()) == 2
    assert scene.heard() == []


def test_numbers_are_those_of_the_spawns_until_the_server_closes(scene: ScriptScene) -> None:
    one, other = scene.spawn(TALK, "One"), scene.spawn(TALK, "Other", 71)
    for guard in (one, other, one):
        scene.hail(guard)
    # The second answer has no function: the server closes that talk.
    scene.answer(1, 1)
    scene.hail(one)
    scene.client.say("OP_DialogCloseMsg", (2).to_bytes(4, "little"))
    scene.hail(other)
    assert [page["conversation_id"] for page in scene.dialogs()] == [1, 2, 1, 3, 2]
    assert scene.closes() == [1]


def test_an_answer_to_a_talk_that_does_not_exist_is_closed(scene: ScriptScene) -> None:
    scene.answer(77, 0)
    assert scene.closes() == [77]


@pytest.mark.parametrize(("kind", "speaker", "blue"), [(1, 0xFFFFFFFF, 1), (3, 1, 0)])
def test_windows_without_the_spawn(scene: ScriptScene, kind: int, speaker: int, blue: int) -> None:
    guard = scene.spawn(f"""
        function more(NPC, Spawn) Say(NPC, "More") end
        function hailed(NPC, Spawn)
            StartDialogConversation(CreateConversation(), {kind}, NPC, Spawn, "Hm?")
            local page = CreateConversation()
            AddConversationOption(page, "More?", "more")
            StartDialogConversation(page, {kind}, NPC, Spawn, "Well?")
            StartDialogConversation(page, 2, NPC, Spawn, "An item's")
            StartDialogConversation(page, {kind}, NPC, Spawn, "")
        end""")
    scene.hail(guard)
    first, second = scene.dialogs()
    assert (first["num_responses"], first["text"], second["text"]) == (0, "Hm?", "Well?")
    assert (second["spawn_id"], second["enable_blue_ui"]) == (speaker, blue)
    scene.answer(second["conversation_id"], 0)
    assert scene.heard() == [("Guard", "More")]


def test_a_player_has_a_limited_number_of_talks(scene: ScriptScene) -> None:
    name = scene.script(TALK)
    for number in range(18):
        scene.hail(scene.place(name, f"Guard {number}", 70 + number))
    numbers = [one["conversation_id"] for one in scene.dialogs()]
    for number in numbers:
        scene.answer(number, 3)
    assert scene.closes() == numbers[:2], "an answer to a talk that is known closes nothing"
