from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from emu.net.tasks import Tasks


async def waits(gate: Deferred[None], done: list[int], number: int) -> None:
    await gate
    done.append(number)


async def test_finished_waits_for_all_and_for_what_they_start() -> None:
    tasks, done = Tasks(Logger()), []
    first: Deferred[None] = Deferred()
    second: Deferred[None] = Deferred()

    async def chain() -> None:
        await first
        tasks.spawn(waits(second, done, 2))

    tasks.spawn(waits(first, done, 1))
    tasks.spawn(chain())
    finished = Deferred.fromCoroutine(tasks.finished())
    assert len(tasks) == 2
    first.callback(None)
    assert not finished.called
    second.callback(None)
    await finished
    assert done == [1, 2]
    assert len(tasks) == 0
    await tasks.finished()


def test_a_fault_is_logged_and_the_task_is_over(logged_failures) -> None:
    tasks = Tasks(Logger())

    async def fails() -> None:
        raise ZeroDivisionError

    tasks.spawn(fails())
    assert len(tasks) == 0
    assert len(logged_failures.flush(ZeroDivisionError)) == 1
