"""Commands about the ground: grid, los and path."""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.internet.defer import Deferred

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from tests.support.ground.map_bytes import Part, square
from tests.support.ground.map_folders import write_map, write_maps
from tests.support.ground.region_bytes import pool
from tests.support.world.worlds import Client, HarnessContent, WorldHarness

FLOOR = square((-30, -10, 220), (30, -10, 260))
WALL = square((10, -12, 220), (10, -2, 260))


def world(folder: Path) -> WorldHarness:
    harness = WorldHarness()
    source = write_maps(folder / "source")
    for definition in harness.zones.table:
        write_map(source, definition.file, [Part(FLOOR, 5), Part(WALL, 6, 77)])
    import_maps(source, folder / "maps")
    return WorldHarness(content=HarnessContent(maps=lambda: MapFolder(folder / "maps")))


def beside(master: Client, x: float) -> Spawn:
    """Put a guard into the master's zone, who is the target."""
    assert master.player is not None
    player = master.player
    guard = Spawn(9, SpawnKind.NPC, "Guard", player.position._replace(x=x))
    player.zone.add_spawn(guard, Monotonic(1000.0))
    player.set_target(guard)
    return guard


def test_grid_shows_the_ground_and_the_regions(tmp_path: Path) -> None:
    harness = world(tmp_path)
    master = harness.stand(5, admin_status=100)
    assert master.player is not None
    at, file = master.player.position, master.player.zone.definition.file
    regions = [pool((-30, -20, 220), (30, 0, 260), file="sea.region")]
    harness.parts.grounds.note_regions(file, {MapName(file.lower()): regions})
    assert master.types("/grid") == [
        f"your client says grid {at.grid}",
        f"ground: y -10.00, which is {at.y + 10.0:.2f} under you, grid 5, widget none",
        "regions: sea.region (water)",
    ]


def test_without_a_map_there_is_nothing_to_show(harness: WorldHarness) -> None:
    master = harness.stand(5, admin_status=100)
    assert master.types("/grid")[1:] == ["this zone has no map", "regions: none"]
    assert master.types("/los") == ["target somebody in this zone"]
    beside(master, 3.0)
    for command in ("/los", "/path"):
        assert master.types(command) == ["this zone has no map"]


@pytest.mark.parametrize(
    ("x", "line"), [(5.0, "you see Guard, "), (20.0, "something is between you and Guard, ")]
)
def test_los_looks_for_walls(tmp_path: Path, x: float, line: str) -> None:
    master = world(tmp_path).stand(5, admin_status=100)
    beside(master, x)
    (answer,) = master.types("/los")
    assert answer.startswith(line)


def test_path_lists_the_points_of_a_way(tmp_path: Path) -> None:
    harness = world(tmp_path)
    harness.start = Deferred.fromCoroutine
    master = harness.stand(5, admin_status=100)
    guard = beside(master, 5.0)
    assert master.types("/path") == [], "it is searched in later turns"
    before = len(master.decoded("WS_DisplayText"))
    harness.run(1.0)
    lines = [str(one["text"]) for one in master.decoded("WS_DisplayText")[before:]]
    assert lines[0].startswith("2 points, ")
    assert lines[0].endswith(" long, straight")
    assert lines[-1] == f"5.0, -10.0, {guard.position.z:.1f}"


def test_the_commands_are_for_game_masters(harness: WorldHarness) -> None:
    player = harness.stand(5)
    for name in ("grid", "los", "path"):
        lines = player.types(f"/{name}")
        assert not any("no map" in line or "target" in line for line in lines)
