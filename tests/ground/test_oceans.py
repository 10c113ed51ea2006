"""Water of oceans. The rules are those of the C++ server's RegionMapV1, read and not run."""

import pytest

from emu.ground.oceans import PARENTED, PLAIN, in_ocean, is_ocean
from emu.ground.region_nodes import INSIDE, OUTSIDE, Node
from emu.ground.regions import Region, Substance

UP, DOWN, EAST = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)


def node(
    plane: tuple[float, float, float], d: float, front: int, behind: int = OUTSIDE
) -> tuple[Node, ...]:
    return ((*plane, d, 1, front, behind),)


def test_only_two_classes_are_oceans() -> None:
    assert [kind for kind in range(6) if is_ocean(kind)] == [PARENTED, PLAIN]


@pytest.mark.parametrize(
    ("kind", "plane", "d", "y", "expected"),
    [
        (PARENTED, UP, -20.0, -10.0, True),  # over the ground of the sea
        (PLAIN, UP, -20.0, -10.0, False),
        (PLAIN, UP, -20.0, -30.0, True),  # 10 m under a plane 20 m from the origin
        (PLAIN, UP, -20.0, -50.0, False),
        (PARENTED, UP, -20.0, -30.0, True),
        (PLAIN, DOWN, 20.0, -30.0, True),
        (PLAIN, DOWN, 20.0, -50.0, False),
        (PLAIN, DOWN, 20.0, -10.0, False),
    ],
)
def test_a_last_level_plane_has_water_down_to_its_distance(
    kind: int, plane: tuple[float, float, float], d: float, y: float, expected: bool
) -> None:
    assert in_ocean(node(plane, d, INSIDE), kind, (0.0, y, 0.0), 0.5) == expected


@pytest.mark.parametrize(("x", "expected"), [(5.0, True), (1.0, True), (12.0, True), (25.0, False)])
def test_a_last_upright_plane_has_water_on_both_sides(x: float, expected: bool) -> None:
    assert in_ocean(node(EAST, 8.0, INSIDE), PLAIN, (x, 0.0, 0.0), 0.5) == expected


SLANTED = (0.8, 0.0, 0.6)


@pytest.mark.parametrize(("x", "expected"), [(10.0, True), (60.0, True), (200.0, False)])
def test_a_last_slanted_plane_has_water_farther_from_it(x: float, expected: bool) -> None:
    """The limit is twice the distance from the origin, over both parts of the normal."""
    assert in_ocean(node(SLANTED, 10.0, INSIDE), PLAIN, (x, 0.0, 0.0), 0.1) == expected


def chain(last: tuple[float, float, float] = UP, **more: int) -> tuple[Node, ...]:
    """Return a tree of two planes: the east of x = 2, then a level plane at y = -20."""
    front, behind = more.get("front", INSIDE), more.get("behind", OUTSIDE)
    return (
        (*EAST, 2.0, 1, 1, OUTSIDE),
        (*last, -20.0, 1, front, behind),
    )


def test_a_place_behind_an_upright_plane_is_no_water_for_an_ocean_with_a_parent() -> None:
    assert not in_ocean(chain(), PARENTED, (0.0, -10.0, 0.0), 0.5)
    assert in_ocean(chain(), PARENTED, (5.0, -10.0, 0.0), 0.5)
    assert in_ocean(chain(), PLAIN, (0.5, -10.0, 0.0), 0.5), "near the plane a plain ocean goes on"
    assert not in_ocean(chain(), PLAIN, (2.0, -10.0, 0.0), 0.5), "on the plane itself"


def test_under_a_plane_that_faces_up_is_water_down_to_its_distance() -> None:
    tree = chain(front=OUTSIDE)
    assert in_ocean(tree, PARENTED, (5.0, -30.0, 0.0), 0.5)
    assert not in_ocean(tree, PARENTED, (5.0, -50.0, 0.0), 0.5)
    assert not in_ocean(tree, PARENTED, (5.0, -10.0, 0.0), 0.5)
    assert not in_ocean(chain(DOWN, front=OUTSIDE), PLAIN, (5.0, 30.0, 0.0), 0.5)


def test_inside_behind_a_plane_is_water() -> None:
    tree = chain(front=OUTSIDE, behind=INSIDE)
    assert in_ocean(tree, PLAIN, (5.0, -500.0, 0.0), 0.5)


def test_far_from_the_middle_a_slanted_plane_ends_the_water() -> None:
    nodes: tuple[Node, ...] = ((*SLANTED, 1.0, 1, 1, OUTSIDE), (*UP, -20.0, 1, INSIDE, OUTSIDE))
    assert in_ocean(nodes, PARENTED, (5.0, -10.0, 0.0), 0.1)
    assert not in_ocean(nodes, PARENTED, (50.0, -10.0, 0.0), 1.0)


def test_a_region_of_an_ocean_asks_these_rules() -> None:
    region = Region(1, PLAIN, (0, 0, 0), 100.0, "", "", 0, node(UP, -20.0, INSIDE))
    assert region.substance((0, -30, 0)) is Substance.WATER
    assert region.substance((0, -10, 0)) is Substance.NONE
    assert region.substance((0, -101, 0)) is Substance.NONE
    point = Region(1, PLAIN, (0, 0, 0), 0.0, "", "", 0, node(UP, -20.0, INSIDE))
    assert point.substance((0, 0, 0)) is Substance.NONE
