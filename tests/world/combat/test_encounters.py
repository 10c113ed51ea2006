"""Encounters: who owns a fight, how it is shown, and the call for help.

Recorded: fight-546-encounter-a, fight-1208-melee-a.
"""

import pytest

from emu.rules.stance import Encounter
from emu.world.combat.encounters import NOTHING_TO_YELL, YELLED
from tests.support.world.fights import Fight
from tests.support.world.worlds import Client

FIVE = (546, 561, 1096, 1208, 60114)


@pytest.mark.parametrize("version", FIVE)
def test_a_locked_fight_is_grey_to_others(version: int) -> None:
    """The fighter sees arrow and lock 02 03, others 00 03; after a call for help all 00 02."""
    fight = Fight(version, level=2)
    other = fight.stand(6, "Borvik", version, level=2)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    assert looks(fight, other) == [(2, 1), (2, 1)]
    fight.attack(crab)
    fight.run(1.0)
    assert looks(fight, other) == [(2, 3), (0, 3)]
    assert fight.client.types("yell") == [YELLED]
    fight.run(1.0)
    assert looks(fight, other) == [(0, 2), (0, 2)]
    assert fight.texts(other)[-1] == "Aldana yelled for help!"
    shown = other.decoded("WS_EncounterBroken")[-1]
    assert shown["message"] == "Aldana yelled for help!"


@pytest.mark.parametrize(
    ("version", "shown"),
    [(546, None), (561, None), (1096, [100, 0]), (1208, 100), (60114, 100)],
)
def test_whom_a_creature_hates_most_sees_that(version: int, shown: object) -> None:
    """Recorded in fight-1096-melee-a, fight-1208-melee-a and fight-60114-melee-a."""
    fight = Fight(version, level=2)
    other = fight.stand(6, "Borvik", version, level=2)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    assert fight.client.fields_of("a crab").get("npc_hate") is None
    fight.attack(crab)
    fight.run(1.0)
    assert fight.client.fields_of("a crab").get("npc_hate") == shown
    assert other.fields_of("a crab").get("npc_hate") is None
    fight.client.types("yell")
    fight.run(1.0)
    assert fight.client.fields_of("a crab").get("npc_hate") is None


def looks(fight: Fight, other: Client) -> list[tuple[int, int]]:
    return [
        (shown.get("arrow_color", 0), shown["locked_no_loot"])
        for shown in (one.fields_of("a crab") for one in (fight.client, other))
    ]


def test_after_a_call_for_help_anybody_strikes_and_nobody_gains() -> None:
    fight = Fight(level=2, experience_needed=800)
    other = fight.stand(6, "Borvik", level=2, experience_needed=800)
    crab = fight.creature(level=1)
    fight.attack(crab)
    fight.run(0.5)
    assert not fight.harness.parts.combat.fights.may_fight(fight.of(other), crab)
    fight.client.types("yell")
    assert fight.harness.parts.combat.fights.may_fight(fight.of(other), crab)
    fight.harness.parts.minds.harm.take_health(fight.player.zone, crab, fight.of(other).spawn, 1000)
    assert crab.hp_percent == 0
    assert fight.player.character.experience == 0
    assert fight.of(other).character.experience == 0


def test_a_creature_that_attacks_by_itself_is_free_until_it_is_struck() -> None:
    """Recorded in fight-546-death-a: 1 while three brutes strike; to others' blows: 3."""
    fight = Fight(level=2)
    other = fight.stand(6, "Borvik", level=2)
    fights, harm = fight.harness.parts.combat.fights, fight.harness.parts.minds.harm
    for one in (fight.player, fight.of(other)):
        one.spawn.sheet.health.fill(100_000)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.harness.parts.combat.creatures.hate(fight.player.zone, crab, fight.player.spawn, 5)
    fight.run(3.0)
    assert fight.blows()
    assert looks(fight, other) == [(2, 1), (2, 1)]
    assert crab.mind.fighters == {}
    # The one that strikes first has it; the one that it attacks may strike back all the same.
    harm.take_health(fight.player.zone, crab, fight.of(other).spawn, 1)
    fight.run(1.0)
    assert looks(fight, other) == [(0, 3), (2, 3)]
    assert fights.may_fight(fight.player, crab)
    harm.take_health(fight.player.zone, crab, fight.player.spawn, 0)
    fight.run(1.0)
    assert looks(fight, other) == [(2, 3), (2, 3)]


def test_who_is_attacked_calls_for_help_before_its_first_blow() -> None:
    fight = Fight(level=2)
    fight.player.spawn.sheet.health.fill(100_000)
    crab = fight.creature(level=1)
    fight.harness.parts.combat.creatures.hate(fight.player.zone, crab, fight.player.spawn, 5)
    assert fight.client.types("yell") == [YELLED]
    assert crab.mind.encounter is Encounter.BROKEN


def test_who_heals_a_fighter_owns_nothing() -> None:
    fight = Fight(level=2)
    other = fight.stand(6, "Borvik", level=2)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(1.0)
    healer, amounts = fight.of(other).spawn, fight.harness.parts.spells.amounts
    amounts._anger(fight.player.zone, healer, fight.player.spawn, 50)
    assert healer in crab.mind.hates
    assert crab.mind.owners == {fight.player.spawn.id}


def test_the_group_of_a_fighter_sees_its_own_fight() -> None:
    fight = Fight(level=2)
    other = fight.stand(6, "Borvik", level=2)
    fight.client.types("invite Borvik")
    other.types("acceptinvite")
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(1.0)
    assert looks(fight, other) == [(2, 3), (2, 3)]


def test_a_fight_belongs_to_those_who_are_in_the_group_by_then() -> None:
    fight = Fight(level=2)
    other = fight.stand(6, "Borvik", level=2)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(1.0)
    assert looks(fight, other) == [(2, 3), (0, 3)]
    fight.client.types("invite Borvik")
    other.types("acceptinvite")
    fight.run(1.0)
    assert looks(fight, other) == [(2, 3), (2, 3)]
    other.types("leavegroup")
    fight.run(1.0)
    assert looks(fight, other) == [(2, 3), (0, 3)]


def test_a_fighter_who_is_gone_owns_nothing() -> None:
    fight = Fight(level=2)
    other = fight.stand(6, "Borvik", level=2)
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(1.0)
    fight.harness.parts.spells.amounts.hate(fight.player.zone, crab, fight.of(other).spawn, 5)
    own = fight.player.spawn
    assert crab.mind.owners == {own.id, fight.of(other).spawn.id}
    fight.harness.departures.remove(fight.player, "quit", fight.harness.now)
    assert crab.mind.owners == {fight.of(other).spawn.id}


def test_who_fights_nothing_cannot_call_for_help() -> None:
    fight = Fight()
    assert fight.client.types("yell") == [NOTHING_TO_YELL]


def test_words_are_still_called_to_all() -> None:
    fight = Fight()
    other = fight.stand(6, "Borvik")
    fight.client.types("yell Over here")
    assert "Over here" in [text for _, _, text in other.hears()]


def test_a_creature_that_gives_up_is_free_again() -> None:
    fight = Fight()
    crab = fight.creature(level=1)
    crab.sheet.health.fill(100_000)
    fight.attack(crab)
    fight.run(0.5)
    assert crab.mind.encounter is Encounter.LOCKED
    fight.client.types("autoattack 0")
    fight.put(fight.client, fight.player.position._replace(x=300.0))
    fight.run(60.0)
    assert crab.mind.encounter is Encounter.FREE
