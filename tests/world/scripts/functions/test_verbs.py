"""Verbs that scripts add, remove and allow, as clients are shown and use them."""

from dataclasses import replace
from pathlib import Path

import pytest

from emu.world.actors.spawn import Spawn
from emu.world.scripts.functions.verbs import VERBS
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.worlds import Client

pytest.importorskip("lupa", reason="the package lupa is not installed")


def menu(client: Client, spawn: Spawn) -> list[str]:
    assert client.player is not None
    index = client.player.index_of(spawn)
    assert index is not None
    client.say("OP_EntityVerbsRequestMsg", index.to_bytes(4, "little"))
    shown = client.decoded("WS_EntityVerbsResponse")[-1]
    return [verb["display_text"] for verb in shown["verbs_array"]]


def use(client: Client, spawn: Spawn, verb: str) -> None:
    assert client.player is not None
    index = client.player.index_of(spawn)
    assert index is not None
    layout = client.dialect.layout("WS_EntityVerbsVerb")
    client.say("OP_EntityVerbsVerbMsg", layout.encode({"spawn_id": index, "command": verb}))


def test_a_verb_is_added_used_and_removed(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddPrimaryEntityCommand(Spawn, NPC, "Search", 5, "", "Too far")
            AddPrimaryEntityCommand(Spawn, NPC, "Search", 5, "")
        end
        function casted_on(NPC, Spawn, command)
            Say(NPC, "You " .. command)
            RemovePrimaryEntityCommand(NPC, command)
        end""")
    scene.hail(guard)
    scene.harness.run(1.0)
    assert menu(scene.client, guard) == ["Push", "Buy", "Search"]
    use(scene.client, guard, "Search")
    assert scene.heard() == [("Guard", "You Search")]
    assert menu(scene.client, guard) == ["Push", "Buy"]
    use(scene.client, guard, "Search")
    assert scene.heard() == []


def test_a_player_without_access_has_no_verb(scene: ScriptScene) -> None:
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddPrimaryEntityCommand(Spawn, NPC, "Whisper", 5, "", "", 0, 0, 1)
            Say(NPC, tostring(SetAccessToEntityCommand(Spawn, NPC, "push", 0)))
            Say(NPC, tostring(SetAccessToEntityCommand(Spawn, NPC, "none", 0)))
            Say(NPC, tostring(SetAccessToEntityCommand(NPC, NPC, "push", 0)))
        end
        function casted_on(NPC, Spawn, command)
            SetAccessToEntityCommand(Spawn, NPC, "Push", 1)
            SetAccessToEntityCommand(Spawn, NPC, "Whisper", 1)
        end""")
    assert [text for _, text in scene.hail(guard)] == ["true", "false", "nil"]
    scene.harness.run(1.0)
    assert menu(scene.client, guard) == ["Buy", "Whisper"]
    assert menu(other, guard) == ["Push", "Buy"]
    use(scene.client, guard, "Whisper")
    assert menu(scene.client, guard) == ["Push", "Buy", "Whisper"]
    use(other, guard, "Push")
    assert menu(other, guard) == ["Push", "Buy", "Whisper"]


def test_a_verb_with_the_name_of_a_command_is_answered_by_the_script_only(
    scene: ScriptScene,
) -> None:
    """Even a game master who looks at a grate does not unlock the world."""
    scene.player.character = replace(scene.player.character, admin_status=200)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddPrimaryEntityCommand(Spawn, NPC, "Look", 5, "inspect")
            AddPrimaryEntityCommand(Spawn, NPC, "unlock the grate")
        end
        function casted_on(NPC, Spawn, command) Say(NPC, command) end""")
    scene.hail(guard)
    scene.shown()
    use(scene.client, guard, "inspect")
    use(scene.client, guard, "unlock the grate")
    assert [text for _, text in scene.heard()] == ["inspect", "unlock the grate"]
    assert scene.shown() == []


def test_all_verbs_go_and_all_spawns_get_one(scene: ScriptScene) -> None:
    first, second = scene.spawn("", "One", location=71), scene.spawn("", "Two", location=71)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddPrimaryEntityCommand(Spawn, NPC, "", 0, "")
            AddPrimaryEntityCommandAllSpawns(Spawn, 971, "Pick", 4)
            for i = 1, 200 do AddPrimaryEntityCommand(nil, NPC, "verb" .. i) end
        end""")
    scene.hail(guard)
    assert [verb.name for verb in first.verbs] == [verb.name for verb in second.verbs]
    assert (first.verbs[-1].name, first.verbs[-1].distance) == ("Pick", 4.0)
    assert len(guard.verbs) == 64


def test_a_verb_of_a_script_takes_its_time(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddPrimaryEntityCommand(Spawn, NPC, "Search", 5, "", "", 150, 35)
        end
        function casted_on(NPC, Spawn, command)
            Say(NPC, "You " .. command)
        end""")
    scene.hail(guard)
    scene.harness.run(1.0)
    use(scene.client, guard, "Search")
    assert scene.client.decoded("WS_HearSpellCast")[-1]["visual"] == 35
    scene.harness.run(1.4)
    assert scene.heard() == []
    scene.harness.run(0.2)
    assert scene.heard() == [("Guard", "You Search")]


def test_a_verb_becomes_the_first_one(scene: ScriptScene) -> None:
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(scene.player.position, scene.harness.now)
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SendUpdateDefaultCommand(NPC, 7, "Buy")
            SendUpdateDefaultCommand(NPC, 9, "Inspect")
            SendUpdateDefaultCommand(NPC, 9, "Whisper", Spawn)
            SendUpdateDefaultCommand(NPC, 9, "Push", Spawn)
            SendUpdateDefaultCommand(Spawn, 9, "Inspect")
            SendUpdateDefaultCommand(NPC, 9, "")
        end""")
    scene.hail(guard)
    scene.harness.run(1.0)
    assert menu(scene.client, guard) == ["Inspect", "Buy", "Push", "Whisper"]
    assert menu(other, guard) == ["Inspect", "Buy", "Push"]
    assert [verb.distance for verb in guard.verbs[:3]] == [9.0, 7.0, 10.0]
    assert scene.player.spawn.verbs == ()


def test_a_script_uses_a_verb_for_a_player(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            CastEntityCommand(Spawn, NPC, 1278, "Leash")
            CastEntityCommand(Spawn, NPC, 1278, "Push")
            CastEntityCommand(Spawn, NPC, 1278, "forbidden")
            CastEntityCommand(NPC, NPC, 1278, "Leash")
            CastEntityCommand(Spawn, nil, 1278, "Leash")
        end
        function can_use_command(NPC, Spawn, command) return command ~= "forbidden" end
        function casted_on(NPC, Spawn, command)
            Say(NPC, GetName(Spawn) .. " " .. command)
        end""")
    assert [text for _, text in scene.hail(guard)] == ["Aldana Leash", "Aldana push_it"]


def test_a_verb_that_uses_itself_ends(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) CastEntityCommand(Spawn, NPC, 1, "Again") end
        function casted_on(NPC, Spawn, command) CastEntityCommand(Spawn, NPC, 1, command) end""")
    scene.hail(guard)
    assert any("events inside of events" in line for line in scene.lines)


def test_access_by_the_number_of_a_character(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Say(NPC, tostring(SetAccessToEntityCommandByCharID(NPC, 5, "Push", 0)))
            Say(NPC, tostring(SetAccessToEntityCommandByCharID(NPC, 5, "none", 0)))
            Say(NPC, tostring(SetAccessToEntityCommandByCharID(NPC, 77, "Push", 0)))
            Say(NPC, tostring(SetAccessToEntityCommandByCharID(nil, 5, "Push", 0)))
        end""")
    assert [text for _, text in scene.hail(guard)] == ["true", "false", "false", "nil"]
    scene.harness.run(1.0)
    assert menu(scene.client, guard) == ["Buy"]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), VERBS) == []
