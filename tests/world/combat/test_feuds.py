"""Creatures of hostile factions fight each other while a player is near."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from emu.content.alliances import Alliance
from emu.world.combat.creatures import AGGRO_HATE
from tests.support.world.fights import HERE, Fight

GUARDS, PIRATES = 21, 31


def scene() -> Fight:
    fight = Fight(level=2)
    content: Any = SimpleNamespace(
        factions={}, alliances={GUARDS: Alliance((), (PIRATES,))}
    )  # fmt: skip
    fight.harness.parts.combat.standings._population = lambda _zone: content
    return fight


def test_hostile_factions_fight() -> None:
    fight = scene()
    guard = fight.creature("a guard", at=HERE._replace(x=20.0), faction=GUARDS)
    pirate = fight.creature("a pirate", at=HERE._replace(x=26.0), faction=PIRATES)
    for one in (guard, pirate):
        one.sheet.health.fill(10_000)
    fight.run(3.0)
    assert guard.mind.hates[pirate] >= AGGRO_HATE
    fight.run(10.0)
    assert pirate.mind.hates
    assert pirate.sheet.health.current < 10_000
    fight.harness.parts.minds.harm.take_health(fight.player.zone, pirate, guard, 10_000)
    assert fight.player.character.experience == 0
    fight.run(3.0)
    assert guard.mind.hates == {}


def test_who_is_too_far_away_is_left_alone() -> None:
    fight = scene()
    guard = fight.creature("a guard", at=HERE._replace(x=20.0), faction=GUARDS)
    fight.creature("a pirate", at=HERE._replace(x=40.0), faction=PIRATES)
    fight.run(5.0)
    assert guard.mind.hates == {}


def test_who_cannot_be_attacked_attacks() -> None:
    """EQ2Emulator asks that of no attacker (zoneserver.cpp, CheckEnemyList).

    Cleric Mara'Vaen of Queen's Colony is such a one: she heals the lost scouts of a quest by a
    spell that harms them.
    """
    fight = scene()
    guard = fight.creature("a guard", at=HERE._replace(x=20.0), faction=GUARDS, attackable=False)
    pirate = fight.creature("a pirate", at=HERE._replace(x=26.0), faction=PIRATES)
    friend = fight.creature("a sailor", at=HERE._replace(x=28.0), faction=PIRATES, attackable=False)
    fight.run(3.0)
    assert guard.mind.hates.get(pirate, 0) >= AGGRO_HATE
    assert friend not in guard.mind.hates


def test_a_world_can_keep_the_peace() -> None:
    fight = scene()
    fight.harness.world.rules = replace(fight.harness.world.rules, faction_fights=False)
    guard = fight.creature("a guard", at=HERE._replace(x=20.0), faction=GUARDS)
    fight.creature("a pirate", at=HERE._replace(x=24.0), faction=PIRATES)
    fight.run(5.0)
    assert guard.mind.hates == {}
