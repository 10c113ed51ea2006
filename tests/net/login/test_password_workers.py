"""Sources take turns, calls run in threads and answer here, and all stop on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, DeferredList

from emu.errors import LimitExceeded
from emu.net.login.password_workers import AT_ONCE, PasswordWorkers

reactor: Any = _reactor
pytestmark = pytest.mark.usefixtures("collect_garbage")


def password_workers(threads: int = 2, most_waiting: int = 10) -> PasswordWorkers:
    return PasswordWorkers(reactor, threads=threads, most_waiting=most_waiting)


def start(work: Coroutine[Any, Any, Any]) -> Deferred[Any]:
    return Deferred.fromCoroutine(work)


class Line:
    """Work for which a turn is needed; notes who had one."""

    def __init__(self, workers: PasswordWorkers) -> None:
        self.workers = workers
        self.gate = threading.Event()
        self.began: list[str] = []
        self.waited: list[bool] = []

    async def work(self, source: str, wanted: Callable[[], bool] = lambda: True) -> None:
        async with self.workers.turn(source, wanted) as waited:
            self.began.append(source)
            self.waited.append(waited)
            await self.workers.run(self.gate.wait)

    def ask(self, *sources: str) -> list[Deferred[Any]]:
        return [start(self.work(source)) for source in sources]


async def test_a_call_runs_elsewhere_and_answers_here() -> None:
    workers = password_workers()
    here = threading.current_thread()
    async with workers.turn("a", lambda: True) as waited:
        assert not waited
        assert await workers.run(threading.current_thread) is not here
    assert threading.current_thread() is here
    await workers.stop()


async def test_an_error_belongs_to_the_caller_and_the_turn_is_given_back() -> None:
    workers = password_workers(threads=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with workers.turn("a", lambda: True):
                await workers.run(lambda: 1 // 0)
    await workers.stop()


async def test_a_crowd_from_one_source_makes_nobody_else_wait_for_all_of_it() -> None:
    line = Line(password_workers(threads=2, most_waiting=100))
    asked = line.ask(*"a" * 64, "b", "c")
    assert line.began == ["a"] * AT_ONCE
    line.gate.set()
    await DeferredList(asked)
    assert line.began.index("b") <= AT_ONCE + 1
    assert line.began.index("c") <= AT_ONCE + 2
    assert line.waited == [False] * AT_ONCE + [True] * 64
    await line.workers.stop()


async def test_one_source_never_has_all_of_many_threads() -> None:
    line = Line(password_workers(threads=4))
    asked = line.ask(*"aaaaa", "b")
    assert line.began == ["a", "a", "b"]
    line.gate.set()
    await DeferredList(asked)
    await line.workers.stop()


async def test_so_many_wait_and_no_more() -> None:
    line = Line(password_workers(threads=2, most_waiting=3))
    asked = line.ask(*"aaaaa")
    assert line.workers.waiting == 3
    with pytest.raises(LimitExceeded):
        await line.work("a")
    (late,) = line.ask("b")
    with pytest.raises(LimitExceeded):
        await asked[-1]
    assert line.workers.waiting == 3
    line.gate.set()
    assert [success for success, _ in await DeferredList([*asked[:-1], late])] == [True] * 5
    assert line.workers.waiting == 0
    await line.workers.stop()


async def test_whoever_has_gone_gets_no_turn() -> None:
    line = Line(password_workers(threads=1))
    running = start(line.work("a"))
    gone = [start(line.work("b", lambda: False)) for _ in range(5)]
    last = start(line.work("a"))
    line.gate.set()
    await DeferredList([running, last])
    for turn in gone:
        with pytest.raises(LimitExceeded):
            await turn
    assert line.began == ["a", "a"]
    await line.workers.stop()


async def test_many_turns_that_end_at_once_do_not_pile_up_on_each_other() -> None:
    workers = password_workers(threads=1, most_waiting=5000)
    gate = threading.Event()
    began: list[int] = []

    async def hold() -> None:
        async with workers.turn("a", lambda: True):
            await workers.run(gate.wait)

    async def brief(number: int) -> None:
        async with workers.turn("a", lambda: True):
            began.append(number)

    asked = [start(hold()), *(start(brief(number)) for number in range(3000))]
    gate.set()
    assert all(success for success, _ in await DeferredList(asked))
    assert began == list(range(3000))
    await workers.stop()


async def test_stopping_refuses_what_waits_and_lets_the_rest_end() -> None:
    line = Line(password_workers(threads=1))
    running, waiting = line.ask("a", "b")
    stopped = line.workers.stop()
    with pytest.raises(LimitExceeded):
        await waiting
    assert not stopped.called
    line.gate.set()
    await running
    await stopped
    with pytest.raises(LimitExceeded):
        await line.work("a")
    assert line.began == ["a"]


async def test_workers_that_never_worked_stop_at_once() -> None:
    workers = password_workers()
    assert workers.stop().called
    assert workers.stop().called
