"""Sources of an import: SQL files, plain, gzip or zip, and folders of them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, cast

from emu.errors import FileFormatError

SUFFIXES: Final = (".sql", ".sql.gz", ".zip")
_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class DumpPart:
    """One dump: a file, or a file inside of a zip archive."""

    path: Path
    member: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """The name of the file, for people."""
        return PurePosixPath(self.member or self.path.name).name

    def size(self) -> int:
        """Return the bytes that its reading takes. Raises `FileFormatError`."""
        try:
            if not self.member:
                return self.path.stat().st_size
            with zipfile.ZipFile(self.path) as archive:
                return archive.getinfo(self.member).file_size
        except zipfile.BadZipFile as error:
            raise FileFormatError(f"{self}: is no usable zip archive ({error})") from error
        except OSError as error:
            raise FileFormatError(f"{self}: cannot be read ({error.strerror})") from error

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the bytes of the dump. Raises `FileFormatError`."""
        try:
            if not self.member:
                with self.path.open("rb") as file:
                    yield file
                return
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as inner:
                yield cast("BinaryIO", inner)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise FileFormatError(f"{self}: is no usable zip archive ({error})") from error
        except OSError as error:
            raise FileFormatError(f"{self}: cannot be read ({error.strerror})") from error

    def digest(self) -> str:
        """Return the SHA-256 digest of the dump's bytes, in hex. Raises `FileFormatError`."""
        total = hashlib.sha256()
        with self.open() as file:
            while block := file.read(_BLOCK):
                total.update(block)
        return total.hexdigest()


class CountedStream:
    """A stream that reports how many bytes were read from it."""

    def __init__(self, stream: BinaryIO, report: Callable[[int], object]) -> None:
        self._stream = stream
        self._report = report
        self._count = 0

    def read(self, size: int) -> bytes:
        """Return the next bytes, b"" at the end."""
        data = self._stream.read(size)
        self._count += len(data)
        self._report(self._count)
        return data


def dump_parts(paths: Sequence[Path]) -> list[DumpPart]:
    """Return the dumps in files, archives and folders. Raises `FileFormatError`."""
    parts: list[DumpPart] = []
    for path in paths:
        found = sorted(_files(path)) if path.is_dir() else [path]
        if not found:
            raise FileFormatError(f"{path}: there is no {', '.join(SUFFIXES)} file in this folder")
        for file in found:
            parts += _members(file) if file.suffix == ".zip" else [DumpPart(file)]
    return parts


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and path.name.lower().endswith(SUFFIXES):
            yield path


def _members(path: Path) -> list[DumpPart]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [one for one in archive.namelist() if one.lower().endswith(SUFFIXES[:2])]
    except (zipfile.BadZipFile, OSError) as error:
        raise FileFormatError(f"{path}: is no usable zip archive ({error})") from error
    return [DumpPart(path, name) for name in sorted(names)]
