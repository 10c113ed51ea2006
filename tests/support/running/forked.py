"""Starts programs of the project as forks of one process that has imported them.

The process is that of `forking`. It starts when a test first needs it, and ends with the tests. All
processes of tests share it: each has a fork of it that forks again for each program.
Tests whose subject is the start of a program use the installed one instead.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from tests.support.costs import adopt
from tests.support.patience import patience
from tests.support.running import forked_command
from tests.support.running.forked_command import encode_request, send_request

_ROOT = Path(__file__).parents[3]
LONGEST_START = 20.0
"""Seconds that the imports of the process may take on an idle machine."""


class Forking:
    """A process of `forking`; it ends with this process."""

    def __init__(self, module: str = "tests.support.running.forking") -> None:
        """Name the module that is to run."""
        # A short path, as a UNIX socket needs.
        self._folder = Path(tempfile.mkdtemp())
        self.place = str(self._folder / "socket")
        # The unused option is the name by which the reader of a PID file knows a server.
        self._words = [sys.executable, "-X", "twistd", "-m", module, self.place]
        # The end of its standard input ends it.
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, unless it runs."""
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            self._process = subprocess.Popen(
                self._words, cwd=_ROOT, env=environment, stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        """Wait until it has imported everything."""
        deadline = time.monotonic() + patience(LONGEST_START)
        while not Path(self.place).exists():
            assert self._process is None or self._process.poll() is None, "it has ended"
            assert time.monotonic() < deadline, "the process that forks does not start"
            time.sleep(0.02)

    def words(self, program: str) -> list[str]:
        """Return the words that run a program of `forking.PROGRAMS` as a fork of it."""
        return _words(self.place, program)

    def end(self) -> None:
        """End it with all programs that it runs."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


_shared: list[tuple[Forking, Callable[[], object]]] = []


def share(forking: Forking, ask: Callable[[], object]) -> None:
    """Let this process use a process of `forking` that another one starts when it is asked."""
    _shared.append((forking, ask))


@functools.cache
def _place() -> str:
    """Start this process's own process of `forking`; return its socket.

    It is a fork of the shared one, if there is one, since a new process needs two seconds of CPU
    time. It ends with this process, and what it uses counts for the tests of this process.
    """
    own = Forking()
    if _shared:
        ((first, ask),) = _shared
        ask()
        first.wait()
        with Path(os.devnull).open("wb") as nothing:
            words = ["forking", own.place]
            program = ForkedProgram(words, _ROOT, os.environ, nothing, place=first.place)
        adopt(program.pid)
        _kept.append(program)
    else:
        own.start()
        _kept.append(own)
    own.wait()
    return own.place


_kept: list[ForkedProgram | Forking] = []
"""The process: the end of a connection to it, or of its standard input, would end it."""


def forked_words(program: str) -> list[str]:
    """Return the words that run a program of `forking.PROGRAMS` from a shell or a subprocess."""
    return _words(_place(), program)


def _words(place: str, program: str) -> list[str]:
    return [sys.executable, "-IS", forked_command.__file__, place, program]


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
        self,
        words: list[str],
        folder: Path,
        environment: Mapping[str, str],
        output: BinaryIO,
        place: str | None = None,
    ) -> None:
        """Start it; without standard input, and with one file for what it prints.

        `place` is the socket of the process that forks, if it is not this process's own one.
        """
        self._asker = socket.socket(socket.AF_UNIX)
        self._asker.connect(_place() if place is None else place)
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
