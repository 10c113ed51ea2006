"""Health and death: who loses what, and when bodies go."""

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
