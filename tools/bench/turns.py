"""The turns of a reactor: how long each takes, and what the longest one did.

A timer of the kernel takes a sample of the stack of the reactor's thread while it runs, each few
milliseconds of CPU. So the longest turn names the functions that took its time. A sample is taken
between two instructions of Python: a long call of C code counts for the line after it.
"""

from __future__ import annotations

import gc
import signal
from collections import Counter
from pathlib import Path
from time import perf_counter, thread_time
from types import FrameType
from typing import Any, Final

EVERY: Final = 0.002
"""Seconds of CPU between two samples; many kernels take one every 4 ms at the most."""
DEPTH: Final = 12
"""The innermost calls of a sample that are kept."""
MOST: Final = 8
"""Lines of a report."""
_OWN: Final = f"{Path(__file__).resolve().parents[2]}/"


class Turns:
    """Stands before the reactor's poller, and measures what happens between two polls."""

    def __init__(self, poller: Any) -> None:
        """Take samples from now on."""
        self._poller = poller
        self._began: tuple[float, float] | None = None
        self._samples: list[tuple[str, ...]] = []
        self._garbage = self._garbage_began = 0.0
        self.wall = self.cpu = 0.0
        self.culprits: list[str] = []
        """What the turn of the most CPU did, the most frequent first."""
        gc.callbacks.append(self._collects)
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._poller, name)

    def poll(self, *values: Any) -> Any:
        """End a turn, wait, and begin the next one."""
        if self._began is not None:
            self._end(perf_counter() - self._began[0], thread_time() - self._began[1])
        self._began = None  # also if a signal ends the wait
        found = self._poller.poll(*values)
        self._samples.clear()
        self._garbage = 0.0
        self._began = perf_counter(), thread_time()
        return found

    def taken(self) -> dict[str, Any]:
        """Return the longest turn in seconds and what it did, and begin anew."""
        found = {"wall": self.wall, "cpu": self.cpu, "culprits": self.culprits}
        self.wall = self.cpu = 0.0
        self.culprits = []
        return found

    def _end(self, wall: float, cpu: float) -> None:
        self.wall = max(self.wall, wall)
        if cpu > self.cpu:
            self.cpu = cpu
            self.culprits = self._report()

    def _report(self) -> list[str]:
        """Return the calls of the samples, each with the number of samples that have it."""
        lines = [f"{self._garbage * 1000:.1f} ms in the garbage collector"] * (self._garbage > 0)
        for stack, count in Counter(self._samples).most_common(MOST):
            lines.append(f"{count} of {len(self._samples)} samples: {' < '.join(stack)}")
        return lines

    def _sample(self, _signal: int, frame: FrameType | None) -> None:
        if self._began is None:
            return
        found = list[str]()
        while frame is not None and len(found) < DEPTH:
            code = frame.f_code
            if code.co_filename.startswith(_OWN):
                name = code.co_filename.removeprefix(_OWN).removesuffix(".py").replace("/", ".")
                found.append(f"{name}:{frame.f_lineno} {code.co_name}")
            frame = frame.f_back
        self._samples.append(tuple(found))

    def _collects(self, phase: str, _what: object) -> None:
        if phase == "start":
            self._garbage_began = perf_counter()
        else:
            self._garbage += perf_counter() - self._garbage_began
