"""Which server uses a database file, and whether it still has the file that it opened.

A running server keeps a record in a file beside the database, ``NAME.lock``: its process id, device
and inode of the file that it opened, and what became of that file. Every program that opens the
database looks there first. So nobody works on a file that has taken the place of the server's, and
nobody makes an empty one where the server's was deleted. `emu.store.server_lock` writes the record.
"""

from __future__ import annotations

import enum
import fcntl
import os
from pathlib import Path
from typing import Final, NamedTuple, Self

from emu.errors import StoreError

LONGEST_RECORD: Final = 200
"""Bytes of a record that are read."""

FileKey = tuple[int, int]
"""Device and inode: what a file is known by, whatever its name."""


class Loss(enum.StrEnum):
    """What became of a database file while a server used it."""

    DELETED = "deleted"
    REPLACED = "replaced"
    """Another file has its name."""
    OVERWRITTEN = "overwritten"
    """It is the same file, with other content."""


_WHAT: Final = {
    Loss.DELETED: "was deleted",
    Loss.REPLACED: "was replaced by another file",
    Loss.OVERWRITTEN: "was overwritten with other content",
}


class Served(NamedTuple):
    """The record of a server, running or not."""

    process: int
    file: FileKey | None = None
    """The file that it opened; None before it did."""
    loss: Loss | None = None

    def written(self) -> bytes:
        """Return the record as it stands in the file: one line for each field that is known."""
        lines = [str(self.process)]
        if self.file is not None:
            lines.append("{} {}".format(*self.file))
            lines += [self.loss.value] if self.loss is not None else []
        return "".join(f"{line}\n" for line in lines).encode("ascii")

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """Return the record of a file's bytes; None for anything else."""
        lines = data.decode("ascii", "replace").splitlines()
        try:
            process = int(lines[0])
            device, inode = map(int, lines[1].split()) if len(lines) > 1 else (0, 0)
            loss = Loss(lines[2]) if len(lines) > 2 else None
        except (IndexError, ValueError):
            return None
        return cls(process, (device, inode) if len(lines) > 1 else None, loss)


def lock_file(path: Path) -> Path:
    """Return where a database's server has its record."""
    return path.with_name(f"{path.name}.lock")


def log_files(path: Path) -> tuple[Path, Path]:
    """Return what SQLite keeps beside a database in WAL mode: the log, and its index."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def create_option() -> str:
    """Return how an operator begins with an empty database on purpose."""
    return "start with `twistd emu --create-database` to begin with an empty database"


def file_key(path: Path) -> FileKey | None:
    """Return what a file is known by, None when there is none. Raises `OSError`."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def check_served(path: Path) -> None:
    """Raise `StoreError` where another process is, or was, a server that has lost its file."""
    problem = served_problem(path)
    if problem:
        raise StoreError(problem)


def served_problem(path: Path) -> str:
    """Say in one line how a server has lost the database file; empty when none has."""
    record = lock_file(path)
    try:
        with record.open("rb") as file:
            served = Served.read(file.read(LONGEST_RECORD))
            if served is None or served.process == os.getpid():
                return ""
            loss = served.loss or _loss(path, served.file)
            if loss is None:
                return ""
            if _is_held(file.fileno()):
                return loss_text(path, loss, served.process)
            return unserved_text(path, loss) if is_lost(path, served) else ""
    except OSError:  # no record; whoever cannot read it cannot open the database either
        return ""


def loss_text(path: Path, loss: Loss, process: int) -> str:
    """Return the line for a server that runs without its file."""
    cure = (
        "stop the server, put the database or a backup in its place, and start the server"
        if loss is Loss.DELETED
        else "restart the server, which then uses what is there now"
    )
    return f"{path}: {_WHAT[loss]} while the server (process {process}) uses it; {cure}"


def unserved_text(path: Path, loss: Loss) -> str:
    """Return the line for a missing or empty file that a server lost, which has ended."""
    return (
        f"{path}: {_WHAT[loss]} while a server used it; put the database or a backup in its place,"
        f" or {create_option()}"
    )


def is_lost(path: Path, served: Served) -> bool:
    """Say whether a server that has ended lost its file, and it is still missing or empty."""
    return served.loss is not None and _is_gone(path)


def _loss(path: Path, file: FileKey | None) -> Loss | None:
    """Compare what has the name now with the file that a server opened."""
    present = file_key(path)
    if file is None or present == file:
        return None
    return Loss.DELETED if present is None else Loss.REPLACED


def _is_gone(path: Path) -> bool:
    return not path.exists() or not path.stat().st_size


def _is_held(descriptor: int) -> bool:
    """Say whether a server holds the lock of its record, which only a running one does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False
