"""Keeps the temporary files of tests in memory, where the system has a folder for that.

Tests make tens of thousands of files, most of them databases with their journals. To create one on
ext4 takes 0.1 ms or more of system time, and 0.02 ms in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
"""Linux mounts a file system in memory here."""
LEAST = 3 << 30
"""Bytes that must be free there: eight processes of tests with database servers use up to 1 GiB."""


def keep_in_memory(folder: Path = MEMORY) -> bool:
    """Let this process, and all that it starts, make temporary files in a folder in memory.

    Returns False, and changes nothing, if the folder has not enough space or runs no programs, as
    in most containers, or if `TMPDIR` or `EMU_CONTAINER` is set: the test of the container makes
    devices.
    """
    if {"TMPDIR", "EMU_CONTAINER"} & set(os.environ) or not is_fit(folder):
        return False
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # it is read again
    return True


def is_fit(folder: Path, least: int = LEAST) -> bool:
    """Whether a folder has some free bytes, and this process may make and run files in it."""
    return (
        os.access(folder, os.W_OK | os.X_OK)
        and shutil.disk_usage(folder).free >= least
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    )
