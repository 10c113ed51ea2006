"""Supervision of the workers that serve one login port together; knows no process and no clock.

Each worker is a process with its own socket on the same port; the supervisor holds all sockets, so
a worker can be replaced without moving the sessions of the others. `WorkerSupervision` decides when
a worker is started, killed or replaced. Its owner reports what workers do, and calls
`handle_timer` at the time that `get_timer` returns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Protocol

from emu.times import Monotonic

START_SECONDS: Final = 120.0
"""Time in which a worker must report that it is ready; then it is killed."""
BEAT_SECONDS: Final = 30.0
"""Longest time between two beats of a ready worker; then it hangs, and is killed."""
FIRST_DELAY: Final = 0.1
"""Seconds until a worker that has ended is replaced; doubled with each further end."""
LONGEST_DELAY: Final = 30.0
STABLE_SECONDS: Final = 60.0
"""A worker that has run for so long begins again with `FIRST_DELAY`."""


class WorkerControl(Protocol):
    """What the supervision has done; implemented by its owner."""

    def start(self, index: int) -> None:
        """Start a process as this worker."""

    def terminate(self, index: int) -> None:
        """Ask a worker to end in order."""

    def kill(self, index: int) -> None:
        """End a worker at once."""

    def all_ready(self) -> None:
        """Take note that every worker has become ready for the first time."""

    def all_ended(self) -> None:
        """Take note that no worker runs and none will be started."""


class _State(Enum):
    STARTING = auto()
    READY = auto()
    KILLED = auto()
    """Its end has not been reported yet."""
    ENDED = auto()


@dataclass(slots=True)
class _Worker:
    state: _State = _State.ENDED
    began: float = 0.0
    """When the process was started."""
    heard: float = 0.0
    """When it reported the last time."""
    ends: int = 0
    """Ends since it was stable."""
    replaced_at: float = math.inf

    @property
    def runs(self) -> bool:
        return self.state is not _State.ENDED

    def deadline(self) -> float:
        """Return when the supervision has to act on this worker."""
        if self.state is _State.STARTING:
            return self.began + START_SECONDS
        if self.state is _State.READY:
            return self.heard + BEAT_SECONDS
        return self.replaced_at


class WorkerSupervision:
    """Starts, watches, replaces and stops a fixed number of workers."""

    def __init__(self, count: int, control: WorkerControl, *, stop_seconds: float) -> None:
        """`stop_seconds` is the time after which workers that were asked to end are killed."""
        self._workers = [_Worker() for _ in range(count)]
        self._control = control
        self._stop_seconds = stop_seconds
        self._kill_at = math.inf
        self.is_stopping = False
        self.is_serving = False
        """Whether every worker has been ready."""

    @property
    def ready(self) -> int:
        """How many workers are ready now."""
        return sum(worker.state is _State.READY for worker in self._workers)

    def begin(self, now: Monotonic) -> None:
        """Start all workers."""
        for index in range(len(self._workers)):
            self._start(index, now)

    def report_ready(self, index: int, now: Monotonic) -> None:
        """Take note that a worker serves, after its start or a reload."""
        worker = self._workers[index]
        worker.heard = now
        if worker.state is not _State.STARTING:
            return
        worker.state = _State.READY
        if not self.is_serving and self.ready == len(self._workers):
            self.is_serving = True
            self._control.all_ready()

    def report_beat(self, index: int, now: Monotonic) -> None:
        """Take note that a worker's event loop runs."""
        self._workers[index].heard = now

    def report_end(self, index: int, now: Monotonic) -> float | None:
        """Take note that a worker has ended; return the seconds until it is replaced.

        None: it is not. A worker that ends before all were ready once ends the whole start: the
        fault is the operator's to cure, and a new process would meet it again.
        """
        worker = self._workers[index]
        worker.state = _State.ENDED
        if not self.is_serving and not self.is_stopping:
            self.stop(now)
        elif not self.is_stopping:
            if now - worker.began >= STABLE_SECONDS:
                worker.ends = 0
            delay = min(FIRST_DELAY * 2.0**worker.ends, LONGEST_DELAY)
            worker.ends += 1
            worker.replaced_at = now + delay
            return delay
        else:
            self._conclude()
        return None

    def stop(self, now: Monotonic) -> None:
        """Ask all workers to end, and start none any more. A second call does nothing."""
        if self.is_stopping:
            return
        self.is_stopping = True
        self._kill_at = now + self._stop_seconds
        for index, worker in enumerate(self._workers):
            worker.replaced_at = math.inf
            if worker.runs:
                self._control.terminate(index)
        self._conclude()

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` has something to do."""
        deadlines = [self._kill_at] if self.is_stopping else map(_Worker.deadline, self._workers)
        earliest = min(deadlines)
        return Monotonic(earliest) if earliest < math.inf else None

    def handle_timer(self, now: Monotonic) -> None:
        """Replace workers that have ended, and kill those that hang."""
        if self.is_stopping:
            if now >= self._kill_at:
                self._kill_at = math.inf
                self._kill(*range(len(self._workers)))
            return
        for index, worker in enumerate(self._workers):
            if now < worker.deadline():
                continue
            if worker.runs:
                self._kill(index)
            else:
                self._start(index, now)

    def _start(self, index: int, now: Monotonic) -> None:
        worker = self._workers[index]
        worker.state, worker.began, worker.heard = _State.STARTING, now, now
        worker.replaced_at = math.inf
        self._control.start(index)

    def _kill(self, *indices: int) -> None:
        for index in indices:
            if self._workers[index].runs:
                self._workers[index].state = _State.KILLED
                self._control.kill(index)

    def _conclude(self) -> None:
        if not any(worker.runs for worker in self._workers):
            self._kill_at = math.inf
            self._control.all_ended()
