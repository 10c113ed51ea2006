"""Detection of other programs' commits to a database file, without a call to SQLite.

In WAL mode, each commit of any program increments `iChange` in the header of the file's WAL index,
which is shared memory (https://www.sqlite.org/walformat.html, "The WAL-Index Header"). Reading it
takes no lock and no input or output, so even the reactor's thread may do it before each use of a
cached row. A connection that commits holds the write lock, and so it can count its own commits.
Every other increment is a commit of another program.

The file stays open as long as the database. Closing any handle of it would release all locks that
SQLite has on it in this process.
"""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path
from typing import Final

from emu.system import OPEN_FLAGS

VERSION: Final = 3007000
"""Supported format of the WAL index; SQLite has never used another."""
IS_INITIALIZED: Final = 12
"""Index of the header byte that is 1 once the header is valid."""
CHANGE: Final = 2
"""Index of `iChange` among the header's 32-bit numbers, in native byte order."""
HEADER: Final = 48
MOST: Final = 0xFFFFFFFF


class CommitCounter:
    """Reads the number of commits to a database file, modulo 2 to the 32."""

    def __init__(self, path: Path) -> None:
        """Map the WAL index of a database that is open in WAL mode.

        Raises `OSError` or `ValueError` if it cannot be read. The file then stays open, because
        closing it would release SQLite's locks.
        """
        index = path.with_name(f"{path.name}-shm")
        self._descriptor = os.open(index, os.O_RDONLY | OPEN_FLAGS)
        self._map = mmap.mmap(self._descriptor, HEADER, access=mmap.ACCESS_READ)
        self._bytes = memoryview(self._map)
        self._numbers = self._bytes.cast("I")
        # A header of another format would give wrong numbers without any error.
        if self._numbers[0] != VERSION or self._bytes[IS_INITIALIZED] != 1:
            _KEPT_OPEN.append(self)
            raise ValueError(f"{path}: its WAL index is of an unknown format")

    def read(self) -> int:
        """Return the number of commits."""
        return self._numbers[CHANGE]

    def close(self) -> None:
        """Close the file, after all connections of this process to the database."""
        if self._descriptor >= 0:
            self._numbers.release()
            self._bytes.release()
            self._map.close()
            os.close(self._descriptor)
            self._descriptor = -1


_KEPT_OPEN: Final[list[CommitCounter]] = []
"""Unusable counters, referenced here so that their files are not closed."""


class CommitWatch:
    """Distinguishes the commits of one server's connections from those of other programs.

    A writing connection calls `begun` and `ended` in its own thread. Any thread may read `epoch`.
    """

    def __init__(self, counter: CommitCounter) -> None:
        self._counter = counter
        self._lock = threading.Lock()
        now = counter.read()
        # Both values count as ours until `ended` settles it.
        self._known = (now, now)
        """Counter values that mean: no other program has committed. During one of our transactions
        there are two, because another thread may ask before or after the commit."""
        self._epoch = 0

    def epoch(self) -> int:
        """Return a number that changes after each commit of another program."""
        # Read twice: without the lock in the usual case, and under the lock before anything
        # changes.
        if self._counter.read() not in self._known:
            with self._lock:
                now = self._counter.read()
                if now not in self._known:
                    self._epoch += 1
                    self._known = (now, now)
        return self._epoch

    def begun(self) -> int:
        """Note that our connection has taken the write lock; return the argument for `ended`."""
        with self._lock:
            now = self._counter.read()
            if now not in self._known:
                # At least one other commit came before the lock, so rows that were cached before it
                # are old.
                self._epoch += 1
            # Our commit increments the counter by one. Until `ended` it is unknown whether it has.
            self._known = (now, (now + 1) & MOST)
            return now

    def ended(self, begun: int, *, has_changed: bool, is_certain: bool = True) -> None:
        """Note the end of the transaction for which `begun` returned this number.

        `has_changed`: it changed rows. `is_certain` is False if parts of it were undone: then it is
        unknown whether SQLite counted a commit, and the epoch changes to be safe.
        """
        with self._lock:
            now = self._counter.read()
            # A transaction without changed rows does not increment the counter. One with changes
            # may still not have committed.
            # `iChange` has 32 bits and wraps around.
            ours = (begun + 1) & MOST if has_changed and now != begun else begun
            if now != ours or (now != begun and not is_certain):
                self._epoch += 1
            self._known = (now, now)

    def close(self) -> None:
        """Close the file, after all connections of this process to the database."""
        self._counter.close()
