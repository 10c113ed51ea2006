"""Plain facts about spawns, characters, zones and the clock."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emu.content.figures import Figures
from emu.content.population import Surroundings
from emu.times import Moment
from emu.world.clock import SECONDS_PER_MINUTE, game_time
from emu.world.scripts.functions.facts import FACTS, is_night
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def says(scene: ScriptScene, value: str) -> str:
    guard = scene.spawn(f"function hailed(NPC, Spawn) Say(NPC, tostring({value})) end")
    ((_, text),) = scene.hail(guard)
    return text


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("CompareSpawns(NPC, GetTarget(Spawn))", "true"), ("CompareSpawns(NPC, Spawn)", "false"),
        ("CompareSpawns(nil, nil)", "false"), ("GetID(nil)", "nil"),
        ("GetID(NPC) == GetID(Spawn)", "false"), ("GetSpawnLocationPlacementID(NPC)", "70"),
        ("GetSpawnLocationPlacementID(Spawn)", "0"), ("IsEntity(NPC)", "true"),
        ("IsEntity(nil)", "false"), ("IsGroundSpawn(NPC)", "false"),
        ("GetAlignment(NPC)", "0"), ("GetCharacterID(Spawn)", "5"), ("GetCharacterID(NPC)", "0"),
        ("GetDeity(NPC)", "0"), ("GetTradeskillLevel(Spawn)", "1"),
        ("GetTradeskillLevel(NPC)", "0"), ("GetTradeskillClass(Spawn)", "0"),
        ("GetClientVersion(Spawn)", "546"), ("GetClientVersion(NPC)", "nil"),
        ("GetArrowColor(Spawn, 90)", "6"), ("GetArrowColor(NPC, 90)", "nil"),
        ("GetTSArrowColor(Spawn, 90)", "6"), ("GetTSArrowColor(NPC, 90)", "nil"),
        ("GetRaceName(NPC)", "Human"), ("GetRaceName(nil)", "nil"),
        ("GetClassName(NPC)", "Guardian"), ("GetArchetypeName(NPC)", "Fighter"),
        ("GetArchetypeName(nil)", "nil"), ("GetRaceType(nil)", "nil"), ("GetRaceType(NPC)", "0"),
        ("CheckRaceType(NPC, 0)", "false"), ("IsInRaid(Spawn)", "false"),
        ("IsInRaid(NPC)", "false"), ("InSameRaid(Spawn, Spawn)", "false"),
        ("GetRaid(Spawn)", "nil"),
        ("GetZoneName(nil)", "nil"), ("IsZoneLoading(GetZone(NPC))", "true"),
        ("IsNight(nil)", "false"),
    ],
)  # fmt: skip
def test_answers(scene: ScriptScene, asked: str, answer: str) -> None:
    assert says(scene, asked) == answer
    assert scene.lines == []


def test_the_clock_and_the_zone(scene: ScriptScene) -> None:
    time = game_time(scene.harness.world.clock.moment())
    assert says(
        scene,
        "GetWorldTimeYear() .. '-' .. GetWorldTimeMonth() .. ' ' .. GetWorldTimeHour() .. ':'"
        " .. (GetWorldTimeMinute() >= 0 and 'm' or '') .. ' ' .. tostring(IsNight(GetZone(NPC)))"
        " .. ' ' .. GetZoneName(GetZone(NPC))",
    ) == (
        f"{time.year}-{time.month} {time.hour}:m {str(not 8 <= time.hour < 19).lower()}"
        f" {scene.zone.definition.name}"
    )


@pytest.mark.parametrize(
    ("hour", "night"), [(0, True), (7, True), (8, False), (18, False), (19, True), (23, True)]
)
def test_it_is_night_from_seven_in_the_evening_to_eight(
    tmp_path: Path, hour: int, night: bool
) -> None:
    scene = ScriptScene(tmp_path)
    moment = scene.harness.moment
    while game_time(moment).hour != hour:
        moment = Moment(moment + SECONDS_PER_MINUTE)
    scene.harness.moment = moment
    here = scene.scripts.homes.of(scene.zone)
    assert is_night(scene.scripts, here) is night
    assert not is_night(scene.scripts, None)


def test_the_kind_of_creature_is_that_of_the_model(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path, figures=Figures(races={112: 163}))
    standing = scene.standing(
        scene.script("""
        function hailed(NPC, Spawn)
            Say(NPC, GetRaceType(NPC) .. tostring(CheckRaceType(NPC, 163))
                .. tostring(CheckRaceType(NPC, 164)) .. GetRaceType(Spawn))
        end"""),
        70,
    )
    template = replace(standing.template, spawn={"model": 112})
    guard = scene.put(standing._replace(template=template), "Guard")
    scene.harness.run(1.5)
    assert scene.hail(guard) == [("Guard", "163truefalse0")]


def test_the_raid_of_a_player(scene: ScriptScene) -> None:
    groups, now = scene.harness.world.groups.table, scene.harness.now
    for leader, member in ((5, 6), (7, 8)):
        groups.invite(leader, member, now)
        groups.accept(member, now)
    groups.invite_to_raid(5, 7, now)
    groups.accept(7, now)
    asked = ("IsInRaid(Spawn)", "IsInRaid(Spawn, true)", "InSameRaid(Spawn, Spawn)",
             "#GetRaid(Spawn)", "GetRaid(Spawn)[1] == Spawn")  # fmt: skip
    assert scene.says("", *asked) == ["true", "true", "true", "1", "true"]


def test_icons_and_alignment(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetAlignment(NPC, 1) ChangeHandIcon(NPC, 300) AddIconValue(NPC, 5)
            RemoveIconValue(NPC, 4)
            Say(NPC, GetAlignment(NPC) .. tostring(AddIconValue(Spawn, 1)))
        end""")
    assert scene.hail(guard) == [("Guard", "1false")]
    assert (guard.hand_icon, guard.icon) == (255, 1)


def test_rules_and_variables_of_the_content_file(tmp_path: Path) -> None:
    rules = {("R_World", "Pace"): "2.5", ("R_World", "On"): "1", ("R_World", "Off"): "0"}
    scene = ScriptScene(tmp_path, figures=Figures(rules=rules, variables={"jackpot": "128"}))
    values = (
        'GetRuleFlagFloat("R_World", "Pace")', 'GetRuleFlagInt32("R_World", "Pace")',
        'GetRuleFlagBool("R_World", "On")', 'GetRuleFlagBool("R_World", "Off")',
        'GetRuleFlagFloat("R_World", "None")', 'GetRuleFlagInt32("R_World", "None")',
        'GetRuleFlagBool("R_World", "None")', 'GetVariableValue("jackpot")',
        '#GetVariableValue("none")',
    )  # fmt: skip
    said = "\n".join(f"Say(NPC, tostring({value}))" for value in values)
    guard = scene.spawn(f"function hailed(NPC, Spawn)\n{said}\nend")
    assert [text for _, text in scene.hail(guard)] == [
        "2.5", "2", "true", "false", "0.0", "0", "false", "128", "0",
    ]  # fmt: skip


def test_kinds_belong_to_others(tmp_path: Path) -> None:
    for race, base in ((334, 333), (344, 333), (242, 250), (258, 258), (0, 0)):
        scene = ScriptScene(tmp_path / str(race), figures=Figures(races={112: race}))
        standing = scene.standing(
            scene.script("function hailed(NPC) Say(NPC, GetRaceBaseType(NPC)) end")
        )
        standing.template.spawn["model"] = 112
        assert scene.hail(scene.put(standing, "Guard")) == [("Guard", str(base))]


def test_the_deity_is_stored(scene: ScriptScene) -> None:
    set_both = "SetDeity(Spawn, 4) SetDeity(NPC, 9)"
    assert scene.says(set_both, "GetDeity(Spawn)", "GetDeity(NPC)") == ["4", "0"]
    scene.harness.run(60.0)
    assert scene.harness.store.rows[scene.player.id].deity == 4


def test_the_time_is_sent_to_all_players(scene: ScriptScene) -> None:
    before = len(scene.client.decoded("WS_GameWorldTime"))
    scene.says("SendTimeUpdate()")
    assert len(scene.client.decoded("WS_GameWorldTime")) == before + 1


def test_the_flags_of_a_zone_decide_what_stands(scene: ScriptScene) -> None:
    """Source: eq2-lua.md 3 (Get/SetZoneExpansionFlag, …HolidayFlag), eq2-content.md 3.2 (flags)."""
    flags = Surroundings(holidays=1)
    zones: Any = SimpleNamespace(population=lambda _zone: SimpleNamespace(surroundings=flags))
    guard = scene.spawn("""
        function flags(here)
            return GetZoneExpansionFlag(here) .. " " .. GetZoneHolidayFlag(here)
        end
        function hailed(NPC, Spawn)
            local here = GetZone(NPC)
            Say(NPC, flags(here))
            SetZoneExpansionFlag(here, 8) SetZoneHolidayFlag(here, 20) SetZoneHolidayFlag(nil, 1)
            Say(NPC, flags(here) .. " " .. flags(nil))
        end""")
    assert [text for _, text in scene.hail(guard)] == ["0 0", "0 0 0 0"]
    scene.scripts.maker.zones = zones
    assert [text for _, text in scene.hail(guard)] == ["0 1", "8 20 0 0"]
    assert (flags.expansions, flags.holidays) == (8, 20)


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), FACTS) == []
