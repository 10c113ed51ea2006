"""Incomplete files: written under a temporary name, and renamed when complete.

A killed program cannot remove the file that it was writing. So the temporary name,
``.NAME.<12 hex digits>.emu-partial``, marks it as incomplete, and its writer holds a lock on it
(`flock`), which ends with the process. The next writer in the same folder removes incomplete files
without a lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SUFFIX: Final = ".emu-partial"
COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes beside a database."""

_NAME: Final = re.compile(
    rf"(\..*\.[0-9a-f]{{12}}{re.escape(SUFFIX)})(?:-wal|-shm|-journal)?", re.DOTALL
)
_LONGEST_NAME: Final = 200
"""Characters of the final name in the temporary name."""


OWNER_ONLY: Final = 0o600
"""Access mode for files with secrets."""
ANYBODY: Final = 0o666
"""Access mode for other files, before the user's umask."""


@contextmanager
def partial_file(path: Path, access: int = OWNER_ONLY) -> Iterator[Path]:
    """Create an empty file beside `path`; remove it at the end unless it was renamed.

    The caller writes it, and renames it to `path` when it is complete. First, incomplete files of
    killed programs are removed from the folder. Raises `OSError`.
    """
    remove_stale(path.parent)
    fresh, lock = _make(path.parent, path.name, access)
    try:
        yield fresh
    finally:
        # Before the lock is released, because then another program may remove the files, too.
        for companion in COMPANIONS:
            Path(f"{fresh}{companion}").unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def partial_folder() -> Iterator[Path]:
    """Create a folder among the system's temporary files; remove it at the end.

    First, folders of killed programs are removed. Raises `OSError`.
    """
    parent = Path(tempfile.gettempdir())
    remove_stale(parent)
    while True:
        folder = parent / f".folder.{secrets.token_hex(6)}{SUFFIX}"
        folder.mkdir(mode=0o700)
        lock = _lock(folder)
        if lock is not None:
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_stale(folder: Path) -> int:
    """Remove incomplete files of killed programs from a folder; return their number.

    Files that a program still writes, and those of other users, stay.
    """
    removed = 0
    try:
        names = {entry.name for entry in os.scandir(folder) if SUFFIX in entry.name}
    except OSError:
        return 0
    stems = {match[1] for name in names if (match := _NAME.fullmatch(name)) is not None}
    for stem in stems:
        path = folder / stem
        lock = _lock(path) if stem in names else None
        if stem in names and lock is None:
            continue
        for companion in COMPANIONS:
            removed += stem + companion in names and _remove(folder / f"{stem}{companion}")
        if lock is not None:
            os.close(lock)
    return removed


def take_name(fresh: Path, path: Path) -> bool:
    """Give a complete file its final name; return False if another file has that name."""
    try:
        os.link(fresh, path)  # unlike a rename it never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        fresh.rename(path)
    return True


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, is on disk. Raises `OSError`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make(folder: Path, name: str, access: int) -> tuple[Path, int]:
    """Create and lock an empty file; return its path and the lock's descriptor."""
    while True:
        fresh = folder / f".{name[:_LONGEST_NAME]}.{secrets.token_hex(6)}{SUFFIX}"
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, access))
        lock = _lock(fresh)
        if lock is not None:
            return fresh, lock


def _lock(path: Path) -> int | None:
    """Lock an incomplete file; return None if another program holds or has removed it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _remove(path: Path) -> bool:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        return True
    return False
