"""Players in the regions of a map run the regions' scripts.

The rules are those of docs/protocol/maps.md#region-scripts.
"""

from __future__ import annotations

import pytest

from emu.ground.map_names import MapName
from emu.ground.regions import Region
from emu.world.events import Entered
from emu.world.scripts.visits import MOST_QUESTIONS
from emu.world.zones.ground import WidgetRegion
from tests.support.ground.region_bytes import LAVA, pool
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SCRIPT = """
    function EnterRegion(Zone, Who, kind) SendMessage(Who, "in " .. kind) return 5000 end
    function Tick(Zone, Who, kind) SendMessage(Who, "burns") end
    function LeaveRegion(Zone, Who, kind) SendMessage(Who, "out " .. kind) end"""


def lava(low_x: float, file: str = "lava.region") -> Region:
    return pool((low_x, -50, 0), (low_x + 10, 50, 500), kind=1, special=LAVA, file=file)


def ready(scene: ScriptScene, *regions: Region) -> None:
    """Have a zone with regions, and a script for those named lava."""
    file = scene.zone.definition.file
    scene.script(SCRIPT, f"RegionScripts/{file}/lava.lua")
    scene.scripts.zone_starts(scene.zone)
    scene.harness.parts.grounds.note_regions(file, {MapName(file.lower()): list(regions)})
    enter(scene)
    move(scene, 500.0)
    scene.shown()


def enter(scene: ScriptScene) -> None:
    """Have the player enter the zone that scripts know now."""
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))


def move(scene: ScriptScene, x: float) -> None:
    scene.player.spawn.position = scene.player.position._replace(x=x)
    scene.harness.run(0.3)


def test_lava_burns_each_5_seconds_until_it_is_left(scene: ScriptScene) -> None:
    ready(scene, lava(0.0))
    move(scene, 5.0)
    assert scene.shown() == ["in 2"]
    scene.harness.run(10.0)
    assert scene.shown() == ["burns", "burns"]
    move(scene, 15.0)
    assert scene.shown() == ["out 2"]
    scene.harness.run(10.0)
    assert scene.shown() == []


def test_who_is_far_away_at_once_leaves_without_a_call(scene: ScriptScene) -> None:
    ready(scene, lava(0.0))
    move(scene, 5.0)
    move(scene, 9_000.0)
    scene.harness.run(10.0)
    assert scene.shown() == ["in 2"]
    move(scene, 5.0)
    assert scene.shown() == ["in 2"]


def test_two_pools_side_by_side_are_one_to_their_script(scene: ScriptScene) -> None:
    ready(scene, lava(0.0), lava(8.0))
    for x in (5.0, 9.0, 15.0):
        move(scene, x)
    assert scene.shown() == ["in 2"]
    scene.harness.run(5.0)
    assert scene.shown() == ["burns"], "it goes on in the second pool"
    move(scene, 25.0)
    assert scene.shown() == ["out 2"]


def test_a_zone_whose_regions_have_no_script_is_not_checked(scene: ScriptScene) -> None:
    ready(scene, lava(0.0, file="pond.region"))
    move(scene, 5.0)
    assert scene.shown() == []


def test_a_zone_without_regions_is_asked_for_a_while_only(scene: ScriptScene) -> None:
    scene.scripts.zone_starts(scene.zone)
    enter(scene)
    scene.harness.run(MOST_QUESTIONS + 5.0)
    file = scene.zone.definition.file
    scene.script(SCRIPT, f"RegionScripts/{file}/lava.lua")
    scene.harness.parts.grounds.note_regions(file, {MapName(file.lower()): [lava(0.0)]})
    move(scene, 5.0)
    scene.harness.run(5.0)
    assert scene.shown() == []


def test_a_region_that_a_script_adds_later_counts_at_once(scene: ScriptScene) -> None:
    """It has the grid and the widget of the surface; the map of this zone has none."""
    ready(scene)
    ground = scene.harness.parts.grounds.of(scene.zone)
    ground.add_region(0, "lava", WidgetRegion("", 5, 77, 2.0))
    move(scene, 3.0)
    assert scene.shown() == [], "no surface of the widget is known"
    scene.harness.parts.grounds.note_regions(
        scene.zone.definition.file,
        {MapName(scene.zone.definition.file.lower()): [lava(0.0)]},
    )
    move(scene, 5.0)
    assert scene.shown() == ["in 2"], "regions that are read anew count, too"
    assert ground.remove_region(0, "lava")
    scene.harness.run(6.0)
    assert scene.shown() == []
