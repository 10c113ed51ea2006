"""Outlines of ground files: every cell that a triangle touches, and no other one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from emu.ground.ground_file import GroundFile
from emu.ground.outline_building import build_outline
from emu.ground.outline_file import HEADER_SIZE, MOST_CELLS, OutlineHeader
from tests.support.ground.images import chunks, image_rows
from tests.support.ground.map_bytes import Part, Surface3, hills, square, write_ground
from tests.support.ground.map_folders import FENCE, FLOOR


def outline(folder: Path, triangles: Sequence[Surface3]) -> tuple[OutlineHeader, bytes]:
    out = io.BytesIO()
    with GroundFile(write_ground(folder, [Part(triangles)])) as file:
        build_outline(file, out)
    data = out.getvalue()
    return OutlineHeader.read(data), data[HEADER_SIZE:]


def test_a_floor_and_its_fence_are_seen_from_above(tmp_path: Path) -> None:
    header, image = outline(tmp_path, [*FLOOR, *FENCE])
    assert (header.west, header.south, header.cell) == (0.0, 0.0, 0.5)
    assert (header.columns, header.rows, header.digest) == (57, 25, b"\x07" * 32)
    rows = image_rows(image)
    # The top row is that of the highest z; the fence goes from z 0 to 8 at x 14.
    assert [row.count("3") for row in rows] == [0] * 8 + [1] * 17
    assert {row.index("3") for row in rows[8:]} == {28}
    assert set("".join(rows)) == {"1", "3"}


def test_steep_ground_differs_from_level_ground_and_from_walls(tmp_path: Path) -> None:
    slope = square((0, 0, 0), (10, 17, 10))  # 60 degrees
    _, image = outline(tmp_path, [*slope, *square((20, 0, 0), (30, 4, 10))])
    row = image_rows(image)[5]
    assert (row[0], row[30], row[-1]) == ("2", "0", "1")


def test_the_colors_are_gray_of_four_opacities(tmp_path: Path) -> None:
    found = chunks(outline(tmp_path, FLOOR)[1])
    assert len(set(found[b"PLTE"])) == 1
    assert [found[b"tRNS"][0], sorted(found[b"tRNS"])] == [0, [*found[b"tRNS"]]]


@pytest.mark.slow
def test_random_triangles_mark_the_cells_that_they_touch(tmp_path: Path) -> None:
    """Compared with many points of each triangle: all of them lie in marked cells."""
    random = Random(7)
    for _ in range(20):
        triangle = tuple(
            (random.uniform(0, 40), 0.0, random.uniform(0, 30)) for _ in range(3)
        )  # fmt: skip
        header, image = outline(tmp_path, [triangle])  # type: ignore[list-item]
        rows = image_rows(image)[::-1]
        touched = set()
        (ax, _, az), (bx, _, bz), (cx, _, cz) = triangle
        for one in range(121):
            for other in range(121 - one):
                a, b = one / 120, other / 120
                x = a * ax + b * bx + (1 - a - b) * cx
                z = a * az + b * bz + (1 - a - b) * cz
                column, row = (x - header.west) / header.cell, (z - header.south) / header.cell
                if min(column % 1, row % 1, -column % 1, -row % 1) > 0.02:  # steps of the corners
                    touched.add((int(column), int(row)))
        marked = {(x, z) for z, row in enumerate(rows) for x, one in enumerate(row) if one != "0"}
        assert touched <= marked
        # A corner of a cell may be touched between two of the points.
        assert len(marked - touched) < 0.25 * len(marked) + 6


def test_a_large_zone_has_larger_cells(tmp_path: Path) -> None:
    header, image = outline(tmp_path, hills(20, 200.0))
    assert max(header.columns, header.rows) == MOST_CELLS
    assert header.cell == pytest.approx(4000 / (MOST_CELLS - 1))
    assert "0" not in "".join(image_rows(image))


@pytest.mark.parametrize(("wide", "deep"), [(3000, 900), (900, 3000)])
def test_the_longer_side_of_a_zone_decides_about_the_cells(
    tmp_path: Path, wide: int, deep: int
) -> None:
    header, _ = outline(tmp_path, square((50, 0, -400), (50 + wide, 1, deep - 400)))
    assert (header.west, header.south) == (50.0, -400.0)
    assert header.cell == pytest.approx(3000 / (MOST_CELLS - 1), rel=0.001)
    assert header.columns * header.cell == pytest.approx(wide, abs=2 * header.cell)
    assert header.rows * header.cell == pytest.approx(deep, abs=2 * header.cell)


def test_stray_triangles_do_not_make_the_rest_small(tmp_path: Path) -> None:
    stray = [((50_000.0, 0.0, 0.0), (50_001.0, 0.0, 0.0), (50_001.0, 0.0, 1.0))]
    header, _ = outline(tmp_path, [*hills(30), *stray])
    assert header.columns * header.cell < 150


def test_a_map_without_a_triangle_is_one_empty_cell(tmp_path: Path) -> None:
    header, image = outline(tmp_path, [])
    assert (header.columns, header.rows, image_rows(image)) == (1, 1, ["0"])
