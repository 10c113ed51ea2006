"""Other people's code is interrupted, whatever it does; our own timer is left as it was."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emu.net.world import guard
from emu.net.world.guard import CollectionGuard, limited
from emu.system import windows
from emu.world.behaviors import Budget, OutOfTime


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


@pytest.fixture
def plain_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what `__del__` raises written, as in a server: pytest would keep it and fail."""
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)


class Swallows:
    def __enter__(self) -> None: ...

    def __exit__(self, *_error: object) -> bool:
        return True


class Loops:
    """An object whose end does not come."""

    def __init__(self) -> None:
        self.own: Any = self

    def __del__(self) -> None:
        while True:
            with contextlib.suppress(BaseException):
                loops()


def catches_always() -> None:
    while True:
        try:
            while True:
                try:
                    loops()
                except BaseException:  # noqa: BLE001  # what a behavior may do
                    continue
        except BaseException:  # noqa: BLE001  # what a behavior may do
            pass


def calls_what_catches() -> None:
    while True:
        with contextlib.suppress(BaseException):
            catches_always()


def loops_at_last() -> None:
    while True:
        try:
            raise ValueError
        except ValueError:
            continue
        finally:
            with contextlib.suppress(BaseException):
                loops()


def calls_itself_again() -> None:
    try:
        loops()
    except BaseException:  # noqa: BLE001  # what a behavior may do
        calls_itself_again()


def in_a_context() -> None:
    while True:
        with Swallows():
            time.sleep(0.001)


def in_a_generator() -> None:
    def never_ends() -> Iterator[int]:
        while True:
            try:
                yield 1
            except BaseException:  # noqa: BLE001  # what a behavior may do
                continue

    for _ in never_ends():
        pass


def in_objects_that_end() -> None:
    while True:
        Loops().own = None


def in_the_text_of_what_it_raises() -> None:
    class Endless(Exception):
        def __str__(self) -> str:
            catches_always()
            return ""

    raise Endless


def with_what_it_holds() -> None:
    held = [Loops() for _ in range(20)]
    for one in held:
        one.own = None
    raise ValueError("what it holds ends now")


@pytest.mark.slow
@pytest.mark.usefixtures("plain_hook")
@pytest.mark.parametrize(
    "call",
    [
        catches_always, calls_what_catches, loops_at_last, calls_itself_again, in_a_context,
        in_a_generator, in_objects_that_end, in_the_text_of_what_it_raises, with_what_it_holds,
    ],
)  # fmt: skip
def test_no_loop_of_python_holds_out(call: Callable[[], None]) -> None:
    assert Budget(0.05, limited, time.thread_time).spend(call)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_limit_of_a_call_holds_after_another_one_inside_of_it() -> None:
    def nested() -> None:
        limited(lambda: None, 5.0)
        loops()

    with pytest.raises(OutOfTime):
        limited(nested, 0.05)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.slow
def test_code_of_the_server_is_not_interrupted() -> None:
    source = (
        "def work(seconds, clock):\n    end = clock() + seconds\n    while clock() < end: pass\n"
    )
    ours: dict[str, Any] = {"__name__": "emu.world.social.chat"}
    exec(source + "    done.append(1)\n", ours | {"done": (done := [])}, space := {})
    work = space["work"]
    server = type(work)(work.__code__, ours | {"done": done})
    with pytest.raises(OutOfTime):
        limited(lambda: [server(0.3, time.thread_time), loops()], 0.05)
    assert done == [1]


@pytest.mark.slow
@pytest.mark.usefixtures("plain_hook")
def test_what_the_collector_ends_between_two_calls_is_interrupted() -> None:
    before = signal.getsignal(signal.SIGALRM)
    guard = CollectionGuard(0.05)
    guard.start()
    try:
        for _ in range(3):
            Loops()
        gc.collect()
    finally:
        guard.stop()
    assert signal.getsignal(signal.SIGALRM) is before


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


@pytest.mark.parametrize("call", [loops, catches])
def test_the_alarm_of_a_thread_interrupts_a_loop(
    monkeypatch: pytest.MonkeyPatch, call: Callable[[], None]
) -> None:
    # What Windows has instead of a timer of the system; SIGBREAK has no number here.
    monkeypatch.setattr(windows, "ALARM", signal.SIGUSR2)
    monkeypatch.setattr(guard, "_ALARM", (signal.SIGUSR2,))
    for name in ("ALARM", "alarm_now", "clear_alarm", "set_alarm"):
        monkeypatch.setattr(guard, name, getattr(windows, name))
    before = signal.getsignal(signal.SIGUSR2)
    with pytest.raises(OutOfTime) if call is loops else contextlib.nullcontext():
        limited(call, 0.02)
    assert signal.getsignal(signal.SIGUSR2) is before
