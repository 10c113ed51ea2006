"""Files of the ground, read in place by `pread`.

A mapping (`mmap`) would save half a microsecond per access. But if a file shrinks under a running
server, or a disk fails, an access to a mapping ends the process with SIGBUS, and no test of the
size before it is in time. `pread` returns fewer bytes, or raises `OSError`. The pages stay in the
system's cache in both cases, shared by all processes.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, Protocol, Self, TypeVar

from emu.errors import FileFormatError
from emu.system import OPEN_FLAGS, read_at

_BLOCK: Final = 1 << 20


class Sized(Protocol):
    """A header that knows its file."""

    @property
    def size(self) -> int:
        """Bytes of the whole file."""

    @property
    def checksum(self) -> int:
        """CRC-32 of all bytes behind the header."""


Header = TypeVar("Header", bound=Sized)


class FileInPlace(Generic[Header]):
    """An open file with a header."""

    def __init__(self, path: Path, size: int, read: Callable[[bytes], Header]) -> None:
        """Open a file whose header of `size` bytes `read` decodes.

        Raises `FileFormatError`, as all methods do.
        """
        self.path = path
        self._header_size = size
        try:
            self._file = os.open(path, os.O_RDONLY | OPEN_FLAGS)
        except OSError as error:
            raise self.fault(f"cannot be read ({error.strerror})") from error
        try:
            self.header = read(read_at(self._file, size, 0))
            self._check_size(os.fstat(self._file).st_size)
        except (FileFormatError, OSError) as error:
            self.close()
            raise self.fault(str(error)) from error

    def _check_size(self, size: int) -> None:
        if size != self.header.size:
            raise FileFormatError(f"the file ends, not at {self.header.size}", place=f"byte {size}")

    def at(self, offset: int, size: int) -> bytes:
        """Return the bytes of a place."""
        try:
            data = read_at(self._file, size, offset)
        except OSError as error:
            raise self.fault(f"cannot be read at byte {offset} ({error.strerror})") from error
        if len(data) != size:
            raise self.fault(f"ends at byte {offset + len(data)}: it has become shorter")
        return data

    def check(self) -> None:
        """Read the whole file and compare its checksum."""
        checksum, at = 0, self._header_size
        while at < self.header.size:
            size = min(_BLOCK, self.header.size - at)
            checksum = zlib.crc32(self.at(at, size), checksum)
            at += size
        if checksum != self.header.checksum:
            raise self.fault("the checksum is wrong")

    def fault(self, reason: str) -> FileFormatError:
        """Return an error that names the file."""
        return FileFormatError(f"{self.path}: {reason}")

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
