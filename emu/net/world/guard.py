"""Interrupts calls of other people's code that do not return: a signal comes when time is up.

Python runs a signal's handler between two steps of whatever the main thread does, so an endless
loop and a sleep are interrupted alike. The timer repeats, because what it raises can be caught.
Elsewhere than in the main thread nothing can be interrupted; there a call only takes its time.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

from emu.world.behaviors import OutOfTime

AGAIN: Final = 0.05
"""Seconds after which it is raised again when it was caught."""


def limited(call: Callable[[], object], seconds: float) -> None:
    """Make a call; raises `OutOfTime` in it when it takes longer than so many seconds."""
    if threading.current_thread() is not threading.main_thread():
        call()
        return
    before = signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _time_is_up(_number: int, _frame: FrameType | None) -> None:
    raise OutOfTime
