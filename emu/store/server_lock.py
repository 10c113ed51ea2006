"""One server for a database: a lock on a file beside it, held as long as the server runs.

SQLite lets any number of programs in, and the commands rely on it; two servers would hand out the
same ids and answer for the same world. The lock is the system's (`flock`), so that it goes with the
process however that ends. It is not on the database itself: closing any handle of a file gives up
all of SQLite's own locks on it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self

from emu.errors import StoreError


class ServerLock:
    """The right to serve a database; a context manager, and `release` ends it."""

    def __init__(self, database: Path) -> None:
        """Take the lock. Raises `StoreError` when another server has it."""
        path = database.with_name(database.name + ".lock")
        self._path = path
        self._descriptor = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            while not self._is_ours():
                self.release()
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise StoreError(
                f"{database}: another server uses it{f' (process {holder})' if holder else ''};"
                " stop that one, or give this one a [database] url of its own"
            ) from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be opened ({error.strerror})") from None
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)

    def _is_ours(self) -> bool:
        """Say whether the file we hold is the one of that name: its holder may have removed it."""
        try:
            return self._descriptor >= 0 and os.path.samestat(
                os.fstat(self._descriptor), self._path.stat()
            )
        except FileNotFoundError:
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()

    def release(self) -> None:
        """Let another server have it; a second time does nothing."""
        if self._descriptor >= 0:
            if self._is_ours():
                self._path.unlink()
            os.close(self._descriptor)
            self._descriptor = -1
