"""The patterns of the community's scripts, each as a small script of our own, seen by a client.

Patterns of items and spells wait for these subjects; `WAITING` names them. Those of made
spawns, verbs and passages are in test_spawns, test_events and test_travel.
"""

from __future__ import annotations

import math

import pytest

from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

WAITING = ("SetAAInfo", "SetRailID")
"""Functions of subjects that this server does not have."""


def hailed(body: str) -> str:
    return f"function hailed(NPC, Spawn) {body} end"


TALK = """
    function hailed(NPC, Spawn)
        local page = CreateConversation()
        AddConversationOption(page, "More?", "more")
        AddConversationOption(page, "No.")
        AddConversationOption(page, "Bye.", "CloseConversation")
        AddConversationOption(page, "Hm?", "Gone")
        StartConversation(page, NPC, Spawn, "One")
        StartConversation(page, NPC, Spawn, "The same list again")
        StartConversation(CreateConversation(), NPC, Spawn, "No answers")
    end
    function more(NPC, Spawn)
        local page = CreateConversation()
        AddConversationOption(page, "Bye.")
        StartConversation(page, NPC, Spawn, "Two")
    end"""


@pytest.mark.parametrize("source", ["", "-- nothing\n", "--[[ long\n]]"])
def test_1_a_file_without_events(scene: ScriptScene, source: str) -> None:
    assert scene.hail(scene.spawn(source)) == []
    assert scene.lines == []


def test_2_carriage_returns_and_bytes_of_windows(scene: ScriptScene) -> None:
    guard = scene.spawn(b"function hailed(NPC)\r\nSay(NPC, '\x93Hm\x94')\r\nend")
    assert scene.hail(guard) == [("Guard", "“Hm”".encode().decode("latin-1"))]


def test_3_a_file_that_does_not_parse(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC) Say(NPC, 'Hm end")
    assert scene.hail(guard) == scene.hail(guard) == []
    assert len(scene.lines) == 1


def test_4_and_27_fields_of_a_spawn(scene: ScriptScene) -> None:
    name = scene.script("""
        function spawn(NPC)
            SpawnSet(NPC, "visual_state", 5864) SpawnSet(NPC, "level", 30)
            SpawnSet(NPC, "skin_color", "1 2 3") SpawnSet(NPC, "no_such_field", 1)
        end
        function respawn(NPC) spawn(NPC) end""")
    for number, is_back in enumerate((False, True)):
        spawn = scene.place(name, f"Guard {number}", 70 + number, is_back=is_back)
        fields = scene.client.fields_of(spawn.name)
        assert (fields["visual_state"], fields["level"]) == (5864, 30), is_back
    assert scene.lines == []


def test_5_a_turn_and_a_name(scene: ScriptScene) -> None:
    guard = scene.spawn(hailed("FaceTarget(NPC, Spawn) Say(NPC, GetName(Spawn) .. '!')"))
    assert scene.hail(guard) == [("Guard", "Aldana!")]
    assert guard.position.heading == guard.position.heading_to(scene.player.position)


def test_6_a_spoken_line_for_one(scene: ScriptScene) -> None:
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    guard = scene.spawn(hailed("PlayFlavor(NPC, 'a.mp3', 'Hm', 'agree', 7, 8, Spawn)"))
    scene.hail(guard)
    (line,) = scene.client.decoded("WS_HearPlayFlavor")
    assert (line["mp3"], line["text"], line["key1"], line["key2"]) == ("a.mp3", "Hm", 7, 8)
    assert [one["anim_type"] for one in scene.client.decoded("WS_CannedEmote")] == [62]
    assert other.decoded("WS_HearPlayFlavor") == other.decoded("WS_CannedEmote") == []


@pytest.mark.parametrize("choice", ["math.random(1, 4)", "MakeRandomInt(1, 4)"], ids=["7", "8"])
def test_7_and_8_one_of_four_lines(scene: ScriptScene, choice: str) -> None:
    # All seeds of one second are the same: they must not make all choices the same.
    guard = scene.spawn(hailed(f"math.randomseed(1) Say(NPC, {choice})"))
    texts = {text for _ in range(60) for _, text in scene.hail(guard)}
    assert texts == {"1", "2", "3", "4"}


def test_9_pages_of_a_conversation(scene: ScriptScene) -> None:
    scene.hail(scene.spawn(TALK))
    scene.answer(1, 0)
    scene.answer(1, 0)
    assert [(page["text"], page["conversation_id"]) for page in scene.dialogs()] == [
        ("One", 1), ("Two", 1),
    ]  # fmt: skip
    assert scene.closes() == [1]


@pytest.mark.parametrize(("answer", "closes"), [(1, [1]), (2, [1]), (3, [])])
def test_10_to_12_answers_without_a_page(
    scene: ScriptScene, answer: int, closes: list[int]
) -> None:
    scene.hail(scene.spawn(TALK))
    scene.answer(1, answer)
    assert scene.closes() == closes
    assert (len(scene.dialogs()), scene.lines) == (1, [])


def test_13_one_window_for_each_list(scene: ScriptScene) -> None:
    scene.hail(scene.spawn(TALK))
    assert [page["text"] for page in scene.dialogs()] == ["One"]


@pytest.mark.parametrize(("kind", "speaker"), [(1, 0xFFFFFFFF), (3, 1)])
def test_14_windows_without_the_spawn(scene: ScriptScene, kind: int, speaker: int) -> None:
    scene.hail(scene.spawn(hailed(f"StartDialogConversation(nil, {kind}, NPC, Spawn, 'Hm')")))
    (page,) = scene.dialogs()
    assert (page["spawn_id"], page["num_responses"]) == (speaker, 0)


@pytest.mark.parametrize(("level", "text"), [(1, "Grow up"), (20, "Go on")])
def test_15_a_module_that_chooses_by_level(scene: ScriptScene, level: int, text: str) -> None:
    scene.script(
        """
        Dialog = { pages = {} }
        function Dialog.Add(text, least)
            table.insert(Dialog.pages, { text = text, least = least })
        end
        function Dialog.Start(NPC, Spawn)
            for _, page in ipairs(Dialog.pages) do
                if GetLevel(Spawn) >= page.least then
                    local answers = CreateConversation()
                    AddConversationOption(answers, "Bye.")
                    StartConversation(answers, NPC, Spawn, page.text)
                    return
                end
            end
        end""",
        "SpawnScripts/Generic/Dialogs.lua",
    )
    guard = scene.spawn("""
        require "SpawnScripts/Generic/Dialogs"
        Dialog.Add("Go on", 10)
        Dialog.Add("Grow up", 0)
        function hailed(NPC, Spawn) Dialog.Start(NPC, Spawn) end""")
    scene.player.spawn.level = level
    scene.hail(guard)
    assert [page["text"] for page in scene.dialogs()] == [text]


def test_16_and_17_greetings_of_who_comes_near(scene: ScriptScene) -> None:
    scene.go(20.0)
    scene.spawn("""
        function spawn(NPC) SetPlayerProximityFunction(NPC, 10, "InRange", "LeaveRange") end
        function InRange(NPC, Spawn)
            if GetTempVariable(NPC, "greeted") ~= "yes" then
                PlayFlavor(NPC, "", "Hello", "", 0, 0, Spawn)
                SetTempVariable(NPC, "greeted", "yes")
                AddTimer(NPC, 20000, "again")
            end
        end
        function again(NPC) SetTempVariable(NPC, "greeted", "no") end
        function LeaveRange(NPC, Spawn) Say(NPC, "Bye") end""")

    def pass_by(away: float) -> int:
        scene.go(away)
        scene.harness.run(2.5)
        scene.go(20.0)
        scene.harness.run(2.5)
        return len(scene.client.decoded("WS_HearPlayFlavor"))

    assert [pass_by(away) for away in (11.0, 9.0, 9.0)] == [0, 1, 1]
    scene.harness.run(20.0)
    assert pass_by(9.0) == 2
    assert [text for _, text in scene.heard()] == ["Bye"] * 3


def test_18_a_place_of_a_zone_is_a_diamond(scene: ScriptScene) -> None:
    x, y, z = PLACE[:3]
    scene.zone_script(f"""
        function init_zone_script(Zone)
            SetLocationProximityFunction(Zone, {x}, {y}, {z}, 5, "here", "")
        end
        function here(Zone, Spawn) SendPopUpMessage(Spawn, "A place", 1, 2, 3) end""")
    popups = []
    for away in (3.0, 2.0):
        scene.player.teleport(PLACE._replace(x=x + away, z=z + away), scene.harness.now)
        scene.harness.run(2.0)
        texts = [one["text"] for one in scene.client.decoded("WS_OnScreenMsg")]
        popups.append(texts.count("A place"))
    assert popups == [0, 1]


def test_19_a_timer_with_the_player(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function late(NPC, Spawn) Say(NPC, Spawn and GetName(Spawn) or "nobody") end
        function hailed(NPC, Spawn) AddTimer(NPC, 1000, "late", 1, Spawn) end""")
    scene.hail(guard)
    scene.harness.run(0.9)
    assert scene.heard() == []
    scene.harness.run(0.3)
    assert scene.heard() == [("Guard", "Aldana")]


def test_20_a_beat_until_it_is_stopped(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function spawn(NPC) AddTimer(NPC, 1000, "beat") end
        function beat(NPC) Say(NPC, "beat") AddTimer(NPC, 1000, "beat") end
        function hailed(NPC, Spawn) StopTimer(NPC, "beat") end""")
    scene.harness.run(2.6)
    before = len(scene.heard())
    assert before >= 3
    scene.hail(guard)
    scene.harness.run(5.0)
    assert scene.heard() == []


def test_21_and_22_a_timer_that_removes_its_spawn(scene: ScriptScene) -> None:
    gone = []
    scene.scripts.waits.despawn = lambda zone, spawn: (
        gone.append(spawn.name), zone.remove(spawn, scene.harness.now),
        scene.scripts.vanished(zone, spawn),
    )  # fmt: skip
    guard = scene.spawn("""
        function late(NPC) Say(NPC, "late") end
        function hailed(NPC) AddTimer(NPC, 1000, "Despawn") AddTimer(NPC, 2000, "late") end""")
    assert "Guard" in scene.client.sees()
    scene.hail(guard)
    scene.harness.run(5.0)
    assert "Guard" not in scene.client.sees()
    assert (scene.heard(), scene.lines) == ([], [])


def test_23_and_26_a_round_with_a_stay(scene: ScriptScene) -> None:
    x, y, z = PLACE[:3]
    guard = scene.spawn(f"""
        function spawn(NPC)
            for _, point in ipairs({{{{4, 0}}, {{4, 4}}, {{0, 4}}, {{0, 0}}}}) do
                local stays = point[1] == 4 and point[2] == 4 and 5 or 0
                MovementLoopAddLocation(NPC, {x} + point[1], {y}, {z} + point[2], 2, stays,
                    stays > 0 and "there" or "")
            end
        end
        function there(NPC) Say(NPC, "There") end""")
    places = []
    for _ in range(40):
        scene.harness.run(0.5)
        places.append(guard.position)
    assert max(math.dist((at.x, at.z), (x, z)) for at in places) <= math.dist((4, 4), (0, 0)) + 0.1
    corner = [at for at in places if math.dist((at.x, at.z), (x + 4, z + 4)) < 0.1]
    # Half a second each: at least nine of ten looks of the stay of five seconds.
    assert len(corner) >= 9
    assert ("Guard", "There") in scene.heard()


def test_28_another_spawn_answers(scene: ScriptScene) -> None:
    guard = scene.spawn(
        hailed("""
        local other = GetSpawnByLocationID(GetZone(NPC), 71)
        Say(NPC, "Well?") Say(other, "Well.")""")
    )
    other = scene.spawn("", "Other", location=71)
    assert scene.hail(guard) == [("Guard", "Well?"), ("Other", "Well.")]
    scene.scripts.vanished(scene.zone, other)
    assert scene.hail(guard) == [("Guard", "Well?")]


def test_31_two_spawns_share_the_globals_of_their_file(scene: ScriptScene) -> None:
    name = scene.script("count = 0 function hailed(NPC) count = count + 1 Say(NPC, count) end")
    spawns = [scene.place(name, f"Guard {number}", 70 + number) for number in range(2)]
    assert [text for spawn in spawns for _, text in scene.hail(spawn)] == ["1", "2"]


def test_34_to_39_wait_for_their_subjects(scene: ScriptScene) -> None:
    calls = " ".join(f"{name}(NPC)" for name in WAITING)
    guard = scene.spawn(hailed(f"{calls} Say(NPC, 'done')"))
    assert scene.hail(guard) == [("Guard", "done")]
    assert scene.scripts.stubs.keys() == set(WAITING)


@pytest.mark.parametrize(
    "body",
    [
        "while true do end",
        "local t = {} while true do t[#t + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
    ],
)
def test_40_what_never_ends(scene: ScriptScene, body: str) -> None:
    guard = scene.spawn(hailed(body))
    other = scene.spawn(hailed("Say(NPC, 'Yes?')"), "Other")
    for _ in range(4):
        assert scene.hail(guard) == []
        assert scene.hail(other) == [("Other", "Yes?")]
    assert scene.scripts.files.switched_off() == ["Guard.lua"]
    # One line for the error, and one for the file.
    assert len(scene.lines) == 2
