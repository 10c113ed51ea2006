"""Sources of an import: SQL files, plain or gzip, in zip or tar archives, and folders of them."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, cast

from emu.errors import FileFormatError

_TEXTS: Final = (".sql", ".sql.gz")
_TARS: Final = (".tar.gz", ".tgz", ".tar")
SUFFIXES: Final = (*_TEXTS, ".zip", *_TARS)
_TAR_DAMAGE: Final = (tarfile.TarError, EOFError, zlib.error)
"""Errors of a damaged tar archive, or of one that is cut off."""
_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class DumpPart:
    """One dump: a file, or a file inside of a zip or tar archive."""

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
        with _readable(self):
            if not self.member:
                return self.path.stat().st_size
            if _is_tar(self.path):
                with tarfile.open(self.path) as tar:
                    return _member(tar, self.member).size
            with zipfile.ZipFile(self.path) as archive:
                return archive.getinfo(self.member).file_size

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the bytes of the dump. Raises `FileFormatError`."""
        with _readable(self):
            if not self.member:
                with self.path.open("rb") as file:
                    yield file
            elif _is_tar(self.path):
                with tarfile.open(self.path) as tar:
                    # It is a file, for `_members` lists no others.
                    yield cast("BinaryIO", tar.extractfile(_member(tar, self.member)))
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as inner:
                    yield cast("BinaryIO", inner)

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
            parts += _parts(file)
    return parts


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and path.name.lower().endswith(SUFFIXES):
            yield path


def _parts(path: Path) -> list[DumpPart]:
    """Return the dumps of a file: those inside of an archive, else the file itself."""
    # A dump is read twice, to compare it with the one before; some devices have no end.
    if path.exists() and not path.is_file():
        raise FileFormatError(f"{path}: is not a regular file; store the dump in one first")
    if not (_is_tar(path) or path.suffix.lower() == ".zip"):
        return [DumpPart(path)]
    with _readable(path):
        names = [one for one in _names(path) if one.lower().endswith(_TEXTS)]
    if not names:
        raise FileFormatError(f"{path}: there is no {' or '.join(_TEXTS)} file in this archive")
    return [DumpPart(path, name) for name in sorted(names)]


def _names(path: Path) -> list[str]:
    """Return the names of an archive's files."""
    if _is_tar(path):
        with tarfile.open(path) as tar:
            return [one.name for one in tar if one.isfile()]
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def _is_tar(path: Path) -> bool:
    return path.name.lower().endswith(_TARS)


def _member(tar: tarfile.TarFile, name: str) -> tarfile.TarInfo:
    """Return a member of an archive. Raises `KeyError` if it is gone."""
    # `getmember` would unpack the rest of the archive first, for a later member of the same name.
    for one in tar:
        if one.name == name:
            return one
    raise KeyError(name)


@contextmanager
def _readable(what: DumpPart | Path) -> Iterator[None]:
    """Turn the errors of files and archives into `FileFormatError`, which names `what`."""
    try:
        yield
    except _TAR_DAMAGE as error:
        raise FileFormatError(f"{what}: is no usable tar archive ({error})") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(f"{what}: is no usable zip archive ({error})") from error
    except KeyError as error:
        raise FileFormatError(f"{what}: is gone from its archive") from error
    except OSError as error:
        raise FileFormatError(f"{what}: cannot be read ({error.strerror or error})") from error
