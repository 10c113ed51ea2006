"""The bytes of a dump for a parser: inflated, in bounded chunks, with line numbers.

This module inflates gzip, limits lines and the total size, and matches patterns across the borders
of chunks. It does not know SQL.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from emu.errors import FileFormatError

CHUNK = 64 * 1024
"""Bytes read at once."""
MAX_LINE = 32 * 1024 * 1024
"""Bytes of one line; mysqldump writes about 1 MiB, and never more than its packet limit."""
MAX_TOTAL = 8 * 1024**3
"""Bytes of a whole dump after inflating."""
MAX_RATIO = 300
"""Largest ratio of inflated to compressed size; dumps reach about 20."""
RATIO_FREE = 16 * 1024 * 1024
"""Inflated bytes before the ratio is checked."""


def _reader(stream: BinaryIO) -> Callable[[], bytes]:
    """Return a function that returns the next inflated bytes, b"" at the end."""
    head = stream.read(CHUNK)
    # Two bytes are needed to recognize gzip; a pipe may deliver them one by one.
    while len(head) < 2 and (more := stream.read(CHUNK)):
        head += more
    if head[:2] == b"\x1f\x8b":
        return iter(_inflate(stream, head)).__next__
    chunks = iter([head])
    return lambda: next(chunks, b"") or stream.read(CHUNK)


def _inflate(stream: BinaryIO, data: bytes) -> Iterator[bytes]:
    """Yield a gzip stream's inflated bytes in bounded chunks, then b"" for ever."""
    taken, given = len(data), 0
    member = zlib.decompressobj(wbits=31)
    try:
        while data:
            piece = member.decompress(data, CHUNK)
            given += len(piece)
            # A few bytes of gzip can inflate to gigabytes; real dumps compress far less.
            if given > RATIO_FREE and given > taken * MAX_RATIO:
                raise FileFormatError(f"inflates to more than {MAX_RATIO} times its size")
            if piece:
                yield piece
            if member.eof:
                data = member.unused_data or stream.read(CHUNK)
                taken += 0 if member.unused_data else len(data)
                data = data.lstrip(b"\0")  # padding of tapes
                member = zlib.decompressobj(wbits=31) if data else member
            else:
                data = member.unconsumed_tail
                if not data:
                    data = stream.read(CHUNK)
                    taken += len(data)
    except zlib.error as error:
        raise FileFormatError(f"is damaged gzip data ({error})") from error
    # A cut file has inflated without an error up to here.
    if not member.eof:
        raise FileFormatError("is a gzip file that was cut short")
    while True:
        yield b""


class Source:
    """The bytes that are not consumed yet, about a chunk, and their position."""

    __slots__ = ("_counted", "_line", "_line_bytes", "_read", "_total", "buffer", "ended", "pos")

    def __init__(self, stream: BinaryIO) -> None:
        self._read = _reader(stream)
        self.buffer = b""
        self.pos = 0
        self.ended = False
        self._counted = 0
        self._line = 1
        self._line_bytes = 0
        self._total = 0

    @property
    def line(self) -> int:
        """The line of the present position."""
        self._line += self.buffer.count(b"\n", self._counted, self.pos)
        self._counted = self.pos
        return self._line

    @property
    def consumed(self) -> int:
        """Bytes before the present position."""
        return self._total - len(self.buffer) + self.pos

    def error(self, message: str) -> FileFormatError:
        """Return an error with the present line."""
        return FileFormatError(message, place=f"line {self.line}")

    def fill(self) -> bool:
        """Append another chunk; return False at the end of the file."""
        if self.ended:
            return False
        try:
            chunk = self._read()
        except FileFormatError as error:
            raise self.error(str(error)) from error
        if not chunk:
            self.ended = True
            return False
        if not self._total:
            # mysqldump in a Windows shell can write UTF-16, which no pattern here would match.
            if chunk[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise self.error("this is UTF-16 text; save the dump as UTF-8")
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        self._total += len(chunk)
        if self._total > MAX_TOTAL:
            raise self.error(f"the dump is larger than {MAX_TOTAL} bytes")
        newline = chunk.rfind(b"\n")
        self._line_bytes = (
            self._line_bytes + len(chunk) if newline < 0 else len(chunk) - newline - 1
        )
        if self._line_bytes > MAX_LINE:
            raise self.error(f"a line is longer than {MAX_LINE} bytes")
        # Counts the lines of the bytes that the next statement removes from the buffer.
        _ = self.line
        self.buffer = self.buffer[self.pos :] + chunk
        self.pos = self._counted = 0
        return True

    def match(self, pattern: re.Pattern[bytes], limit: int) -> re.Match[bytes] | None:
        """Match at the present position, never deciding on a piece that the chunk's end cut."""
        while True:
            found = pattern.match(self.buffer, self.pos)
            if found is not None and found.end() < len(self.buffer):
                return found
            # A match that ends at the end of the chunk may be longer with the next one.
            if len(self.buffer) - self.pos > limit or not self.fill():
                return found

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end of the file."""
        while len(self.buffer) - self.pos < size and self.fill():
            pass
        return self.buffer[self.pos : self.pos + size]
