"""The functions of `emu.system` for Linux, macOS and the BSDs."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import resource
import signal
import threading
from pathlib import Path
from typing import Final

OPEN_FLAGS: Final = os.O_CLOEXEC
"""What every `os.open` of the project adds: child processes do not inherit the file."""
ALARM: Final = signal.SIGALRM
"""The signal of `set_alarm` and `alarm_now`, which Python handles in the main thread."""
_NO_LIMIT: Final = resource.RLIM_INFINITY
_MAIN: Final = threading.main_thread().ident or 0


def lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; return False if another process has the lock.

    Shared locks exclude only exclusive ones. The kernel releases the lock when the process ends,
    however it ends: no stale lock can stay. Raises `OSError` where files cannot be locked.
    """
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Release the lock of an open file."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def open_shared(path: Path) -> int:
    """Open a file for reading and writing, and make it if it is not there (mode 0600).

    The file can be renamed and removed while it is open. Raises `OSError`.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, 0o600)


def open_locked(path: Path) -> int | None:
    """Open and lock a file or a folder; return None if another program holds or removed it."""
    try:
        # NOFOLLOW and NONBLOCK: the folder may be open to other users, who could place a link or a
        # pipe there.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | OPEN_FLAGS)
    except OSError:
        return None
    try:
        # The file may have been replaced between opening and locking.
        if lock(descriptor) and os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return at most so many bytes of an open file from an offset; threads may call it."""
    return os.pread(descriptor, size, offset)


def write_at(descriptor: int, data: bytes, offset: int) -> int:
    """Write bytes into an open file at an offset; return how many were written."""
    return os.pwrite(descriptor, data, offset)


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, is on disk. Raises `OSError`."""
    handle = os.open(path, os.O_RDONLY | OPEN_FLAGS)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def own_user() -> int:
    """Return the number of the user whose rights this process has."""
    return os.geteuid()


def user_name(number: int) -> str:
    """Return the name of a user, for instance ``user 1000`` for one without a name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def is_running(process: int) -> bool:
    """Return whether there is a process of this number."""
    try:
        # Signal 0 only asks whether the process exists.
        os.kill(process, 0)
    except OSError as error:
        return error.errno == errno.EPERM  # a process of another user
    except OverflowError:
        return False
    return True


def file_limit(process: int = 0) -> int | None:
    """Return how many files a process may open at most, None for any number.

    That is the hard limit, to which `allow_files` raises the other. 0 is this process. Raises
    `OSError` if the process has ended or belongs to another user.
    """
    if process and hasattr(resource, "prlimit"):
        limit = resource.prlimit(process, resource.RLIMIT_NOFILE)[1]
    else:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if limit == _NO_LIMIT else limit


def allow_files(most: int) -> None:
    """Let this process open so many files, or as many as the system allows without privileges."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == _NO_LIMIT else min(hard, most)
    if soft != _NO_LIMIT and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def set_alarm(seconds: float, again: float) -> None:
    """Send `ALARM` to this process after so many seconds, and again after each `again` seconds."""
    signal.setitimer(signal.ITIMER_REAL, seconds, again)


def clear_alarm() -> None:
    """Send no `ALARM` any more."""
    signal.setitimer(signal.ITIMER_REAL, 0.0)


def alarm_now() -> None:
    """Send `ALARM` to the main thread, also while it waits in a call of the system."""
    signal.pthread_kill(_MAIN, ALARM)
