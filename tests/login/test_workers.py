"""Which worker is started, killed and replaced, and when."""

from __future__ import annotations

import pytest

from emu.login.workers import (
    BEAT_SECONDS,
    FIRST_DELAY,
    LONGEST_DELAY,
    STABLE_SECONDS,
    START_SECONDS,
    WorkerSupervision,
)
from emu.times import Monotonic


class Control:
    """Notes what the supervision wants."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self, index: int) -> None:
        self.calls.append(f"start {index}")

    def terminate(self, index: int) -> None:
        self.calls.append(f"terminate {index}")

    def kill(self, index: int) -> None:
        self.calls.append(f"kill {index}")

    def all_ready(self) -> None:
        self.calls.append("all ready")

    def all_ended(self) -> None:
        self.calls.append("all ended")

    def take(self) -> list[str]:
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def control() -> Control:
    return Control()


def at(seconds: float) -> Monotonic:
    return Monotonic(seconds)


def serving(control: Control, count: int = 2) -> WorkerSupervision:
    workers = WorkerSupervision(count, control, stop_seconds=10)
    workers.begin(at(0))
    for index in range(count):
        workers.report_ready(index, at(1))
    control.calls.clear()
    return workers


def test_it_serves_once_all_workers_are_ready(control: Control) -> None:
    workers = WorkerSupervision(3, control, stop_seconds=10)
    workers.begin(at(0))
    assert control.take() == ["start 0", "start 1", "start 2"]
    workers.report_ready(2, at(1))
    workers.report_ready(0, at(1))
    workers.report_ready(0, at(2))
    assert (control.take(), workers.ready, workers.is_serving) == ([], 2, False)
    workers.report_ready(1, at(3))
    assert (control.take(), workers.ready, workers.is_serving) == (["all ready"], 3, True)
    workers.report_ready(1, at(4))
    assert control.take() == []


def test_a_worker_that_ends_is_replaced_soon_and_again_later(control: Control) -> None:
    workers = serving(control, count=1)
    now, delays = 5.0, []
    for _ in range(12):
        delay = workers.report_end(0, at(now))
        assert delay is not None
        assert workers.get_timer() == now + delay
        workers.handle_timer(at(now + delay / 2))
        assert control.take() == []
        now += delay
        workers.handle_timer(at(now))
        assert control.take() == ["start 0"]
        delays.append(delay)
    assert delays[:3] == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY]
    assert delays[-1] == LONGEST_DELAY
    assert workers.report_end(0, at(now + STABLE_SECONDS)) == FIRST_DELAY


def test_the_end_of_one_worker_touches_no_other(control: Control) -> None:
    workers = serving(control)
    workers.report_end(0, at(2))
    workers.handle_timer(at(3))
    workers.report_ready(0, at(4))
    assert (control.take(), workers.ready) == (["start 0"], 2)


def test_a_worker_that_hangs_is_killed_once_and_then_replaced(control: Control) -> None:
    workers = serving(control)
    workers.report_beat(0, at(20))
    assert workers.get_timer() == 1 + BEAT_SECONDS
    workers.handle_timer(at(1 + BEAT_SECONDS))
    assert (control.take(), workers.ready) == (["kill 1"], 1)
    workers.handle_timer(at(2 + BEAT_SECONDS))
    assert control.take() == []
    delay = workers.report_end(1, at(3 + BEAT_SECONDS))
    workers.handle_timer(at(3 + BEAT_SECONDS + (delay or 0)))
    assert control.take() == ["start 1"]


def test_a_replaced_worker_that_never_becomes_ready_is_killed(control: Control) -> None:
    workers = serving(control, count=1)
    workers.report_end(0, at(2))
    workers.handle_timer(at(3))
    workers.handle_timer(at(3 + START_SECONDS))
    assert control.take() == ["start 0", "kill 0"]


def test_a_worker_that_ends_before_all_were_ready_ends_the_start(control: Control) -> None:
    workers = WorkerSupervision(2, control, stop_seconds=10)
    workers.begin(at(0))
    workers.report_ready(0, at(1))
    control.calls.clear()
    assert workers.report_end(1, at(2)) is None
    assert (control.take(), workers.is_stopping) == (["terminate 0"], True)
    assert workers.report_end(0, at(3)) is None
    assert (control.take(), workers.is_serving) == (["all ended"], False)
    assert workers.get_timer() is None


def test_a_stop_waits_for_all_and_kills_at_its_end(control: Control) -> None:
    workers = serving(control, count=3)
    workers.report_end(2, at(2))
    workers.stop(at(2))
    workers.stop(at(3))
    assert control.take() == ["terminate 0", "terminate 1"]
    assert workers.report_end(0, at(4)) is None
    assert workers.get_timer() == 12
    workers.handle_timer(at(11))
    assert control.take() == []
    workers.handle_timer(at(12))
    assert (control.take(), workers.get_timer()) == (["kill 1"], None)
    workers.report_end(1, at(13))
    assert control.take() == ["all ended"]


def test_a_stop_without_running_workers_is_over_at_once(control: Control) -> None:
    workers = serving(control, count=1)
    workers.report_end(0, at(2))
    workers.stop(at(2))
    assert control.take() == ["all ended"]
