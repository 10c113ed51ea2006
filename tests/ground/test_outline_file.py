"""Outline files: what they show, and damaged ones."""

from __future__ import annotations

import zlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import FileFormatError
from emu.ground.outline_file import HEADER_SIZE, MOST_BYTES, MOST_CELLS, OutlineFile, OutlineHeader

HEADER = OutlineHeader(b"d" * 32, -1.5, 2.25, 0.5, 7, 9, zlib.crc32(b"image"), 5)


def test_an_image_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "meadow.outline"
    path.write_bytes(HEADER.pack() + b"image")
    with OutlineFile(path) as file:
        file.check()
        assert (file.header, file.image()) == (HEADER, b"image")
    path.write_bytes(HEADER.pack() + b"imaGe")
    with OutlineFile(path) as file, pytest.raises(FileFormatError, match="checksum is wrong"):
        file.image()


@given(st.integers(0, 2**32))
def test_a_changed_header_is_refused(seed: int) -> None:
    random = Random(seed)
    data = bytearray(HEADER.pack())
    assert len(data) == HEADER_SIZE
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    with pytest.raises(FileFormatError):
        OutlineHeader.read(bytes(data))


@pytest.mark.parametrize(
    "header",
    [
        HEADER._replace(image=MOST_BYTES + 1),
        HEADER._replace(columns=MOST_CELLS + 1),
        HEADER._replace(rows=MOST_CELLS + 1),
    ],
)
def test_an_image_that_is_too_large_is_refused(header: OutlineHeader) -> None:
    with pytest.raises(FileFormatError, match="too large"):
        OutlineHeader.read(header.pack())
