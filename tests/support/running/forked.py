"""Starts programs of the project as forks of one process that has imported them.

The process is that of `forking`. It starts when a test first needs it, and ends with the tests.
Tests whose subject is the start of a program use the installed one instead.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from tests.support.patience import patience
from tests.support.running import forked_command
from tests.support.running.forked_command import encode_request, send_request

_ROOT = Path(__file__).parents[3]
LONGEST_START = 20.0
"""Seconds that the imports of the process may take on an idle machine."""


@functools.cache
def _place() -> str:
    """Start the process of `forking`; return its socket. It ends with this process."""
    # A short path, as a UNIX socket needs.
    place = str(Path(tempfile.mkdtemp()) / "socket")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # The unused option is the name by which the reader of a PID file knows a server.
    words = [sys.executable, "-X", "twistd", "-m", "tests.support.running.forking", place]
    process = subprocess.Popen(
        words, cwd=_ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    _kept.append(process)
    deadline = time.monotonic() + patience(LONGEST_START)
    while not Path(place).exists():
        assert process.poll() is None, "the process that forks has ended"
        assert time.monotonic() < deadline, "the process that forks does not start"
        time.sleep(0.02)
    return place


_kept: list[subprocess.Popen[bytes]] = []
"""The process: the end of its standard input would end it."""


def forked_words(program: str) -> list[str]:
    """Return the words that run a program of `forking.PROGRAMS` from a shell or a subprocess."""
    return [sys.executable, "-IS", forked_command.__file__, _place(), program]


def write_command(path: Path, program: str) -> None:
    """Write a script that runs a program of `forking.PROGRAMS`, ``python`` only with a file."""
    run = f'exec {" ".join(forked_words(program))} "$@"'
    if program == "python":
        run = f'case "$1" in *.py) {run};; *) exec {sys.executable} "$@";; esac'
    path.write_text(f"#!/bin/sh\n{run}\n", encoding="utf-8")
    path.chmod(0o755)


class ForkedProgram:
    """A program that runs; has the methods of `subprocess.Popen` that tests need."""

    def __init__(
        self, words: list[str], folder: Path, environment: Mapping[str, str], output: BinaryIO
    ) -> None:
        """Start it; without standard input, and with one file for what it prints."""
        self._asker = socket.socket(socket.AF_UNIX)
        self._asker.connect(_place())
        self._answer = b""
        self.returncode: int | None = None
        request = encode_request(words, str(folder), 0o022, dict(environment))
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), output.fileno(), output.fileno())
            send_request(self._asker, request, files)
        self._read(until=1, seconds=LONGEST_START)
        self.pid = int(self._answer.split()[0])

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it ends meanwhile
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal, or None while it runs."""
        self._read(until=2, seconds=0.0)
        return self.returncode

    def wait(self, seconds: float) -> int:
        """Return its exit status; raises `subprocess.TimeoutExpired` after some seconds."""
        self._read(until=2, seconds=patience(seconds))
        if self.returncode is None:
            raise subprocess.TimeoutExpired("a forked program", seconds)
        return self.returncode

    def _read(self, *, until: int, seconds: float) -> None:
        """Read answers, until there are so many lines or the time has passed."""
        deadline = time.monotonic() + seconds
        while self.returncode is None and self._answer.count(b"\n") < until:
            self._asker.settimeout(max(0.0, deadline - time.monotonic()))
            try:
                more = self._asker.recv(100)
            except (BlockingIOError, TimeoutError):
                return
            assert more, "the process that forks has ended"
            self._answer += more
        if self._answer.count(b"\n") == 2:
            self.returncode = os.waitstatus_to_exitcode(int(self._answer.split()[1]))
            self._asker.close()
