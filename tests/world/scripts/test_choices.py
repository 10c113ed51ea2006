"""Windows of options: what was offered, what was chosen, and clients without such a window."""

from pathlib import Path

import pytest

from emu.world.events import Chosen
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

OFFER = """
    function hailed(NPC, Spawn)
        local window = CreateOptionWindow()
        AddOptionWindowOption(window, " Leave", "You leave.", 0, 1, "leave")
        AddOptionWindowOption(window, " Stay", "You stay.", 0, 2, "Cancel")
        SendOptionWindow(window, Spawn, "Where to?", "Cancel")
    end
    function leave(NPC, Spawn) Say(NPC, "Safe ways, " .. GetName(Spawn)) end
    function secret(NPC, Spawn) Say(NPC, "You know too much") end"""


def test_a_choice_calls_the_function_of_the_script_once(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, 1208)
    scene.hail(scene.spawn(OFFER))
    scene.client.types("/select 0 leave")
    assert scene.heard() == [("Guard", "Safe ways, Aldana")]
    scene.client.types("/select 0 leave")
    assert scene.heard() == []
    assert scene.lines == []


def test_only_what_was_offered_can_be_chosen(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, 1208)
    scene.client.types("/select 0 leave")
    scene.hail(scene.spawn(OFFER))
    scene.client.types("/select 0 secret")
    assert scene.heard() == []
    assert scene.harness.world.faults.drops["choice not offered"] == 2
    scene.client.types("/select 0 Cancel")
    scene.client.types("/select 0 leave")
    assert scene.heard() == []


def test_the_script_of_the_window_answers_whoever_is_targeted_then(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, 1208)
    scene.hail(scene.spawn(OFFER))
    scene.player.set_target(scene.spawn('function leave(NPC) Say(NPC, "No") end', "Other", 71))
    scene.client.types("/select 0 leave")
    assert scene.heard() == [("Guard", "Safe ways, Aldana")]


def test_an_offer_ends_with_its_spawn_and_with_the_stay(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, 1208)
    guard = scene.spawn(OFFER)
    scene.hail(guard)
    scene.scripts.left(scene.player)
    scene.client.types("/select 0 leave")
    scene.hail(guard)
    scene.scripts.vanished(scene.zone, guard)
    scene.client.types("/select 0 leave")
    assert scene.heard() == []
    assert scene.harness.world.faults.drops["choice not offered"] == 2


@pytest.mark.parametrize("version", [546, 561])
def test_clients_without_the_window_are_shown_a_dialog(tmp_path: Path, version: int) -> None:
    scene = ScriptScene(tmp_path, version)
    guard = scene.spawn(OFFER)
    scene.hail(guard)
    (page,) = scene.dialogs()
    assert page["text"] == "Where to?\n\nLeave: You leave.\n\nStay: You stay."
    assert [row["response"] for row in page["response_array"]] == ["Leave", "Stay"]
    scene.answer(page["conversation_id"], 0)
    assert scene.heard() == [("Guard", "Safe ways, Aldana")]
    assert scene.closes() == [page["conversation_id"]]
    # A second answer comes too late.
    scene.answer(page["conversation_id"], 0)
    assert scene.heard() == []
    scene.hail(guard)
    again = scene.dialogs()[-1]["conversation_id"]
    scene.answer(again, 1)
    assert scene.closes()[-1] == again
    assert scene.heard() == []
    assert scene.lines == []


QUESTION = """
    function hailed(NPC, Spawn)
        Say(NPC, tostring(CreateChoiceWindow(
            NPC, Spawn, "How many?", "OK", "select", "No", "", 0, 1, 1, 14)))
        Say(NPC, tostring(GetChoiceSpawnID(Spawn, "select") == GetID(NPC)))
    end
    function casted_on(NPC, Spawn, answer)
        Say(NPC, "so " .. answer)
        Say(NPC, tostring(ClearChoice(Spawn, "select")))
    end"""


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_the_answer_to_a_question_is_passed_to_its_asker(tmp_path: Path, version: int) -> None:
    scene = ScriptScene(tmp_path, version)
    assert scene.hail(scene.spawn(QUESTION)) == [("Guard", "true"), ("Guard", "true")]
    (window,) = scene.client.decoded("WS_ChoiceWindow")
    assert (window["text"], window["accept_command"], window["longest"]) == (
        "How many?",
        "select",
        14,
    )
    scene.client.types("/select 7 and 3")
    assert scene.heard() == [("Guard", "so 7 and 3"), ("Guard", "true")]
    scene.client.types("/select 7 and 3")
    assert scene.heard() == []
    assert scene.harness.world.faults.drops["choice not offered"] == 1


def test_a_question_ends_with_its_spawn_and_with_the_stay(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    guard = scene.spawn(QUESTION)
    scene.hail(guard)
    scene.scripts.left(scene.player)
    scene.client.types("/select 7")
    scene.hail(guard)
    scene.scripts.vanished(scene.zone, guard)
    scene.client.types("/select 7")
    assert scene.heard() == []


def test_a_player_has_few_open_questions(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            local shown = 0
            for number = 1, 12 do
                if CreateChoiceWindow(NPC, Spawn, "?", "OK", "ask" .. number, "No", "") then
                    shown = shown + 1
                end
            end
            Say(NPC, shown)
        end""")
    assert scene.hail(guard) == [("Guard", "8")]


@pytest.mark.slow
def test_the_name_of_a_new_guild_is_passed_to_its_registrar(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            CreateChoiceWindow(NPC, Spawn, "Name?", "OK", "create guild", "No", "", 0, 1, 1, 41)
        end
        function casted_on(NPC, Spawn, name) Say(NPC, "Long live " .. name) end""")
    scene.hail(guard)
    scene.harness.world.events.publish(Chosen(scene.player, "create guild", "The Wölves"))
    ((_, text),) = scene.heard()
    assert text.encode("latin-1").decode("utf-8") == "Long live The Wölves"
