"""Deadlines by owner and name."""

from __future__ import annotations

import random

from emu.times import Monotonic
from emu.world.deadlines import (
    LONG_SECONDS,
    MOST_WAITS,
    SWEPT_AT_ONCE,
    WORK_SECONDS,
    Deadlines,
    Timetable,
)
from emu.world.reports import Faults
from tests.support.times import timetable


class Handled:
    """Deadlines of one kind, and the owner and the name of those that were handled."""

    def __init__(self) -> None:
        self.wakes: list[float] = []
        self.times = timetable(self.wakes.append)
        self.done: list[tuple[object, str]] = []
        self.deadlines: Deadlines[object, str] = self.times.deadlines(
            "work", lambda owner, name, _now: self.done.append((owner, name))
        )

    def until(self, now: float) -> list[tuple[object, str]]:
        """Return what is handled at a time."""
        self.done.clear()
        self.times.handle_timer(Monotonic(now))
        return list(self.done)


def test_the_earliest_comes_first_and_moved_ones_at_their_new_time() -> None:
    made = Handled()
    deadlines = made.deadlines
    deadlines.set("a", "camp", Monotonic(5.0))
    deadlines.set("b", "camp", Monotonic(3.0))
    deadlines.set("a", "save", Monotonic(4.0))
    deadlines.set("b", "camp", Monotonic(9.0))
    assert made.wakes == [5.0, 3.0, 4.0, 9.0]
    assert made.times.get_timer() == 4.0
    assert made.until(3.9) == []
    assert made.until(6.0) == [("a", "save"), ("a", "camp")]
    assert made.until(6.0) == []
    assert deadlines.get("b", "camp") == 9.0
    assert deadlines.clear("b", "camp")
    assert not deadlines.clear("b", "camp")
    assert made.times.get_timer() is None


def test_moving_for_ever_grows_nothing() -> None:
    chance, made = random.Random(1), Handled()
    deadlines = made.deadlines
    for step in range(10_000):
        due = Monotonic(step + chance.randrange(100))
        deadlines.set(chance.randrange(10), "save", due)
    assert len(deadlines) == 10
    assert len(deadlines._heap.entries) < 200
    deadlines.forget(3, ("save", "camp"))
    assert sorted(owner for owner, _ in made.until(1e9)) == [0, 1, 2, 4, 5, 6, 7, 8, 9]  # type: ignore[type-var]


def test_owners_that_are_gone_are_not_kept() -> None:
    made = Handled()
    deadlines = made.deadlines
    for owner in range(5_000):
        deadlines.set(owner, "timer", Monotonic(1e6))
    for owner in range(5_000):
        assert deadlines.clear(owner, "timer")
    assert len(deadlines._heap.entries) < 100
    assert made.times.get_timer() is None


def test_no_change_looks_at_more_than_a_few_old_entries() -> None:
    made = Handled()
    deadlines = made.deadlines
    for owner in range(5_000):
        deadlines.set(owner, "timer", Monotonic(1e6 + owner % 7))
    heap, begun = deadlines._heap, 0
    for owner in range(4_900):
        waiting = len(heap.swept)
        deadlines.clear(owner, "timer")
        if waiting:
            assert 0 < waiting - len(heap.swept) <= SWEPT_AT_ONCE
        elif heap.swept:
            begun += 1
    assert begun > 1
    assert made.until(1e9) == [
        (owner, "timer") for _, owner in sorted((one % 7, one) for one in range(4_900, 5_000))
    ]


def test_work_that_can_wait_shares_a_part_of_each_turn() -> None:
    times, answers = timetable(), list[bool]()

    def work(_owner: str, _what: str, now: Monotonic) -> None:
        for late in (WORK_SECONDS / 2, WORK_SECONDS * 1.1):
            answers.append(times.may_work(Monotonic(now + late)))

    deadlines: Deadlines[str, str] = times.deadlines("work", work)
    for start in (10.0, 20.0):
        for owner in ("first", "second"):
            deadlines.set(owner, "work", Monotonic(start))
        times.handle_timer(Monotonic(start))
        assert answers == [True, False, True, False]
        answers.clear()


def test_work_goes_on_however_long_the_rest_of_a_turn_takes() -> None:
    times, answers = timetable(), list[bool]()

    def work(_owner: str, _what: str, now: Monotonic) -> None:
        answers.extend(times.may_work(Monotonic(now + 3.0)) for _ in range(2))

    deadlines: Deadlines[str, str] = times.deadlines("work", work)
    for start in (10.0, 20.0):
        deadlines.set("one", "work", Monotonic(start))
        times.handle_timer(Monotonic(start))
        assert answers == [True, False]
        answers.clear()


def test_work_between_two_turns_has_a_part_of_its_own() -> None:
    times = timetable()
    times.handle_timer(Monotonic(10.0))
    assert times.may_work(Monotonic(13.0))
    assert times.may_work(Monotonic(13.0 + WORK_SECONDS / 2))
    assert not times.may_work(Monotonic(13.0 + WORK_SECONDS * 1.1))


def test_the_last_kinds_may_be_due_at_the_time_of_the_others() -> None:
    handled, times = list[str](), timetable()
    first, last = (
        times.deadlines(name, lambda owner, _name, _now: handled.append(owner), is_last=is_last)
        for name, is_last in (("first", False), ("last", True))
    )
    first.set("a", "camp", Monotonic(2.0))
    last.set("b", "camp", Monotonic(2.0))
    assert times.get_timer() == 2.0
    times.handle_timer(Monotonic(2.0))
    assert handled == ["a", "b"]
    last.set("b", "camp", Monotonic(3.0))
    first.set("a", "camp", Monotonic(4.0))
    assert times.get_timer() == 3.0


def test_the_kinds_of_a_timetable_are_handled_in_the_order_of_their_times() -> None:
    handled: list[tuple[str, str, float]] = []
    times = timetable()
    first, second = (
        times.deadlines(task, lambda owner, name, now: handled.append((owner, name, now)))
        for task in ("first", "second")
    )
    first.set("a", "camp", Monotonic(2.0))
    second.set("a", "camp", Monotonic(1.0))
    second.set("b", "camp", Monotonic(9.0))
    assert times.get_timer() == 1.0
    times.handle_timer(Monotonic(5.0))
    assert handled == [("a", "camp", 5.0)] * 2
    assert (len(first), len(second), times.get_timer()) == (0, 1, 9.0)


def test_the_last_kinds_come_after_what_the_others_bring_about() -> None:
    handled: list[str] = []
    times = timetable()
    ticks: Deadlines[str, None] = times.deadlines(
        "ticks", lambda owner, _name, _now: handled.append(owner), is_last=True
    )
    steps: Deadlines[str, None] = times.deadlines(
        "steps", lambda _owner, _name, now: ticks.set("tick of the step", None, now)
    )
    ticks.set("tick", None, Monotonic(1.0))
    steps.set("step", None, Monotonic(2.0))
    times.handle_timer(Monotonic(2.0))
    assert handled == ["tick", "tick of the step"]


def test_what_becomes_due_in_a_turn_waits_for_the_next_one() -> None:
    turns: list[int] = []
    times = timetable()
    again: Deadlines[str, None] = times.deadlines(
        "again", lambda owner, name, now: (turns.append(times.turn), again.set(owner, name, now))
    )
    again.set("a", None, Monotonic(1.0))
    for _ in range(3):
        times.handle_timer(Monotonic(1.0))
    assert turns == [1, 2, 3]
    assert times.get_timer() == 1.0


def test_a_fault_is_counted_and_stops_no_other() -> None:
    faults, handled = Faults(lambda _event: None), []
    times = Timetable(lambda _due: None, faults.attempt)
    bad: Deadlines[str, None] = times.deadlines("bad work", lambda *_: 1 / 0)
    good: Deadlines[str, None] = times.deadlines("good work", lambda *_: handled.append(1))
    bad.set("a", None, Monotonic(1.0))
    good.set("a", None, Monotonic(1.0))
    times.handle_timer(Monotonic(1.0))
    assert (faults.counts, handled) == ({"bad work": 1}, [1])


class Patient:
    """Deadlines that may wait, in turns that take so many seconds for each of them."""

    def __init__(self, seconds: float) -> None:
        self.now = 10.0
        self.seconds = seconds
        self.done: list[str] = []
        self.times = Timetable(
            lambda _due: None, Faults(lambda _event: None).attempt, lambda: Monotonic(self.now)
        )
        self.deadlines: Deadlines[str, None] = self.times.deadlines(
            "blows", self._strike, may_wait=True
        )

    def _strike(self, owner: str, _name: None, _now: Monotonic) -> None:
        self.done.append(owner)
        self.now += self.seconds

    def turn(self) -> str:
        """Return the owners that a turn handles."""
        self.done.clear()
        self.times.handle_timer(Monotonic(self.now))
        return "".join(self.done)


def test_what_may_wait_is_handled_over_several_turns_in_its_order() -> None:
    patient = Patient(LONG_SECONDS * 0.75)
    for owner in "abcde":
        patient.deadlines.set(owner, None, Monotonic(10.0))
    assert patient.times.get_timer() == 10.0
    assert [patient.turn() for _ in range(4)] == ["ab", "cd", "e", ""]
    assert patient.times.get_timer() is None


def test_no_deadline_waits_for_ever_in_long_turns() -> None:
    patient = Patient(0.0)
    slow: Deadlines[str, None] = patient.times.deadlines("slow work", patient._strike)
    patient.deadlines.set("z", None, Monotonic(10.0))
    for turn in range(MOST_WAITS + 1):
        patient.seconds = LONG_SECONDS * 2
        slow.set("s", None, Monotonic(9.0))
        assert patient.turn() == ("sz" if turn == MOST_WAITS else "s")
    assert not patient.deadlines._waits


def test_a_cleared_deadline_leaves_no_count_of_its_waits() -> None:
    patient = Patient(LONG_SECONDS * 2)
    for owner in "ab":
        patient.deadlines.set(owner, None, Monotonic(10.0))
    assert patient.turn() == "a"
    patient.deadlines.clear("b", None)
    assert not patient.deadlines._waits
    assert patient.turn() == ""
