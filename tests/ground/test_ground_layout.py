"""The layout of ground files: headers and the counts of the tree."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.ground_layout import (
    HEADER_SIZE,
    MOST_IN_LEAF,
    GroundHeader,
    depth_of,
    first_of,
    level_sizes,
)


def header(triangles: int = 100, *, is_wide: bool = False) -> GroundHeader:
    return GroundHeader(
        is_wide, bytes(range(32)), (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (0.0, 0.0, 0.0),
        (9.0, 9.0, 9.0), triangles, 7, depth_of(triangles), 12345,
    )  # fmt: skip


@given(st.integers(0, 2**24), st.booleans())
def test_a_header_is_read_as_it_was_written(triangles: int, is_wide: bool) -> None:
    one = header(triangles, is_wide=is_wide)
    assert GroundHeader.parse(one.pack() + b"more") == one
    assert len(one.pack()) == HEADER_SIZE


@given(st.integers(0, 2**22))
def test_leaves_have_all_triangles_and_few_each(triangles: int) -> None:
    depth = depth_of(triangles)
    leaves = 1 << depth
    assert first_of(0, triangles, depth) == 0
    assert first_of(leaves, triangles, depth) == triangles
    sizes = [
        first_of(leaf + 1, triangles, depth) - first_of(leaf, triangles, depth)
        for leaf in range(0, leaves, max(1, leaves // 100))
    ]
    assert all((triangles > 0) <= size <= MOST_IN_LEAF for size in sizes)


@given(st.integers(0, 24))
def test_a_level_has_eight_times_the_boxes_of_the_one_above(depth: int) -> None:
    sizes = level_sizes(depth)
    assert (sizes[-1] if sizes else 1) == 1 << depth
    assert all(below == 8 * above for above, below in pairwise(sizes))
    assert not sizes or 2 <= sizes[0] <= 8


@given(st.integers(0, 2**32))
def test_a_changed_header_is_refused(seed: int) -> None:
    random, data = Random(seed), bytearray(header().pack())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    with pytest.raises(FileFormatError):
        GroundHeader.parse(bytes(data))


def test_other_files_are_refused() -> None:
    with pytest.raises(FileFormatError, match="byte 3: is too short"):
        GroundHeader.parse(b"abc")
    with pytest.raises(FileFormatError, match="is no ground file"):
        GroundHeader.parse(bytes(HEADER_SIZE))
