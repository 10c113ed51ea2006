"""The log file of a server, rotated by size or by another program such as logrotate.

The other program renames the file and may create an empty one in its place (``create``), or copies
it and truncates it (``copytruncate``). The next line that is written notices both, at most a second
later, so nothing needs to call `reopen`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import BinaryIO, Final

from twisted.python import logfile

CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks whether the path still leads to the open file."""


class LogFile(logfile.LogFile):
    """A Twisted log file that is reopened when its path leads to another file.

    If it cannot be reopened, lines go to the old file.
    """

    size: int
    path: str
    _file: BinaryIO

    def __init__(
        self,
        name: str,
        directory: str,
        rotateLength: int | None = None,  # Twisted's names
        maxRotatedFiles: int | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._now = now
        self._checked_at = now()
        super().__init__(  # type: ignore[no-untyped-call]
            name, directory, rotateLength=rotateLength, maxRotatedFiles=maxRotatedFiles
        )

    def _openFile(self) -> None:
        """Open the file for appending: another program may truncate it."""
        self._file = open(self.path, "ab", 0)  # noqa: SIM115, PTH123  # open as long as this is
        self.closed = False
        self.size = os.fstat(self._file.fileno()).st_size

    def write(self, data: str | bytes) -> None:
        """Write a line, to a new file if the path leads to another one."""
        now = self._now()
        if now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = now
            self._follow()
        super().write(data)  # type: ignore[no-untyped-call]

    def rotate(self) -> None:
        """Start a new file, unless another program has just done so."""
        if self._follow():
            return
        super().rotate()  # type: ignore[no-untyped-call]

    def reopen(self) -> bool:
        """Open the file of this path; return False if that fails, and keep the old one."""
        before = self._file
        try:
            self._openFile()
        except OSError:
            return False  # no folder or no permission; the next check tries again
        before.close()
        return True

    def _follow(self) -> bool:
        """Reopen the file if the path leads to another one; return whether it was reopened."""
        opened = os.fstat(self._file.fileno())
        try:
            present = os.stat(self.path)  # noqa: PTH116  # text: this is on the path of every line
        except OSError:
            return self.reopen()
        if not os.path.samestat(opened, present):
            return self.reopen()
        self.size = opened.st_size
        return False
