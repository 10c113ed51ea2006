"""Generated maps, one of 3 million triangles: import, opening, heights, lines of sight, ways.

Times are CPU of the thread. The yardstick is a thousand bytes of RC4 in plain Python, which is the
same kind of work. The generated ground is hilly and has walls; the mesh has gaps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from math import cos, sin
from pathlib import Path
from random import Random
from time import thread_time

from emu.ground.ground_map import GroundMap
from emu.ground.map_folder import MapFolder
from emu.ground.path_mesh import PathMesh
from emu.ground.routes import RouteSearch
from emu.world.zones.ground import SEARCH_UNITS
from tests.support.ground.mesh_bytes import SIZE, write_paths
from tools.bench.figures import Figure, Round
from tools.bench.maps_source import CELL, height_near, hilly_map, mesh_cells
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

LARGE = 1170
"""Squares of a side of the large map: 3.0 million triangles, 4.7 km."""
USUAL = 197
"""Squares of a side of a usual map: 85,000 triangles, the median of the public maps."""
ZONES = 20
QUERIES = 2000
ROUTES = 150
MESH = 130
"""Squares of a side of the mesh: 15,000 polygons."""
WAY = 60.0
SIGHT = 30.0

Point = tuple[float, float, float]


def report(rounds: int) -> list[Figure]:
    """Make the maps once, and measure what is asked of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large, usual = folder / "large.ground", folder / "usual.ground"
        figures = [*_imports(folder, large, LARGE, rounds)]
        _import(folder, usual, USUAL)
        figures += _opening(folder, usual, rounds)
        for path, what, side in ((large, "3,000,000 triangles", LARGE), (usual, "85,000", USUAL)):
            with closing(GroundMap(path)) as ground:
                figures += _queries(ground, what, side, rounds)
        usual.unlink()
        figures += _routes(folder, rounds, large)
    return figures


def _imports(folder: Path, target: Path, side: int, rounds: int) -> Iterator[Figure]:
    found = [(_import(folder, target, side), rc4_loop().cpu) for _ in range(rounds)]
    what = f"import of a map of {found[0][0]['triangles']:,} triangles"
    seconds = [Round(one["cpu"], yardstick * 1e3) for one, yardstick in found]
    yield Figure(what, "s", RC4_KILOBYTE, seconds)
    peaks = [Round(one["peak"] / 1e6, target.stat().st_size / 1e6) for one, _ in found]
    yield Figure("its peak of memory", "MB", "its ground file", peaks, "at most 864 MB")


def _import(folder: Path, target: Path, side: int) -> dict[str, float]:
    """Import a generated map in a process of its own; return what it took."""
    source = folder / f"{side}.EQ2MapDeflated"
    if not source.exists():
        source.write_bytes(hilly_map(side))
    words = [sys.executable, "-m", "tools.bench.maps_source", str(source), str(target)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _opening(folder: Path, usual: Path, rounds: int) -> list[Figure]:
    maps = folder / "content.maps"
    maps.mkdir()
    for number in range(ZONES):
        os.link(usual, maps / f"zone{number}.ground")
    times, sizes = [], []
    for _ in range(rounds):
        before, began = _resident(), thread_time()
        listed = MapFolder(maps)
        grounds = [listed.ground(f"zone{number}") for number in range(ZONES)]
        taken, grown = thread_time() - began, _resident() - before
        for one in grounds:
            if one is not None:
                one.close()
        times.append(Round(taken * 1e3, rc4_loop().cpu * 1e6))
        sizes.append(Round(grown / 1e6, usual.stat().st_size * ZONES / 1e6))
    return [
        Figure(f"opening {ZONES} zones", "ms", RC4_KILOBYTE, times, "at most 20 ms"),
        Figure("the memory they take", "MB", "their files", sizes, "at most 5 MB"),
    ]


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _queries(ground: GroundMap, what: str, side: int, rounds: int) -> Iterator[Figure]:
    random, half = Random(side), side * CELL / 2 - SIGHT
    points = []
    for _ in range(QUERIES):
        x, z = random.uniform(-half, half), random.uniform(-half, half)
        points.append((x, height_near(x, z), z))
    ends = []
    for x, _, z in points:
        turn = random.uniform(0, 6.28)
        far = x + SIGHT * cos(turn), z + SIGHT * sin(turn)
        ends.append((far[0], height_near(*far), far[1]))
    heights = [_each(lambda one: ground.surface(*_point(one)), points) for _ in range(rounds)]
    yield from _times(f"a height, {what}", heights, "at most 90 us")
    pairs = [(*start, *end) for start, end in zip(points, ends, strict=True)]
    views = [
        _each(lambda one: ground.sees(_point(one[:3]), _point(one[3:])), pairs)
        for _ in range(rounds)
    ]
    yield from _times(f"a line of sight of 30 m, {what}", views, "at most 120 us")


Times = tuple[list[float], float]
"""Microseconds of each call, sorted, and those of the yardstick."""


def _each(
    call: Callable[[tuple[float, ...]], object], values: Sequence[tuple[float, ...]]
) -> Times:
    found = []
    for value in values:
        began = thread_time()
        call(value)
        found.append((thread_time() - began) * 1e6)
    return sorted(found), rc4_loop().cpu * 1e9


def _times(what: str, found: list[Times], aim: str) -> Iterator[Figure]:
    means = [Round(sum(some) / len(some), yardstick) for some, yardstick in found]
    yield Figure(f"{what}: mean", "us", RC4_KILOBYTE, means, aim)
    late = [Round(some[int(len(some) * 0.99)], yardstick) for some, yardstick in found]
    yield Figure(f"{what}: p99", "us", RC4_KILOBYTE, late, "at most 400 us")


def _routes(folder: Path, rounds: int, map_file: Path) -> Iterator[Figure]:
    """Search ways on the mesh alone, and then with the ground under them, in turns as of a zone."""
    cells = mesh_cells(MESH)
    path = write_paths(folder, cells, 16)
    random, floors = Random(2), sorted(cells)
    pairs: list[tuple[float, ...]] = []
    while len(pairs) < ROUTES:
        column, row = random.choice(floors)
        turn = random.uniform(0, 6.28)
        far = int(column + WAY / SIZE * cos(turn)), int(row + WAY / SIZE * sin(turn))
        if far in cells:
            start, end = (((c + 0.5) * SIZE, cells[c, r], (r + 0.5) * SIZE)
                          for c, r in ((column, row), far))  # fmt: skip
            pairs.append((*start, *end))
    with closing(PathMesh(path)) as mesh, closing(GroundMap(map_file)) as ground:
        for what, under, aim in (
            ("a way of 60 m", None, "at most 1,500 us"),
            ("a way of 60 m with its ground", ground, ""),
        ):
            whole, turns = [], []
            for _ in range(rounds):
                longest: list[float] = []
                route = partial(_route, under, mesh, longest)
                whole.append(_each(route, pairs))
                turns.append(Round(max(longest) * 1e3, rc4_loop().cpu * 1e6))
            middle = [Round(some[len(some) // 2], yardstick) for some, yardstick in whole]
            yield Figure(f"{what}: p50", "us", RC4_KILOBYTE, middle, aim)
            yield Figure("its longest turn", "ms", RC4_KILOBYTE, turns, "at most 10 ms")


def _route(
    ground: GroundMap | None, mesh: PathMesh, turns: list[float], places: tuple[float, ...]
) -> None:
    """Search a way; note the seconds of its longest turn."""
    start, goal = _point(places[:3]), _point(places[3:])
    search, longest, is_over = RouteSearch(ground, mesh, start, goal), 0.0, False
    while not is_over:
        began = thread_time()
        is_over = search.advance(SEARCH_UNITS)
        longest = max(longest, thread_time() - began)
    turns.append(longest)


def _point(values: tuple[float, ...]) -> Point:
    x, y, z = values
    return x, y, z
