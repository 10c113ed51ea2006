"""Substances of places. Rules: docs/protocol/maps.md#regions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.ground.region_nodes import INSIDE, OUTSIDE
from emu.ground.regions import Region, Substance, ZoneRegions
from tests.support.ground.region_bytes import LAVA, WATER, pool

LOW, HIGH = (0.0, -2.0, 0.0), (8.0, 1.0, 4.0)
PLACE = st.tuples(st.floats(-3, 11), st.floats(-4, 3), st.floats(-3, 7))


def is_in_box(point: tuple[float, float, float]) -> bool:
    return all(a < one < b for a, one, b in zip(LOW, point, HIGH, strict=True))


@given(PLACE, st.sampled_from([0, 2, 4]))
def test_a_volume_of_water_has_just_its_inside(
    point: tuple[float, float, float], kind: int
) -> None:
    expected = Substance.WATER if is_in_box(point) else Substance.NONE
    assert pool(LOW, HIGH, kind=kind, special=LAVA).substance(point) is expected


@pytest.mark.parametrize(
    ("special", "expected"),
    [(WATER, Substance.WATER), (LAVA, Substance.LAVA), (2, Substance.UNTAGGED)],
)
def test_a_water_region_has_the_substance_of_its_nodes(special: int, expected: Substance) -> None:
    region = pool(LOW, HIGH, kind=1, special=special)
    assert region.substance((1, 0, 1)) is expected
    assert region.substance((1, 2, 1)) is Substance.NONE


def plane(kind: int, front: int, behind: int) -> Region:
    """Return a region whose only plane is the ground: in front is above it."""
    return Region(1, kind, (0, 0, 0), 10, "", "", 0, ((0, 1, 0, 0, WATER, front, behind),))


@pytest.mark.parametrize(
    ("kind", "front", "behind", "above", "below"),
    [
        (0, INSIDE, OUTSIDE, 1, 0),
        (0, INSIDE, INSIDE, 1, 0),
        (0, OUTSIDE, INSIDE, 0, 1),
        (1, INSIDE, OUTSIDE, 1, 0),
        (1, INSIDE, INSIDE, 1, 0),
        (1, OUTSIDE, INSIDE, 0, 0),
    ],
)
def test_inside_behind_a_plane_counts_as_in_the_c_server(
    kind: int, front: int, behind: int, above: int, below: int
) -> None:
    region = plane(kind, front, behind)
    assert (region.substance((0, 1, 0)), region.substance((0, -1, 0))) == (above, below)


def test_nothing_of_a_region_is_beyond_its_radius() -> None:
    region = plane(0, INSIDE, OUTSIDE)
    assert region.substance((0, 9.9, 0)) is Substance.WATER
    assert region.substance((0, 10.1, 0)) is Substance.NONE


def test_a_region_without_a_tree_is_its_sphere() -> None:
    region = Region(1, -1, (0, 0, 0), 3, "", "x", 0)
    assert region.substance((0, 1, 0)) is Substance.UNTAGGED
    assert region.substance((0, 4, 0)) is Substance.NONE


def test_the_regions_of_a_zone_are_asked_in_their_order() -> None:
    water = pool(LOW, HIGH, file="tunar_lake_l0.region")
    lava = pool((4, -2, 0), (12, 1, 4), kind=1, special=LAVA, file="lava.region")
    zone = ZoneRegions([water, lava])
    assert zone.at((1, 0, 1)) == [(water, Substance.WATER)]
    assert zone.at((5, 0, 1)) == [(water, Substance.WATER), (lava, Substance.LAVA)]
    assert zone.at((50, 0, 1)) == []
    assert zone.is_water((1, 0, 1))
    assert not zone.is_lava((1, 0, 1))
    assert zone.is_lava((9, 0, 1))
    assert not zone.is_water((9, 0, 1))


def test_a_region_s_scripts_are_named_by_its_file_its_environment_and_default() -> None:
    region = pool(LOW, HIGH, file="exp_lava_l0.region")
    folder = "RegionScripts/lavastorm"
    assert region.scripts("Lavastorm") == [
        f"{folder}/exp_lava_l0.lua", f"{folder}/water.lua", f"{folder}/default.lua",
    ]  # fmt: skip
    assert Region(1, 0, (0, 0, 0), 1, "", "", 0).scripts("x") == ["RegionScripts/x/default.lua"]
