"""Finds the program that has locked a database file.

SQLite's locks are locks of the system on the file, or on its companion ``-shm``. Linux lists all
locks in ``/proc/locks`` by device and inode. The files are not opened: closing a handle of a file
would release all locks on it that SQLite has in this process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

LOCKS: Final = Path("/proc/locks")
_FILES: Final = ("", "-shm")
_FIELDS: Final = 6
"""Fields of a line: number, kind, mode, READ or WRITE, process, and device with inode."""


def lock_holder(path: Path) -> str:
    """Return name and id of another process that writes to a database; "" if it is not known."""
    try:
        lines = LOCKS.read_text("ascii").splitlines()
    except (OSError, UnicodeError):  # another system than Linux
        return ""
    files = set()
    for ending in _FILES:
        with suppress(OSError):
            status = Path(f"{path}{ending}").stat()
            device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
            files.add(f"{device}:{status.st_ino}")
    for line in lines:
        # A process that waits for a lock has "->" as the second field, and is not its holder.
        fields = line.split()
        if len(fields) < _FIELDS or fields[3] != "WRITE" or fields[5] not in files:
            continue
        process = int(fields[4])
        # A process of another container has the number 0 or -1 here.
        if process > 0 and process != os.getpid():
            return f"{_name(process)}, process {process}"
    return ""


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return "a program"
