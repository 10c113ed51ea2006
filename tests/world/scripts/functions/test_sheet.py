"""What scripts set and ask of a sheet: fields, attributes, health and power, death."""

from pathlib import Path

import pytest

from emu.content.figures import Animation, Figures
from emu.world.actors.past import Past
from emu.world.actors.spawn import Idle
from emu.world.scripts.functions.sheet import SHEET
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_fields_by_name(scene: ScriptScene) -> None:
    assert scene.says(
        'SetInfoStructUInt(NPC, "primary_weapon_damage_low", 7.9)'
        ' SetInfoStructSInt(NPC, "hp_regen", -5) SetInfoStructFloat(NPC, "xp_debt", 1.5)'
        ' SetInfoStructString(NPC, "action_state", "ponder")',
        'GetInfoStructUInt(NPC, "primary_weapon_damage_low")',
        'GetInfoStructSInt(NPC, "hp_regen")',
        'GetInfoStructFloat(NPC, "xp_debt")',
        'GetInfoStructString(NPC, "action_state")',
        'SetInfoStructUInt(NPC, "no_such", 1)',
        'GetInfoStructUInt(NPC, "no_such")',
        'SetInfoStructUInt(NPC, "level", 90)',
        'GetInfoStructUInt(NPC, "level")',
        'GetInfoStructUInt(NPC, "class3")',
        'GetInfoStructString(Spawn, "name")',
        "SetInfoStructUInt(nil, 'hp_regen', 1)",
    ) == [
        "7", "-5", "1.5", "ponder", "false", "nil", "false", "12", "3", "Aldana", "false",
    ]  # fmt: skip


def test_the_class_that_a_quest_has_set_is_stored(scene: ScriptScene) -> None:
    # PlayerScripts/global.lua of content asks for it when level 10 is reached, maybe days later.
    assert scene.says(
        "",
        '#GetInfoStructString(Spawn, "adventure_class_selection")',
        'SetInfoStructString(Spawn, "adventure_class_selection", "qy-2")',
        'GetInfoStructString(Spawn, "adventure_class_selection")',
        '#GetInfoStructString(NPC, "adventure_class_selection")',
    ) == ["0", "true", "qy-2", "0"]
    scene.harness.run(5.0)
    stored = scene.harness.store.rows[scene.player.character.id].past
    assert Past(stored).kept("adventure_class_selection") == "qy-2"


@pytest.mark.parametrize(
    ("version", "shown"),
    # The first number at 546 and 1208 is recorded: a Gruttooth laborer of the Isle of Refuge in
    # content-546-IsleRefuge1 and content-1208-IsleRefuge1.
    [(546, (2807, 0)), (1208, (11616, 0)), (60114, (11616, 0)), (64753, (11616, 0))],
)
def test_an_idle_animation_has_the_number_of_the_clients_version(
    tmp_path: Path, version: int, shown: tuple[int, int]
) -> None:
    chopping = (Animation(2807, 1, 561), Animation(11616, 60085, 60114))
    figures = Figures(
        animations={"forestry_chopping": chopping, "sit": (Animation(7, 0, 0xFFFFFFFF),)}
    )
    scene = ScriptScene(tmp_path, version, figures=figures)
    guard = scene.spawn("""
        names = {"Forestry_Chopping", "none", "sit"}
        turn = 0
        function hailed(NPC, Spawn)
            turn = turn + 1
            SetInfoStructString(NPC, "action_state", names[turn])
        end""")
    seen = []
    for _ in range(3):
        scene.hail(guard)
        scene.harness.run(1.0)
        seen.append(scene.client.fields_of("Guard").get("action_state", 0))
    assert seen == [*shown, 7]


def test_clients_before_an_idle_animation_show_the_number_of_the_row() -> None:
    idle = Idle(((18581, 1045, 60114),))
    assert (idle.state_in(546), idle.state_in(1045), idle.state_in(64753)) == (None, 18581, 18581)


def test_attributes(scene: ScriptScene) -> None:
    assert scene.says(
        'SetInfoStructFloat(NPC, "str", 34) SetStrBase(NPC, 30) SetIntBase(NPC, 31)',
        "GetStr(NPC)", "GetStrBase(NPC)", "GetIntBase(NPC)", "GetSta(NPC)", "GetStr(nil)",
    ) == ["34", "30", "31", "20", "nil"]  # fmt: skip


def test_health_and_power(scene: ScriptScene) -> None:
    assert scene.says(
        "ModifyMaxHP(NPC, 500) ModifyHP(NPC, 500) SetMaxHPBase(NPC, 400) ModifyHP(NPC, -100)"
        " SetPower(NPC, 900) ModifyPower(NPC, -5000)",
        "GetHP(NPC)", "GetCurrentHP(NPC)", "GetMaxHP(NPC)", "GetMaxHPBase(NPC)",
        "GetPCTOfHP(NPC, 10)", "GetPower(NPC)", "GetMaxPower(NPC)", "GetHP(nil)",
    ) == ["300", "300", "400", "400", "40", "0", "900", "nil"]  # fmt: skip


def test_a_power_below_the_most_leaves_the_most(scene: ScriptScene) -> None:
    """Worn things may add to the most: what is above the base is not above the most."""
    power = scene.player.spawn.sheet.power
    assert power.base == power.most
    scene.player.spawn.sheet.put_bonuses("a ring", {"power": 100.0})
    most = scene.player.spawn.sheet.power.most
    assert most == power.base + 100
    scene.says(f"SetPower(Spawn, {most - 10})")
    assert (power.current, power.most) == (most - 10, most)


def test_others_are_shown_the_health(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) ModifyHP(NPC, -91) end")
    scene.hail(guard)
    scene.harness.run(1.0)
    assert scene.client.fields_of("Guard")["hp_remaining"] == 100 ^ 49


def test_nobody_dies_of_a_change(scene: ScriptScene) -> None:
    assert scene.says("ModifyHP(NPC, -100000)", "GetHP(NPC)", "IsAlive(NPC)") == ["1", "true"]


def test_a_player_is_sent_its_sheet(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) ModifyHP(Spawn, -10) ModifyHP(Spawn, -10) end""")
    before = scene.player.spawn.sheet.health.current
    sheets = scene.client.names.count("OP_UpdateCharacterSheetMsg")
    scene.hail(guard)
    scene.harness.run(0.2)
    assert scene.player.spawn.sheet.health.current == before - 20
    assert scene.client.names.count("OP_UpdateCharacterSheetMsg") == sheets + 1


def test_invulnerable(scene: ScriptScene) -> None:
    assert scene.says(
        "SetInvulnerable(NPC, true)", "IsInvulnerable(NPC)", "IsInvulnerable(Spawn)"
    ) == ["true", "false"]


def test_fights(scene: ScriptScene) -> None:
    assert scene.says(
        "SetInCombat(NPC, true) SetInCombat(Spawn, true)", "IsInCombat(NPC)",
        "IsInCombat(Spawn)", "IsInCombat(nil)",
    ) == ["true", "false", "nil"]  # fmt: skip


def test_a_script_ends_the_auto_attack_of_a_player(scene: ScriptScene) -> None:
    """A beaten sparring partner does, and no line says so.

    Recorded: real-quests-546-QueensColony-fighter, from 67.7 s on.
    """
    partner = scene.spawn("function hailed(NPC, Spawn) SetInCombat(Spawn, false) end")
    fights, player = scene.harness.parts.combat.fights, scene.player
    fights.start(player)
    read = len(scene.client.decoded("WS_DisplayText"))
    assert fights.is_attacking(player.spawn)
    scene.hail(partner)
    assert not fights.is_attacking(player.spawn)
    assert "auto_attack" not in fights.sheet_fields(player)
    assert len(scene.client.decoded("WS_DisplayText")) == read


def test_a_killed_creature_dies_once_and_its_body_goes(scene: ScriptScene) -> None:
    zone = scene.player.zone
    guard = scene.spawn("""
        function hailed(NPC, Spawn) KillSpawn(NPC, Spawn) KillSpawn(NPC) end
        function death(NPC, Killer)
            Say(NPC, "Slain by " .. GetName(Killer) .. tostring(IsAlive(NPC)))
            ModifyHP(NPC, 100)
        end""")
    assert [text for _, text in scene.hail(guard)] == ["Slain by Aldanafalse"]
    assert (guard.hp_percent, guard.attackable, "corpse" in guard.words) == (0, False, True)
    scene.harness.run(9.5)
    assert zone.spawn(guard.id) is guard
    scene.harness.run(1.0)
    assert zone.spawn(guard.id) is None


def test_the_last_of_a_group_is_reported(scene: ScriptScene) -> None:
    name = scene.script("function group_dead(NPC, Killer) Say(NPC, 'All of us') end")
    spawns = [scene.place(name, "One"), scene.place(name, "Two", location=71)]
    for spawn in spawns:
        body = scene.scripts.body_of(spawn, scene.zone)
        assert body is not None
        body.home.set_group(body, 4)
    killer = scene.spawn(
        """
        function hailed(NPC, Spawn) KillSpawnByDistance(NPC, 20) end""",
        "Killer",
        location=72,
    )
    assert scene.hail(killer) == [("Two", "All of us")]
    assert killer.hp_percent == 100


def test_a_killed_player_lies_dead_and_is_offered_a_way_back(scene: ScriptScene) -> None:
    guard = scene.spawn(
        "function hailed(NPC, Spawn) KillSpawn(Spawn, nil, 1)"
        " Say(NPC, tostring(IsAlive(Spawn))) end"
    )
    assert [text for _, text in scene.hail(guard)] == ["false"]
    assert (scene.player.spawn.hp_percent, "corpse" in scene.player.spawn.words) == (0, True)
    assert scene.client.decoded("WS_DeathWindow")


def test_players_die_by_distance_only_if_the_script_says_so(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) KillSpawnByDistance(NPC, 20, 0) end
        function hear_say(NPC, Spawn) KillSpawnByDistance(NPC, 20, 1) end""")
    scene.hail(guard)
    assert scene.player.spawn.hp_percent == 100
    scene.client.types("say die")
    scene.harness.run(0.5)
    assert scene.player.spawn.hp_percent == 0


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_a_blow_of_a_script_is_shown_with_its_name(tmp_path: Path, version: int) -> None:
    """As EQ2Emulator's DamageSpawn: the amount, the kind and the name of the script."""
    scene = ScriptScene(tmp_path, version)
    guard = scene.spawn(
        "function hailed(NPC, Spawn)"
        " DamageSpawn(Spawn, Spawn, 192, 3, 15, 15, 'Lava Burn', 0, 0, 1, 1) end"
    )
    scene.hail(guard)
    (blow,) = scene.client.decoded("WS_HearSimpleDamage")
    assert (blow["attacker"], blow["defender"]) == (1, 1), "its own ghost"
    hurt = blow["dmg_array"][0] if "dmg_array" in blow else blow
    assert (hurt["damage"], hurt["damage_type"]) == (15, 3)
    assert blow["spell_name"] == "Lava Burn"


def test_who_has_no_health_left_dies_of_damage(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetMaxHP(NPC, 100) SetHP(NPC, 100) SetMaxHP(Spawn, 100) SetHP(Spawn, 100)
            Say(NPC, tostring(DamageSpawn(NPC, Spawn, 192, 3, 30, 30, "Fire!", 0, 0, 1, 1)))
            Say(NPC, GetHP(Spawn))
            DamageSpawn(Spawn, NPC, 192, 3, 10, 20, "Fire!")
            Say(NPC, tostring(GetHP(NPC) <= 90 and GetHP(NPC) >= 80))
            SetInvulnerable(NPC, true)
            Say(NPC, tostring(DamageSpawn(Spawn, NPC, 192, 3, 10, 20, "Fire!")))
            SetInvulnerable(NPC, false)
            DamageSpawn(Spawn, NPC, 192, 3, 500, 500, "Fire!")
            DamageSpawn(Spawn, Spawn, 192, 3, 500, 500, "Fire!")
        end
        function death(NPC, Spawn) Say(NPC, "dead of " .. GetName(Spawn)) end""")
    said = [text for _, text in scene.hail(guard)]
    assert said == ["true", "70", "true", "false", "dead of Aldana"]
    assert scene.player.spawn.hp_percent == 0


def test_a_script_may_change_the_damage(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetMaxHP(NPC, 100) SetHP(NPC, 100)
            DamageSpawn(Spawn, NPC, 192, 3, 10, 10)
            Say(NPC, GetHP(NPC))
            local power = GetPower(NPC)
            DamageSpawn(Spawn, NPC, 192, 3, 3, 3, "Drain", 0, 0, 1, 1, 1)
            Say(NPC, GetHP(NPC) .. " " .. power - GetPower(NPC))
        end
        function healthchanged(NPC, Spawn, damage) return damage * 5 end""")
    assert [text for _, text in scene.hail(guard)] == ["50", "50 3"]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), SHEET) == []
