"""The layout of path files: headers."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.path_layout import HEADER_SIZE, PathHeader

COUNT = st.integers(0, 1 << 20)


@given(st.tuples(COUNT, COUNT, COUNT, COUNT), st.integers(0, 999), st.integers(0, 999))
def test_a_header_is_read_as_it_was_written(
    counts: tuple[int, int, int, int], columns: int, rows: int
) -> None:
    header = PathHeader(b"d" * 32, 0.5, -1.5, 2.25, 8.0, columns, rows, *counts, 3, 99)
    assert PathHeader.parse(header.pack()) == header
    assert len(header.pack()) == HEADER_SIZE


@given(st.integers(0, 2**32))
def test_a_changed_header_is_refused(seed: int) -> None:
    random = Random(seed)
    data = bytearray(PathHeader(b"d" * 32, 1, 1, 1, 8, 2, 2, 3, 4, 5, 6, 1, 7).pack())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    with pytest.raises(FileFormatError):
        PathHeader.parse(bytes(data))


def test_other_files_are_refused() -> None:
    with pytest.raises(FileFormatError, match="is too short"):
        PathHeader.parse(b"abc")
    with pytest.raises(FileFormatError, match="is no path file"):
        PathHeader.parse(bytes(HEADER_SIZE))
