"""The maps as clients of three versions see them: hills, a fence, and lava.

A client draws a creature on the straight line from the place of the last update to the point ahead,
at the speed of the update (docs/protocol/world/spawns.md#walks).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Entered
from emu.world.minds.walks import Waypoint
from emu.world_stream.movement import Position
from tests.support.ground.map_bytes import Part, hills
from tests.support.ground.map_folders import write_map, write_maps
from tests.support.ground.plain_search import best_height
from tests.support.ground.region_bytes import LAVA, pool
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.worlds import Client, HarnessContent, WorldHarness

VERSIONS = [546, 1208, 60114]
HILLS = hills(16)
FENCE_X, GAP_Z = 14.0, 8.0
STEP = 0.1
Point = tuple[float, float, float]


class Drawn:
    """The place of a creature as a client draws it."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._since, self._fields = client.harness.now, client.fields_of(name)

    def place(self) -> Point:
        fields, now = self._client.fields_of(self._name), self._client.harness.now
        if fields != self._fields:
            self._since, self._fields = now, fields
        x, y, z = (fields.get(f"pos_{axis}", 0.0) for axis in "xyz")
        here = x, y, z
        goal = point_ahead(fields, here)
        length, speed = math.dist(here, goal), fields.get("pos_speed", 0) / 256
        share = min(1.0, speed * (now - self._since) / length) if length else 0.0
        x, y, z = (a + (b - a) * share for a, b in zip(here, goal, strict=True))
        return x, y, z


def point_ahead(fields: dict[str, Any], here: Point) -> Point:
    """Return the point ahead: newer clients have the place, older ones an offset in 1/32."""
    if fields.get("pos_next_x") or fields.get("pos_next_z"):
        x, y, z = (fields.get(f"pos_next_{axis}", 0.0) for axis in "xyz")
        return x, y, z
    dx, dy, dz = (one / 32 for one in fields.get("pos_dest_loc_offset", (0, 0, 0)))
    return here[0] + dx, here[1] + dy, here[2] + dz


def world_on(
    tmp_path: Path, version: int, write: Callable[[Path, str], object], place: Position
) -> Client:
    """Return a client whose player stands at a place of a zone with a map."""
    content = HarnessContent(maps=lambda: MapFolder(tmp_path / "maps"))
    world = WorldHarness(content=content, roll=Random(1).randrange)
    write(tmp_path / "source", world.zones.definition(325).file)
    import_maps(tmp_path / "source", tmp_path / "maps")
    client = world.stand(5, version)
    assert client.player is not None
    client.player.teleport(place, world.now)
    return client


def put(client: Client, name: str, place: Position) -> Spawn:
    world, player = client.harness, client.player
    assert player is not None
    spawn = Spawn(world.world.zones.next_spawn_id(), SpawnKind.NPC, name, place)
    player.zone.add_spawn(spawn, world.now)
    world.run(0.5)
    return spawn


def drawn(client: Client, name: str, seconds: float) -> Iterator[Point]:
    shown = Drawn(client, name)
    for _ in range(round(seconds / STEP)):
        client.harness.run(STEP)
        yield shown.place()


def height(x: float, z: float) -> float:
    found = best_height(HILLS, (x, 50.0, z))
    assert found is not None
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_creature_crosses_a_hill_within_half_a_meter_of_the_ground(
    tmp_path: Path, version: int
) -> None:
    def write(folder: Path, zone: str) -> None:
        write_map(write_maps(folder, zone), zone, [Part(HILLS, 5)])

    start, end = (Position(x, height(x, z), z) for x, z in ((-28.0, 4.0), (28.0, 8.0)))
    client = world_on(tmp_path, version, write, start._replace(z=0.0))
    guard = put(client, "Guard", start)
    player, minds = client.player, client.harness.parts.minds
    assert player is not None
    mover = minds.moves.of(guard, player.zone, lambda _mark: None)
    mover.go(Waypoint(end, 4.0), at_once=True)
    client.harness.run(0.5)
    places = list(drawn(client, "Guard", 14.5))
    assert max(abs(y - height(x, z)) for x, y, z in places) <= 0.5
    assert places[-1] == pytest.approx(end[:3], abs=0.05)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_chaser_goes_round_a_fence(tmp_path: Path, version: int) -> None:
    client = world_on(tmp_path, version, write_maps, Position(22.0, 0.0, 2.0))
    wolf = put(client, "Wolf", Position(10.0, 0.0, 2.0))
    player, minds = client.player, client.harness.parts.minds
    assert player is not None
    mover = minds.moves.of(wolf, player.zone, lambda _mark: None)
    mover.hunt(player.spawn, lambda: None, speed=5.0)
    places = list(drawn(client, "Wolf", 8.0))
    crossed = [
        (one[2] + other[2]) / 2
        for one, other in pairwise(places)
        if (one[0] - FENCE_X) * (other[0] - FENCE_X) < 0
    ]
    assert len(crossed) == 1
    assert crossed[0] > GAP_Z - 0.6
    assert math.dist(places[-1], (22.0, 0.0, 2.0)) <= 3.1


BURNING = """
    function EnterRegion(Zone, Who, kind)
        if kind == 2 then DamageSpawn(Who, Who, 192, 3, 15, 15, "Lava Burn", 0, 0, 1, 1) end
        return 5000
    end
    function Tick(Zone, Who, kind)
        DamageSpawn(Who, Who, 192, 3, 15, 15, "Lava Burn", 0, 0, 1, 1)
        return 0
    end"""


@pytest.mark.parametrize("version", VERSIONS)
def test_lava_burns_each_five_seconds(tmp_path: Path, version: int) -> None:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    scene = ScriptScene(tmp_path, version)
    world, player, file = scene.harness, scene.player, scene.zone.definition.file
    scene.script(BURNING, f"RegionScripts/{file}/lava.lua")
    scene.scripts.zone_starts(scene.zone)
    x, y, z = player.position[:3]
    low, high = (x + 2.0, y - 5.0, z - 5.0), (x + 9.0, y + 5.0, z + 5.0)
    lava = pool(low, high, kind=1, special=LAVA, file="lava.region")
    world.parts.grounds.note_regions(file, {MapName(file.lower()): [lava]})
    world.world.events.publish(Entered(player, Monotonic(world.now)))
    health = player.spawn.sheet.health
    full = health.current

    def burns() -> int:
        return len(scene.client.decoded("WS_HearSimpleDamage"))

    world.run(1.0)
    assert burns() == 0
    scene.client.walk(x + 3.0, y, z)
    world.run(0.5)
    assert full - health.current == 15
    seen = [burns()]
    for _ in range(2):
        world.run(5.0)
        seen.append(burns())
    assert seen == [1, 2, 3]
    scene.client.walk(x, y, z)
    world.run(10.0)
    assert burns() == 3
