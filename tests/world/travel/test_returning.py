"""Bind places, discoveries, and where lost players return to."""

import pytest

from emu.world.actors.spawn import Destination
from emu.world.travel.tables import RevivePoint, TravelTables
from emu.world_stream.movement import Position
from tests.support.world.travel_scenes import ANTONICA, ISLE, PLACE, TravelScene

THERE = Destination(ANTONICA, Position(1.0, 2.0, 3.0, 4.0))


def point(number: int, x: float, *, always: bool = False, zone: int = ISLE) -> RevivePoint:
    return RevivePoint(number, f"p{number}", Destination(zone, PLACE._replace(x=x)), always)


def scene_with(*points: RevivePoint) -> TravelScene:
    return TravelScene(TravelTables(revive_points={ISLE: points}))


def test_a_player_is_bound_where_it_stands_and_gates_there() -> None:
    scene = scene_with()
    returning = scene.travel.returning
    here = scene.player.position
    assert returning.bind(scene.player, None, scene.harness.now)
    scene.go(50.0)
    assert returning.gate(scene.player, scene.harness.now)
    assert scene.player.position[:3] == pytest.approx(here[:3], abs=0.001)


def test_the_bind_place_is_saved_with_the_character() -> None:
    scene = scene_with()
    scene.travel.returning.bind(scene.player, THERE, scene.harness.now)
    scene.harness.run(5.0)
    stored = scene.harness.store.rows[5].travels
    assert '"bound":[12,1.0,2.0,3.0,4.0,0]' in stored
    assert scene.travel.returning.gate(scene.player, scene.harness.now)
    scene.harness.run(0.1)
    assert scene.goal == THERE


def test_a_zone_can_forbid_to_bind_in_it_but_not_to_be_bound_to_it() -> None:
    scene = scene_with()
    scene.change_zone(ISLE, can_bind=False)
    scene.zone.definition = scene.harness.zones.definition(ISLE)
    returning = scene.travel.returning
    assert not returning.bind(scene.player, None, scene.harness.now)
    assert returning.bind(scene.player, Destination(ISLE, PLACE), scene.harness.now)
    assert not returning.bind(scene.player, Destination(9999, PLACE), scene.harness.now)


def test_without_a_bind_place_a_player_gates_to_where_it_began() -> None:
    scene = scene_with()
    start = scene.harness.atlas.start_of(scene.player.character)
    assert scene.travel.returning.bound(scene.player).zone_id == start.zone_id


def test_an_area_is_discovered_once_also_after_a_restart() -> None:
    scene = scene_with()
    returning = scene.travel.returning
    assert returning.discovers(scene.player, 94)
    assert not returning.discovers(scene.player, 94)
    scene.harness.run(5.0)
    assert scene.harness.store.rows[5].travels == '{"areas":[94]}'


def test_the_nearest_point_and_those_always_are_offered() -> None:
    far, near = point(1, PLACE.x + 80.0), point(2, PLACE.x + 30.0)
    always = point(3, PLACE.x + 500.0, always=True)
    scene = scene_with(far, near, always)
    assert scene.travel.returning.points(scene.player) == [near, always]
    scene.go(70.0)
    assert scene.travel.returning.points(scene.player) == [far, always]


def test_who_is_stuck_returns_to_the_nearest_point() -> None:
    scene = scene_with(point(1, PLACE.x + 80.0), point(2, PLACE.x + 30.0))
    assert scene.client.types("/stuck") == ["You are at a safe place of the zone."]
    assert scene.player.position.x == PLACE.x + 30.0


def test_a_point_may_be_in_another_zone() -> None:
    scene = scene_with(point(1, 7.0, zone=ANTONICA))
    assert "You are on your way." in scene.client.types("/stuck")
    assert scene.goal is not None
    assert scene.goal.zone_id == ANTONICA


def test_without_points_the_safe_place_is_the_way_back() -> None:
    scene = scene_with(point(1, 7.0, zone=9999))
    safe = scene.zone.definition.safe
    assert scene.travel.returning.way_back(scene.player) == Destination(ISLE, safe)


def test_who_is_evacuated_stands_at_the_safe_place() -> None:
    scene = scene_with()
    scene.go(90.0)
    scene.travel.returning.evacuate(scene.player, scene.harness.now)
    assert scene.player.position == scene.zone.definition.safe
