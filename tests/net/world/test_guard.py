"""Other people's code is interrupted, whatever it does; our own timer is left as it was."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import Any

import pytest

from emu.net.world.guard import limited
from emu.world.behaviors import OutOfTime


def loops() -> None:
    while True:
        pass


def sleeps() -> None:
    time.sleep(30)


def catches() -> None:
    for _ in range(2):
        with contextlib.suppress(BaseException):
            loops()


@pytest.mark.parametrize("call", [loops, sleeps])
def test_what_does_not_return_is_interrupted(call) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OutOfTime, match=r"test_guard\.py, line \d+$"):
        limited(call, 0.02)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_what_catches_it_is_interrupted_again() -> None:
    limited(catches, 0.02)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_returns_or_raises_is_let_be() -> None:
    done = []
    limited(lambda: done.append(1), 5.0)
    with pytest.raises(ZeroDivisionError):
        limited(lambda: 1 / 0, 5.0)
    assert done == [1]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_is_not_interrupted() -> None:
    done = []
    thread = threading.Thread(target=limited, args=(lambda: done.append(time.sleep(0.05)), 0.01))
    thread.start()
    thread.join()
    assert done == [None]


def test_a_signal_that_comes_when_all_is_done_interrupts_nobody_and_is_the_last() -> None:
    handlers: list[Any] = []
    limited(lambda: handlers.append(signal.getsignal(signal.SIGALRM)), 0.01)
    before = signal.signal(signal.SIGALRM, handlers[0])
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.01)
    try:
        time.sleep(0.1)
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_who_waits_for_a_busy_machine_has_time() -> None:
    begun = time.monotonic()
    limited(lambda: time.sleep(0.15), 0.1)
    assert time.monotonic() - begun >= 0.15
