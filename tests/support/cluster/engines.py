"""Brokers for tests: an installed NATS server, started on a free port and ended with the test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.patience import patience
from tools.ports import free_port

HOST = "127.0.0.1"


def nats_program() -> str:
    """Return the path of a NATS server; skip the test without one."""
    pytest.importorskip("nats", reason="nats-py is not installed")
    found = shutil.which("nats-server") or shutil.which("/usr/sbin/nats-server")
    if found is None:
        pytest.skip("no program nats-server on this machine")
    return found


def stop_processes(numbers: Sequence[int]) -> None:
    """Let processes stand still, and wait until they do."""
    for number in numbers:
        os.kill(number, signal.SIGSTOP)
    # The signal is sent at once, but another processor may still carry out the process.
    until = time.monotonic() + patience(5.0)
    while any(_state(task) not in "TZ" for number in numbers for task in _tasks(number)):
        assert time.monotonic() < until, "a process does not stop"
        time.sleep(0.001)


def _tasks(number: int) -> Iterator[Path]:
    return Path(f"/proc/{number}/task").glob("*/stat")


def _state(task: Path) -> str:
    # After the name in parentheses, which may have blanks.
    return task.read_text().rpartition(")")[2].split()[0]


class NatsBroker:
    """A NATS server of a test's own."""

    def __init__(self, *options: str | Path) -> None:
        self.port = free_port()
        self._command = [nats_program(), "-a", HOST, "-p", str(self.port), *map(str, options)]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + patience(5.0)
        while True:
            try:
                socket.create_connection((HOST, self.port), 1.0).close()
            except OSError:
                assert time.monotonic() < until, "the NATS server does not start"
                time.sleep(0.01)
            else:
                return

    def pause(self) -> None:
        """Let it stand still."""
        assert self._process is not None
        stop_processes([self._process.pid])

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it."""
        self._signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


@contextmanager
def nats_broker(*options: str | Path) -> Iterator[NatsBroker]:
    """Start a NATS server; kill it afterwards."""
    broker = NatsBroker(*options)
    try:
        yield broker
    finally:
        broker.kill()
