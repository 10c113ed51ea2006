"""The doors of houses, and how long what a player was shown there counts."""

from __future__ import annotations

from tests.support.world.house_scenes import INN, MANOR, HouseScene


def test_a_door_that_vanished_is_none() -> None:
    scene = HouseScene()
    door = scene.door()
    assert scene.housing.entrances.home_of(door) == INN.id
    scene.housing.vanished(scene.zone, door)
    assert scene.housing.entrances.home_of(door) == 0
    other = scene.door(MANOR, 902)
    scene.housing.ended(scene.zone)
    assert scene.housing.entrances.home_of(other) == 0


def test_who_goes_away_may_do_nothing_until_it_is_back() -> None:
    scene = HouseScene()
    door = scene.door()
    shown = scene.housing.entrances.open(scene.player, door)
    assert scene.housing.entrances.shown(scene.player) is shown
    scene.go(13.0)
    assert scene.housing.entrances.shown(scene.player) is None
    assert scene.lines()[-1] == "You are too far away!"
    scene.go(11.0)
    assert scene.housing.entrances.shown(scene.player) is shown


def test_another_window_takes_the_place_of_the_first() -> None:
    scene = HouseScene()
    entrances = scene.housing.entrances
    first = entrances.open(scene.player, scene.door())
    second = entrances.open(scene.player, None)
    assert not entrances.is_shown(scene.player, first)
    assert entrances.shown(scene.player) is second


def test_who_leaves_the_zone_is_shown_nothing() -> None:
    scene = HouseScene()
    scene.housing.entrances.open(scene.player, scene.door())
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(1.0)
    assert scene.housing.entrances.shown(scene.player) is None
