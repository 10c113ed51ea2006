"""The CPU time of one thread without its garbage collections, and without what is left out.

A script must not pay for what others do. The clock of Lua counts the whole process: a zone that is
read in another thread made calls of scripts "too long", and so did Python's garbage collector,
which runs wherever an object happens to be made, for half a second in a large world.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any


class OwnTime:
    """Measures the thread that asks; collections of other threads do not interrupt it."""

    __slots__ = ("_began", "_clock", "_collecting", "steady")

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._began = 0.0
        self._collecting = 0.0
        self.steady = time.perf_counter
        """Returns the time that passes, in seconds: it is read in a fifth of the time."""

    def __call__(self) -> float:
        """Return seconds of CPU; only differences mean something."""
        return self._clock() - self._collecting

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Leave out what is done inside: a script does not pay for it."""
        began = self()
        try:
            yield
        finally:
            self._collecting += self() - began

    def collected(self, phase: str, _info: Mapping[str, Any]) -> None:
        """Note the begin and the end of a garbage collection, as `gc.callbacks` report it."""
        if phase == "start":
            self._began = self._clock()
        else:
            self._collecting += max(0.0, self._clock() - self._began)


@cache
def own_time() -> OwnTime:
    """Return the one measure of a process; the collector reports to it from now on."""
    measure = OwnTime()
    gc.callbacks.append(measure.collected)
    return measure
