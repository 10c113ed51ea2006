"""Numbers that are one byte when they are small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage
from emu.structs.packed import oversized, read_oversized


@pytest.mark.parametrize(
    ("value", "hexed"), [(0, "00"), (254, "fe"), (255, "ffff00"), (256, "ff0001")]
)
def test_numbers_as_they_are_written(value: int, hexed: str) -> None:
    # docs/protocol/structs.md#oversized: below 255 one byte, else FF and a u16.
    assert oversized(value).hex() == hexed


@given(st.integers(0, 0xFFFE), st.binary(max_size=3), st.binary(max_size=3))
def test_every_number_is_read_back_where_it_stands(
    value: int, before: bytes, behind: bytes
) -> None:
    written = oversized(value)
    found = read_oversized(before + written + behind, len(before))
    assert found == (value, len(before) + len(written))


@pytest.mark.parametrize("data", [b"", b"\xff", b"\xff\0"])
def test_a_number_cut_short_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_oversized(data, 0)
