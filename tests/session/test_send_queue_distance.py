"""Sequence numbers that wrap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.session.send_queue import distance

SEQUENCES = st.integers(0, 0xFFFF)


@pytest.mark.parametrize(
    ("start", "sequence", "ahead"),
    [
        (0, 0, 0),
        (0, 1, 1),
        (1, 0, -1),
        (0xFFFF, 0, 1),
        (0, 0xFFFF, -1),
        (0xFFF0, 0x0010, 32),
        (0, 0x7FFF, 0x7FFF),
        (0, 0x8000, -0x8000),
    ],
)
def test_distance_across_the_wrap(start, sequence, ahead):
    assert distance(start, sequence) == ahead


@given(SEQUENCES, st.integers(-0x8000, 0x7FFF))
def test_distance_is_what_was_added(start, ahead):
    assert distance(start, (start + ahead) % 65536) == ahead
