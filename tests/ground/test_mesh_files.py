"""Navigation meshes, and damaged ones. Layout: docs/protocol/maps.md#mesh; Detour 1.5.1."""

import struct
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.mesh_files import Mesh
from tests.support.ground.mesh_bytes import (
    CLIMB,
    SIZE,
    Tile,
    cell_tiles,
    flat,
    mesh_of,
    set_bytes,
)

PLAN = flat("""
    ....
    .x..
    ....
""")


def links(mesh: Mesh) -> set[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Return the pairs of polygons that a portal connects, by their first corners."""
    return {
        (polygon.corners[0], mesh.polygons[portal.neighbor].corners[0])
        for polygon in mesh.polygons
        for portal in polygon.portals
    }


def test_a_tile_has_its_polygons_and_their_neighbors() -> None:
    mesh = mesh_of(set_bytes(cell_tiles(PLAN)))
    assert (mesh.tiles, len(mesh.polygons)) == (1, 11)
    assert mesh.climb == pytest.approx(CLIMB)
    expected = {
        ((c * SIZE, 0.0, r * SIZE), (d * SIZE, 0.0, s * SIZE))
        for c, r in PLAN
        for d, s in PLAN
        if abs(c - d) + abs(r - s) == 1
    }
    assert links(mesh) == expected


@pytest.mark.parametrize("side", [1, 2, 3])
def test_tiles_are_joined_at_their_borders(side: int) -> None:
    """One tile and many give the same mesh."""
    whole = mesh_of(set_bytes(cell_tiles(PLAN)))
    divided = mesh_of(set_bytes(cell_tiles(PLAN, side)))
    assert divided.tiles > 1
    assert links(divided) == links(whole)
    assert {(a.left, a.right) for one in divided.polygons for a in one.portals} == {
        (a.left, a.right) for one in whole.polygons for a in one.portals
    }


def test_the_left_end_of_a_portal_is_on_the_left_of_who_leaves() -> None:
    mesh = mesh_of(set_bytes(cell_tiles({(0, 0): 0.0, (1, 0): 0.0})))
    (east,) = mesh.polygons[0].portals
    assert (east.left, east.right) == ((SIZE, 0.0, SIZE), (SIZE, 0.0, 0.0))


def turned(tiles: list[Tile]) -> list[Tile]:
    """Return tiles whose polygons have their corners in the other direction."""
    return [
        tile._replace(
            polygons=[(some[::-1], [sides[2], sides[1], sides[0], sides[3]])
                      for some, sides in tile.polygons]
        )
        for tile in tiles
    ]  # fmt: skip


def test_the_direction_of_corners_does_not_matter() -> None:
    tiles = cell_tiles(PLAN, 2)
    one, other = mesh_of(set_bytes(tiles)), mesh_of(set_bytes(turned(tiles)))

    def ends(mesh: Mesh) -> set[tuple[tuple[float, ...], tuple[float, ...]]]:
        return {(a.left, a.right) for polygon in mesh.polygons for a in polygon.portals}

    assert ends(one) == ends(other)


@pytest.mark.parametrize(("step", "is_joined"), [(1.7, True), (1.9, False)])
def test_a_border_is_crossed_up_to_twice_the_climb(step: float, is_joined: bool) -> None:
    mesh = mesh_of(set_bytes(cell_tiles({(0, 0): 0.0, (1, 0): step}, 1)))
    assert bool(links(mesh)) == is_joined


def test_a_long_side_is_joined_with_the_pieces_beside_it() -> None:
    big = Tile(
        0, 0, [(0, 0, 0), (0, 0, 8), (8, 0, 8), (8, 0, 0)], [([0, 1, 2, 3], [0, 0, 0x8000, 0])]
    )
    corners = [(8.0, 0.0, z) for z in (0, 3, 8)] + [(16.0, 0.0, z) for z in (0, 3, 8)]
    small = Tile(
        1, 0, corners, [([0, 1, 4, 3], [0x8004, 2, 0, 0]), ([1, 2, 5, 4], [0x8004, 0, 0, 1])]
    )
    mesh = mesh_of(set_bytes([big, small]))
    ends = [(one.left[2], one.right[2]) for one in mesh.polygons[0].portals]
    assert ends == [(3.0, 0.0), (8.0, 3.0)]
    assert {one.neighbor for one in mesh.polygons[1].portals} == {0, 2}


def test_an_empty_mesh_is_read() -> None:
    assert mesh_of(set_bytes([])).polygons == []


GOOD = set_bytes(cell_tiles(PLAN, 2))


@given(st.integers(0, len(GOOD) - 1))
def test_a_truncated_mesh_is_refused_with_its_place(cut: int) -> None:
    with pytest.raises(FileFormatError, match=r"^byte \d+: "):
        mesh_of(GOOD[:cut])


def test_bytes_behind_the_mesh_are_refused() -> None:
    with pytest.raises(FileFormatError, match="more bytes"):
        mesh_of(GOOD + b"x")


def with_tile(polygons: list[tuple[list[int], list[int]]]) -> bytes:
    (tile,) = cell_tiles({(0, 0): 0.0, (1, 0): 0.0})
    return set_bytes([tile._replace(polygons=polygons)])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PNGX" + GOOD[4:], "byte 0: is no navigation mesh"),
        (b"TESM" + struct.pack("<ii", 2, 0) + bytes(28), "byte 4: version 2"),
        (b"TESM" + struct.pack("<ii", 1, 1 << 30) + bytes(28), "byte 4: version 1 with"),
        (with_tile([([0, 1, 2, 3], [3, 0, 0, 0])]), "a neighbor outside of the tile"),
        (with_tile([([0, 1, 2, 8], [0, 0, 0, 0])]), "corners outside of the tile"),
        (with_tile([([0, 1], [0, 0])]), "corners outside of the tile"),
        (GOOD[:52] + struct.pack("<i", 6) + GOOD[56:], "a tile has version"),
        (GOOD[:72] + struct.pack("<i", -1) + GOOD[76:], "the counts of a tile disagree"),
        (GOOD[:72] + struct.pack("<i", 1 << 30) + GOOD[76:], "the counts of a tile disagree"),
        (GOOD[:148] + struct.pack("<f", float("nan")) + GOOD[152:], "no finite number"),
    ],
)
def test_meshes_that_cannot_be_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(FileFormatError, match=reason):
        mesh_of(data)


@given(st.integers(0, 2**32))
def test_flipped_bits_never_raise_anything_else(seed: int) -> None:
    random, data = Random(seed), bytearray(GOOD)
    for _ in range(random.randint(1, 8)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    with suppress(FileFormatError):
        mesh_of(bytes(data))
