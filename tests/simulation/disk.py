"""A disk under the real SQLite: it loses what was not flushed when the power is cut, and it fails.

SQLite reaches files by a table of functions (its VFS). This module replaces the functions that
open, write, truncate and flush files in one folder, in the library that Python's `sqlite3` uses;
all others stay, so that the log of the database and its locks are the real ones. What is written is
in the file at once, as in the cache of an operating system. `Disk.cut_power` gives each file the
content that a disk may have then: what was flushed, and some of the writes since.

Where `sqlite3` has SQLite inside of itself, the functions cannot be reached: then `Disk.is_real` is
False and nothing is lost.
"""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

SQLITE_FULL = 13
SQLITE_IOERR_WRITE = 10 | 3 << 8
SQLITE_IOERR_FSYNC = 10 | 4 << 8
Kept = tuple[dict[Path, bytes], dict[str, tuple[bytes, list[tuple[int, bytes | None]]]]]
SECTOR = 512
"""Bytes that a disk writes completely or not at all."""

_File = ctypes.c_void_p
_OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, _File, ctypes.c_int,
    ctypes.POINTER(ctypes.c_int),
)  # fmt: skip
_CLOSE = ctypes.CFUNCTYPE(ctypes.c_int, _File)
_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, _File, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, _File, ctypes.c_int64)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _File, ctypes.c_int)


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`: the functions of one open file."""

    _fields_ = [
        ("iVersion", ctypes.c_int),
        *[(name, ctypes.c_void_p) for name in (
            "xClose", "xRead", "xWrite", "xTruncate", "xSync", "xFileSize", "xLock", "xUnlock",
            "xCheckReservedLock", "xFileControl", "xSectorSize", "xDeviceCharacteristics",
            "xShmMap", "xShmLock", "xShmBarrier", "xShmUnmap", "xFetch", "xUnfetch",
        )],
    ]  # fmt: skip


class _OpenFile(ctypes.Structure):
    """`sqlite3_file`: only its first member is public."""

    _fields_ = [("pMethods", ctypes.POINTER(_Methods))]


class _Vfs(ctypes.Structure):
    """The beginning of `sqlite3_vfs`."""

    _fields_ = [
        ("iVersion", ctypes.c_int), ("szOsFile", ctypes.c_int), ("mxPathname", ctypes.c_int),
        ("pNext", ctypes.c_void_p), ("zName", ctypes.c_char_p), ("pAppData", ctypes.c_void_p),
        ("xOpen", ctypes.c_void_p),
    ]  # fmt: skip


@cache
def _vfs() -> Any:
    """Return the VFS of the library that `sqlite3` uses; None if it cannot be reached."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return None
    lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
    loaded = {line.split()[-1] for line in lines if "libsqlite3" in line}
    if len(loaded) != 1:
        return None
    library = ctypes.CDLL(loaded.pop())
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    return library.sqlite3_vfs_find(None)


class _FileState:
    """What a disk has of one file, and what waits in the cache."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.flushed = bytearray(path.read_bytes() if path.exists() else b"")
        self.waiting: list[tuple[int, bytes | None]] = []
        """Writes: offset and bytes; None truncates the file there."""

    def flush(self) -> None:
        """Write the cache to the disk."""
        for offset, data in self.waiting:
            _write(self.flushed, offset, data)
        self.waiting.clear()

    def after_power_cut(self, chance: random.Random) -> bytes:
        """Return a content that the disk may have: each write has come whole, in part or not."""
        content = bytearray(self.flushed)
        for offset, data in self.waiting:
            roll = chance.random()
            if roll >= 0.5:
                size = len(data) // SECTOR if data is not None and roll < 0.6 else None
                part = None if size is None else SECTOR * chance.randint(0, size)
                _write(content, offset, data if data is None else data[:part])
        return bytes(content)


def _write(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class Disk:
    """The disk of one machine; `folder` has its files."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.is_full = False
        self.fails = 0.0
        """Probability that a write fails, wholly or after a part."""
        self.seconds_of_flush = 0.0
        """Virtual seconds that each flush takes."""
        self.lost_writes = 0
        self._delayed = 0.0
        self._files: dict[str, _FileState] = {}
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []
        self._methods: dict[int, _Methods] = {}
        self._originals: dict[int, Any] = {}

    @property
    def is_real(self) -> bool:
        """Whether the functions of SQLite can be replaced here."""
        return _vfs() is not None

    def delayed(self) -> float:
        """Return, and forget, the seconds that flushes have taken."""
        delayed, self._delayed = self._delayed, 0.0
        return delayed

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Serve the files of the folder while the context lasts."""
        vfs = _vfs()
        if vfs is None:
            yield
            return
        before = vfs.contents.xOpen
        base_open = _OPEN(before)

        # The name stays a pointer: SQLite keeps it, and has more behind its end.
        def opened(this: int, name: int | None, file: int, flags: int, out: Any) -> int:
            result = int(base_open(this, name, file, flags, out))
            if result == 0 and name is not None:
                self._opened(os.fsdecode(ctypes.string_at(name)), file)
            return result

        own = _OPEN(opened)
        self._kept.append(own)
        vfs.contents.xOpen = ctypes.cast(own, ctypes.c_void_p).value
        try:
            yield
        finally:
            vfs.contents.xOpen = before

    def kept(self) -> Kept:
        """Return what all files have, and what waits, so that closing them can be undone."""
        files = {path: path.read_bytes() for path in self._present()}
        states = {
            name: (bytes(state.flushed), list(state.waiting)) for name, state in self._files.items()
        }
        return files, states

    def restore(self, kept: Kept) -> None:
        """Undo what closing the files has changed; no process has one open."""
        files, states = kept
        for path in self._present():
            if path not in files:
                path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
        for name, (flushed, waiting) in states.items():
            state = self._files[name]
            state.flushed, state.waiting = bytearray(flushed), waiting

    def _present(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def cut_power(self) -> None:
        """Give each file what the disk may have of it; no process has one open."""
        for name, state in self._files.items():
            path = Path(name)
            if not path.exists():
                continue
            self.lost_writes += len(state.waiting)
            path.write_bytes(state.after_power_cut(self.chance))
        self._files.clear()
        for index in self.folder.rglob("*-shm"):
            index.unlink()

    # -- what replaces SQLite's functions ---------------------------------------------------------

    def _opened(self, name: str, file: int) -> None:
        if not name.startswith(str(self.folder)):
            return
        handle = ctypes.cast(file, ctypes.POINTER(_OpenFile)).contents
        base = ctypes.addressof(handle.pMethods.contents)
        if base not in self._methods:
            self._methods[base] = self._replaced(handle.pMethods.contents)
        handle.pMethods = ctypes.pointer(self._methods[base])
        self._names[file] = name
        # A file that was removed and made again begins with nothing.
        if name not in self._files or not Path(name).stat().st_size:
            self._files[name] = _FileState(Path(name))

    def _replaced(self, base: _Methods) -> _Methods:  # noqa: C901  # four functions
        made = _Methods()
        ctypes.pointer(made)[0] = base
        close, write = _CLOSE(base.xClose), _WRITE(base.xWrite)
        truncate, sync = _TRUNCATE(base.xTruncate), _SYNC(base.xSync)

        def closes(file: int) -> int:
            self._names.pop(file, None)
            return int(close(file))

        def writes(file: int, data: int, size: int, offset: int) -> int:
            error, part = self._fault(size)
            if part:
                result = int(write(file, data, part, offset))
                self._wrote(file, ctypes.string_at(data, part), offset)
                if result:
                    return result
            return error

        def truncates(file: int, size: int) -> int:
            state = self._state(file)
            if state is not None:
                state.waiting.append((size, None))
            return int(truncate(file, size))

        def syncs(file: int, flags: int) -> int:
            self._delayed += self.seconds_of_flush
            if self.fails and self.chance.random() < self.fails:
                return SQLITE_IOERR_FSYNC
            result = int(sync(file, flags))
            state = self._state(file)
            if state is not None and result == 0:
                state.flush()
            return result

        own = (_CLOSE(closes), _WRITE(writes), _TRUNCATE(truncates), _SYNC(syncs))
        self._kept += own
        for name, function in zip(("xClose", "xWrite", "xTruncate", "xSync"), own, strict=True):
            setattr(made, name, ctypes.cast(function, ctypes.c_void_p).value)
        return made

    def _fault(self, size: int) -> tuple[int, int]:
        """Return the error of a write, 0 for none, and how many bytes are written."""
        if self.is_full:
            return SQLITE_FULL, 0
        if self.fails and self.chance.random() < self.fails:
            return SQLITE_IOERR_WRITE, self.chance.randint(0, size - 1) if size else 0
        return 0, size

    def _wrote(self, file: int, data: bytes, offset: int) -> None:
        state = self._state(file)
        if state is not None:
            state.waiting.append((offset, data))

    def _state(self, file: int) -> _FileState | None:
        return self._files.get(self._names.get(file, ""))
