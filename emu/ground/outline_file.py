"""An outline file: a zone's ground from above as a small image, for the maps of operators.

The header says which part of the zone the image shows; a PNG with four colors follows. The import
makes the file of a ground file, so a server reads some kilobytes and draws nothing.
Source: docs/protocol/maps.md#outline-file.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final, NamedTuple, Self

from emu.errors import FileFormatError
from emu.ground.file_header import HeaderForm
from emu.ground.read_in_place import FileInPlace

FORM: Final = 1
MOST_CELLS: Final = 768
"""Cells of the longer side."""
MOST_BYTES: Final = 1 << 18
"""Bytes of the largest image: with two bits for each cell it has 150,000 before it is packed."""
_HEADER: Final = HeaderForm("outline file", b"EMUOUTLN", FORM, "32s3dIIIQ")
HEADER_SIZE: Final = _HEADER.size


class OutlineHeader(NamedTuple):
    """The first bytes of an outline file."""

    digest: bytes
    """The digest of the ground file that it was made of."""
    west: float
    """The lowest x of the image, in meters."""
    south: float
    """The lowest z."""
    cell: float
    """Meters of a cell's side."""
    columns: int
    rows: int
    checksum: int
    """CRC-32 of the image."""
    image: int
    """Bytes of the image."""

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Read a header. Raises `FileFormatError`."""
        header = cls(*_HEADER.unpack(data))
        if header.image > MOST_BYTES or max(header.columns, header.rows) > MOST_CELLS:
            raise FileFormatError("the image is too large", place="byte 0")
        return header

    def pack(self) -> bytes:
        """Return the bytes of the header."""
        return _HEADER.pack(*self)

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return HEADER_SIZE + self.image


class OutlineFile(FileInPlace[OutlineHeader]):
    """An open outline file."""

    def __init__(self, path: Path) -> None:
        """Open a file. Raises `FileFormatError`, as all methods do."""
        super().__init__(path, HEADER_SIZE, OutlineHeader.read)

    def image(self) -> bytes:
        """Return the PNG; its first row is the one with the highest z."""
        data = self.at(HEADER_SIZE, self.header.image)
        if zlib.crc32(data) != self.header.checksum:
            raise self.fault("the checksum is wrong")
        return data
