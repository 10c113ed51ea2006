from __future__ import annotations

import inspect
from collections.abc import Coroutine
from functools import partial
from typing import Any

import pytest

from emu.mailbox import Mailbox, start
from tests.support.login.directory_fakes import Loop, Stores


class Bench:
    def __init__(self, limit: int = 3) -> None:
        self.loop = Loop()
        self.store = Stores()
        self.mailbox = Mailbox(self.loop.spawn, limit)

    def put(self, number: int) -> bool:
        return self.mailbox.put(partial(self.store.record_status, number, 0, 0, 0, 0.0))

    def done(self) -> list[int]:
        return [call[1] for call in self.store.calls]


def test_tasks_are_done_in_order_and_one_at_a_time() -> None:
    bench = Bench()
    bench.store.held = True
    assert [bench.put(number) for number in range(5)] == [True, True, True, True, False]
    assert len(bench.mailbox) == 3
    assert len(bench.loop.running) == 1
    bench.store.held = False
    bench.loop.run()
    assert bench.done() == [0, 1, 2, 3]
    assert bench.put(9)
    assert bench.done()[-1] == 9


def test_it_knows_how_many_bytes_wait() -> None:
    bench = Bench()
    bench.store.held = True
    for number, size in enumerate((100, 20, 3)):
        task = partial(bench.store.record_status, number, 0, 0, 0, 0.0)
        assert bench.mailbox.put(task, size)
    assert bench.mailbox.held_bytes == 23, "the first is being done"
    bench.store.held = False
    bench.loop.run()
    assert bench.mailbox.held_bytes == 0
    bench.store.held = True
    bench.put(1)
    bench.mailbox.put(partial(bench.store.record_status, 2, 0, 0, 0, 0.0), 50)
    bench.mailbox.clear()
    assert bench.mailbox.held_bytes == 0


def test_a_task_put_in_by_a_task_comes_behind_those_that_wait() -> None:
    bench = Bench()

    async def follows_up() -> None:
        assert bench.put(7)
        assert bench.done() == [1]

    bench.store.held = True
    bench.put(1)
    bench.mailbox.put(follows_up)
    bench.put(2)
    bench.store.held = False
    bench.loop.run()
    assert bench.done() == [1, 2, 7]


def test_what_waits_can_be_forgotten_but_not_what_is_being_done() -> None:
    bench = Bench()
    bench.store.held = True
    bench.put(1)
    bench.put(2)
    bench.mailbox.clear()
    bench.store.held = False
    bench.loop.run()
    assert bench.done() == [1]


def test_a_fault_reaches_the_spawner_and_does_not_block_the_mailbox() -> None:
    bench = Bench()

    async def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bench.mailbox.put(fails)
    bench.loop.running.clear()
    bench.put(3)
    assert bench.done() == [3]


def test_work_that_cannot_start_is_closed_and_the_exception_passes() -> None:
    async def work() -> None:
        raise AssertionError("it never starts")

    def refuse(_work: Coroutine[Any, Any, None]) -> None:
        raise ZeroDivisionError

    one = work()
    with pytest.raises(ZeroDivisionError):
        start(refuse, one)
    assert inspect.getcoroutinestate(one) == inspect.CORO_CLOSED
