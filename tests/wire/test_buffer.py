"""Bounded reading and writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LocalProtocolError, MalformedDatagram
from emu.wire.buffer import Reader, Writer, length_bytes


@given(st.lists(st.tuples(st.sampled_from((1, 2, 4, 8)), st.integers(0, 2**64 - 1)), max_size=20))
def test_numbers_come_back_as_they_were_pushed(values):
    values = [(size, value % 256**size) for size, value in values]
    writer = Writer()
    for size, value in values:
        {1: writer.push_u8, 2: writer.push_u16, 4: writer.push_u32, 8: writer.push_u64}[size](value)
    data = writer.getvalue()
    assert len(writer) == len(data) == sum(size for size, _ in values)
    reader = Reader(data)
    for size, value in values:
        pull = {1: reader.pull_u8, 2: reader.pull_u16, 4: reader.pull_u32, 8: reader.pull_u64}[size]
        assert pull() == value
    assert reader.remaining == 0


def test_integers_are_big_endian():
    writer = Writer()
    writer.push_u32(0x01020304)
    writer.push_u16(0x0506)
    assert writer.getvalue() == b"\x01\x02\x03\x04\x05\x06"


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
    writer = Writer()
    writer.push_length(length)
    assert writer.getvalue().hex() == coded
    assert Reader(writer.getvalue()).pull_length() == length


@pytest.mark.parametrize("length", [-1, 2**32])
def test_a_number_that_is_no_length_is_refused(length):
    with pytest.raises(LocalProtocolError):
        length_bytes(length)


@given(st.binary(max_size=8), st.integers(0, 20))
def test_reading_past_the_end_is_refused_and_takes_nothing(data, count):
    reader = Reader(data)
    if count > len(data):
        with pytest.raises(MalformedDatagram):
            reader.pull_bytes(count)
        assert reader.pull_rest() == data
    else:
        assert reader.pull_bytes(count) == data[:count]
        assert reader.pull_rest() == data[count:]


def test_a_negative_count_is_refused():
    with pytest.raises(MalformedDatagram):
        Reader(b"abc").pull_bytes(-1)


@pytest.mark.parametrize("coded", ["", "ff", "ff00", "ffffff", "ffffff000000"])
def test_a_cut_length_is_refused(coded):
    with pytest.raises(MalformedDatagram):
        Reader(bytes.fromhex(coded)).pull_length()


def test_writing_stops_at_the_limit():
    writer = Writer(limit=4)
    writer.push_bytes(b"1234")
    with pytest.raises(LocalProtocolError):
        writer.push_u8(5)
    assert writer.getvalue() == b"1234"


@pytest.mark.parametrize("value", [-1, 256])
def test_a_value_wider_than_its_field_is_refused(value):
    with pytest.raises(LocalProtocolError):
        Writer().push_u8(value)
