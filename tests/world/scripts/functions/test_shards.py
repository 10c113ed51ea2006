"""Functions for the script of spirit shards.

The script has the form of the community's: eq2-lua.md 3 ("spirit shards"). Recorded
(fight-546-death-a, and the same at 1208 and 60114): who comes near its shard recovers it.
"""

from pathlib import Path

import pytest

from emu.content.figures import Figures
from emu.content.rules import BY_PROGRAM
from emu.world.actors.spawn import Spawn
from emu.world.combat.shards import RECOVER
from emu.world.scripts.functions.shards import SHARDS
from emu.world.scripts.host import SHARD_SCRIPT
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
FILE = "SpawnScripts/Generic/Shard.lua"
NAME = "Aldana's spirit shard"
SOURCE = """
function spawn(NPC)
    %s
    AddPrimaryEntityCommand(nil, NPC, "Recover Spirit Shard", 10.0, "recovershard", "", 0, 0, 1)
    SetAccessToEntityCommandByCharID(NPC, GetShardCharID(NPC), "recovershard", 1)
end

function recovershard(NPC, Spawn)
    if GetCharacterID(Spawn) ~= GetShardCharID(NPC) then return end
    local share = GetRuleFlagFloat("R_Combat", "ShardDebtRecoveryPercent") / 100
    local back = share * GetRuleFlagFloat("R_Combat", "DeathExperienceDebt") / 100
    SetInfoStructFloat(Spawn, "xp_debt", GetInfoStructFloat(Spawn, "xp_debt") - back)
    SendMessage(Spawn, "It is " .. GetShardCreatedTimestamp(NPC), "white")
    SendMessage(Spawn, tostring(DeleteDBShardID(GetShardID(NPC))), "white")
    SendMessage(Spawn, tostring(DeleteDBShardID(GetShardID(NPC))), "white")
    Despawn(NPC)
end
"""
NEAR = """
    if GetRuleFlagBool("R_Combat", "ShardRecoveryByRadius") then
        SetPlayerProximityFunction(NPC, 10.0, "recovershard")
    end
"""


def scene_with(folder: Path, source: str = SOURCE % "", version: int = 546) -> ScriptScene:
    (folder / FILE).parent.mkdir(parents=True)
    (folder / FILE).write_text(source, encoding="utf-8")
    return ScriptScene(folder, version, figures=Figures(rules={**BY_PROGRAM, SHARD_SCRIPT: FILE}))


def fall(scene: ScriptScene) -> None:
    scene.harness.parts.combat.kill_self(scene.player)
    scene.harness.run(3.0)


def shards(scene: ScriptScene) -> list[Spawn]:
    return [one for one in scene.zone if one.name == NAME]


def use(scene: ScriptScene, spawn: Spawn) -> None:
    scene.client.types("revive")
    scene.go(1.0)
    scene.harness.run(1.0)
    index = scene.player.index_of(spawn)
    assert index is not None
    fields = {"spawn_id": index, "command": "recovershard"}
    layout = scene.client.dialect.layout("WS_EntityVerbsVerb")
    scene.client.say("OP_EntityVerbsVerbMsg", layout.encode(fields))
    scene.harness.run(1.0)


def texts(scene: ScriptScene) -> list[str]:
    return [one["text"] for one in scene.client.decoded("WS_DisplayText")]


def test_a_script_gives_the_debt_back(tmp_path: Path) -> None:
    scene = scene_with(tmp_path)
    fall(scene)
    (spawn,) = shards(scene)
    assert [(one.name, one.command) for one in spawn.verbs] == [(RECOVER, "recovershard")]
    (shard,) = scene.player.character.shards
    assert scene.player.character.experience_debt == 500
    use(scene, spawn)
    assert scene.player.character.experience_debt == 50
    assert texts(scene)[-3:] == [f"It is {int(shard.made)}", "true", "false"]
    assert shards(scene) == []
    assert scene.player.character.shards == ()
    assert scene.scripts.homes.of(scene.zone).bodies == {}
    scene.harness.run(1.0)
    assert scene.harness.store.rows[5].shards == ()


def test_nobody_else_may_use_its_verb(tmp_path: Path) -> None:
    scene = scene_with(tmp_path)
    other = scene.harness.stand(6, 546, name="Borvik")
    assert other.player is not None
    fall(scene)
    (spawn,) = shards(scene)
    (verb,) = spawn.verbs
    assert verb.is_for(scene.player.spawn)
    assert not verb.is_for(other.player.spawn)


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_who_comes_near_alive_recovers_it(tmp_path: Path, version: int) -> None:
    scene = scene_with(tmp_path, SOURCE % NEAR, version)
    fall(scene)
    assert len(shards(scene)) == 1, "a dead player comes near nothing"
    scene.client.types("revive")
    scene.player.teleport(PLACE._replace(x=PLACE.x + 50), scene.harness.now)
    scene.harness.run(5.0)
    assert len(shards(scene)) == 1
    scene.go(1.0)
    scene.harness.run(5.0)
    assert shards(scene) == []
    assert scene.player.character.experience_debt == 50


def test_other_spawns_are_no_shards(tmp_path: Path) -> None:
    scene = scene_with(tmp_path)
    asked = ("GetShardID(NPC)", "GetShardCharID(Spawn)", "GetShardCreatedTimestamp(nil)")
    assert scene.says("", *asked, "DeleteDBShardID(257)") == ["0", "0", "0", "false"]


def test_without_the_file_of_the_rule_the_server_gives_the_debt_back(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, figures=Figures(rules={**BY_PROGRAM, SHARD_SCRIPT: FILE}))
    fall(scene)
    (spawn,) = shards(scene)
    assert [(one.name, one.command) for one in spawn.verbs] == [(RECOVER, "")]


def test_a_shard_of_a_script_goes_with_its_owner(tmp_path: Path) -> None:
    scene = scene_with(tmp_path)
    fall(scene)
    scene.harness.service.closed(scene.player, scene.client, "the test", scene.harness.now)
    scene.harness.run(200.0)
    assert scene.harness.world.players.get(5) is None
    assert scene.harness.store.rows[5].shards[0].debt == 500
    again = scene.harness.stand(5)
    assert again.player is not None
    assert [one.name for one in again.player.zone if "shard" in one.name] == [NAME]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), SHARDS) == []
