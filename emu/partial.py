"""Files that are being written: under a name of their own until they are complete.

A program that is killed cannot remove what it was writing. So the name says that the file is
incomplete, ``.NAME.<12 hex digits>.emu-partial``, and its writer holds a lock on it (`flock`). The
system releases the lock with the process, however that ends. Whoever writes in the same folder next
removes the incomplete files that nobody holds any more.
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
"""What SQLite adds to a database's name for the files that it puts beside it."""

_NAME: Final = re.compile(
    rf"(\..*\.[0-9a-f]{{12}}{re.escape(SUFFIX)})(?:-wal|-shm|-journal)?", re.DOTALL
)
_LONGEST_NAME: Final = 200
"""Characters of the final name that the name of the incomplete file repeats."""


OWNER_ONLY: Final = 0o600
"""Access for what holds secrets."""
ANYBODY: Final = 0o666
"""Access for all others, as far as the user's umask permits it."""


@contextmanager
def partial_file(path: Path, access: int = OWNER_ONLY) -> Iterator[Path]:
    """Make an empty file beside `path`, and remove it afterwards.

    The caller writes it and renames it to `path` when it is complete; then nothing is removed.
    Incomplete files of programs that were killed are removed from the folder first. Raises
    `OSError`.
    """
    remove_stale(path.parent)
    fresh, lock = _make(path.parent, path.name, access)
    try:
        yield fresh
    finally:
        # Before the lock is released: afterwards another program may remove the files as well.
        for companion in COMPANIONS:
            Path(f"{fresh}{companion}").unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def partial_folder() -> Iterator[Path]:
    """Make a folder of our own among the system's temporary files, and remove it afterwards.

    Those of programs that were killed are removed first. Raises `OSError`.
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
    """Remove what killed programs left incomplete in a folder; return how many files that were.

    What somebody still writes stays, and so does what belongs to another user.
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
    """Give a complete file its final name; False when another file has that name already."""
    try:
        os.link(fresh, path)  # unlike a rename it never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        fresh.rename(path)
    return True


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk. Raises `OSError`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make(folder: Path, name: str, access: int) -> tuple[Path, int]:
    """Make an empty file and take its lock; return both."""
    while True:
        fresh = folder / f".{name[:_LONGEST_NAME]}.{secrets.token_hex(6)}{SUFFIX}"
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, access))
        lock = _lock(fresh)
        if lock is not None:
            return fresh, lock


def _lock(path: Path) -> int | None:
    """Take the lock of an incomplete file; None when another program has it or has removed it."""
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
