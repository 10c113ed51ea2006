"""Changes that nobody waits for: held back, tried again, never forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import Clock

from emu.errors import StoreError, StoreLocked
from emu.net.scheduler import Scheduler
from emu.net.store import DELAY, MOST_TOGETHER, DeferredWrites


class Worker:
    """Carries calls out at once, as long as nobody holds the lock."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_locked = False
        self.is_held = False
        """Whether calls stay in the thread until a test answers them."""
        self.held: list[tuple[Callable[[], Any], Deferred[Any]]] = []

    def run_together(self, calls: Sequence[Callable[[], Any]]) -> list[Deferred[Any]]:
        return [self.run(call) for call in calls]

    def run(self, call: Callable[[], Any]) -> Deferred[Any]:
        self.calls += 1
        if self.is_held:
            self.held.append((call, Deferred()))
            return self.held[-1][1]
        if self.is_locked:
            return fail(StoreLocked("locked"))
        try:
            return succeed(call())
        except StoreError as error:
            return fail(error)


class Bench:
    def __init__(self, **options: int) -> None:
        self.clock = Clock()
        self.worker = Worker()
        self.behind = DeferredWrites(self.worker, Scheduler(self.clock), **options)  # type: ignore[arg-type]
        self.stored: list[int] = []

    def change(self, number: int) -> Deferred[int]:
        return self.behind.run(lambda: self.stored.append(number) or number)  # type: ignore[func-returns-value]


def outcome(done: Deferred[Any]) -> list[object]:
    results: list[object] = []
    done.addBoth(results.append)
    return results


def test_calls_are_held_back_together_and_answered_when_stored() -> None:
    bench = Bench()
    first = outcome(bench.change(1))
    bench.clock.advance(DELAY / 2)
    second = outcome(bench.change(2))
    assert (bench.stored, first, bench.behind.waiting) == ([], [], 2)
    bench.clock.advance(DELAY / 2)
    assert (bench.stored, first, second) == ([1, 2], [1], [2])
    assert bench.behind.waiting == 0
    bench.clock.advance(10.0)
    assert bench.worker.calls == 2
    bench.change(3)
    bench.clock.advance(DELAY)
    assert bench.stored == [1, 2, 3]


def test_while_the_lock_is_held_they_are_tried_again() -> None:
    bench = Bench()
    bench.worker.is_locked = True
    reported = outcome(bench.change(1))
    for _ in range(5):
        bench.clock.advance(DELAY)
    assert (reported, bench.worker.calls, bench.behind.waiting) == ([], 5, 1)
    bench.worker.is_locked = False
    bench.clock.advance(DELAY)
    assert (reported, bench.stored) == ([1], [1])


def test_any_other_failure_is_logged() -> None:
    bench = Bench()

    def full() -> None:
        raise StoreError("the disk is full")

    reported = outcome(bench.behind.run(full))
    bench.clock.advance(DELAY)
    assert "disk is full" in str(reported[0].value)  # type: ignore[attr-defined]
    assert bench.behind.waiting == 0


def test_so_many_wait_and_no_more() -> None:
    bench = Bench(most_waiting=2)
    bench.worker.is_locked = True
    kept = [bench.change(1), bench.change(2)]
    (refused,) = outcome(bench.change(3))
    assert "cannot keep up" in str(refused.value)  # type: ignore[attr-defined]
    bench.clock.advance(DELAY)
    bench.worker.is_locked = False
    bench.clock.advance(DELAY)
    assert all(done.called for done in kept)
    bench.change(4)
    bench.clock.advance(DELAY)
    assert bench.stored == [1, 2, 4]


def test_no_call_overtakes_one_that_met_a_lock() -> None:
    bench = Bench()
    bench.worker.is_held = True
    bench.change(1)
    bench.clock.advance(DELAY)
    bench.change(2)
    bench.behind.run_at_once(lambda: bench.stored.append(3))
    bench.clock.advance(10 * DELAY)
    assert len(bench.worker.held) == 1, "one batch at a time"
    bench.worker.is_held = False
    bench.worker.held[0][1].errback(StoreLocked("locked"))
    bench.clock.advance(DELAY)
    assert bench.stored == [1, 2, 3]
    assert bench.behind.waiting == 0


def test_a_call_that_is_urgent_is_not_held_back() -> None:
    bench = Bench()
    bench.change(1)
    reported = outcome(bench.behind.run_at_once(lambda: bench.stored.append(2)))
    assert (bench.stored, reported) == ([1, 2], [None])
    bench.worker.is_locked = True
    reported = outcome(bench.behind.run_at_once(lambda: bench.stored.append(3)))
    bench.clock.advance(5 * DELAY)
    bench.worker.is_locked = False
    bench.clock.advance(DELAY)
    assert (bench.stored, reported) == ([1, 2, 3], [None])


def test_a_batch_has_a_bound() -> None:
    bench = Bench()
    sizes: list[int] = []
    together = bench.worker.run_together
    bench.worker.run_together = lambda calls: sizes.append(len(calls)) or together(calls)  # type: ignore[func-returns-value,method-assign]
    for number in range(MOST_TOGETHER + 1):
        bench.change(number)
    bench.clock.advance(DELAY)
    assert bench.stored == list(range(MOST_TOGETHER + 1))
    assert sizes == [MOST_TOGETHER, 1]


def test_before_a_stop_nothing_is_held_back() -> None:
    bench = Bench()
    bench.change(1)
    bench.behind.flush_soon()
    assert bench.stored == [1]
    bench.change(2)
    assert bench.stored == [1, 2]
    bench.worker.is_locked = True
    reported = outcome(bench.change(3))
    bench.clock.advance(5 * DELAY)
    assert reported == []
    bench.behind.give_up()
    (failure,) = reported
    assert isinstance(failure.value, StoreLocked)  # type: ignore[attr-defined]
    assert bench.behind.waiting == 0
    assert not bench.clock.getDelayedCalls()
