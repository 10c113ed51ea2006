"""Ground files made of maps: what is kept, what is left out, and the tree around it."""

import gzip
import io
import struct
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest

from emu.errors import FileFormatError
from emu.ground import building
from emu.ground.building import build_ground
from emu.ground.ground_file import Box, GroundFile, Triangle
from emu.ground.ground_layout import FAN, HEADER_SIZE, GroundHeader, first_of
from emu.ground.map_files import MapReader
from tests.support.ground.map_bytes import (
    Part,
    Surface3,
    build,
    hills,
    map_bytes,
    square,
    write_ground,
)
from tools.bench.maps_source import hilly_map

FLOOR = square((0, 0, 0), (10, 0, 10))


def scattered(count: int, seed: int = 1, far: float = 200.0) -> list[Surface3]:
    """Return small triangles anywhere."""
    random = Random(seed)

    def near(place: list[float]) -> tuple[float, float, float]:
        x, y, z = (one + random.uniform(-3, 3) for one in place)
        return x, y, z

    places = [[random.uniform(-far, far) for _ in range(3)] for _ in range(count)]
    return [(near(one), near(one), near(one)) for one in places]


def in_leaves(file: GroundFile) -> list[tuple[int, ...]]:
    return [one for leaf in range(1 << file.header.depth) for one in file.leaf(leaf)]


Bounds = tuple[tuple[int, int, int], tuple[int, int, int]]


def bounds_of_box(box: Box) -> Bounds:
    x0, x1, z0, z1, y0, y1 = box
    return (x0, y0, z0), (x1, y1, z1)


def bounds_of_triangles(rows: list[Triangle]) -> Bounds:
    axes = [[one for row in rows for one in row[axis:9:3]] for axis in range(3)]
    x, y, z = axes
    return (min(x), min(y), min(z)), (max(x), max(y), max(z))


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 6, 7, 48, 49, 1000, 20_000])
def test_every_box_contains_just_what_is_below_it(tmp_path: Path, count: int) -> None:
    """Large nodes and small ones are divided differently; 20,000 triangles have both."""
    with GroundFile(write_ground(tmp_path, [Part(scattered(count))])) as file:
        assert file.header.triangles == count == len(in_leaves(file))
        for level, boxes in enumerate(file.levels):
            whole = [one for first in range(0, boxes, FAN) for one in file.boxes(level, first)]
            for number, box in enumerate(whole):
                if level + 1 == len(file.levels):
                    assert bounds_of_triangles(file.leaf(number)) == bounds_of_box(box)
                    continue
                below = map(bounds_of_box, file.boxes(level + 1, FAN * number))
                lows, highs = zip(*below, strict=True)
                low, high = (
                    tuple(map(pick, zip(*some, strict=True)))
                    for pick, some in ((min, lows), (max, highs))
                )
                assert (low, high) == bounds_of_box(box)


@pytest.mark.slow
def test_the_tree_divides_space(tmp_path: Path) -> None:
    """A tree whose leaves are no neighborhoods would give right answers, and slow ones."""
    with GroundFile(write_ground(tmp_path, [Part(hills(150))])) as file:
        last = len(file.levels) - 1
        boxes = [
            box for first in range(0, file.levels[last], FAN) for box in file.boxes(last, first)
        ]
        steps = 600 / file.header.step[0]
        widths = [x1 - x0 for x0, x1, *_ in boxes]
    assert len(boxes) == 8192
    assert sum(widths) / len(widths) < steps / 40


def test_each_node_divides_its_triangles_along_one_axis(tmp_path: Path) -> None:
    """The centers of one half are not over those of the other; a single stray makes boxes large.

    Small nodes are divided together, with shares of a length that must not pass their 30 bits.
    """
    with GroundFile(write_ground(tmp_path, [Part(scattered(3000))])) as file:
        rows = np.array(in_leaves(file), float)[:, :9].reshape(-1, 3, 3)
        centers = (rows.min(axis=1) + rows.max(axis=1)) * file.header.step
        depth = file.header.depth
    for level in range(depth):
        for node in range(1 << level):
            start, middle, end = (first_of(2 * node + half, 3000, level + 1) for half in (0, 1, 2))
            low, high = centers[start:middle].max(axis=0), centers[middle:end].min(axis=0)
            assert (low <= high + 0.001).any()


def test_points_lines_and_repetitions_are_left_out() -> None:
    point: Surface3 = ((1, 1, 1), (1, 1, 1), (1, 1, 1))
    line: Surface3 = ((0, 0, 0), (5, 0, 0), (10, 0, 0))
    again = [tuple(one) for one in permutations(FLOOR[0])]
    built = build(map_bytes([Part([*FLOOR, point, line, *again], 1), Part(FLOOR, 2)]))  # type: ignore[list-item]
    assert (built.triangles, built.kept, built.groups) == (12, 2, 2)


def test_of_two_floors_in_one_place_the_first_is_kept(tmp_path: Path) -> None:
    with GroundFile(write_ground(tmp_path, [Part(FLOOR, 8), Part(FLOOR, 9)])) as file:
        assert {file.group(one[9])[0] for one in in_leaves(file)} == {8}


def test_the_wall_of_a_widget_stays_beside_the_same_wall_of_the_zone() -> None:
    """If the widget is removed, the zone's own wall remains."""
    built = build(map_bytes([Part(FLOOR, 1, 0), Part(FLOOR, 1, 5), Part(FLOOR, 1, 6)]))
    assert built.kept == 6


def test_stray_geometry_makes_a_wide_file(tmp_path: Path) -> None:
    far = square((40_000, 0, 0), (40_010, 0, 10))
    path = write_ground(tmp_path, [Part([*FLOOR, *far])])
    with GroundFile(path) as file:
        assert file.header.is_wide
        assert max(file.header.step) <= 0.001
        assert file.header.high == (40_010.0, 0.0, 10.0)
        assert len(in_leaves(file)) == 4


def test_more_groups_than_16_bits_count_make_a_wide_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_NARROW_STEPS", 200)
    assert build(map_bytes([Part(square((0, 0, 0), (1, 0, 1)), 1, n) for n in range(300)])).is_wide


def test_the_bounds_are_those_of_the_corners(tmp_path: Path) -> None:
    """The bounds in the header of the source are wrong, as in the public files."""
    with GroundFile(write_ground(tmp_path, [Part(square((-3, 1, -4), (5, 7, 6)))])) as file:
        assert (file.header.low, file.header.high) == ((-3.0, 1.0, -4.0), (5.0, 7.0, 6.0))


def test_both_versions_give_the_same_ground(tmp_path: Path) -> None:
    files = [
        write_ground(tmp_path, [Part(hills(9), 3)], version).read_bytes() for version in (2, 3)
    ]
    assert files[0] == files[1]


def test_groups_without_triangles_keep_their_place(tmp_path: Path) -> None:
    parts = [Part(FLOOR), Part([], 4, 99, (1.0, 2.0, 3.0))]
    built = build(map_bytes(parts))
    assert built.empty_groups == 1
    with GroundFile(write_ground(tmp_path, parts)) as file:
        assert file.groups() == [(1, 0, (0.0, 0.0, 0.0)), (4, 99, (1.0, 2.0, 3.0))]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2e6, -1e30])
def test_a_corner_that_is_no_place_is_refused_with_its_byte(value: float) -> None:
    wrong: Surface3 = ((0, 0, 0), (0, 1, value), (1, 1, 1))
    data = map_bytes([Part([*FLOOR, wrong])])
    with pytest.raises(FileFormatError, match="a corner is no usable place") as caught:
        build(data)
    plain = gzip.decompress(data)
    assert caught.value.place == f"byte {plain.rindex(struct.pack('<3f', 0, 1, value))}"


def test_the_digest_is_kept() -> None:
    out = io.BytesIO()
    build(map_bytes([Part(FLOOR)]), out)
    assert GroundHeader.parse(out.getvalue()[:HEADER_SIZE]).digest == b"\x07" * 32


@pytest.mark.slow
def test_the_tree_of_a_large_map_divides_space_too(tmp_path: Path) -> None:
    """More than 65,536 leaves: with 16 bits for a node's number, the tree would be useless."""
    path = tmp_path / "large.ground"
    with path.open("wb") as file:
        built = build_ground(MapReader(io.BytesIO(hilly_map(450))), bytes(32), file)
    assert built.triangles == 445_500
    with GroundFile(path) as opened:
        assert opened.header.depth == 17
        last, chance = len(opened.levels) - 1, Random(1)
        widths = [
            (x1 - x0) * opened.header.step[0]
            for _ in range(500)
            for x0, x1, *_ in opened.boxes(last, FAN * chance.randrange(1 << 14))
        ]
    assert sum(widths) / len(widths) < 15, "meters; a triangle has 4"
