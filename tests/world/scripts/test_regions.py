"""The scripts of regions: which one is found, and when its functions are called."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.times import waiting
from tests.support.world.script_scenes import ScriptScene
from tests.world.scripts.test_script_files import LONG

pytest.importorskip("lupa", reason="the package lupa is not installed")

WATER = """
    function EnterRegion(Zone, Who, kind) SendMessage(Who, "in " .. kind) return %s end
    function Tick(Zone, Who, kind) SendMessage(Who, "tick") count = (count or 0) + 1
        if count == 3 then return 1 end end
    function LeaveRegion(Zone, Who, kind) SendMessage(Who, "out " .. (kind or "none")) end"""


def region(scene: ScriptScene, name: str, source: str) -> None:
    folder = scene.zone.definition.name.lower()
    scene.script(source, f"RegionScripts/{folder}/{name}.lua")
    scene.scripts.zone_starts(scene.zone)
    scene.shown()


def test_a_script_is_found_by_region_environment_or_as_default(scene: ScriptScene) -> None:
    home = scene.scripts.homes.of(scene.zone)
    folder = f"RegionScripts/{scene.zone.definition.name.lower()}"
    find = scene.scripts.regions.script
    assert find(home, "lake.region", "water.env") == ""
    for name in ("default", "water", "lake"):
        region(scene, name, "")
        assert find(home, "lake.region", "water.env") == f"{folder}/{name}.lua"
    assert find(home, "", "") == f"{folder}/default.lua"
    assert find(home, "../lake", "") == f"{folder}/default.lua"


def test_a_region_ticks_until_it_says_so(scene: ScriptScene) -> None:
    region(scene, "lake", WATER % "1000")
    scene.scripts.regions.entered(scene.zone, scene.player.spawn, "lake", "", 4)
    scene.scripts.regions.entered(scene.zone, scene.player.spawn, "lake", "", 4)
    assert scene.shown() == ["in 4"]
    scene.harness.run(10.0)
    assert scene.shown() == ["tick"] * 3
    scene.scripts.regions.left(scene.zone, scene.player.spawn, "lake", "")
    scene.scripts.regions.left(scene.zone, scene.player.spawn, "lake", "")
    assert scene.shown() == ["out 4"]


def test_who_enters_before_the_script_is_compiled_enters_then(tmp_path: Path) -> None:
    background: list[Callable[[], object]] = []
    scene = ScriptScene(tmp_path, background=background)
    for name in ("lake", "pond"):
        region(scene, name, LONG + WATER % "1000")
        scene.scripts.regions.entered(scene.zone, scene.player.spawn, name, "", 4)
    scene.scripts.regions.left(scene.zone, scene.player.spawn, "pond", "")
    scene.harness.run(2.0)
    assert scene.shown() == []
    while background:
        background.pop(0)()
    scene.harness.run(0.1)
    assert scene.shown() == ["in 4"], "the pond was left before"
    scene.harness.run(2.0)
    assert scene.shown() == ["tick"] * 2


@pytest.mark.parametrize("result", ["0", "nil", "-5", "'x'", "0/0"])
def test_without_a_time_there_are_no_ticks(scene: ScriptScene, result: str) -> None:
    region(scene, "lake", WATER % result)
    scene.scripts.regions.entered(scene.zone, scene.player.spawn, "lake", "", 0)
    scene.harness.run(5.0)
    scene.scripts.regions.left(scene.zone, scene.player.spawn, "lake", "")
    assert scene.shown() == ["in 0", "out none"]


def test_ticks_of_an_empty_zone_wait_for_a_player(scene: ScriptScene) -> None:
    region(
        scene, "lake",
        "function EnterRegion() return 1000 end function Tick(Zone, Who) Say(Who, 'wet') end",
    )  # fmt: skip
    fish = scene.spawn("", "Fish")
    scene.scripts.regions.entered(scene.zone, fish, "lake", "", 4)
    scene.harness.run(1.1)
    assert scene.heard() == [("Fish", "wet")]
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(60.0)
    assert "the ticks of regions" not in waiting(scene.harness.timetable)
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    other.player.teleport(fish.position, scene.harness.now)
    scene.harness.run(1.2)
    assert ("Fish", "wet") in [(name, text) for _, name, text in other.hears()]


def test_who_leaves_the_zone_is_forgotten(scene: ScriptScene) -> None:
    region(scene, "lake", WATER % "1000")
    scene.scripts.regions.entered(scene.zone, scene.player.spawn, "lake", "", 4)
    scene.harness.run(1.5)
    scene.scripts.left(scene.player)
    assert "the ticks of regions" not in waiting(scene.harness.timetable)
    scene.harness.run(5.0)
    assert scene.shown() == ["in 4", "tick"]


def test_a_region_without_a_script_is_nothing(scene: ScriptScene) -> None:
    scene.shown()
    scene.scripts.regions.entered(scene.zone, scene.player.spawn, "lake", "", 4)
    scene.scripts.regions.left(scene.zone, scene.player.spawn, "lake", "")
    assert scene.shown() == []
