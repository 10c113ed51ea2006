"""Classic pcap, gzip and the reader's bounds; `tests.support.files.captures` builds the files."""

from __future__ import annotations

import contextlib
import functools
import gzip
import struct
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.formats.pcap import CaptureReader
from emu.capture.formats.records import MAX_FRAME, Datagram
from emu.errors import FileFormatError
from tests.support.examples import tries
from tests.support.files.captures import (
    HELLO,
    IPV4_HELLO,
    classic,
    datagrams,
    enhanced,
    interface,
    read_all,
    section,
)

# Without the time of day: it would stand in the names of tests, and every process had others.
zipped = functools.partial(gzip.compress, mtime=0)


@pytest.mark.parametrize(
    ("magic", "order", "fraction"),
    [
        (0xA1B2C3D4, "<", 250_000),
        (0xA1B2C3D4, ">", 250_000),
        (0xA1B23C4D, "<", 250_000_000),
        (0xA1B23C4D, ">", 250_000_000),
    ],
)
def test_all_four_magics_give_the_same_datagrams(magic, order, fraction):
    data = classic([IPV4_HELLO, IPV4_HELLO], magic=magic, order=order, fraction=fraction)
    records = read_all(data)
    assert datagrams(data) == [HELLO, HELLO]
    assert [record.t for record in records] == [0.25, 1.25]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 64])
def test_bytes_may_arrive_in_any_pieces(step):
    data = classic([IPV4_HELLO] * 5)
    assert read_all(data, step) == read_all(data)
    assert read_all(gzip.compress(data), step) == read_all(data)


def test_gzip_members_one_after_the_other_and_padding():
    data = classic([IPV4_HELLO] * 4)
    packed = gzip.compress(data[:50]) + gzip.compress(data[50:]) + bytes(100)
    assert datagrams(packed) == [HELLO] * 4


def test_damaged_and_cut_gzip_is_said_so():
    packed = gzip.compress(classic([bytes([n]) * 900 for n in range(200)]))
    with pytest.raises(FileFormatError, match="gzip data is cut off"):
        read_all(packed[: len(packed) // 2])
    with pytest.raises(FileFormatError, match="gzip data is damaged"):
        read_all(packed[:10] + b"\x07" * 200)
    with pytest.raises(FileFormatError, match="gzip data is cut off"):
        read_all(packed[:-4])


@pytest.mark.parametrize("step", [37, 1 << 20])
def test_records_before_damaged_gzip_data_come_out(step):
    deflater = zlib.compressobj(wbits=31)
    packed = deflater.compress(classic([IPV4_HELLO] * 200))
    packed += deflater.flush(zlib.Z_SYNC_FLUSH) + b"\x07" * 20  # no block has this type
    reader, records = CaptureReader(), []
    with pytest.raises(FileFormatError, match="gzip data is damaged"):  # noqa: PT012
        for at in range(0, len(packed), step):
            for record in reader.receive_data(packed[at : at + step]):
                records.append(record)
    assert len(records) == 200


def test_a_cut_file_gives_what_was_whole_and_then_one_error():
    data = classic([IPV4_HELLO] * 3)
    reader = CaptureReader()
    records = list(reader.receive_data(data[:-1]))
    assert len(records) == 2
    with pytest.raises(FileFormatError, match="cut off") as error:
        reader.close()
    assert error.value.place == f"byte {24 + 2 * (16 + len(IPV4_HELLO))}"


def test_a_garbled_length_gives_what_was_before_it_and_then_one_error():
    data = bytearray(classic([IPV4_HELLO] * 3))
    second = 24 + 16 + len(IPV4_HELLO)
    struct.pack_into("<I", data, second + 8, 0xFFFFFFF0)
    with pytest.raises(FileFormatError, match="4294967280 bytes") as error:
        list(CaptureReader().receive_data(bytes(data)))
    assert error.value.place == f"byte {second}"
    reader = CaptureReader()
    records = reader.receive_data(bytes(data))
    assert isinstance(next(records), Datagram)
    with pytest.raises(FileFormatError):
        next(records)


def test_the_largest_frame_is_read_and_one_byte_more_is_damage():
    assert read_all(classic([bytes(MAX_FRAME)])) == []
    with pytest.raises(FileFormatError, match="claimed"):
        read_all(classic([bytes(MAX_FRAME + 1)]))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "empty"),
        (b"\xd4\xc3", "too short"),
        (b"\x1f", "too short"),
        (b"PK\x03\x04zipped", "not a capture file"),
        (b"#!/bin/sh\n", "not a capture file"),
        (classic([])[:20], "cut off"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 9, 4, 0, 0, 65535, 1), "version 9.4 is not read"),
        (zipped(zipped(classic([]))), "not a capture file"),
    ],
)
def test_what_is_no_capture_is_refused_with_one_line(data, text):
    with pytest.raises(FileFormatError, match=text) as error:
        read_all(data)
    assert "\n" not in str(error.value)


def test_a_hundred_megabytes_stream_through_little_memory():
    head, frame = classic([]), classic([b"\x45" + bytes(59_999)])[24:]
    reader = CaptureReader()
    tracemalloc.start()
    list(reader.receive_data(head))
    for _ in range(100_000_000 // len(frame)):
        assert list(reader.receive_data(frame)) == []
    reader.close()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert reader.offset > 99_000_000
    assert sum(reader.left_out.values()) == 100_000_000 // len(frame)
    assert peak < 2_000_000


@pytest.mark.slow
def test_a_gzip_bomb_streams_through_little_memory():
    bomb = gzip.compress(classic([]) + classic([bytes(250_000)])[24:] * 120)
    assert len(bomb) < 50_000
    reader = CaptureReader()
    tracemalloc.start()
    assert list(reader.receive_data(bomb)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert reader.offset > 29_000_000
    assert peak < 2_000_000


@given(st.binary(max_size=400), st.integers(1, 50))
@tries(60)
def test_garbage_gives_records_or_one_kind_of_error(garbage, step):
    heads = (
        b"", classic([]), classic([IPV4_HELLO]), classic([], link=1), section(),
        section() + interface(), zipped(classic([]))[:12],
    )  # fmt: skip
    for head in heads:
        reader = CaptureReader()
        data = head + garbage
        try:
            for at in range(0, len(data), step):
                for record in reader.receive_data(data[at : at + step]):
                    assert len(getattr(record, "payload", b"")) <= len(data)
            reader.close()
        except FileFormatError:
            pass


@given(st.data())
@tries(60)
def test_flipped_bytes_give_records_or_one_kind_of_error(data):
    good = data.draw(
        st.sampled_from(
            [classic([IPV4_HELLO] * 3), section() + interface() + enhanced(IPV4_HELLO) * 3]
        )
    )
    garbled = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        garbled[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(FileFormatError):
        assert len(read_all(bytes(garbled))) <= 3
