"""The frame of the first bytes of ground files and path files.

It has eight bytes that name the kind, the number of the form, the values of the kind, and the
CRC-32 of all these. Numbers are little-endian.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

from emu.errors import FileFormatError

_CHECK: Final = struct.Struct("<I")


class HeaderForm:
    """The form of one kind of file."""

    def __init__(self, kind: str, magic: bytes, number: int, values: str) -> None:
        """`magic` are the eight bytes; `values` is the format of the kind's values, for `struct`.

        `number` changes with the form, so that an old file is refused and made anew.
        """
        self._kind = kind
        self._magic = magic
        self._number = number
        self._body = struct.Struct(f"<8sI{values}")
        self.size = self._body.size + _CHECK.size
        """Bytes of the header."""

    def unpack(self, data: bytes) -> tuple[Any, ...]:
        """Return the kind's values. Raises `FileFormatError`."""
        if len(data) < self.size:
            raise FileFormatError(f"is too short for a {self._kind}", place=f"byte {len(data)}")
        body = data[: self._body.size]
        magic, number, *values = self._body.unpack(body)
        if magic != self._magic:
            raise FileFormatError(f"is no {self._kind}", place="byte 0")
        if number != self._number:
            text = f"has form {number}, this server reads {self._number}"
            raise FileFormatError(text, place="byte 8")
        (check,) = _CHECK.unpack_from(data, self._body.size)
        if check != zlib.crc32(body):
            place = f"byte {self._body.size}"
            raise FileFormatError("the header's checksum is wrong", place=place)
        return tuple(values)

    def pack(self, *values: Any) -> bytes:
        """Return the bytes of a header with these values."""
        body = self._body.pack(self._magic, self._number, *values)
        return body + _CHECK.pack(zlib.crc32(body))
