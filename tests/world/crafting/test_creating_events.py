"""What others learn of a creation: its begin and its end."""

from __future__ import annotations

from emu.world.item_events import CraftingChanged
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
