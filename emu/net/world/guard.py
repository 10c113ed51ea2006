"""Interrupts calls of other people's code that do not return: a signal comes when time is up.

Python runs a signal's handler between two steps of whatever the main thread does, so an endless
loop and a sleep are interrupted alike. The timer repeats, because what it raises can be caught.
Elsewhere than in the main thread nothing can be interrupted; there a call only takes its time.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Final

from emu.world.behaviors import OutOfTime

OURS: Final = "emu."
SHIPPED: Final = "emu.world.behaviors.shipped."
"""How names of modules begin that are the server's, and of behaviors among them."""
AGAIN: Final = 0.05
"""Seconds after which the time is looked at again, and is up again when that was caught."""
PATIENCE: Final = 4
"""Times its seconds that a call may wait besides: for the processor, perhaps, which others have."""


def limited(call: Callable[[], object], seconds: float) -> None:
    """Make a call; raises `OutOfTime` in it when it works longer than so many seconds.

    One that waits, and be it for a machine that is busy with something else, has some more.
    """
    if threading.current_thread() is not threading.main_thread():
        call()
        return
    end, looks = time.thread_time() + seconds, count(1)

    def time_is_up(_number: int, frame: FrameType | None) -> None:
        if not _is_limited(frame):  # it has returned just now
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        elif time.thread_time() >= end or next(looks) * AGAIN >= PATIENCE * seconds:
            raise OutOfTime(_place(frame))

    before = signal.signal(signal.SIGALRM, time_is_up)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _is_limited(frame: FrameType | None) -> bool:
    """Say whether a frame is inside a call that has a limit."""
    while frame is not None and frame.f_code is not limited.__code__:
        frame = frame.f_back
    return frame is not None


def _place(frame: FrameType | None) -> str:
    """Return file and line of a behavior: it may be in a function of ours that it called."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if not module.startswith(OURS) or module.startswith(SHIPPED):
            return f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        frame = frame.f_back
    return ""
