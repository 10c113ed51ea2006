"""Signs that lead to zones, and what comes first when a spawn is several things."""

import pytest

from emu.world.actors.spawn import Destination
from emu.world.events import Order, WidgetUsed
from emu.world.travel.tables import TravelTables, Way
from emu.world_stream.movement import Position
from tests.support.world.travel_scenes import ANTONICA, DOOR, ISLE, SIGN, TravelScene


@pytest.mark.parametrize("version", [546, 561, 1208, 60114, 64753])
def test_a_sign_takes_those_who_are_near(version: int) -> None:
    scene = TravelScene(version=version)
    sign = scene.put("signs", SIGN)
    scene.go(20.5)
    assert scene.use(sign) == ["You are too far away!"]
    assert scene.goal is None
    scene.go(19.5)
    assert scene.use(sign) == ["Zoning to Antonica..."]
    assert scene.goal == Destination(ANTONICA, Position(1.0, 2.0, 3.0, 4.0))


def test_a_sign_without_a_distance_works_from_anywhere_and_leads_to_the_safe_place() -> None:
    scene = TravelScene()
    sign = scene.put("signs", dict(SIGN) | {"to_x": 0, "to_y": 0, "to_z": 0, "distance": 0})
    scene.go(90.0)
    scene.use(sign)
    assert scene.goal is not None
    assert scene.goal.position == scene.harness.zones.definition(ANTONICA).safe


def test_a_sign_within_its_zone_is_a_jump() -> None:
    scene = TravelScene()
    sign = scene.put("signs", dict(SIGN) | {"to_zone": ISLE})
    assert scene.use(sign) == []
    assert scene.player.position[:3] == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("own", [{"kind": "generic"}, {"to_zone": 0}])
def test_a_sign_that_leads_nowhere_is_no_way(own: dict[str, object]) -> None:
    scene = TravelScene()
    scene.use(scene.put("signs", dict(SIGN) | own))
    assert scene.goal is None
    assert scene.harness.world.faults.drops["verb does nothing"] == 1


def test_a_transporter_comes_before_the_sign_and_the_door() -> None:
    tables = TravelTables({3: [Way(1, "North", Destination(ANTONICA))]})
    scene = TravelScene(tables)
    scene.use(scene.put("signs", SIGN, 901, transport=3))
    door = scene.put("widgets", DOOR, 902, transport=3)
    scene.use(door)
    assert len(scene.client.decoded("WS_TeleportList")) == 2
    assert scene.goal is None
    assert not scene.travel.widgets.is_open(door)


def test_a_spawn_that_is_gone_leads_nowhere() -> None:
    scene = TravelScene()
    sign = scene.put("signs", SIGN)
    scene.travel.vanished(scene.zone, sign)
    assert scene.travel.use(scene.player, sign, "use", scene.harness.now) is False
    other = scene.put("signs", SIGN)
    scene.travel.ended(scene.zone)
    assert scene.travel.use(scene.player, other, "use", scene.harness.now) is False


def test_a_script_can_answer_the_use_of_a_door() -> None:
    scene = TravelScene()
    door = scene.put("widgets", DOOR)
    uses: list[tuple[object, ...]] = []

    def answers_the_first(event: WidgetUsed) -> None:
        uses.append((event.zone, event.target, event.player, event.is_open))
        if len(uses) < 2:
            event.answers.append("a script")

    scene.harness.world.events.subscribe(WidgetUsed, answers_the_first, Order.MINDS)
    scene.use(door)
    assert not scene.travel.widgets.is_open(door)
    assert scene.travel.use_widget(door, None, scene.harness.now) is True
    assert scene.travel.widgets.is_open(door)
    assert uses == [(scene.zone, door, scene.player, False), (scene.zone, door, None, False)]
