"""Whether another program has committed to a database file, told without a call to SQLite.

In WAL mode each commit of any program raises `iChange` in the header of the file's WAL index, which
is shared memory (https://www.sqlite.org/walformat.html, "The WAL-Index Header"). To read it takes
no lock and no input or output, so that a thread which must not wait may ask before each use of what
it remembers of the database. Our own commits are counted by the connection that makes them: it has
the write lock meanwhile, so that every number it does not account for is another program's.

The file is kept open as long as the database: to close any handle of it gives up all locks that
SQLite has on it in this process.
"""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path
from typing import Final

VERSION: Final = 3007000
"""Format of the WAL index that is known here; no other has ever been in use."""
IS_INITIALIZED: Final = 12
"""Byte of the header that is 1 once it holds something."""
CHANGE: Final = 2
"""Place of `iChange` among the header's 32-bit numbers, in the machine's own byte order."""
HEADER: Final = 48
MOST: Final = 0xFFFFFFFF


class CommitCounter:
    """Reads how many commits a database file has had, modulo 2 to the 32."""

    def __init__(self, path: Path) -> None:
        """Look at the WAL index of a database that is open in WAL mode.

        Raises `OSError` or `ValueError` when it has none that can be read; what was opened stays
        open then, for the sake of SQLite's locks.
        """
        index = path.with_name(f"{path.name}-shm")
        self._descriptor = os.open(index, os.O_RDONLY | os.O_CLOEXEC)
        self._map = mmap.mmap(self._descriptor, HEADER, prot=mmap.PROT_READ)
        self._bytes = memoryview(self._map)
        self._numbers = self._bytes.cast("I")
        if self._numbers[0] != VERSION or self._bytes[IS_INITIALIZED] != 1:
            _KEPT_OPEN.append(self)
            raise ValueError(f"{path}: its WAL index is of an unknown format")

    def read(self) -> int:
        """Return the number of commits."""
        return self._numbers[CHANGE]

    def close(self) -> None:
        """Let go of the file, once no connection of this process has the database open."""
        if self._descriptor >= 0:
            self._numbers.release()
            self._bytes.release()
            self._map.close()
            os.close(self._descriptor)
            self._descriptor = -1


_KEPT_OPEN: Final[list[CommitCounter]] = []
"""Those that cannot be used and must not be closed."""


class CommitWatch:
    """Tells apart what the connections of one server commit and what other programs do.

    A connection that writes calls `begun` and `ended` in its thread; any thread reads `epoch`.
    """

    def __init__(self, counter: CommitCounter) -> None:
        self._counter = counter
        self._lock = threading.Lock()
        now = counter.read()
        self._known = (now, now)
        """Numbers that mean: nobody else has committed."""
        self._epoch = 0

    def epoch(self) -> int:
        """Return a number that is another one whenever somebody else has committed."""
        if self._counter.read() not in self._known:
            with self._lock:
                now = self._counter.read()
                if now not in self._known:
                    self._epoch += 1
                    self._known = (now, now)
        return self._epoch

    def begun(self) -> int:
        """Note that a connection of ours has taken the write lock; returns what `ended` wants."""
        with self._lock:
            now = self._counter.read()
            if now not in self._known:
                self._epoch += 1
            self._known = (now, (now + 1) & MOST)
            return now

    def ended(self, begun: int, *, has_changed: bool, is_certain: bool = True) -> None:
        """Note that the transaction is over for which `begun` returned this number.

        `has_changed` says whether it changed rows; `is_certain` is False where parts of it were
        taken back, so that nobody can say whether it still counted as a commit.
        """
        with self._lock:
            now = self._counter.read()
            ours = (begun + 1) & MOST if has_changed and now != begun else begun
            if now != ours or (now != begun and not is_certain):
                self._epoch += 1
            self._known = (now, now)

    def close(self) -> None:
        """Let go of the file, once no connection of this process has the database open."""
        self._counter.close()
