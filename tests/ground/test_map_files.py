"""Map files of both versions, and damaged ones. Layout: docs/protocol/maps.md#map."""

import gzip
import io
import struct
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.map_files import MapReader
from tests.support.ground.map_bytes import Part, corners_of, map_bytes, plain_map, square

FLOOR = square((0, 1, 0), (10, 1, 10))
PARTS = [
    Part(FLOOR, 5),
    Part([], 5, 77, (1.0, 2.0, 3.0)),
    Part(square((0, 0, 5), (10, 3, 5)), 6, 88, (4.0, 5.0, 6.0)),
]


def test_a_map_written_by_hand_is_read() -> None:
    """Version 2 byte by byte as the page gives it: path, bounds, grids, corners."""
    data = b"\x06a/b.vd" + struct.pack("<4f", 0, 0, 1, 1) + struct.pack("<I", 1)
    data += struct.pack("<II", 42, 3) + struct.pack("<9f", *range(9))
    reader = MapReader(io.BytesIO(gzip.compress(data)))
    (group,) = reader.groups()
    assert (reader.version, reader.path) == (2, "a/b.vd")
    assert (group.grid, group.widget, group.triangles) == (42, 0, 1)
    assert struct.unpack("<9f", group.corners) == tuple(range(9))


def test_version_3_has_widgets_and_groups_without_triangles() -> None:
    reader = MapReader(io.BytesIO(map_bytes(PARTS)))
    groups = list(reader.groups())
    assert reader.version == 3
    assert [(one.grid, one.widget, one.place, one.triangles) for one in groups] == [
        (5, 0, (0.0, 0.0, 0.0), 2), (5, 77, (1.0, 2.0, 3.0), 0), (6, 88, (4.0, 5.0, 6.0), 2),
    ]  # fmt: skip
    assert groups[2].corners == corners_of(PARTS[2].triangles)


@pytest.mark.parametrize("version", [2, 3])
def test_a_path_of_more_than_127_bytes_is_read(version: int) -> None:
    path = "zones/" + "long/" * 40 + "meadow"
    reader = MapReader(io.BytesIO(map_bytes(PARTS, path, version)))
    assert reader.path == path
    assert sum(one.triangles for one in reader.groups()) == 4


def test_an_empty_map_is_read() -> None:
    assert list(MapReader(io.BytesIO(map_bytes([]))).groups()) == []


def read_all(data: bytes) -> None:
    list(MapReader(io.BytesIO(data)).groups())


@given(st.integers(0, len(plain_map(PARTS, "meadow")) - 1))
def test_a_truncated_map_is_refused_with_its_place(cut: int) -> None:
    data = gzip.compress(plain_map(PARTS, "meadow")[:cut])
    with pytest.raises(FileFormatError, match=r"byte \d+: "):
        read_all(data)


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (struct.pack("<I", 0xFFFFFFFF), "the number of grids is 4294967295"),
        (struct.pack("<III", 1, 5, 0xFFFFFFFF), "the number of groups is"),
        (struct.pack("<III4fI", 1, 5, 1, 0, 0, 0, 0, 4), "4 corners are no whole triangles"),
        (struct.pack("<IIII3fI", 1, 5, 1, 0, 0, 0, 0, 3_000_000_000), "more triangles"),
        (struct.pack("<IIII3fI", 1, 5, 1, 0, 0, 0, 0, 300_000), "ends within corners"),
        (struct.pack("<IIII3fI", 1, 5, 1, 0, float("nan"), 0, 0, 0), "no finite number"),
        (struct.pack("<II", 0, 7), "more bytes"),
    ],
)
def test_counts_that_cannot_be_are_refused(tail: bytes, reason: str) -> None:
    head = plain_map([], "meadow")[:-4]
    with pytest.raises(FileFormatError, match=reason):
        read_all(gzip.compress(head + tail))


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(FileFormatError, match="byte 14: version 4 is unknown"):
        MapReader(io.BytesIO(map_bytes([], version=4)))


@given(st.integers(0, 2**32))
def test_flipped_bits_never_raise_anything_else(seed: int) -> None:
    random, data = Random(seed), bytearray(plain_map(PARTS, "meadow"))
    for _ in range(random.randint(1, 8)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    with suppress(FileFormatError):
        read_all(gzip.compress(bytes(data)))
