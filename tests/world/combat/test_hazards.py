"""Falls and drowning hurt players, as their clients report them. Source: eq2-combat.md 4.3."""

import struct
from dataclasses import replace

import pytest

from emu.world.actors.sheet import FieldKind, SpellMarks
from tests.support.world.fights import Fight

FALL, DROWN = 11, 10


def fall(fight: Fight, height: float) -> None:
    fight.client.say("OP_ClientFellMsg", struct.pack("<fI", height, 1))


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_a_fall_hurts(version: int) -> None:
    fight = Fight(version, level=10)
    health = fight.player.spawn.sheet.health
    fall(fight, 12.0)
    assert health.current == health.most == 300
    fall(fight, 33.2)
    # 20 units above the safe height: a quarter.
    assert health.current == 225
    blow = fight.client.decoded("WS_HearSimpleDamage")[-1]
    hurt = blow["dmg_array"][0] if "dmg_array" in blow else blow
    assert (blow["attacker"], blow["defender"]) == (1, 1)
    assert (hurt["damage_type"], hurt["damage"]) == (FALL, 75)


def test_a_deep_fall_kills() -> None:
    fight = Fight(level=10)
    fall(fight, 80.0)
    assert fight.player.spawn.hp_percent == 0
    assert fight.harness.parts.combat.falls.is_dead(fight.player)
    before = len(fight.blows())
    fall(fight, 80.0)
    assert len(fight.blows()) == before


def test_skill_spells_and_invulnerability_save() -> None:
    fight = Fight(level=10)
    spawn = fight.player.spawn
    number = fight.harness.parts.skills.number("Safe Fall")
    assert number is not None
    spawn.sheet.worn_skills = {number: 99.0}
    fall(fight, 33.2)
    spawn.sheet.worn_skills = {}
    spawn.sheet.spells = SpellMarks()
    spawn.sheet.spells.controls = frozenset((14,))
    fall(fight, 100.0)
    spawn.sheet.spells.controls = frozenset()
    spawn.sheet.is_invulnerable = True
    fall(fight, 100.0)
    assert spawn.sheet.health.current == 300
    assert fight.blows() == []


def test_who_drowns_loses_health_until_it_comes_up() -> None:
    fight = Fight(level=10)
    spawn, hazards = fight.player.spawn, fight.harness.parts.combat.hazards
    spawn.activity = 14336
    hazards.moved(fight.player)
    hazards.moved(fight.player)
    fight.run(1.9)
    assert spawn.sheet.health.current == 300
    fight.run(2.2)
    assert spawn.sheet.health.current == 300 - 2 * 15
    assert fight.client.decoded("WS_HearSimpleDamage")[-1]["dmg_array"][0]["damage_type"] == DROWN
    spawn.sheet.set("breathe_underwater", FieldKind.UNSIGNED, 1)
    before = len(fight.blows())
    fight.run(4.0)
    assert len(fight.blows()) == before
    spawn.sheet.set("breathe_underwater", FieldKind.UNSIGNED, 0)
    spawn.activity = 6144
    fight.run(4.0)
    assert len(fight.blows()) == before


def test_who_drowns_long_dies() -> None:
    fight = Fight(level=10)
    fight.player.spawn.activity = 14464
    fight.harness.parts.combat.hazards.moved(fight.player)
    fight.run(60.0)
    assert fight.harness.parts.combat.falls.is_dead(fight.player)


def test_a_setting_ends_both() -> None:
    fight = Fight(level=10)
    world = fight.harness.world
    world.rules = replace(world.rules, falls_hurt=False)
    fall(fight, 100.0)
    fight.player.spawn.activity = 14336
    fight.harness.parts.combat.hazards.moved(fight.player)
    fight.run(5.0)
    assert fight.player.spawn.sheet.health.current == 300
