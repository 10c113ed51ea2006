"""What is dead in zones of a content file, also in their next run."""

from pathlib import Path

from emu.errors import StoreError
from tests.world.population.test_served import Scene, crowd, location_at, made, opened


def test_what_is_dead_stays_dead_in_the_next_run_of_its_zone(tmp_path: Path) -> None:
    path = made(tmp_path, crowd(3))
    scene = opened(path)
    victim = next(spawn for spawn in scene.zone if spawn.position.x == 2.0)
    scene.zones.despawn(scene.zone, victim)
    scene.run(5.0)
    # Another run of the server, 20 seconds later, with the same database.
    again = opened(path, dead=scene.dead, now=scene.seconds + 20.0)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 3.0]
    again.run(60.0)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 2.0, 3.0]
    assert scene.dead.rows == {}


def test_what_died_stays_dead_before_its_body_goes(tmp_path: Path) -> None:
    path = made(tmp_path, crowd(3))
    scene = opened(path)
    victim = next(spawn for spawn in scene.zone if spawn.position.x == 2.0)
    scene.zones.died(scene.zone, victim)
    scene.run(5.0)
    # The server is killed while the body lies.
    again = opened(path, dead=scene.dead, now=scene.seconds + 20.0)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 3.0]
    again.run(60.0)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 2.0, 3.0]
    assert scene.dead.rows == {}


def test_the_time_of_return_begins_when_the_body_goes(tmp_path: Path) -> None:
    path = made(tmp_path, crowd(3))
    scene = opened(path)
    victim = next(spawn for spawn in scene.zone if spawn.position.x == 2.0)
    scene.zones.died(scene.zone, victim)
    scene.run(5.0)
    (early,) = scene.dead.rows.values()
    scene.run(10.0)
    scene.zones.despawn(scene.zone, victim)
    scene.run(5.0)
    (late,) = scene.dead.rows.values()
    assert late.returns == early.returns + 15.0
    scene.run(120.0)
    assert len(scene.zone) == 3
    assert scene.dead.rows == {}


def test_a_place_that_is_kept_dead_is_empty_in_the_next_run_of_its_zone(tmp_path: Path) -> None:
    path = made(tmp_path, crowd(3))
    scene = opened(path)
    number = location_at(scene, 2.0)
    assert scene.zones.keep_dead(9, number, 600)
    assert not scene.zones.keep_dead(9, 987, 600)
    scene.run(5.0)
    assert len(scene.zone) == 3
    again = opened(path, dead=scene.dead, now=scene.seconds + 500.0)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 3.0]
    again.run(110.0)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 2.0, 3.0]
    again.run(5.0)
    assert scene.dead.rows == {}


def test_a_place_of_a_zone_that_does_not_run_is_kept_dead(tmp_path: Path) -> None:
    path = made(tmp_path, crowd(3))
    number = location_at(opened(path), 2.0)
    scene = Scene(path)
    assert not scene.zones.keep_dead(9, number, 600)
    assert not scene.zones.keep_dead(12345, number, 600)
    scene.read()
    scene.run(5.0)
    again = opened(path, dead=scene.dead, now=scene.seconds)
    assert sorted(spawn.position.x for spawn in again.zone) == [1.0, 3.0]
    scene.error = StoreError("gone")
    scene.zones.keep_dead(9, number, 600)
    scene.read()
    assert scene.lines == ["zone 9: a spawn could not be kept dead: gone"]
