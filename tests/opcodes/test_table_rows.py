"""Rows say what is wrong with them, and ranges know what they cover."""

from __future__ import annotations

import pytest

from emu.opcodes.table import (
    MAX_TEXT,
    OpcodeRow,
    VersionRange,
    name_problem,
    number_problem,
    range_problem,
    row_problem,
)


def test_a_range_covers_both_its_ends() -> None:
    one = VersionRange(540, 546)
    assert [one.covers(version) for version in (539, 540, 546, 547)] == [False, True, True, False]
    assert one.width == 7
    assert str(one) == "540-546"


@pytest.mark.parametrize(
    ("other", "meets"),
    [
        ((546, 844), True),
        ((547, 838), False),
        ((0, 539), False),
        ((0, 540), True),
        ((542, 543), True),
    ],
)
def test_ranges_overlap_when_they_have_a_version_in_common(
    other: tuple[int, int], meets: bool
) -> None:
    one = VersionRange(540, 546)
    assert one.overlaps(VersionRange(*other)) is meets
    assert VersionRange(*other).overlaps(one) is meets


@pytest.mark.parametrize("name", ["OP_A", "OP_LoginRequestMsg", "OP_Unknown_51", "OP_" + "x" * 252])
def test_names_of_the_field_are_good(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name", ["", "OP_", "LoginRequestMsg", "OP_A B", "OP_é", "OP_A\n", "OP_A;", "OP_" + "x" * 253]
)
def test_other_names_are_not(name: str) -> None:
    assert name_problem(name)


def test_numbers_and_versions_have_ends() -> None:
    assert number_problem(0) is None
    assert number_problem(65535) is None
    assert number_problem(65536)
    assert number_problem(-1)
    assert range_problem(0, 2**32 - 1) is None
    assert range_problem(0, 2**32)
    assert range_problem(-1, 5)
    assert range_problem(67634, 67633) == "inverted version range 67634-67633"


def test_a_row_problem_names_the_row() -> None:
    good = OpcodeRow(540, 546, "OP_KeymapLoadMsg", 153, "a page", "sure")
    assert row_problem(good) is None
    assert good.range == VersionRange(540, 546)
    problem = row_problem(good._replace(first=547))
    assert problem == "inverted version range 547-546 (row OP_KeymapLoadMsg = 153)"
    assert row_problem(good._replace(note="two\nlines"))
    assert row_problem(good._replace(source="x" * (MAX_TEXT + 1)))
