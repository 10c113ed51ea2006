"""The byte queue under both formats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.capture.formats.records import ByteQueue


@given(st.lists(st.binary(max_size=20), max_size=10), st.integers(1, 9))
def test_what_goes_in_comes_out_in_order(pieces, step):
    queue = ByteQueue()
    out = b""
    for piece in pieces:
        queue.append(piece)
        if len(queue) >= step:
            assert queue.peek(step) == queue.peek(step)
            out += queue.take(step)
    out += queue.take(len(queue))
    assert out == b"".join(pieces)
    assert queue.offset == len(out)


def test_skip_says_how_much_is_still_to_come():
    queue = ByteQueue()
    queue.append(b"12345")
    assert queue.skip(2) == 0
    assert queue.skip(10) == 7
    assert (len(queue), queue.offset) == (0, 5)
