"""Lets the modules of `emu` find what Python has on Windows, and nothing that it lacks there.

The modules of POSIX are hidden from them, and so are those names of `os`, `signal`, `socket` and
others that Windows lacks; all other modules are left as they are. `msvcrt` and `_winapi` are
written with what this system has.

    python -m tests.support.running.without_posix SOCKET

forks for programs as `forking` does, which then find nothing of POSIX.
"""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import fcntl
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click.termui
import twisted.internet.default
import twisted.scripts.twistd

# These ask while they are imported which system this is, and must find the real one.
KNOWN: Final = (asyncio, click.termui, concurrent.futures, multiprocessing, subprocess, twisted)
MODULES: Final = frozenset(
    ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
)
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "os": (
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod", "fchown", "fork",
        "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getuid", "killpg",
        "major", "minor", "mkfifo", "nice", "posix_fadvise", "pread", "preadv", "pwrite", "pwritev",
        "sched_getaffinity", "sendfile", "setgid", "setpgid", "setsid", "setuid", "statvfs",
        "sync", "sysconf", "uname", "wait", "WNOHANG",
    ),
    "signal": (
        "ITIMER_REAL", "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1",
        "SIGUSR2", "alarm", "pause", "pthread_kill", "pthread_sigmask", "setitimer", "sigwait",
    ),
    "socket": ("AF_UNIX", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "SO_PEERCRED", "SO_REUSEPORT"),
    "mmap": ("MAP_PRIVATE", "MAP_SHARED", "PROT_READ", "PROT_WRITE"),
    "select": ("epoll", "poll"),
    "time": ("clock_gettime", "pthread_getcpuclockid"),
}  # fmt: skip
_OFD_SETLK: Final = 37
"""F_OFD_SETLK: a lock that belongs to the open file, as those of Windows do."""


def msvcrt() -> Any:
    """Return Windows' module for locks of files."""
    made: Any = types.ModuleType("msvcrt")
    made.LK_NBLCK, made.LK_UNLCK = 2, 0

    def locking(descriptor: int, mode: int, size: int) -> None:
        kind = fcntl.F_UNLCK
        if mode == made.LK_NBLCK:
            can_write = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            kind = fcntl.F_WRLCK if can_write else fcntl.F_RDLCK
        fcntl.fcntl(descriptor, _OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_CUR, 0, size, 0))

    made.locking = locking
    made.open_osfhandle = lambda handle, _flags: handle
    return made


def winapi() -> Any:
    """Return Windows' module for files that can be removed while they are open."""
    made: Any = types.ModuleType("_winapi")
    made.GENERIC_READ, made.GENERIC_WRITE = 1, 2
    made.CreateFile = lambda path, *_rest: os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    return made


def without(module: types.ModuleType, names: Sequence[str]) -> types.ModuleType:
    """Return a module without some of its names."""
    made = types.ModuleType(module.__name__)
    vars(made).update({name: one for name, one in vars(module).items() if name not in names})
    return made


def hide() -> None:
    """Hide from the modules of `emu`, from now on, what Windows lacks."""
    sys.modules["msvcrt"], sys.modules["_winapi"] = msvcrt(), winapi()
    shown = {name: without(__import__(name), names) for name, names in NAMES.items()}
    vars(shown["signal"])["SIGBREAK"] = signal.SIGUSR2
    imported = builtins.__import__

    def for_emu(name: str, asking: Any = None, *rest: Any, **named: Any) -> Any:
        """Import a module, as ``__import__(name, globals, locals, fromlist, level)``."""
        own = str((asking or {}).get("__name__", "")).partition(".")[0] == "emu"
        is_relative = len(rest) > 2 and rest[2]
        if own and not is_relative:
            if name in MODULES:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            if name in shown:
                return shown[name]
        return imported(name, asking, *rest, **named)

    vars(shown["os"])["name"] = "nt"
    vars(builtins)["__import__"] = for_emu


def main(place: str) -> None:
    """Fork for the programs that are asked for at a socket, until standard input ends."""
    hide()
    from tests.support.running import forking  # noqa: PLC0415  # after the names are hidden

    forking.main(place)


if __name__ == "__main__":
    main(sys.argv[1])
