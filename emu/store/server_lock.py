"""One server per database: a lock on a file beside it, held while the server runs.

SQLite admits any number of programs, and the commands need that. But two servers would issue the
same ids and serve the same world. The lock is the system's, so it ends with the process.
It is not on the database itself, because closing any handle of a file releases all of SQLite's
locks on it. The file has the record of `emu.database.sqlite.served`.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from emu.database.sqlite.served import (
    LONGEST_RECORD,
    FileKey,
    Loss,
    Served,
    is_lost,
    lock_file,
    unserved_text,
)
from emu.errors import StoreError
from emu.system import lock, open_shared, read_at, write_at

ATTEMPTS: Final = 10
PAUSE: Final = 0.02
"""Seconds between attempts. A command holds the lock for a moment, to check for a server."""


class ServerLock:
    """The right to serve a database. A context manager; `release` ends it.

    `serve`, `lose` and `renew` write the record of the served file. Any thread may call them, but
    one at a time.
    """

    def __init__(self, database: Path, *, anew: bool = False) -> None:
        """Take the lock.

        Raises `StoreError` if another server has it, or if an earlier server has lost the database
        and it is still missing. With `anew` the operator wants an empty database in that case.
        """
        self._path = lock_file(database)
        self._descriptor = -1
        self._served = Served(os.getpid())
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # The previous holder removes the file when it ends, so a lock may be on a file that no
            # longer has the name. Then lock the new one.
            # A loop: between opening and locking, another server may have removed or made the file.
            while not self._is_ours():
                self._close()
                self._descriptor = self._take()
        except BlockingIOError:
            # The lock is taken, so the file has the record of its holder.
            holder = Served.parse(read_at(self._descriptor, LONGEST_RECORD, 0))
            self._close()
            which = f" (process {holder.process})" if holder else ""
            raise StoreError(
                f"{database}: another server uses it{which}; stop that server, or give this one"
                " another [database] url (or node_file, with a database on a server)"
            ) from None
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be opened ({error.strerror})") from None
        # Read before `_write` replaces it.
        earlier = Served.parse(read_at(self._descriptor, LONGEST_RECORD, 0))
        self.after_crash = earlier is not None and earlier.loss is None
        """The last server on this database was killed, or it crashed: it did not `release`."""
        if earlier and earlier.loss and is_lost(database, earlier) and not anew:
            self._close()
            raise StoreError(unserved_text(database, earlier.loss))
        # Last: a start that is refused leaves the record of the other server as it was.
        self._write()

    def serve(self, file: FileKey) -> None:
        """Record the opened file."""
        self._served = self._served._replace(file=file)
        self._write()

    def lose(self, loss: Loss) -> None:
        """Record the loss of the file; `release` then keeps the record for later programs."""
        self._served = self._served._replace(loss=loss)
        self._write()

    def renew(self) -> bool:
        """Restore the record's file if it was removed; return False if another server has it."""
        if self._is_ours():
            return True
        # The old descriptor is kept until the new lock is certain.
        before = self._descriptor
        try:
            self._descriptor = self._take()
        except OSError:
            if self._descriptor != before:
                self._close()
            self._descriptor = before
            return False
        # After the new lock is taken, so that there is no moment without one.
        os.close(before)
        self._write()
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._descriptor >= 0:
            # After a loss the record stays, so that later programs find out what happened.
            if self._served.loss is None and self._is_ours():
                # Unlinked while the lock is held; the next server checks whether its open file
                # still has the name.
                self._path.unlink()
            self._close()

    def _take(self) -> int:
        """Open and lock the file; `self._descriptor` is the open file even if the lock fails."""
        # Only programs of this user need the record.
        self._descriptor = open_shared(self._path)
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE)
            if lock(self._descriptor):
                return self._descriptor
        raise BlockingIOError

    def _write(self) -> None:
        with suppress(OSError):  # a full disk: the lock itself still holds
            os.ftruncate(self._descriptor, 0)
            write_at(self._descriptor, self._served.written(), 0)

    def _is_ours(self) -> bool:
        """Return whether our open file has the name; the previous holder may have removed it."""
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
