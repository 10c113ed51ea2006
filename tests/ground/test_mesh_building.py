"""Path files made of meshes: components, cells, limits."""

import io

import pytest

from emu.errors import FileFormatError
from emu.ground import mesh_building
from emu.ground.mesh_building import BuiltPaths, build_paths
from emu.ground.mesh_files import Mesh, MeshPolygon, Portal
from emu.ground.path_layout import CELL
from tests.support.ground.mesh_bytes import cell_tiles, flat, mesh_of, set_bytes

ISLANDS = flat("""
    ..x.
    ..x.
    ..xx
""")


def built(mesh: Mesh) -> BuiltPaths:
    return build_paths(mesh, b"\x08" * 32, io.BytesIO())


def test_what_is_connected_is_one_component() -> None:
    mesh = mesh_of(set_bytes(cell_tiles(ISLANDS, 2)))
    assert built(mesh) == BuiltPaths(tiles=4, polygons=8, components=2, largest=6)


def test_an_empty_mesh_has_no_component() -> None:
    assert built(mesh_of(set_bytes([]))) == BuiltPaths(0, 0, 0, 0)


def test_a_polygon_without_corners_is_in_no_cell() -> None:
    assert built(Mesh([MeshPolygon([])], 1, 0.5)).polygons == 1


def test_a_polygon_is_in_each_cell_that_it_touches() -> None:
    def polygon(*places: tuple[float, float]) -> MeshPolygon:
        return MeshPolygon([(1.0 + CELL * x, 5.0, 2.0 + CELL * z) for x, z in places])

    grid, cells = mesh_building._cells([
        polygon((0.0, 0.0), (0.0, 0.5), (0.5, 0.0)),
        polygon((1.5, 0.2), (2.5, 0.2), (1.5, 1.2)),
        MeshPolygon([]),
        polygon((2.25, 1.5), (2.75, 1.5), (2.25, 1.75)),
    ])  # fmt: skip
    assert grid == (1.0, 2.0, CELL, 3, 2)
    assert cells == [[0], [1], [1], [], [1], [1, 3]]


def test_as_many_entries_as_a_file_may_have_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = MeshPolygon([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (CELL * 2.5, 0.0, 0.0)])
    monkeypatch.setattr(mesh_building, "MOST_ENTRIES", 3)
    assert built(Mesh([wide], 1, 0.5)).polygons == 1
    monkeypatch.setattr(mesh_building, "MOST_ENTRIES", 2)
    with pytest.raises(FileFormatError, match="too large"):
        built(Mesh([wide], 1, 0.5))


def test_places_far_away_are_refused() -> None:
    far = [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (3e6, 0.0, 0.0)]
    with pytest.raises(FileFormatError, match="no usable place"):
        built(Mesh([MeshPolygon(far)], 1, 0.5))


@pytest.mark.slow
def test_cells_grow_with_the_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two polygons 900 km apart do not take memory for all cells between them."""
    corners = [[(x, 0.0, 0.0), (x, 0.0, 1.0), (x + 1, 0.0, 0.0)] for x in (-450_000.0, 450_000.0)]
    far = [*corners, [(0.0, 0.0, 450_000.0), (0.0, 0.0, 450_001.0), (1.0, 0.0, 450_000.0)]]
    out = io.BytesIO()
    build_paths(Mesh([MeshPolygon(one) for one in far], 1, 0.5), b"\x08" * 32, out)
    assert len(out.getvalue()) < 5_000_000
    monkeypatch.setattr(mesh_building, "MOST_ENTRIES", 10)
    huge = [(0.0, 0.0, 0.0), (0.0, 0.0, 99.0), (99.0, 0.0, 0.0)]
    with pytest.raises(FileFormatError, match="too large"):
        built(Mesh([MeshPolygon(huge)], 1, 0.5))


def test_too_many_neighbors_are_refused() -> None:
    place = (0.0, 0.0, 0.0)
    polygon = MeshPolygon([place] * 3, [Portal(0, place, place)] * 256)
    with pytest.raises(FileFormatError, match="256 neighbors"):
        built(Mesh([polygon], 1, 0.5))
