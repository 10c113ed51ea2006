"""Region files, and damaged ones. Layout: docs/protocol/maps.md#regions."""

import io
import struct
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.region_files import RegionFile, read_regions
from emu.ground.region_nodes import INSIDE, OUTSIDE, Node
from emu.ground.regions import Region
from emu.ground.source_bytes import SourceBytes
from tests.support.ground.region_bytes import LAVA, box_nodes, pool, region_bytes

POOLS = [pool((0, 0, 0), (4, 2, 4)), pool((9, 0, 0), (10, 2, 4), kind=1, special=LAVA)]


def read(data: bytes) -> RegionFile:
    return read_regions(SourceBytes(io.BytesIO(data).read))


def values(region: Region) -> tuple[object, ...]:
    return (
        region.number, region.kind, region.place, region.radius, region.environment, region.file,
        region.grid, region.nodes,
    )  # fmt: skip


def test_a_region_written_by_hand_is_read() -> None:
    """Byte by byte as the page gives it."""
    data = b"\x06meadow" + struct.pack("<II", 2, 1)
    data += struct.pack("<II4f", 7, 1, 1, 2, 3, 50) + b"\x05a.xml" + b"\x08b.region"
    data += struct.pack("<Ii", 99, 1)
    data += struct.pack("<I4fIIii", 0, 0, 1, 0, -2.5, 1, 0xFFFFFFFD, -2, -1)
    found = read(data)
    assert found.path == "meadow"
    (region,) = found.regions
    node: Node = (0.0, 1.0, 0.0, -2.5, 0xFFFFFFFD, INSIDE, OUTSIDE)
    assert values(region) == (7, 1, (1.0, 2.0, 3.0), 50.0, "a.xml", "b.region", 99, (node,))


def test_regions_are_read_as_they_were_written() -> None:
    assert list(map(values, read(region_bytes(POOLS)).regions)) == list(map(values, POOLS))
    assert read(region_bytes([])).regions == []


GOOD = region_bytes(POOLS)


@given(st.integers(0, len(GOOD) - 1))
def test_a_truncated_file_is_refused_with_its_place(cut: int) -> None:
    with pytest.raises(FileFormatError, match=r"^byte \d+: "):
        read(GOOD[:cut])


def with_nodes(nodes: list[Node], count: int | None = None) -> bytes:
    region = Region(7, 0, (0, 0, 0), 50, "", "", 0, tuple(nodes))
    data = region_bytes([region], "x")
    at = len(data) - 36 * len(nodes) - 4
    return data if count is None else data[:at] + struct.pack("<i", count) + data[at + 4 :]


PLANE = (0.0, 1.0, 0.0, 0.0, 1)
NONE = float("nan")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x01x" + struct.pack("<II", 3, 0), "byte 2: version 3 is unknown"),
        (b"\x01x" + struct.pack("<II", 2, 1 << 31), "byte 6: 2147483648 regions"),
        (with_nodes([], -1), "-1 nodes cannot be"),
        (with_nodes([], 1 << 30), "ends within the nodes"),
        (with_nodes([(*PLANE, 0, -1)]), "byte 44: a node has a child"),
        (with_nodes([(*PLANE, 1, -1), (*PLANE, 0, -1)]), "byte 80: a node has a child"),
        (with_nodes([(*PLANE, 1, 1), (*PLANE, -1, -1)]), "a node has a child"),
        (with_nodes([(*PLANE, 5, -1)]), "byte 44: a node has a child"),
        (with_nodes([(*PLANE, -3, -1)]), "a node has a child"),
        (with_nodes([(0.0, NONE, 0.0, 0.0, 1, -2, -1)]), "byte 44: a plane is no finite"),
        (region_bytes([pool((0, 0, 0), (NONE, 1, 1))]), "a region's place is no finite"),
        (GOOD + b"x", "more bytes"),
    ],
)
def test_regions_that_cannot_be_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(FileFormatError, match=reason):
        read(data)


@given(st.integers(0, 2**32))
def test_flipped_bits_never_raise_anything_else(seed: int) -> None:
    random, data = Random(seed), bytearray(GOOD)
    for _ in range(random.randint(1, 8)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    with suppress(FileFormatError):
        for region in read(bytes(data)).regions:
            region.substance((1.0, 1.0, 1.0))


def test_children_may_have_lower_numbers() -> None:
    """As in the public files: the first node leads to the last."""
    nodes = box_nodes((0, 0, 0), (1, 1, 1))
    assert nodes[0][5] == 5
    assert read(with_nodes(list(nodes))).regions[0].nodes == nodes
