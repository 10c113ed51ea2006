"""A daemon of `twistd`: its PID file, and a start whose errors reach the terminal.

`twistd` detaches first and starts the server then. The process at the terminal shows only the first
100 bytes of an error. Here the new process keeps the terminal's standard error until the server is
ready, and the old one waits for that.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

from emu.errors import StoreError
from emu.system import is_running

UMASK: Final = 0o077
"""The permissions that a daemon of `twistd` never grants, unless ``--umask`` is given."""
READY: Final = b"0"
FAILED: Final = b"1"
"""What the new process writes to the waiting one."""

Twistd = MutableMapping[str, Any]
"""The options of `twistd`."""


class CannotStart(SystemExit, Exception):
    """Ends the program with one line and exit status 1.

    It is also an `Exception`, because `twistd` removes its PID file only after those.
    """

    def __init__(self, line: str, *, is_shown: bool) -> None:
        """Print `line` at the end, unless the terminal shows it already."""
        super().__init__(f"emu: {line}")
        if is_shown:
            self.code = 1


def check_pid_file(twistd: Twistd | None) -> None:
    """Check that `twistd` can use its PID file, with one line that says what to do if it cannot.

    A file of a process that has ended is removed. In the foreground, a folder that cannot be
    written turns the PID file off. Raises `StoreError`.
    """
    name = (twistd or {}).get("pidfile")
    if twistd is None or not name:
        return
    path = Path(name).absolute()
    try:
        _remove_stale(path)
        # A real file shows what permissions do not: a file system that is full or read-only.
        with tempfile.TemporaryFile(dir=path.parent):
            return
    except OSError as error:
        if not twistd.get("nodaemon"):
            raise StoreError(
                f"{name}: cannot be written ({error.strerror}); give twistd another --pidfile"
            ) from None
    twistd["pidfile"] = ""


def _remove_stale(path: Path) -> None:
    """Remove the file of a process that has ended. Raises `StoreError` for any other file."""
    try:
        text = path.read_text("ascii", "replace").strip()
    except FileNotFoundError:
        return
    except IsADirectoryError:
        raise StoreError(f"{path}: is a folder; give twistd another --pidfile") from None
    if not text.isdecimal():
        raise StoreError(
            f"{path}: is no PID file of twistd; remove it, or give twistd another --pidfile"
        )
    # A container gives its server the same number after each start.
    is_own = text == str(os.getpid())
    program = None if is_own else running_program(int(text))
    if program is None:
        path.unlink(missing_ok=True)
    elif "twistd" in program:
        raise StoreError(
            f"{path}: a server runs as process {text}; stop it with `kill {text}`, or give twistd"
            " another --pidfile"
        )
    else:
        raise StoreError(
            f"{path}: process {text} is another program ({program}); if the file is left from a"
            " server that has ended, remove it, else give twistd another --pidfile"
        )


def running_program(process: int) -> str | None:
    """Return the command line of a process, or None if there is none; ``?`` if it is not known."""
    if not is_running(process):
        return None
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return "?"
    return words.replace(b"\0", b" ").decode("utf-8", "replace").strip()[:80] or "?"


class Startup:
    """The start of a server, as the process at the terminal sees it."""

    def __init__(self, writer: int | None = None) -> None:
        """`writer` is a pipe to the process that waits at the terminal, None without one."""
        self._writer = writer

    def ready(self) -> None:
        """Report that the server is ready; from then on the terminal is not used."""
        if self._writer is not None:
            # Before the other process ends: a shell may close the terminal then.
            _redirect(2)
            self._end(READY)

    def failed(self, line: str) -> None:
        """Print why the server cannot start."""
        # `twistd` has replaced `sys.stderr` by the log.
        if sys.__stderr__ is not None:
            print(f"emu: {line}", file=sys.__stderr__, flush=True)
        self._end(FAILED)

    def _end(self, result: bytes) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            os.write(writer, result)
            os.close(writer)


def detach(twistd: Twistd | None) -> Startup:
    """Continue as a daemon if `twistd` was started as one.

    The process at the terminal waits for the result of the returned `Startup`, and ends with exit
    status 0 or 1. `twistd` is left to run in the foreground of the new process. Where processes
    cannot be forked, as on Windows, the server stays in the foreground.
    """
    if twistd is None or twistd.get("nodaemon", True) or not hasattr(os, "fork"):
        return Startup()
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        result = os.read(reader, 1)
        # The pipe was closed without a result, so the new process has ended.
        if not result:
            os.write(2, b"emu: the server ended during its start; the end of its log says why\n")
        os._exit(0 if result == READY else 1)
    os.close(reader)
    # A session of its own: the end of the terminal does not end the server.
    os.setsid()
    # The second fork makes a process that is not a session leader, so it can never get a terminal
    # again.
    if os.fork():
        os._exit(0)
    _redirect(0, 1)
    # The process is a daemon already; `twistd` must not fork again.
    twistd["nodaemon"] = True
    if twistd.get("umask") is None:
        twistd["umask"] = UMASK
    return Startup(writer)


def _redirect(*descriptors: int) -> None:
    """Let descriptors read and write nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(null, descriptor)
    os.close(null)
