"""Who may enter a zone, and how a player is sent there."""

from dataclasses import replace

import pytest

from emu.errors import LimitExceeded
from emu.world.actors.spawn import Destination
from emu.world.commands.context import CommandContext
from emu.world.travel.journeys import CHANGE
from emu.world_stream.movement import Position
from tests.support.world.travel_scenes import ANTONICA, ISLE, TravelScene

NORTH = Destination(ANTONICA, Position(1.0, 2.0, 3.0))


@pytest.fixture
def scene() -> TravelScene:
    return TravelScene()


def send(scene: TravelScene, to: Destination, *, reloads: bool = False) -> bool:
    sent = scene.travel.journeys.send(scene.player, to, scene.harness.now, reloads=reloads)
    scene.harness.run(0.1)
    return sent


@pytest.mark.parametrize(
    ("columns", "level", "rank", "line"),
    [
        ({"min_level": 6}, 5, 0, "You must be level 6 to enter Antonica."),
        ({"max_level": 4}, 5, 0, "Antonica is only for players up to level 4."),
        ({"min_status": 1}, 5, 0, "You may not enter Antonica."),
        ({"min_status": 200}, 5, 100, "You may not enter Antonica."),
        ({"min_level": 6, "min_status": 100}, 5, 100, ""),
        ({"min_level": 5, "max_level": 5}, 5, 0, ""),
    ],
)
def test_the_columns_of_a_zone_say_who_may_enter(
    scene: TravelScene, columns: dict[str, int], level: int, rank: int, line: str
) -> None:
    scene.change_zone(ANTONICA, **columns)
    scene.player.character = replace(scene.player.character, level=level, admin_status=rank)
    assert send(scene, NORTH) is not bool(line)
    assert scene.lines()[-1] == (line or "Zoning to Antonica...")
    assert scene.goal == (None if line else NORTH)


def test_a_place_in_the_same_zone_is_a_jump_or_the_zone_is_loaded_anew(scene: TravelScene) -> None:
    here = Destination(ISLE, Position(7.0, 8.0, 9.0))
    assert send(scene, here)
    assert scene.player.position[:3] == (7.0, 8.0, 9.0)
    assert scene.goal is None
    assert send(scene, here, reloads=True)
    assert scene.goal == here


def test_an_unknown_zone_is_refused(scene: TravelScene) -> None:
    assert send(scene, Destination(9999)) is False
    assert scene.lines()[-1] == "This way is closed."


def test_the_zone_is_left_after_the_call_that_sends_the_player(scene: TravelScene) -> None:
    assert scene.travel.journeys.send(scene.player, NORTH, scene.harness.now)
    assert scene.goal is None
    # A second journey does not start while the first one waits.
    scene.travel.journeys.send(scene.player, Destination(ANTONICA), scene.harness.now)
    assert scene.travel.journeys._deadlines.get(scene.player, CHANGE) == scene.harness.now
    scene.harness.run(0.1)
    assert scene.goal == NORTH
    assert not scene.travel.journeys._deadlines
    assert send(scene, NORTH) is False


def test_a_zone_that_cannot_be_entered_now_says_so(
    scene: TravelScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    context: CommandContext = scene.harness.command_context

    async def full(*_arguments: object) -> None:
        raise LimitExceeded("too many keys")

    monkeypatch.setattr(context.departures, "change_zone", full)
    assert send(scene, NORTH)
    assert scene.lines()[-1] == "This way is crowded. Try again in a moment."
