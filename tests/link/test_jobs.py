from __future__ import annotations

from functools import partial

import pytest

from emu.errors import EmuError, StoreError
from emu.link.jobs import JobQueue
from tests.support.directory_fakes import Loop, Stores


class Bench:
    def __init__(self, limit: int = 3) -> None:
        self.loop = Loop()
        self.store = Stores()
        self.errors: list[EmuError] = []
        self.queue = JobQueue(self.loop.spawn, limit, self.errors.append)

    def add(self, number: int) -> bool:
        return self.queue.add(partial(self.store.record_status, number, 0, 0, 0, 0.0))

    def done(self) -> list[int]:
        return [call[1] for call in self.store.calls]


def test_jobs_run_in_order_and_one_at_a_time() -> None:
    bench = Bench()
    bench.store.held = True
    assert [bench.add(number) for number in range(5)] == [True, True, True, True, False]
    assert len(bench.queue) == 3
    assert len(bench.loop.running) == 1
    bench.store.held = False
    bench.loop.run()
    assert bench.done() == [0, 1, 2, 3]
    assert bench.add(9)
    assert bench.done()[-1] == 9


def test_a_failed_job_is_told_and_the_others_go_on() -> None:
    bench = Bench()

    async def fails() -> None:
        raise StoreError("no")

    bench.store.held = True
    bench.add(1)
    bench.queue.add(fails)
    bench.add(2)
    bench.store.held = False
    bench.loop.run()
    assert [str(error) for error in bench.errors] == ["no"]
    assert bench.done() == [1, 2]


def test_a_fault_of_our_own_reaches_whoever_runs_the_queue_and_does_not_block_it() -> None:
    bench = Bench()

    async def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bench.queue.add(fails)
    bench.loop.running.clear()
    bench.add(3)
    assert bench.done() == [3]
