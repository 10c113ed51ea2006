"""The real machine: work in a thread, and what a reactor brings instead."""

import threading
from collections.abc import Iterator
from typing import Any

from twisted.internet.task import Clock

from emu.net.machine import REAL, Machine, machine_of


def test_work_of_a_thread_waits_until_it_is_woken_and_pauses() -> None:
    seen: list[str] = []
    began, over = threading.Event(), threading.Event()

    def work() -> Iterator[float | None]:
        seen.append(threading.current_thread().name)
        began.set()
        yield None
        seen.append("woken")
        yield 0.0
        seen.append("paused")
        over.set()

    thread = REAL.thread(work(), "emu-test")
    assert began.wait(10)
    assert seen == ["emu-test"]
    thread.wake()
    assert over.wait(10)
    thread.join()
    assert seen == ["emu-test", "woken", "paused"]


def test_a_thread_that_is_woken_before_it_waits_goes_on() -> None:
    over = threading.Event()

    def work() -> Iterator[float | None]:
        yield None
        over.set()

    thread = REAL.thread(work(), "emu-test")
    thread.wake()
    thread.wake()
    assert over.wait(10)
    thread.join()


def test_a_reactor_may_bring_a_machine() -> None:
    class Simulated(Clock):
        machine: Any = Machine()

    assert machine_of(Clock()) is REAL
    assert machine_of(Simulated()) is Simulated.machine
