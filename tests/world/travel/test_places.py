"""Triggers that move whoever comes near, and named areas."""

import pytest

from emu.world.actors.spawn import Destination
from emu.world.travel.tables import Area, TravelTables, Trigger, Way
from emu.world_stream.movement import Position
from tests.support.world.travel_scenes import ANTONICA, ISLE, PLACE, TravelScene

CAVE = Trigger(*PLACE[:3], 10.0, Way(37, "cave", Destination(ANTONICA), message="Dark."))
BACK = PLACE._replace(x=PLACE.x + 50.0)


def trigger_scene(*triggers: Trigger, version: int = 546) -> TravelScene:
    scene = TravelScene(TravelTables(triggers={ISLE: triggers}), version)
    scene.go(60.0)
    scene.harness.run(1.0)
    return scene


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_whoever_comes_near_a_trigger_is_moved(version: int) -> None:
    scene = trigger_scene(CAVE, version=version)
    scene.go(12.0)
    scene.harness.run(1.0)
    assert scene.goal is None
    scene.go(9.5)
    scene.harness.run(0.6)
    assert scene.goal is not None
    assert scene.goal.zone_id == ANTONICA
    assert "Dark." in scene.lines()


def test_whoever_arrives_at_a_trigger_must_leave_it_first() -> None:
    scene = TravelScene(TravelTables(triggers={ISLE: [CAVE]}))
    scene.go(5.0)
    scene.harness.run(2.0)
    assert scene.goal is None
    scene.go(15.0)
    scene.harness.run(1.0)
    scene.go(5.0)
    scene.harness.run(1.0)
    assert scene.goal is not None


def test_two_triggers_that_lead_to_each_other_do_not_take_turns() -> None:
    there = Trigger(BACK.x, BACK.y, BACK.z, 10.0, Way(2, "out", Destination(ISLE, PLACE)))
    here = Trigger(*PLACE[:3], 10.0, Way(1, "in", Destination(ISLE, BACK)))
    scene = trigger_scene(here, there)
    scene.go(80.0)
    scene.harness.run(1.0)
    scene.go(5.0)
    scene.harness.run(0.6)
    assert scene.player.position == BACK
    scene.harness.run(3.0)
    assert scene.player.position == BACK


def test_a_height_away_is_away() -> None:
    assert CAVE.holds(PLACE._replace(y=PLACE.y + 9.0))
    assert not CAVE.holds(PLACE._replace(y=PLACE.y + 11.0))


@pytest.mark.parametrize("version", [546, 561, 1208, 64753])
def test_the_name_of_an_area_is_shown_to_who_enters_it(version: int) -> None:
    x, _, z = PLACE[:3]
    area = Area(94, "The Pond", False, (x + 2, -1e9, z - 5), (x + 5, 1e9, z + 5))
    scene = TravelScene(TravelTables(areas={ISLE: [area]}), version)
    scene.go(8.0)
    scene.harness.run(1.0)

    def texts() -> list[str]:
        return [str(one["text"]) for one in scene.client.decoded("WS_OnScreenMsg")]

    assert texts() == []
    for _ in range(2):
        scene.go(4.0)
        scene.harness.run(1.0)
    assert texts() == ["The Pond"]
    scene.go(8.0)
    scene.harness.run(1.0)
    scene.go(4.0)
    scene.harness.run(1.0)
    assert texts() == ["The Pond", "The Pond"]


def test_an_area_is_discovered_once() -> None:
    x, _, z = PLACE[:3]
    area = Area(94, "The Pond", True, (x + 2, -1e9, z - 5), (x + 5, 1e9, z + 5))
    scene = TravelScene(TravelTables(areas={ISLE: [area]}))
    for away in (4.0, 8.0, 4.0):
        scene.go(away)
        scene.harness.run(1.0)
    texts = [one["text"] for one in scene.client.decoded("WS_OnScreenMsg")]
    assert texts == ["You have discovered The Pond", "The Pond"]


def test_an_area_without_points_is_a_cell_of_the_map() -> None:
    area = Area(197, "Market Row", True, grid=342305820)
    assert area.holds(Position(1.0, 2.0, 3.0, grid=342305820))
    assert not area.holds(Position(1.0, 2.0, 3.0))
    assert not Area(197, "Nowhere", True).holds(Position(1.0, 2.0, 3.0))


def test_nothing_is_looked_at_where_nobody_is() -> None:
    scene = trigger_scene(CAVE)
    assert scene.travel.places._deadlines
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(1.0)
    assert not scene.travel.places._deadlines


def test_a_reload_brings_a_trigger_to_whoever_is_there() -> None:
    scene = trigger_scene()
    scene.go(5.0)
    scene.travel.reload(TravelTables(triggers={ISLE: [CAVE]}))
    scene.harness.run(2.0)
    assert scene.goal is None, "it stood there when the trigger came"
    scene.go(60.0)
    scene.harness.run(1.0)
    scene.go(5.0)
    scene.harness.run(1.0)
    assert scene.goal is not None


def test_a_reload_takes_a_trigger_away_and_nothing_is_looked_at() -> None:
    scene = trigger_scene(CAVE)
    assert scene.travel.places._deadlines
    scene.travel.reload(TravelTables())
    scene.harness.run(1.0)
    assert not scene.travel.places._deadlines
    scene.go(5.0)
    scene.harness.run(1.0)
    assert scene.goal is None
