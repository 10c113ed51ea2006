"""The parts of combined packets: round trip, limits, garbage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram
from emu.wire.packets import PART_LIMIT, length_bytes, pull_parts, push_parts

SIZES = st.one_of(st.integers(1, 20), st.integers(250, 260), st.integers(65_530, 65_540))


@given(st.lists(SIZES, max_size=5))
def test_what_is_written_is_read_again(sizes):
    parts = tuple(bytes((index + 1,)) * size for index, size in enumerate(sizes))
    assert pull_parts(push_parts(parts)) == parts


@pytest.mark.parametrize(
    "parts", [b"\0", b"\2ab\0", b"\0\2ab", b"\xff\0\0", b"\xff\xff\xff\0\0\0\0"]
)
def test_an_empty_part_spoils_the_whole(parts):
    with pytest.raises(MalformedDatagram, match="empty part"):
        pull_parts(parts)


@pytest.mark.parametrize(
    "parts", [b"\2a", b"\xff", b"\xff\0", b"\1a\xff\xff\xff", b"\xff\xff\xff\xff"]
)
def test_a_length_past_the_end_spoils_the_whole(parts):
    with pytest.raises(MalformedDatagram, match="truncated packet"):
        pull_parts(parts)


def test_an_empty_part_is_not_written():
    with pytest.raises(LocalProtocolError, match="may not be empty"):
        push_parts((b"a", b""))


def test_the_number_of_parts_is_bounded_while_they_are_read():
    data = b"\1a" * 3
    assert len(pull_parts(data, 3)) == 3
    with pytest.raises(LimitExceeded, match="too many parts"):
        pull_parts(data + b"\xff\xff", 2)  # what is behind the limit is not looked at


def test_there_is_a_bound_when_nobody_gives_one():
    assert len(pull_parts(b"\1a" * PART_LIMIT)) == PART_LIMIT
    with pytest.raises(LimitExceeded, match="too many parts"):
        pull_parts(b"\1a" * (PART_LIMIT + 1))


def test_parts_are_read_from_where_they_begin():
    assert pull_parts(b"\0\3\1a", start=2) == (b"a",)


@pytest.mark.parametrize(
    ("length", "coded"),
    [
        (0, "00"),
        (0x44, "44"),
        (254, "fe"),
        (255, "ff00ff"),
        (65534, "fffffe"),
        (65535, "ffffff0000ffff"),
        (2**32 - 1, "ffffffffffffff"),
    ],
)
def test_lengths_take_the_shortest_form(length, coded):
    assert length_bytes(length).hex() == coded


@pytest.mark.parametrize("length", [-1, 2**32])
def test_a_number_that_is_no_length_is_refused(length):
    with pytest.raises(LocalProtocolError):
        length_bytes(length)
