"""One server for a database: a lock on a file beside it, held as long as the server runs.

SQLite lets any number of programs in, and the commands rely on it; two servers would hand out the
same ids and answer for the same world. The lock is the system's (`flock`), so that it goes with the
process however that ends. It is not on the database itself: closing any handle of a file gives up
all of SQLite's own locks on it. The file holds the record of `emu.database.served`.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from emu.database.served import (
    LONGEST_RECORD,
    FileKey,
    Loss,
    Served,
    is_lost,
    lock_file,
    unserved_text,
)
from emu.errors import StoreError

ATTEMPTS: Final = 10
PAUSE: Final = 0.02
"""A command holds the lock for a moment, to learn whether a server does; so it is tried again."""


class ServerLock:
    """The right to serve a database; a context manager, and `release` ends it.

    `serve`, `lose` and `renew` write the record of which file is served. They may be called in any
    thread, in one at a time.
    """

    def __init__(self, database: Path, *, anew: bool = False) -> None:
        """Take the lock.

        Raises `StoreError` when another server has it, or when an earlier server has lost the
        database, which is still missing; `anew`: the operator wants an empty one then.
        """
        self._path = lock_file(database)
        self._descriptor = -1
        self._served = Served(os.getpid())
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            while not self._is_ours():
                self._close()
                self._descriptor = self._take()
        except BlockingIOError:
            holder = Served.read(os.pread(self._descriptor, LONGEST_RECORD, 0))
            self._close()
            which = f" (process {holder.process})" if holder else ""
            raise StoreError(
                f"{database}: another server uses it{which}; stop that one, or give this one a"
                " [database] url of its own"
            ) from None
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be opened ({error.strerror})") from None
        earlier = Served.read(os.pread(self._descriptor, LONGEST_RECORD, 0))
        self.after_crash = earlier is not None and earlier.loss is None
        """The last server on this database was killed, or it crashed: it did not `release`."""
        if earlier and earlier.loss and is_lost(database, earlier) and not anew:
            self._close()
            raise StoreError(unserved_text(database, earlier.loss))
        self._write()

    def serve(self, file: FileKey) -> None:
        """Record which file was opened."""
        self._served = self._served._replace(file=file)
        self._write()

    def lose(self, loss: Loss) -> None:
        """Record that it is lost: `release` leaves the record there for those who come later."""
        self._served = self._served._replace(loss=loss)
        self._write()

    def renew(self) -> bool:
        """Make the record's file again when somebody has removed it; False when it is another's."""
        if self._is_ours():
            return True
        before = self._descriptor
        try:
            self._descriptor = self._take()
        except OSError:
            if self._descriptor != before:
                self._close()
            self._descriptor = before
            return False
        os.close(before)
        self._write()
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()

    def release(self) -> None:
        """Let another server have it; a second time does nothing."""
        if self._descriptor >= 0:
            if self._served.loss is None and self._is_ours():
                self._path.unlink()
            self._close()

    def _take(self) -> int:
        """Open the file and take its lock; `self._descriptor` is the open file in any case."""
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for attempt in range(ATTEMPTS):
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(PAUSE)
        return self._descriptor

    def _write(self) -> None:
        with suppress(OSError):  # a full disk: the lock itself still holds
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, self._served.written(), 0)

    def _is_ours(self) -> bool:
        """Say whether the file we hold is the one of that name: its holder may have removed it."""
        try:
            return self._descriptor >= 0 and os.path.samestat(
                os.fstat(self._descriptor), self._path.stat()
            )
        except FileNotFoundError:
            return False

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
