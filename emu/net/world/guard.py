"""Interrupts calls of behaviors that do not return in time, with a signal.

Python runs a signal's handler between two steps of the main thread, so an endless loop and a sleep
are both interrupted. Code of the server that a behavior has called is never interrupted, because
that could leave a change half done. It returns soon, and then calls `Budget.check`.

A behavior can catch the exception. After several catches it is interrupted at each further step
until the call ends, so that a loop around `except BaseException` or `finally` cannot continue. In
other threads nothing is interrupted. A single call into C that does not return (a huge power, a
regular expression) cannot be interrupted either.
"""

from __future__ import annotations

import _thread
import gc
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any, Final

from emu.system import ALARM, alarm_now, clear_alarm, set_alarm
from emu.world.behaviors import OutOfTime
from emu.world.minds.guard import is_behavior

AGAIN: Final = 0.05
"""Seconds until the next check of the time, and until the next interruption after a catch."""
PATIENCE: Final = 4
"""How many times its seconds a call may take when it waits, for instance for the processor."""
CHANCES: Final = 2
"""How often a call may catch the exception before it is interrupted at each step."""
_INTERRUPTIBLE: Final = (
    "emu.world.minds.guard", "emu.world.behaviors.library", "emu.world.behaviors.host",
    "emu.world.minds.plain",
)  # fmt: skip
"""Modules of the server that call a behavior's code and change nothing meanwhile."""
_ALARM: Final = (ALARM,)

_depth = 0
"""How many limited calls are in progress, one inside the other."""


def limited(call: Callable[[], object], seconds: float) -> None:
    """Make a call, and raise `OutOfTime` in it after so many seconds of CPU time.

    A call that waits has more time, because the machine may be busy with something else.
    """
    global _depth  # noqa: PLW0603  # there is one timer in a process
    # Python runs signal handlers in the main thread only.
    if threading.current_thread() is not threading.main_thread():
        call()
        return
    end, checks, caught = time.thread_time() + seconds, count(1), count(1)
    tried: set[tuple[int, int]] = set()

    def time_is_up(_number: int, frame: FrameType | None) -> None:
        if not _is_limited(frame):  # it has returned just now
            # A signal that was sent before the call ended must not interrupt the server.
            clear_alarm()
            return
        is_over = time.thread_time() >= end or next(checks) * AGAIN >= PATIENCE * seconds
        if is_over and _is_interruptible(frame):
            error = OutOfTime(_place(frame))
            if next(caught) <= CHANCES:
                raise error
            _raise_at_each_step(error, frame, tried)

    before = signal.signal(ALARM, time_is_up)
    # Repeated, because a behavior may catch the exception.
    set_alarm(seconds, AGAIN)
    _depth += 1
    try:
        call()
    finally:
        # First of all: a signal must not come when the handler is exchanged.
        clear_alarm()
        _depth -= 1
        signal.signal(ALARM, before)
        if _depth:  # the call around this one still has a limit
            set_alarm(AGAIN, AGAIN)


def _raise_at_each_step(
    error: OutOfTime, frame: FrameType | None, tried: set[tuple[int, int]]
) -> None:
    """Raise an error in a frame, and send the signal again for its next step.

    Python may count the jump back to the head of a loop as inside the `try` there, which would then
    catch every error. So at steps that were `tried` before, half of the errors, by chance, come one
    step later.
    """
    step = (id(frame), frame.f_lasti if frame is not None else 0)
    is_left_out = step in tried and random.random() < 0.5  # noqa: S311  # no secret
    tried.add(step)
    # The iterator sends the signal without a step of Python between that and the `raise`, so that
    # Python handles it at the next step of the code that catches this.
    for _ in map(_thread.interrupt_main, _ALARM):
        if is_left_out:
            return
        raise error


def _is_limited(frame: FrameType | None) -> bool:
    """Return whether a frame is inside a limited call."""
    while frame is not None and frame.f_code is not limited.__code__:
        frame = frame.f_back
    return frame is not None


def _is_interruptible(frame: FrameType | None) -> bool:
    """Return whether a frame inside a limited call is a behavior's, or of a library it calls.

    False while the server works for the behavior, and after the call, when `limited` continues.
    """
    if frame is not None and frame.f_code is limited.__code__:
        return False
    while frame is not None and is_behavior(frame):
        frame = frame.f_back
    if frame is None or frame.f_code is limited.__code__:
        return True
    return frame.f_globals.get("__name__") in _INTERRUPTIBLE


def _place(frame: FrameType | None) -> str:
    """Return file and line of a behavior, which may have called a function of the server."""
    while frame is not None and frame.f_code is not limited.__code__:
        if is_behavior(frame):
            return f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        frame = frame.f_back
    return ""


class CollectionGuard:
    """Interrupts `__del__` methods that Python's collector of cycles runs between two calls.

    The collector runs at any step of the server, so that no limited call is around it. A thread
    checks periodically whether the same collection is still in progress, and then sends the signal.
    `start` and `stop` are called in the main thread; elsewhere they do nothing.
    """

    def __init__(self, seconds: float) -> None:
        """Interrupt a collection after so many seconds, or at most twice as many."""
        self._seconds = seconds
        self._collection = 0
        self._begun_in: FrameType | None = None
        self._over: threading.Event | None = None
        self._before: Any = None
        self._tried: set[tuple[int, int]] = set()

    def start(self) -> None:
        """Start to watch collections."""
        if self._over is not None or threading.current_thread() is not threading.main_thread():
            return
        self._over = threading.Event()
        self._before = signal.signal(ALARM, self._time_is_up)
        gc.callbacks.append(self._note)
        threading.Thread(
            target=self._watch, args=(self._over,), name="emu-collections", daemon=True
        ).start()

    def stop(self) -> None:
        """Stop watching."""
        if self._over is None or threading.current_thread() is not threading.main_thread():
            return
        self._over.set()
        self._over = None
        gc.callbacks.remove(self._note)
        signal.signal(ALARM, self._before)

    def _note(self, phase: str, _info: dict[str, int]) -> None:
        """Note that a collection begins or ends; called by Python."""
        if threading.get_ident() != _MAIN:
            return
        if phase == "start":
            self._collection += 1
            self._begun_in = sys._getframe(1)  # noqa: SLF001  # there is no public way
        else:
            self._begun_in = None
            self._tried.clear()

    def _watch(self, over: threading.Event) -> None:
        """Send the signal if a collection is the same as at the last check."""
        seen = 0
        while not over.wait(self._seconds):
            now = self._collection if self._begun_in is not None else 0
            if now and now == seen and not _depth:
                # The signal must reach the main thread, where the collection runs.
                alarm_now()
            seen = now

    def _time_is_up(self, _number: int, frame: FrameType | None) -> None:
        """Interrupt the method that the collection is in, if it is not the server's."""
        begun_in = self._begun_in
        if begun_in is None or frame is begun_in or frame is None or not is_behavior(frame):
            return
        at = frame
        while frame is not None and frame is not begun_in and is_behavior(frame):
            frame = frame.f_back
        if frame is begun_in:
            # Python drops the exception at the end of each such method, and the next one is then
            # interrupted at its first step.
            _raise_at_each_step(OutOfTime(), at, self._tried)


_MAIN: Final = threading.main_thread().ident or 0
