"""What a change of state does beyond the function that a script calls."""

from pathlib import Path

import pytest

from emu.rules.combat import Result
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.blows import Blow
from emu.world.events import Died
from emu.world.scripts.bodies import Body
from tests.support.times import waiting
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_player_who_has_left_is_sent_no_sheet(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    body = scene.scripts.player_body(scene.player)
    scene.scripts.states.sheet_changed(body)
    assert "character sheets" in waiting(scene.harness.timetable)
    scene.harness.departures.leave(scene.player, "quit", scene.harness.now)
    assert "character sheets" not in waiting(scene.harness.timetable)


def test_what_is_dead_does_not_walk_on(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    guard = scene.spawn("""
        function hailed(NPC, Spawn) MoveToLocation(NPC, 60, 0, 240, 2) KillSpawn(NPC) end""")
    scene.hail(guard)
    at = guard.position
    scene.harness.run(2.0)
    assert guard.position == at


class Scene(ScriptScene):
    """A guard and a wolf with bodies, and blows between them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.guard, self.wolf = self.spawn("", "Guard", 70), self.spawn("", "Wolf", 71)
        self.states = self.scripts.states
        for one in (self.guard, self.wolf, self.player.spawn):
            one.sheet.health.fill(100)
            one.sheet.power.fill(100)

    def body(self, spawn: Spawn) -> Body:
        found = self.scripts.body_of(spawn, self.zone)
        assert found is not None
        return found

    def hurt(self, victim: Spawn, foe: Spawn | None, damage: int, *, power: bool = False) -> bool:
        blow = Blow(Result.HIT, damage, 0, False, "")
        attacker = None if foe is None else self.body(foe)
        return self.states.hurt(self.body(victim), attacker, blow, power=power)


@pytest.fixture
def fight(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_blow_takes_health_and_names_a_foe(fight: Scene) -> None:
    sheet = fight.guard.sheet
    assert fight.hurt(fight.guard, fight.wolf, 30)
    assert sheet.health.current == 70
    assert fight.guard.hp_percent == 70
    assert fight.wolf in fight.guard.mind.hates
    assert fight.hurt(fight.guard, fight.wolf, 40, power=True)
    assert (sheet.health.current, sheet.power.current) == (70, 60)
    assert fight.guard.power_percent == 60


def test_a_blow_without_damage_and_one_at_the_unhurtable_take_nothing(fight: Scene) -> None:
    assert not fight.hurt(fight.guard, fight.wolf, 0)
    assert not fight.hurt(fight.guard, fight.wolf, -5, power=True)
    fight.guard.sheet.is_invulnerable = True
    assert not fight.hurt(fight.guard, fight.wolf, 30)
    assert (fight.guard.sheet.health.current, fight.guard.sheet.power.current) == (100, 100)
    fight.guard.sheet.is_invulnerable = False
    assert fight.hurt(fight.guard, fight.wolf, 1)
    fight.guard.kind = SpawnKind.OBJECT
    assert not fight.hurt(fight.guard, fight.wolf, 30)
    assert fight.guard.sheet.health.current == 99


def test_nobody_is_a_foe_of_itself(fight: Scene) -> None:
    died: list[Died] = []
    fight.harness.world.events.subscribe(Died, died.append)
    assert fight.hurt(fight.guard, fight.guard, 100)
    assert not fight.hurt(fight.guard, fight.wolf, 5)
    fight.states.kill(fight.body(fight.wolf), fight.body(fight.wolf))
    assert [(one.victim, one.killer) for one in died] == [(fight.guard, None), (fight.wolf, None)]


def test_who_kills_is_named(fight: Scene) -> None:
    died: list[Died] = []
    fight.harness.world.events.subscribe(Died, died.append)
    fight.states.kill(fight.body(fight.guard), fight.body(fight.wolf))
    assert [(one.victim, one.killer) for one in died] == [(fight.guard, fight.wolf)]


def test_a_player_that_is_hurt_is_sent_its_sheet(fight: Scene) -> None:
    body = fight.scripts.player_body(fight.player)
    for power in (False, True):
        fight.harness.run(1.0)
        assert "character sheets" not in waiting(fight.harness.timetable)
        blow = Blow(Result.HIT, 10, 0, False, "")
        assert fight.states.hurt(body, fight.body(fight.wolf), blow, power=power)
        assert "character sheets" in waiting(fight.harness.timetable)
    fight.harness.run(1.0)
    assert fight.hurt(fight.guard, fight.wolf, 10)
    assert "character sheets" not in waiting(fight.harness.timetable)


def test_a_spawn_goes_after_its_time_unless_that_is_taken_back(fight: Scene) -> None:
    gone: list[Spawn] = []
    fight.scripts.waits.despawn = lambda _zone, spawn: gone.append(spawn)
    fight.states.expire(fight.body(fight.guard), "2")
    fight.states.expire(fight.body(fight.wolf), "2")
    fight.harness.run(1.0)
    fight.states.expire(fight.body(fight.guard), "0")
    fight.harness.run(2.0)
    assert gone == [fight.wolf]
    fight.states.expire(fight.body(fight.guard), "5")
    fight.states.expire(fight.body(fight.guard), "1")
    fight.harness.run(8.0)
    assert gone == [fight.wolf, fight.guard]
