"""Heights and lines of sight, against plain searches over all triangles."""

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.ground.ground_map import GroundMap, Surface
from tests.support.examples import tries
from tests.support.ground.map_bytes import (
    Part,
    Surface3,
    hills,
    opened,
    square,
    write_ground,
)
from tests.support.ground.plain_search import best_height, heights, is_clear

FLOOR = square((0, 0, 0), (20, 0, 20))
BRIDGE = square((5, 4, 5), (15, 4, 15))
WALL = square((10, 0, 0), (10, 3, 20))


@pytest.fixture
def meadow(tmp_path: Path) -> GroundMap:
    """A floor, a bridge over it, and a wall of a widget."""
    parts = [Part(FLOOR, 11), Part(BRIDGE, 12), Part(WALL, 11, 500, (10.0, 1.0, 10.0))]
    return opened(tmp_path, parts)


def test_the_best_height_is_the_next_surface_from_a_meter_above_down(meadow: GroundMap) -> None:
    """EQ2Emulator's rule: from y + 1 down, else up (docs/protocol/maps.md#height)."""
    assert meadow.surface(7, 10, 7) == Surface(pytest.approx(4, abs=0.001), 12, 0)
    assert meadow.surface(7, 3.01, 7) == Surface(pytest.approx(4, abs=0.001), 12, 0)
    assert meadow.surface(7, 2.9, 7) == Surface(0.0, 11, 0)
    assert meadow.surface(7, -1.0, 7) == Surface(0.0, 11, 0)
    assert meadow.surface(7, -1.1, 7) == Surface(0.0, 11, 0), "nothing is below, so up"


@pytest.mark.parametrize("bottom", [-1.0, -0.77, -313.3])
def test_who_stands_a_meter_under_a_surface_stands_on_the_floor(
    tmp_path: Path, bottom: float
) -> None:
    """EQ2Emulator's ray from y + 1 down does not meet what is where it begins.

    Tables and crates of a meter are frequent. The lowest triangle decides how heights are rounded.
    """
    table = square((5, 5, 5), (15, 5, 15))
    low = square((30, bottom, 0), (50, bottom, 20))
    ground = opened(tmp_path, [Part(square((0, 4, 0), (20, 4, 20))), Part(table), Part(low)])
    for y in (4.0, 3.9999):
        found = ground.surface(7, y, 7)
        assert found is not None
        assert found.y == pytest.approx(4, abs=0.01)
    found = ground.surface(7, 4.05, 7)
    assert found is not None
    assert found.y == pytest.approx(5, abs=0.01)


def test_each_search_counts_what_it_has_visited(meadow: GroundMap) -> None:
    """Routes end their turn by this count (emu/ground/routes.py)."""
    for search in (
        lambda: meadow.surface(7, 10, 7), lambda: meadow.surface(7, -5, 7),
        lambda: meadow.is_clear((8, 1, 8), (12, 1, 8)),
    ):  # fmt: skip
        before = meadow.visits
        search()
        assert meadow.visits > before


def test_beside_the_ground_there_is_no_surface(meadow: GroundMap) -> None:
    assert meadow.surface(21, 5, 7) is None
    assert meadow.surface(7, 5, -0.5) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e300])
def test_places_that_are_none_have_no_surface(meadow: GroundMap, value: float) -> None:
    assert meadow.surface(value, 0, 0) is None
    assert meadow.surface(0, 0, value) is None
    meadow.surface(7, value, 7)
    meadow.is_clear((value, 1, 1), (1, 1, 1))
    assert not meadow.fault


def test_a_wall_is_in_the_way_from_both_sides(meadow: GroundMap) -> None:
    assert not meadow.is_clear((8, 1, 8), (12, 1, 8))
    assert not meadow.is_clear((12, 1, 8), (8, 1, 8))
    assert meadow.is_clear((8, 3.5, 8), (12, 3.5, 8)), "over the wall, under the bridge"
    assert meadow.is_clear((8, 1, 8), (9.9, 1, 8)), "this side of it"
    assert not meadow.is_clear((8, 5, 8), (8, 3, 8)), "through the bridge"


def test_eyes_are_two_meters_over_the_feet(meadow: GroundMap) -> None:
    assert not meadow.sees((8, 0, 8), (12, 0, 8))
    assert meadow.sees((8, 1.5, 8), (12, 1.5, 8))


def test_a_removed_widget_is_no_wall(meadow: GroundMap) -> None:
    without = meadow.groups_of([500])
    assert meadow.is_clear((8, 1, 8), (12, 1, 8), without)
    assert not meadow.is_clear((8, 5, 8), (8, 3, 8), without)
    assert meadow.groups_of([0, 7]) == frozenset(), "0 is the zone itself"


def test_a_removed_widget_has_no_surface(tmp_path: Path) -> None:
    ground = opened(tmp_path, [Part(FLOOR, 1), Part(BRIDGE, 1, 9)])
    assert ground.surface(8, 5, 8) == Surface(pytest.approx(4, abs=0.001), 1, 9)
    assert ground.surface(8, 5, 8, ground.groups_of([9])) == Surface(0.0, 1, 0)
    assert ground.surface(8, -5, 8, ground.groups_of([9])) == Surface(0.0, 1, 0)


def test_widgets_and_grids_are_known(meadow: GroundMap) -> None:
    assert meadow.widget_place(500) == (10.0, 1.0, 10.0)
    assert meadow.widget_place(0) is None
    assert meadow.widget_place(501) is None
    assert meadow.grids() == {11, 12}


def test_of_two_widgets_in_one_place_the_first_of_the_file_counts(tmp_path: Path) -> None:
    """EQ2Emulator takes the earlier triangle on equal distance."""
    ground = opened(tmp_path, [Part(FLOOR, 1, 8), Part(FLOOR, 2, 9)])
    for y in (5.0, -5.0):
        assert ground.surface(3, y, 4) == Surface(0.0, 1, 8)


def test_an_empty_map_has_no_surface_and_hides_nothing(tmp_path: Path) -> None:
    ground = opened(tmp_path, [])
    assert ground.surface(0, 0, 0) is None
    assert ground.is_clear((0, 0, 0), (9, 9, 9))


def mixed(seed: int, count: int) -> list[Surface3]:
    """Return triangles of all directions and sizes, upright ones among them."""
    random = Random(seed)

    def corner(x: float, y: float, z: float, size: float) -> tuple[float, float, float]:
        # As a file of 32-bit floats has them; sixteenths are exact in steps as well.
        return tuple(round(16 * (one + random.uniform(-size, size))) / 16 for one in (x, y, z))  # type: ignore[return-value]

    found = [((-32.0, -32.0, -32.0), (96.0, -32.0, -32.0), (-32.0, 96.0, 96.0))]
    for _ in range(count):
        x, y, z = (random.uniform(-20, 20) for _ in range(3))
        size = random.choice((1, 3, 9))
        one = tuple(corner(x, y, z, size) for _ in range(3))
        found.append(one)  # type: ignore[arg-type]
    return found  # type: ignore[return-value]


@pytest.fixture(scope="module")
def tangle(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Surface3], GroundMap]:
    triangles = mixed(4, 400)
    return triangles, opened(tmp_path_factory.mktemp("tangle"), [Part(triangles)])


PLACE = st.floats(-24, 24, allow_nan=False, width=32)


@pytest.mark.slow
@tries(70)
@given(st.tuples(PLACE, PLACE, PLACE))
def test_heights_are_those_of_a_plain_search(
    tangle: tuple[list[Surface3], GroundMap], point: tuple[float, float, float]
) -> None:
    triangles, ground = tangle
    expected, found = best_height(triangles, point), ground.surface(*point)
    limits = [point[1] + 1]
    near = heights(triangles, point[0], point[2])
    if any(abs(one - limit) < 0.02 for one in near for limit in limits):
        return  # the rounding of a corner decides whether this surface is above or below
    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        assert found.y == pytest.approx(expected, abs=0.02) or _on_a_side(triangles, point)


def _on_a_side(triangles: list[Surface3], point: tuple[float, float, float]) -> bool:
    """Return whether a step to a side changes the surfaces: rounding decides there."""
    x, _, z = point
    counts = {
        len(heights(triangles, x + dx, z + dz))
        for dx in (-0.01, 0, 0.01)
        for dz in (-0.01, 0, 0.01)
    }
    return len(counts) > 1


@pytest.mark.slow
@tries(70)
@given(st.tuples(PLACE, PLACE, PLACE), st.tuples(PLACE, PLACE, PLACE))
def test_lines_of_sight_are_those_of_a_plain_search(
    tangle: tuple[list[Surface3], GroundMap],
    start: tuple[float, float, float],
    end: tuple[float, float, float],
) -> None:
    triangles, ground = tangle
    expected = is_clear(triangles, start, end)
    if ground.is_clear(start, end) != expected:
        # Only where the way touches a side, which a shift by a millimeter shows.
        shifts = [(d, e) for d in (-0.005, 0, 0.005) for e in (-0.005, 0, 0.005)]
        shifted = {
            is_clear(triangles, *((x + d, y + e, z) for x, y, z in (start, end))) for d, e in shifts
        }
        assert len(shifted) == 2


def test_hills_have_no_holes(tmp_path: Path) -> None:
    """Also exactly on the sides and corners that triangles share."""
    triangles = hills(40)
    ground, random = opened(tmp_path, [Part(triangles)]), Random(1)
    for _ in range(2000):
        x, z = random.uniform(-79, 79), random.uniform(-79, 79)
        if random.random() < 0.3:
            x, z = round(x / 4) * 4.0, round(z / 4) * 4.0
        assert ground.surface(x, 50, z) is not None


def test_a_wide_map_is_as_exact(tmp_path: Path) -> None:
    far = square((40_000, -3000, 0), (40_010, -3000, 10))
    ground = opened(tmp_path, [Part([*FLOOR, *BRIDGE, *far])])
    assert ground.surface(7, 10, 7) == Surface(pytest.approx(4, abs=0.001), 1, 0)
    assert ground.surface(40_001, 10, 2) == Surface(pytest.approx(-3000, abs=0.001), 1, 0)
    assert not ground.is_clear((7, 5, 7), (7, 3, 7))
    assert ground.low[1] == -3000


def test_a_file_that_shrinks_ends_the_use_of_this_map_only(tmp_path: Path) -> None:
    lines: list[str] = []
    path = write_ground(tmp_path, [Part(hills(60))])
    ground = GroundMap(path, lines.append)
    assert ground.surface(1, 1, 1) is not None
    os.truncate(path, 3000)
    assert ground.surface(100, 1, 100) is None
    assert ground.fault.endswith("it has become shorter")
    assert ground.is_clear((0, -99, 0), (0, 99, 0)), "as without a map"
    assert ground.surface(1, 1, 1) is None
    assert ground.groups_of([1]) == ground.grids() == frozenset()
    assert ground.widget_place(1) is None
    assert len(lines) == 1
    assert "goes on without this map" in lines[0]


def test_a_shrunken_file_blocks_no_line_of_sight(tmp_path: Path) -> None:
    path = write_ground(tmp_path, [Part(hills(60))])
    ground = GroundMap(path)
    os.truncate(path, 3000)
    assert ground.is_clear((0, -99, 0), (0, 99, 0))
    assert ground.fault


def test_flipped_bits_change_answers_at_worst(tmp_path: Path) -> None:
    path = write_ground(tmp_path, [Part(hills(30))])
    random, data = Random(9), path.read_bytes()
    for _ in range(60):
        wrong = bytearray(data)
        for _ in range(50):
            wrong[random.randrange(300, len(wrong))] ^= 1 << random.randrange(8)
        path.write_bytes(wrong)
        ground = GroundMap(path)
        for _ in range(20):
            x, z = random.uniform(-60, 60), random.uniform(-60, 60)
            ground.surface(x, 5, z)
            ground.is_clear((x, 9, z), (z, -9, x))
        ground.close()


def test_far_under_the_lowest_triangle_a_player_has_left_the_world(tmp_path: Path) -> None:
    """The lowest y is computed: that of the source's header is wrong in nearly all files."""
    ground = opened(tmp_path, [Part(square((0, -7, 0), (9, 5, 9)))])
    assert not ground.is_below(-206.9)
    assert ground.is_below(-207.1)
    assert not opened(tmp_path, []).is_below(-1e6), "a map without a triangle has no bottom"


def test_a_closed_map_answers_as_without_one(meadow: GroundMap) -> None:
    meadow.check()
    meadow.close()
    meadow.close()
    assert meadow.surface(7, 5, 7) is None
    assert meadow.is_clear((8, 1, 8), (12, 1, 8))
