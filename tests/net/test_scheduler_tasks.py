from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred, fail, succeed
from twisted.logger import Logger

from emu.net.scheduler import Tasks, run


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


@pytest.mark.parametrize("early", [True, False])
def test_run_drives_a_coroutine_through_many_waits(early: bool) -> None:
    gates = [succeed(1) if early else Deferred() for _ in range(3)]
    seen: list[object] = []

    async def work() -> None:
        for gate in gates:
            seen.append(await gate)
        try:
            await fail(KeyError("gone"))
        except KeyError:
            seen.append("caught")
        seen.append(await succeed("end"))

    run(work(), seen.append)
    if not early:
        for gate in gates:
            gate.callback(1)
    assert seen == [1, 1, 1, "caught", "end"]


def test_run_reports_what_is_raised_at_once_and_later() -> None:
    failures: list = []
    gate: Deferred[None] = Deferred()

    async def now() -> None:
        raise KeyError("now")

    async def later() -> None:
        await gate
        raise ValueError("later")

    run(now(), failures.append)
    run(later(), failures.append)
    gate.callback(None)
    assert [failure.type for failure in failures] == [KeyError, ValueError]
