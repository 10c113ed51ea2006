"""The machine of a server beside its reactor: the wall clock, the processor, threads.

A reactor may bring a machine of its own, as its attribute `machine`: a simulation has virtual time
and no thread. Every other reactor has the real one.

The work of a thread is a generator. It yields None to wait until it is woken, or the seconds of a
pause, and never blocks for long in between. So the same work runs in a thread and in virtual time.
"""

from __future__ import annotations

import mmap
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from emu.net.world.guard import limited
from emu.scripts.own_time import OwnTime, own_time

T = TypeVar("T")

ThreadWork: TypeAlias = Iterator[float | None]
"""The work of a thread; see the module."""


class WorkThread(Protocol):
    """A thread that was started with its work."""

    def wake(self) -> None:
        """Continue the work that waits; any thread may call this."""

    def join(self) -> None:
        """Wait for the end of the thread, whose work has ended."""


class CallThreads(Protocol):
    """Some threads for calls that need no order."""

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Run a call in a thread, and return its result."""

    def stop(self) -> None:
        """End the threads; no call is running."""


class Machine:
    """The real machine."""

    moment: Callable[[], float] = staticmethod(time.time)
    """The wall clock: seconds since 1970."""
    steady: Callable[[], float] = staticmethod(time.monotonic)
    """A clock that is never set; any thread may read it."""
    work: Callable[[], float] = staticmethod(time.perf_counter)
    """Measures how long work takes."""
    processor: Callable[[], float] = staticmethod(time.thread_time)
    """The processor's time of this thread."""
    own_time: Callable[[], OwnTime] = staticmethod(own_time)
    """Returns the measure of this thread's work for scripts and behaviors."""
    limited: Callable[[Callable[[], object], float], None] = staticmethod(limited)
    """Makes a call of a behavior, and interrupts it after so many seconds."""

    def thread(self, work: ThreadWork, name: str) -> WorkThread:
        """Start a thread with its work."""
        return _Thread(work, name)

    def threads(self, reactor: Any, count: int, name: str) -> CallThreads:
        """Return threads for calls; they start when they are first needed."""
        return _Threads(reactor, count, name)


def resident_bytes() -> int | None:
    """Return the resident bytes of the process; None where the system does not say them."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


def machine_of(reactor: Any) -> Machine:
    """Return the machine of a reactor."""
    found: Machine = getattr(reactor, "machine", None) or REAL
    return found


class _Thread:
    """One thread of the system."""

    def __init__(self, work: ThreadWork, name: str) -> None:
        self._work = work
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()
        # A daemon thread: a disk that hangs must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Continue the work; see `WorkThread`."""
        self._calls.put(None)

    def join(self) -> None:
        """Wait for the end; see `WorkThread`."""
        self._thread.join()

    def _run(self) -> None:
        for pause in self._work:
            if pause is None:
                self._calls.get()
            else:
                time.sleep(pause)


class _Threads:
    """Twisted's own pool of threads."""

    def __init__(self, reactor: Any, count: int, name: str) -> None:
        self._reactor = reactor
        # Zero threads at first: a server without logins starts none.
        self._pool = ThreadPool(0, count, name)

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Run a call; see `CallThreads`."""
        if not self._pool.started:
            self._pool.start()
        return deferToThreadPool(self._reactor, self._pool, call)

    def stop(self) -> None:
        """End the threads; see `CallThreads`."""
        if self._pool.started:
            # It waits for its threads, so it is called only when none of them works.
            self._pool.stop()


REAL = Machine()
"""The machine of every reactor that brings none."""
