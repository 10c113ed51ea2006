"""Child processes of the benchmarks, and the system's figures about them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_LOOKS, _PAUSE = 100, 0.01
_PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds_of(number: int) -> float:
    """Return the CPU of a process by its number; see `Child.cpu_seconds`."""
    folder = Path(f"/proc/{number}")
    try:
        threads = [file.read_text() for file in folder.glob("task/*/schedstat")]
        return sum(int(text.split()[0]) for text in threads) / 1e9
    except OSError:
        fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK


def children_of(number: int) -> list[int]:
    """Return the numbers of a process's children."""
    files = Path(f"/proc/{number}/task").glob("*/children")
    return [int(one) for file in files for one in file.read_text().split()]


class Child:
    """A process under measurement that prints ``ready PORT`` when it serves."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def cpu_seconds(self) -> float:
        """User and system time of all threads that are alive, to the nanosecond.

        Where the kernel keeps no such account, that of the process in ticks of 10 ms.
        """
        return cpu_seconds_of(self.process.pid)

    def waiting_seconds(self) -> float:
        """Time in which the process could have run, and others had the cores.

        0 where the kernel keeps no such account.
        """
        try:
            threads = Path(f"/proc/{self.process.pid}").glob("task/*/schedstat")
            return sum(int(file.read_text().split()[1]) for file in threads) / 1e9
        except OSError:
            return 0.0

    def resident_bytes(self) -> int:
        """Resident memory of the process now."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * _PAGE

    def bytes_in_use(self) -> int:
        """Resident memory when the process has given back what its allocator keeps for later.

        For children that do so when they get SIGUSR1; it is the least of what is seen afterwards.
        What a crowd had waiting while it came in is free, but not the system's again: it stays
        resident, a different amount in every run.
        """
        self.process.send_signal(signal.SIGUSR1)
        seen = []
        for _ in range(_LOOKS):
            time.sleep(_PAUSE)
            seen.append(self.resident_bytes())
        return min(seen)


@contextmanager
def child(*command: str) -> Iterator[Child]:
    """Run ``python -m MODULE ...`` and stop it at the end."""
    process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True)
    try:
        yield Child(process, _wait_ready(process))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        if process.stdout is not None:
            process.stdout.close()


def _wait_ready(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        words = line.split()
        if len(words) == 2 and words[0] == "ready":
            return int(words[1])
    raise SystemExit("a measured process ended before it was ready")
