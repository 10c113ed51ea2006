"""The log file of a server: rotated by size here, or by another program, as logrotate does it.

Another program moves the file away and may make an empty one in its place (``create``), or copies
it and makes it shorter (``copytruncate``). Both are noticed by the next line that is written, a
second later at most, and `reopen` need not be called.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import BinaryIO, Final

from twisted.python import logfile

LOOK_EVERY: Final = 1.0
"""Seconds between two looks whether the file is still the one of its name."""


class LogFile(logfile.LogFile):
    """A file that is appended to, and opened again when it is no longer the one of its name.

    As Twisted's otherwise. While the file cannot be opened again, its lines go where they went.
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
        self._looked = now()
        super().__init__(  # type: ignore[no-untyped-call]
            name, directory, rotateLength=rotateLength, maxRotatedFiles=maxRotatedFiles
        )

    def _openFile(self) -> None:
        """Open the file to append: it may become shorter while it is open."""
        self._file = open(self.path, "ab", 0)  # noqa: SIM115, PTH123  # open as long as this is
        self.closed = False
        self.size = os.fstat(self._file.fileno()).st_size

    def write(self, data: str | bytes) -> None:
        """Write a line, into a new file when the old one is gone."""
        now = self._now()
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            self._follow()
        super().write(data)  # type: ignore[no-untyped-call]

    def rotate(self) -> None:
        """Begin a new file, unless another program has just moved this one."""
        if self._follow():
            return
        super().rotate()  # type: ignore[no-untyped-call]

    def reopen(self) -> bool:
        """Open the file of this name, which may be another than the one that is open.

        False when it cannot be opened; then the one that is open stays.
        """
        before = self._file
        try:
            self._openFile()
        except OSError:
            return False  # its folder is gone, or not ours to write in; it is tried again
        before.close()
        return True

    def _follow(self) -> bool:
        """Open the file again when it is another; say whether it was."""
        opened = os.fstat(self._file.fileno())
        try:
            present = os.stat(self.path)  # noqa: PTH116  # a text, in a path of every line
        except OSError:
            return self.reopen()
        if not os.path.samestat(opened, present):
            return self.reopen()
        self.size = opened.st_size
        return False
