"""Path files read in place."""

import os
from pathlib import Path
from random import Random

import pytest

from emu.errors import FileFormatError
from emu.ground import path_file
from emu.ground.path_file import PathFile
from tests.support.ground.mesh_bytes import SIZE, Cell, flat, write_paths

PLAN = flat("....\n.xx.\n....")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_paths(tmp_path, PLAN, 2)


def test_polygons_have_their_corners_and_ways(path: Path) -> None:
    with PathFile(path) as file:
        file.check()
        floors = [file.floor(number) for number in range(file.header.polygons)]
        cells: list[Cell] = [
            (round(one.corners[0][0] / SIZE), round(one.corners[0][2] / SIZE)) for one in floors
        ]
        assert sorted(cells) == sorted(PLAN)
        for (column, row), floor in zip(cells, floors, strict=True):
            ways = file.ways(floor.first, floor.portals)
            assert file.ways(floor.first, floor.portals) is ways
            found = {cells[way[0]] for way in ways}
            steps = [(column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)]
            assert found == {one for one in steps if one in PLAN}
            assert all((floors[one[0]].first, floors[one[0]].portals) == one[1:3] for one in ways)


def test_a_cell_lists_what_touches_it(path: Path) -> None:
    with PathFile(path) as file:
        assert file.header.cell == 2 * SIZE
        assert len(file.cell(0, 0)) == 3, "two rows and two columns, one of them no floor"
        assert {component for _, component in file.cell(0, 0)} == {0}
        assert file.cell(-1, 0) == file.cell(0, 99) == []


def test_few_ways_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_file, "MOST_KEPT", 3)
    with PathFile(path) as file:
        for number in range(file.header.polygons):
            floor = file.floor(number)
            file.ways(floor.first, floor.portals)
        assert len(file._kept) <= 3


def test_numbers_that_do_not_exist_are_named(path: Path) -> None:
    with PathFile(path) as file:
        with pytest.raises(FileFormatError, match="polygon 99 does not exist"):
            file.floor(99)
        with pytest.raises(FileFormatError, match="portal 99 does not exist"):
            file.ways(98, 2)


def test_flipped_bits_raise_one_kind_of_error_only(path: Path) -> None:
    random, data = Random(4), path.read_bytes()
    faults = 0
    for _ in range(150):
        wrong = bytearray(data)
        for _ in range(30):
            wrong[random.randrange(120, len(wrong))] ^= 1 << random.randrange(8)
        path.write_bytes(wrong)
        with PathFile(path) as file:
            for number in range(file.header.polygons):
                try:
                    floor = file.floor(number)
                    file.ways(floor.first, floor.portals)
                    file.cell(number % 2, number // 2)
                except FileFormatError as error:
                    assert "does not exist" in str(error) or "do not exist" in str(error)  # noqa: PT017
                    faults += 1
    assert faults


def test_a_file_that_shrinks_is_named(path: Path) -> None:
    with PathFile(path) as file:
        os.truncate(path, 150)
        with pytest.raises(FileFormatError, match="has become shorter"):
            file.cell(0, 0)
