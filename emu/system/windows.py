"""The functions of `emu.system` for Windows.

They use what Python has on Windows alone (`msvcrt`, `ctypes.windll`), which is imported when it is
used: so the module can be imported, and most of it tested, on every system.
"""

from __future__ import annotations

import _thread
import getpass
import os
import signal
import threading
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

OPEN_FLAGS: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
"""What every `os.open` of the project adds: bytes stay as they are, children inherit nothing."""
LOCKED_BYTE: Final = (1 << 30) + 1024
"""The byte that a lock covers. On Windows nobody else can read or write a locked byte, so it must
have no data: SQLite leaves the page around 1 << 30 empty, and locks the first 512 bytes of it."""
ATTEMPTS: Final = 5
PAUSE: Final = 0.01
"""Seconds between two attempts to lock. There are only exclusive locks here: two programs that look
at the same moment whether a file is locked must not take each other for its holder."""
ALARM: Final = getattr(signal, "SIGBREAK", signal.SIGINT)
"""The signal of `set_alarm` and `alarm_now`: Windows has no SIGALRM, and this one means little."""
FOLDER_LOCK: Final = ".lock"
"""The file in a folder that is locked for the folder."""
_SHARE_ALL: Final = 7
"""FILE_SHARE_READ, FILE_SHARE_WRITE and FILE_SHARE_DELETE."""
_OPEN_ALWAYS: Final = 4
_STILL_ACTIVE: Final = 259
_QUERY: Final = 0x1000
"""PROCESS_QUERY_LIMITED_INFORMATION."""
_DENIED: Final = 5

_seeking = threading.Lock()
"""Seeking and reading are two steps here."""


def lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; see `emu.system.posix.lock`."""
    msvcrt: Any = import_module("msvcrt")
    for attempt in range(ATTEMPTS if shared else 1):
        if attempt:
            time.sleep(PAUSE)
        with _seeking:
            before = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                continue
            finally:
                os.lseek(descriptor, before, os.SEEK_SET)
        return True
    return False


def unlock(descriptor: int) -> None:
    """Release the lock of an open file."""
    msvcrt: Any = import_module("msvcrt")
    with _seeking:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)


def open_shared(path: Path) -> int:
    """Open a file for reading and writing, and make it if it is not there.

    The file can be renamed and removed while it is open, which `os.open` does not allow here.
    Raises `OSError`.
    """
    api: Any = import_module("_winapi")
    msvcrt: Any = import_module("msvcrt")
    handle = api.CreateFile(
        str(path), api.GENERIC_READ | api.GENERIC_WRITE, _SHARE_ALL, 0, _OPEN_ALWAYS, 0, 0
    )
    return int(msvcrt.open_osfhandle(handle, os.O_RDWR | OPEN_FLAGS))


def open_locked(path: Path) -> int | None:
    """Open and lock a file or a folder; return None if another program holds or removed it.

    A folder is locked by a file in it.
    """
    if not path.exists():
        return None
    if path.is_dir():
        path /= FOLDER_LOCK
    try:
        descriptor = open_shared(path)
    except OSError:
        return None
    try:
        if lock(descriptor) and os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return at most so many bytes of an open file from an offset; threads may call it."""
    with _seeking:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)


def write_at(descriptor: int, data: bytes, offset: int) -> int:
    """Write bytes into an open file at an offset; return how many were written."""
    with _seeking:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, data)


def flush(path: Path) -> None:
    """Wait until a file is on disk; folders cannot be opened, and NTFS logs changes of names."""
    if path.is_dir():
        return
    handle = os.open(path, os.O_RDWR | OPEN_FLAGS)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def own_user() -> int:
    """Return 0: Windows has no numbers of users."""
    return 0


def user_name(number: int) -> str:  # noqa: ARG001  # the same function has a use for it on POSIX
    """Return the name of this process's user."""
    return getpass.getuser()


def is_running(process: int) -> bool:
    """Return whether there is a process of this number."""
    # `os.kill(process, 0)` would send it Ctrl-C.
    ctypes: Any = import_module("ctypes")
    kernel = ctypes.windll.kernel32
    handle = kernel.OpenProcess(_QUERY, False, process)
    if not handle:
        return bool(kernel.GetLastError() == _DENIED)
    try:
        code = ctypes.c_ulong()
        return bool(
            kernel.GetExitCodeProcess(handle, ctypes.byref(code)) and code.value == _STILL_ACTIVE
        )
    finally:
        kernel.CloseHandle(handle)


def file_limit(process: int = 0) -> int | None:  # noqa: ARG001  # as on POSIX
    """Return None: Windows limits files and connections only by memory."""
    return None


def allow_files(most: int) -> None:
    """Do nothing: see `file_limit`."""


class _Alarm(threading.Thread):
    """Lets Python handle `ALARM` in the main thread at some time.

    Python does so between two of its own steps: a call that waits in the system is not interrupted.
    """

    def __init__(self) -> None:
        super().__init__(name="emu-alarm", daemon=True)
        self._changed = threading.Condition()
        self._pause: float | None = None
        self._again = 0.0

    def set(self, seconds: float, again: float) -> None:
        with self._changed:
            self._pause, self._again = seconds, again
            self._changed.notify()

    def clear(self) -> None:
        with self._changed:
            self._pause = None
            self._changed.notify()

    def run(self) -> None:
        with self._changed:
            while True:
                was_changed = self._changed.wait(self._pause)
                if not was_changed and self._pause is not None:
                    self._pause = self._again
                    alarm_now()


@cache
def _alarm() -> _Alarm:
    made = _Alarm()
    made.start()
    return made


def set_alarm(seconds: float, again: float) -> None:
    """Send `ALARM` to this process after so many seconds, and again after each `again` seconds."""
    _alarm().set(seconds, again)


def clear_alarm() -> None:
    """Send no `ALARM` any more."""
    _alarm().clear()


def alarm_now() -> None:
    """Let the main thread handle `ALARM` at its next step."""
    _thread.interrupt_main(ALARM)
