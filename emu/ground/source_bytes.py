"""The bytes of an EQ2Emulator file, read in order; each fault has its place in the file.

Integers and floats are little endian. A text is a .NET string: its length in groups of 7 bits, the
low ones first, then its bytes. EQ2Emulator's server takes one byte as the length, so it misreads
texts of 128 bytes and more.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final

from emu.errors import FileFormatError

BLOCK: Final = 1 << 20
"""Bytes that are read at once: memory grows with the data that came, not with a count."""
LONGEST_TEXT: Final = 4096
_LENGTH_GROUPS: Final = 3
"""Groups of 7 bits of the longest text's length, with one to spare."""
_U32: Final = struct.Struct("<I")
_I32: Final = struct.Struct("<i")


class SourceBytes:
    """Reads values of a file one after the other."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        """`read` returns up to a number of bytes, b"" at the end."""
        self._read = read
        self.offset = 0
        """Bytes that were read."""

    def fault(self, reason: str, offset: int | None = None) -> FileFormatError:
        """Return the error for a fault at an offset, by default at the present place."""
        at = self.offset if offset is None else offset
        return FileFormatError(reason, place=f"byte {at}")

    def take(self, size: int, subject: str) -> bytes:
        """Return the next `size` bytes. Raises `FileFormatError` if the file has fewer."""
        start, blocks, missing = self.offset, [], size
        while missing:
            block = self._read(min(missing, BLOCK))
            if not block:
                raise self.fault(f"the file ends within {subject}", start)
            self.offset += len(block)
            missing -= len(block)
            blocks.append(block)
        return b"".join(blocks)

    def u32(self, subject: str) -> int:
        """Return an unsigned integer of 32 bits."""
        return int(_U32.unpack(self.take(4, subject))[0])

    def i32(self, subject: str) -> int:
        """Return a signed integer of 32 bits."""
        return int(_I32.unpack(self.take(4, subject))[0])

    def floats(self, count: int, subject: str) -> tuple[float, ...]:
        """Return some floats of 32 bits, which must be finite numbers."""
        start = self.offset
        values = struct.unpack(f"<{count}f", self.take(4 * count, subject))
        if not all(map(math.isfinite, values)):
            raise self.fault(f"{subject} is no finite number", start)
        return values

    def text(self, subject: str) -> str:
        """Return a .NET string; bytes that are not UTF-8 become marks."""
        start, length = self.offset, 0
        for group in range(_LENGTH_GROUPS):
            (byte,) = self.take(1, subject)
            length |= (byte & 0x7F) << 7 * group
            if byte < 0x80:
                break
        else:
            raise self.fault(f"{subject} has no usable length", start)
        if length > LONGEST_TEXT:
            raise self.fault(f"{subject} is longer than {LONGEST_TEXT} bytes", start)
        return self.take(length, subject).decode("utf-8", "replace")

    def end(self) -> None:
        """Raise `FileFormatError` unless all bytes were read."""
        if self._read(1):
            raise self.fault("more bytes come behind the last value")


MOST_INFLATED: Final = 1 << 30
"""Bytes of an inflated map: ten times those of the largest known one."""
FREE_INFLATED: Final = 1 << 24
"""Bytes up to which the ratio does not matter."""
MOST_RATIO: Final = 64
"""Bytes that come of one compressed byte; those of the public maps are 1.2 to 6.3."""


class InflatedStream:
    """Inflates one gzip stream in small pieces, and refuses one that grows without end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._inflater = zlib.decompressobj(wbits=31)
        self._waiting = b""
        self._taken = 0
        self._made = 0

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, b"" at the end. Raises `FileFormatError`."""
        while not self._inflater.eof:
            if not self._waiting:
                self._waiting = self._stream.read(BLOCK)
                self._taken += len(self._waiting)
            try:
                made = self._inflater.decompress(self._waiting, size)
            except zlib.error as error:
                raise self._fault(f"is no usable gzip data ({error})") from error
            ended = not self._waiting and not made
            self._waiting = self._inflater.unconsumed_tail
            self._made += len(made)
            self._check_growth()
            if made:
                return made
            if ended:
                raise self._fault("the gzip data is cut off")
        if self._inflater.unused_data or self._stream.read(1):
            raise self._fault("more bytes come behind the gzip data")
        return b""

    def _check_growth(self) -> None:
        taken = self._taken - len(self._waiting)
        if self._made > MOST_INFLATED or (
            self._made > FREE_INFLATED and self._made > MOST_RATIO * taken
        ):
            raise self._fault(f"inflates to more than {self._made} bytes; no map does")

    def _fault(self, reason: str) -> FileFormatError:
        at = self._taken - len(self._waiting)
        return FileFormatError(reason, place=f"compressed byte {at}")
