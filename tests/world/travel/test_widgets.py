"""Doors and lifts, seen from the client of a player beside them."""

from typing import Any

import pytest

from emu.world.actors.spawn import Footer, Spawn
from emu.world.travel.widgets import PAUSE, WidgetForm
from tests.support.world.travel_scenes import DOOR, PLACE, TravelScene

LIFT = dict(DOOR) | {"kind": "lift", "open_heading": -1.0, "open_y": 12.03, "open_seconds": 0}


@pytest.fixture
def scene() -> TravelScene:
    return TravelScene()


def shown(scene: TravelScene, spawn: Spawn) -> dict[str, Any]:
    return scene.client.fields_of(spawn.name)


@pytest.mark.parametrize(("version", "solid"), [(546, 0x40), (561, 0x400000), (1208, 0x800000)])
def test_a_door_turns_and_lets_players_through_and_closes_by_itself(
    version: int, solid: int
) -> None:
    scene = TravelScene(version=version)
    door = scene.put("widgets", DOOR)
    closed = shown(scene, door)
    assert closed["activity_status"] & solid
    assert scene.use(door) == []
    scene.harness.run(0.3)
    opened = shown(scene, door)
    assert door.position.heading == 200.0
    assert opened["pos_heading1"] != closed["pos_heading1"]
    assert not opened.get("activity_status", 0) & solid
    scene.harness.run(10.5)
    assert shown(scene, door) == closed


@pytest.mark.parametrize("version", [546, 561, 1208, 60114, 64753])
def test_those_who_are_near_hear_a_door(version: int) -> None:
    scene = TravelScene(version=version)
    door = scene.put("widgets", DOOR)
    scene.use(door)
    (sound,) = scene.client.decoded("WS_PlaySoundAt")
    assert (sound["name"], sound["volume"]) == ("sounds/open.wav", 1.0)
    assert sound["x"] == pytest.approx(PLACE.x)
    # The text for closing is too short to be a file.
    scene.harness.run(11.0)
    assert len(scene.client.decoded("WS_PlaySoundAt")) == 1


def test_a_second_use_closes_a_door_unless_it_comes_at_once(scene: TravelScene) -> None:
    door = scene.put("widgets", DOOR)
    scene.use(door)
    scene.use(door)
    assert scene.travel.widgets.is_open(door)
    scene.harness.run(PAUSE)
    scene.use(door)
    assert not scene.travel.widgets.is_open(door)


def test_a_linked_door_opens_and_closes_with_the_other(scene: TravelScene) -> None:
    left = scene.put("widgets", dict(DOOR) | {"linked_spawn": 902}, 901)
    right = scene.put("widgets", dict(DOOR) | {"linked_spawn": 901, "open_heading": 10.0}, 902)
    scene.use(right)
    assert (left.position.heading, right.position.heading) == (200.0, 10.0)
    scene.harness.run(10.5)
    assert left.position.heading == right.position.heading == PLACE.heading


def test_a_lever_moves_the_door_that_it_acts_on_and_its_link(scene: TravelScene) -> None:
    lever = scene.put("widgets", dict(DOOR) | {"kind": "generic", "action_spawn": 901}, 903)
    left = scene.put("widgets", dict(DOOR) | {"linked_spawn": 902}, 901)
    right = scene.put("widgets", DOOR, 902)
    scene.use(lever)
    assert left.position.heading == right.position.heading == 200.0
    assert lever.position.heading == PLACE.heading


def test_a_lift_moves_four_units_a_second_and_stays(scene: TravelScene) -> None:
    lift = scene.put("widgets", LIFT)
    scene.use(lift)
    scene.harness.run(2.45)
    assert -1.0 < lift.position.y < 4.0
    scene.harness.run(60.0)
    assert lift.position == PLACE._replace(y=12.03)
    assert shown(scene, lift)["pos_y"] == pytest.approx(12.03)
    scene.use(lift)
    scene.harness.run(6.0)
    assert lift.position == PLACE


def test_a_lift_that_is_used_on_its_way_turns_round(scene: TravelScene) -> None:
    lift = scene.put("widgets", LIFT)
    scene.use(lift)
    scene.harness.run(2.0)
    scene.use(lift)
    scene.harness.run(3.0)
    assert lift.position == PLACE


@pytest.mark.parametrize("kind", ["door", "lift"])
def test_a_door_whose_place_clients_are_not_sent_stays_and_a_lift_is_sent(kind: str) -> None:
    scene = TravelScene()
    footer = Footer(7, 1.0, 2.0, 3.0, with_place=False)
    widget = scene.put("widgets", dict(LIFT) | {"kind": kind}, footer=footer)
    scene.use(widget)
    scene.harness.run(6.0)
    moves = kind == "lift"
    assert widget.position.y == (12.03 if moves else PLACE.y)
    assert shown(scene, widget).get("pos_y", 0.0) == pytest.approx(12.03 if moves else 0.0)


def test_a_door_with_a_closed_heading_closes_to_it(scene: TravelScene) -> None:
    door = scene.put("widgets", dict(DOOR) | {"closed_heading": 270.0})
    scene.use(door)
    scene.harness.run(11.0)
    assert door.position.heading == 270.0


def test_a_door_that_is_gone_does_not_close(scene: TravelScene) -> None:
    door = scene.put("widgets", DOOR)
    scene.use(door)
    scene.zone.remove(door, scene.harness.now)
    scene.travel.vanished(scene.zone, door)
    assert not scene.travel.widgets._deadlines
    assert len(scene.travel.widgets) == 0


def test_a_zone_that_ends_forgets_its_doors(scene: TravelScene) -> None:
    scene.use(scene.put("widgets", DOOR))
    scene.travel.ended(scene.zone)
    assert not scene.travel.widgets._deadlines
    assert len(scene.travel.widgets) == 0


def test_a_widget_that_does_not_move_is_no_door(scene: TravelScene) -> None:
    plain = scene.put("widgets", dict(DOOR) | {"kind": "generic"})
    assert scene.travel.widgets.of(plain) is None
    assert scene.travel.use_widget(plain, None, scene.harness.now) is False


def test_the_form_of_a_row() -> None:
    form = WidgetForm.of(dict(LIFT) | {"close_z": 5.0, "linked_spawn": 7})
    assert (form.kind, form.opened, form.closed) == ("lift", (0.0, 12.03, 0.0), (0.0, 0.0, 5.0))
    assert (form.seconds, form.open_sound, form.close_sound) == (0.0, "sounds/open.wav", "")
    assert (form.linked, form.action) == (7, 0)


def test_an_open_door_lets_views_through_until_it_closes(scene: TravelScene) -> None:
    """Its widget of the map is the number in its spawn's footer."""
    door = scene.put("widgets", DOOR)
    door.footer = Footer(77, *door.position[:3])
    changes = scene.harness.parts.grounds.of(scene.player.zone).changes
    scene.use(door)
    assert changes.passable == {77}
    scene.use(door)
    scene.harness.run(PAUSE)
    scene.use(door)
    assert changes.passable == set()
