"""Values of EQ2Emulator files: .NET strings, numbers, gzip data: docs/protocol/maps.md#texts."""

import gzip
import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground import source_bytes
from emu.ground.source_bytes import InflatedStream, SourceBytes
from tests.support.ground.map_bytes import net_string


def reader(data: bytes) -> SourceBytes:
    return SourceBytes(io.BytesIO(data).read)


def test_a_text_of_200_bytes_has_a_length_of_two_bytes() -> None:
    """.NET's BinaryReader.ReadString: 200 is C8 01, the low 7 bits first."""
    assert reader(b"\xc8\x01" + b"x" * 200).text("a") == "x" * 200


@given(st.text(max_size=300))
def test_every_text_is_read_as_it_was_written(text: str) -> None:
    source = reader(net_string(text))
    assert source.text("a") == text
    source.end()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x05abc", "byte 1: the file ends within a name"),
        (b"\xff\xff\xff\x01", "byte 0: a name has no usable length"),
        (b"\xff\x7f", "byte 0: a name is longer than 4096 bytes"),
        (b"", "byte 0: the file ends within a name"),
    ],
)
def test_unusable_texts_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(FileFormatError, match=reason):
        reader(data).text("a name")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_must_be_finite(value: float) -> None:
    source = reader(b"\0\0\0\0" + struct.pack("<3f", 1, value, 2))
    source.u32("a number")
    with pytest.raises(FileFormatError, match="byte 4: a place is no finite number"):
        source.floats(3, "a place")


def test_numbers_are_little_endian() -> None:
    source = reader(b"\x01\x02\0\0\xfe\xff\xff\xff")
    assert (source.u32("a"), source.i32("b"), source.offset) == (0x201, -2, 8)


def test_a_large_count_takes_no_memory_before_its_bytes_are_there() -> None:
    asked = []

    def read(size: int) -> bytes:
        asked.append(size)
        return b""

    with pytest.raises(FileFormatError, match="ends within corners"):
        SourceBytes(read).take(1 << 40, "corners")
    assert asked == [source_bytes.BLOCK]


def test_bytes_behind_the_last_value_are_a_fault() -> None:
    source = reader(b"\0\0\0\0\0")
    source.u32("a")
    with pytest.raises(FileFormatError, match="byte 4: more bytes"):
        source.end()


def inflated(data: bytes) -> bytes:
    stream, found = InflatedStream(io.BytesIO(data)), []
    while block := stream.read(1000):
        found.append(block)
    return b"".join(found)


@given(st.binary(max_size=5000))
def test_gzip_data_is_inflated(data: bytes) -> None:
    assert inflated(gzip.compress(data)) == data


@given(st.binary(min_size=1, max_size=300), st.data())
def test_cut_gzip_data_is_refused(data: bytes, draw: st.DataObject) -> None:
    packed = gzip.compress(data)
    cut = draw.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(FileFormatError, match="compressed byte"):
        inflated(packed[:cut])


def test_a_wrong_checksum_is_refused() -> None:
    packed = bytearray(gzip.compress(b"abc" * 100))
    packed[-8] ^= 1
    with pytest.raises(FileFormatError, match="no usable gzip data"):
        inflated(bytes(packed))


def test_bytes_behind_the_gzip_data_are_refused() -> None:
    with pytest.raises(FileFormatError, match="more bytes"):
        inflated(gzip.compress(b"abc") + b"!")


def test_data_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_bytes, "FREE_INFLATED", 10_000)
    bomb = zlib.compressobj(9, wbits=31)
    packed = bomb.compress(bytes(1 << 20)) + bomb.flush()
    stream, taken = InflatedStream(io.BytesIO(packed)), []
    with pytest.raises(FileFormatError, match="inflates to more than"):
        taken.extend(iter(lambda: stream.read(1000), b""))
    assert 9 < len(taken) < 70


def test_a_map_of_more_than_all_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_bytes, "MOST_INFLATED", 100)
    with pytest.raises(FileFormatError, match="inflates to more than"):
        inflated(gzip.compress(bytes(range(200))))
