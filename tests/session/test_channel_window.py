"""Putting packets in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.session import SessionConfig
from emu.session.channel import ReceiveWindow, SequencePlacement


def window(**settings):
    return ReceiveWindow(SessionConfig(**settings))


@given(
    first=st.sampled_from((0, 5, 0xFFFA, 0xFFFF)),
    order=st.permutations(range(12)),
    copies=st.lists(st.integers(0, 11), max_size=6),
)
def test_any_order_with_copies_comes_out_once_and_in_order(first, order, copies):
    place = window(first_sequence=first)
    out = []
    for number in [*order, *copies]:
        data = b"%d" % number
        placement = place.place((first + number) & 0xFFFF, 9, data)
        if placement is SequencePlacement.NEXT:
            out.append(data)
            while (entry := place.take_next()) is not None:
                out.append(entry[1])
    assert out == [b"%d" % number for number in range(12)]
    assert place.held is None
    assert place.held_bytes == 0
    assert place.expected == (first + 12) & 0xFFFF


@pytest.mark.parametrize("first", [0, 100, 0xFFFF])
def test_the_window_holds_2048(first):
    place = window(first_sequence=first)
    assert place.place((first + 2047) & 0xFFFF, 9, b"x") is SequencePlacement.FUTURE
    assert place.place((first + 2048) & 0xFFFF, 9, b"x") is SequencePlacement.OUTSIDE
    assert place.place((first - 2048) & 0xFFFF, 9, b"x") is SequencePlacement.DUPLICATE
    assert place.place((first - 2049) & 0xFFFF, 9, b"x") is SequencePlacement.OUTSIDE


def test_a_packet_held_twice_is_kept_once():
    place = window()
    assert place.place(3, 9, b"abc") is SequencePlacement.FUTURE
    assert place.place(3, 9, b"abc") is SequencePlacement.FUTURE
    assert place.held_bytes == 3


def test_the_number_of_held_packets_is_bounded():
    place = window(held_packet_limit=2)
    assert [place.place(number, 9, b"x") for number in (1, 2, 3, 2)] == [
        SequencePlacement.FUTURE,
        SequencePlacement.FUTURE,
        SequencePlacement.FULL,
        SequencePlacement.FUTURE,
    ]


def test_the_bytes_of_held_packets_are_bounded():
    place = window(held_bytes_limit=10)
    assert place.place(1, 9, bytes(10)) is SequencePlacement.FUTURE
    assert place.place(2, 9, b"x") is SequencePlacement.FULL
    assert place.place(0, 9, b"the awaited one is always kept") is SequencePlacement.NEXT
    assert place.take_next() == (9, bytes(10))
    assert place.place(3, 9, bytes(10)) is SequencePlacement.FUTURE


def test_clearing_lets_go_of_everything():
    place = window()
    place.place(1, 9, b"x")
    place.clear()
    assert place.held_bytes == 0
    assert place.take_next() is None
