"""Health and death: who loses what, and when bodies go."""

import pytest

from emu.rules.stance import Encounter
from emu.world.actors.spawn import SpawnKind
from emu.world.events import Died, Hurt, MayHurt
from emu.world.minds.harm import CORPSE, CORPSE_STAYS
from tests.support.world.fights import Fight


def test_a_death_comes_once_after_the_blow() -> None:
    fight = Fight()
    crab = fight.creature()
    heard: list[str] = []
    events = fight.harness.world.events
    events.subscribe(Hurt, lambda event: heard.append(f"hurt {event.damage}"))
    events.subscribe(Died, lambda event: heard.append(f"died {event.player.name}"))
    harm = fight.harness.parts.minds.harm
    most = crab.sheet.health.most
    assert harm.take_health(fight.player.zone, crab, fight.player.spawn, 10_000)
    assert not harm.take_health(fight.player.zone, crab, fight.player.spawn, 10_000)
    harm.kill(fight.player.zone, crab, None)
    assert heard == [f"hurt {most}", "died Aldana"]
    assert CORPSE in crab.words
    assert not crab.attackable


def test_bodies_stay_as_long_as_a_listener_wants() -> None:
    fight = Fight()
    crab = fight.creature()
    zone = fight.player.zone
    fight.harness.world.events.subscribe(Died, lambda event: event.stays.append(60.0))
    fight.harness.parts.minds.harm.kill(zone, crab, None)
    fight.run(CORPSE_STAYS + 40.0)
    assert zone.spawn(crab.id) is crab
    fight.run(20.0)
    assert zone.spawn(crab.id) is None


def test_a_listener_changes_damage() -> None:
    fight = Fight()
    crab = fight.creature()
    harm, zone = fight.harness.parts.minds.harm, fight.player.zone
    assert harm.through(zone, crab, None, 8) == 8
    fight.harness.world.events.subscribe(MayHurt, lambda event: event.answers.append(-3))
    assert harm.through(zone, crab, None, 8) == 0


def test_things_cannot_be_hurt() -> None:
    fight = Fight()
    crab = fight.creature()
    crab.kind = SpawnKind.OBJECT
    assert not fight.harness.parts.minds.harm.take_health(fight.player.zone, crab, None, 8)
    fight.harness.parts.minds.harm.kill(fight.player.zone, crab, None)
    assert CORPSE not in crab.words


def deaths(fight: Fight) -> list[Died]:
    seen: list[Died] = []
    fight.harness.world.events.subscribe(Died, seen.append)
    return seen


def test_a_dead_player_has_neither_health_nor_power_and_stays() -> None:
    fight = Fight()
    spawn, zone = fight.player.spawn, fight.player.zone
    spawn.sheet.power.fill(100)
    fight.harness.parts.minds.harm.kill(zone, spawn, None)
    assert (spawn.sheet.health.current, spawn.sheet.power.current) == (0, 0)
    assert (spawn.hp_percent, spawn.power_percent) == (0, 0)
    assert CORPSE in spawn.words
    fight.run(CORPSE_STAYS + 5.0)
    assert zone.spawn(spawn.id) is spawn


def test_a_body_goes_after_its_time() -> None:
    fight = Fight()
    crab, zone = fight.creature(), fight.player.zone
    fight.harness.parts.minds.harm.kill(zone, crab, None)
    fight.run(CORPSE_STAYS - 1.0)
    assert zone.spawn(crab.id) is crab
    fight.run(2.0)
    assert zone.spawn(crab.id) is None


def test_a_blow_says_what_it_took_and_of_which_kind() -> None:
    fight = Fight()
    crab, zone, harm = fight.creature(), fight.player.zone, fight.harness.parts.minds.harm
    crab.sheet.health.fill(10)
    seen: list[tuple[int, int, int]] = []
    fight.harness.world.events.subscribe(
        Hurt, lambda event: seen.append((event.damage, event.kind, event.spell_id))
    )
    died = deaths(fight)
    assert not harm.take_health(zone, crab, None, 0)
    assert not harm.take_health(zone, crab, None, 9, kind=3, spell_id=77)
    assert (crab.sheet.health.current, crab.hp_percent) == (1, 10)
    assert harm.take_health(zone, crab, None, 5, kind=4)
    assert seen == [(0, 0, 0), (9, 3, 77), (1, 4, 0)]
    assert [(one.kind, one.player, one.fighters) for one in died] == [(4, None, ())]


def test_who_listens_to_the_last_blow_may_kill_first() -> None:
    fight = Fight()
    crab, zone, harm = fight.creature(), fight.player.zone, fight.harness.parts.minds.harm
    fight.harness.world.events.subscribe(Hurt, lambda _event: harm.kill(zone, crab, None, kind=9))
    died = deaths(fight)
    assert harm.take_health(zone, crab, None, 10_000, kind=4)
    assert [one.kind for one in died] == [9]


def test_the_player_among_the_fighters_has_killed_what_a_creature_struck_down() -> None:
    fight = Fight()
    crab, wolf, zone = fight.creature(), fight.creature(), fight.player.zone
    died, own = deaths(fight), fight.player.spawn
    crab.mind.fighters[own] = None
    fight.harness.parts.minds.harm.kill(zone, crab, wolf)
    fight.harness.parts.minds.harm.kill(zone, wolf, own)
    assert [(one.player, one.killer, one.fighters, one.is_rewarded) for one in died] == [
        (fight.player, wolf, (own,), True), (fight.player, own, (own,), True),
    ]  # fmt: skip


@pytest.mark.parametrize("is_worthless", [False, True])
def test_who_has_called_for_help_gets_nothing(is_worthless: bool) -> None:
    fight = Fight()
    crab, own = fight.creature(), fight.player.spawn
    crab.mind.fighters[own] = None
    if is_worthless:
        crab.mind.is_worthless = True
    else:
        crab.mind.encounter = Encounter.BROKEN
    died = deaths(fight)
    fight.harness.parts.minds.harm.kill(fight.player.zone, crab, own)
    assert [(one.fighters, one.is_rewarded) for one in died] == [((), False)]


def test_the_last_answer_of_a_listener_counts() -> None:
    fight = Fight()
    crab, zone, harm = fight.creature(), fight.player.zone, fight.harness.parts.minds.harm
    fight.harness.world.events.subscribe(MayHurt, lambda event: event.answers.extend((1, 20)))
    assert [harm.through(zone, crab, None, damage) for damage in (8, 1, 0, -5)] == [20, 20, 0, 0]
