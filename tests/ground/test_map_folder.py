"""The folder of ground and path files as a server reads it."""

import os
from pathlib import Path

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder, maps_folder
from emu.ground.map_names import MapName
from tests.support.ground.images import image_rows
from tests.support.ground.map_bytes import Part, square
from tests.support.ground.map_folders import write_map, write_maps


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = write_maps(tmp_path / "source")
    own = write_map(source, "meadow", [Part(square((0, 9, 0), (28, 9, 12)))])
    own.rename(source / "Maps" / "meadow-1-561.EQ2MapDeflated")
    write_map(source, "meadow")
    import_maps(source, tmp_path / "maps")
    return tmp_path / "maps"


def test_the_folder_stands_beside_the_content_file() -> None:
    assert maps_folder(Path("state/content.sqlite")) == Path("state/content.maps")


def test_a_player_gets_the_map_of_his_version(folder: Path) -> None:
    maps = MapFolder(folder)
    assert set(maps.grounds) == {MapName("meadow"), MapName("meadow", 1, 561)}
    heights = []
    for version in (None, 546, 562):
        ground = maps.ground("Meadow", version)
        assert ground is not None
        surface = ground.surface(3, 20, 3)
        assert surface is not None
        heights.append(surface.y)
        ground.close()
    assert heights == [0.0, 9.0, 0.0]
    mesh = maps.mesh("meadow")
    assert mesh is not None
    assert mesh.polygons == 17
    mesh.close()


def test_the_outline_is_that_of_the_map_without_a_range(folder: Path) -> None:
    found = MapFolder(folder).outline("Meadow")
    assert found is not None
    header, image = found
    assert (header.columns, header.rows) == (57, 25)
    assert sum(row.count("3") for row in image_rows(image)) == 17, "its fence"


def test_a_zone_without_a_map_has_none(folder: Path) -> None:
    maps = MapFolder(folder)
    assert maps.ground("antonica") is None
    assert maps.mesh("antonica") is None
    assert maps.outline("antonica") is None


def test_a_folder_that_is_not_there_has_no_map(tmp_path: Path) -> None:
    maps = MapFolder(tmp_path / "none")
    assert (maps.grounds, maps.meshes) == ({}, {})


def test_damaged_files_are_reported_and_are_as_if_they_were_not_there(folder: Path) -> None:
    lines: list[str] = []
    maps = MapFolder(folder, lines.append)
    os.truncate(folder / "meadow.ground", 90)
    (folder / "meadow.paths").unlink()
    (folder / "meadow.outline").write_bytes(b"")
    assert maps.ground("meadow") is None
    assert maps.mesh("meadow") is None
    assert maps.outline("meadow") is None
    assert [line.endswith("anew") for line in lines] == [True, True, True]
    assert f"{folder / 'meadow.ground'}: byte 90: is too short" in lines[0]


def test_incomplete_files_are_no_maps(folder: Path) -> None:
    (folder / ".forest.ground.0123456789ab.emu-partial").write_bytes(b"")
    (folder / ".forest.ground").write_bytes(b"")
    assert MapName(".forest") not in MapFolder(folder).grounds
