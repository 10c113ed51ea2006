"""What others learn of a creation: its begin and its end."""

from __future__ import annotations

import pytest

from emu.world.crafting.creating import REACH
from emu.world.item_events import CraftingChanged
from tests.support.world.trade_scenes import player_of
from tests.world.crafting.test_creating import breaks, scene_of, starts, stops


def test_others_learn_of_the_begin_and_the_end() -> None:
    scene = scene_of()
    heard: list[bool] = []
    scene.harness.world.events.subscribe(
        CraftingChanged, lambda event: heard.append(event.is_begun)
    )
    starts(scene)
    assert heard == [True]
    stops(scene)
    stops(scene)
    assert heard == [True, False]
    starts(scene)
    breaks(scene.one)
    scene.harness.run(30.0)
    assert heard == [True, False, True, False]


@pytest.mark.parametrize(("away", "is_reached"), [(REACH - 1.0, True), (REACH + 1.0, False)])
def test_a_device_without_a_verb_is_reached_from_the_usual_distance(
    away: float, is_reached: bool
) -> None:
    scene = scene_of()
    player = player_of(scene.one)
    assert player.target is not None
    player.target.verbs = ()
    at = player.target.position
    player.teleport(at._replace(x=at.x + away), scene.harness.now)
    heard: list[bool] = []
    scene.harness.world.events.subscribe(
        CraftingChanged, lambda event: heard.append(event.is_begun)
    )
    starts(scene)
    assert heard == [True] * is_reached
