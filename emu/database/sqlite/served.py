"""The record of the server that uses a database file, and whether it still has that file.

A running server keeps a record beside the database, ``NAME.lock``: its process id, device and inode
of the file that it opened, and how it lost that file. Every program reads the record before it
opens the database. So no program uses a file that replaced the server's, and none creates an empty
file where the server's was deleted. `emu.store.server_lock` writes the record.
"""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Final, NamedTuple, Self

from emu.errors import StoreError
from emu.system import lock, unlock

# A record is three short lines; a longer file is none of ours.
LONGEST_RECORD: Final = 200
"""Bytes of a record that are read."""

FileKey = tuple[int, int]
"""Device and inode, which identify a file under any name."""


class Loss(enum.StrEnum):
    """How a server lost its database file."""

    DELETED = "deleted"
    REPLACED = "replaced"
    """Another file has the name."""
    OVERWRITTEN = "overwritten"
    """The same file has other content."""


_WHAT: Final = {
    Loss.DELETED: "was deleted",
    Loss.REPLACED: "was replaced by another file",
    Loss.OVERWRITTEN: "was overwritten with other content",
}


class Served(NamedTuple):
    """The record of a server that runs, or has run."""

    process: int
    file: FileKey | None = None
    """The file that it opened; None before that."""
    loss: Loss | None = None

    def written(self) -> bytes:
        """Return the bytes of the record: a line for each known field."""
        lines = [str(self.process)]
        if self.file is not None:
            lines.append("{} {}".format(*self.file))
            lines += [self.loss.value] if self.loss is not None else []
        return "".join(f"{line}\n" for line in lines).encode("ascii")

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Return the record in a file's bytes; None if they are not a record."""
        # Undecodable bytes become marks that no number has, so the record counts as none.
        lines = data.decode("ascii", "replace").splitlines()
        try:
            # Device 0 and inode 0 stand for a server that has not opened its file yet.
            process = int(lines[0])
            device, inode = map(int, lines[1].split()) if len(lines) > 1 else (0, 0)
            loss = Loss(lines[2]) if len(lines) > 2 else None
        except (IndexError, ValueError):
            return None
        return cls(process, (device, inode) if len(lines) > 1 else None, loss)


def lock_file(path: Path) -> Path:
    """Return the file with the record of a database's server."""
    return path.with_name(f"{path.name}.lock")


def log_files(path: Path) -> tuple[Path, Path]:
    """Return SQLite's files beside a database in WAL mode: the log and its index."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def create_option() -> str:
    """Return the instruction to start with an empty database on purpose."""
    return "start with `twistd emu --create-database` to begin with an empty database"


def file_key(path: Path) -> FileKey | None:
    """Return device and inode of a file; None if it is missing. Raises `OSError`."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def check_served(path: Path) -> None:
    """Raise `StoreError` if a server in another process has lost this file."""
    problem = served_problem(path)
    if problem:
        raise StoreError(problem)


def served_problem(path: Path) -> str:
    """Return in one line how a server has lost the database file; empty if none has."""
    record = lock_file(path)
    try:
        with record.open("rb") as file:
            served = Served.parse(file.read(LONGEST_RECORD))
            # Our own record: this process knows itself whether it lost the file.
            if served is None or served.process == os.getpid():
                return ""
            # The server may not have noticed yet, so the files are compared as well.
            loss = served.loss or _loss(path, served.file)
            if loss is None:
                return ""
            # A record whose lock nobody holds is left over from a server that was killed.
            if _is_held(file.fileno()):
                return loss_text(path, loss, served.process)
            return unserved_text(path, loss) if is_lost(path, served) else ""
    except OSError:  # no record, or no permission: then the database cannot be opened either
        return ""


def serving_process(path: Path) -> int | None:
    """Return the process id of the server that runs on a database, None if none runs."""
    try:
        with lock_file(path).open("rb") as file:
            served = Served.parse(file.read(LONGEST_RECORD))
            return served.process if served is not None and _is_held(file.fileno()) else None
    except OSError:
        return None


def loss_text(path: Path, loss: Loss, process: int) -> str:
    """Return the line about a running server without its file."""
    cure = (
        "stop the server, put the database or a backup in its place, and start the server"
        if loss is Loss.DELETED
        else "restart the server, which then uses the present file"
    )
    return f"{path}: {_WHAT[loss]} while the server (process {process}) uses it; {cure}"


def unserved_text(path: Path, loss: Loss) -> str:
    """Return the line about a missing or empty file, lost by a server that has ended."""
    return (
        f"{path}: {_WHAT[loss]} while a server used it; put the database or a backup in its place,"
        f" or {create_option()}"
    )


def is_lost(path: Path, served: Served) -> bool:
    """Return whether a server that has ended lost its file, still missing or empty."""
    return served.loss is not None and _is_gone(path)


def _loss(path: Path, file: FileKey | None) -> Loss | None:
    """Compare the present file of this name with the one that the server opened."""
    present = file_key(path)
    if file is None or present == file:
        return None
    return Loss.DELETED if present is None else Loss.REPLACED


def _is_gone(path: Path) -> bool:
    # sqlite3 makes an empty file when somebody opens a missing name, so an empty one counts as
    # missing.
    return not path.exists() or not path.stat().st_size


def _is_held(descriptor: int) -> bool:
    """Return whether a running server holds the lock of its record."""
    # Shared, so that two programs which only check do not see each other as the server.
    if not lock(descriptor, shared=True):
        return True
    unlock(descriptor)
    return False
