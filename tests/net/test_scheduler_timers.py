from hypothesis import given
from hypothesis import strategies as st

from emu.net.scheduler import SWEEP_FROM, TimerHeap


def test_a_deadline_that_moves_later_needs_no_new_entry() -> None:
    heap: TimerHeap[str] = TimerHeap()
    timer = heap.timer("a")
    for deadline in range(1, 1000):
        heap.arm(timer, float(deadline))
    assert len(heap._heap) == 1
    assert list(heap.due(998.0)) == []
    assert heap.next() == 999.0
    assert list(heap.due(999.0)) == ["a"]
    assert heap.next() is None


def test_a_disarmed_timer_does_not_fire() -> None:
    heap: TimerHeap[str] = TimerHeap()
    timer = heap.timer("a")
    heap.arm(timer, 1.0)
    heap.arm(timer, None)
    assert list(heap.due(5.0)) == []


def test_an_owner_that_rearms_itself_while_due_fires_again_later() -> None:
    heap: TimerHeap[str] = TimerHeap()
    timer = heap.timer("a")
    heap.arm(timer, 1.0)
    for _ in heap.due(1.0):
        heap.arm(timer, 2.0)
    assert list(heap.due(1.5)) == []
    assert list(heap.due(2.0)) == ["a"]


def test_what_came_and_went_leaves_nothing_behind() -> None:
    heap: TimerHeap[str] = TimerHeap()
    stays = heap.timer("stays")
    heap.arm(stays, 5.0)
    for _ in range(10_000):
        passing = heap.timer("passing")
        heap.arm(passing, 5.0)
        heap.drop(passing)
        heap.drop(passing)
        assert passing.owner is None
    assert len(heap) < 200
    assert list(heap.due(5.0)) == ["stays"]


def test_a_deadline_that_moves_to_and_fro_leaves_little_behind() -> None:
    heap: TimerHeap[str] = TimerHeap()
    timers = [heap.timer(str(number)) for number in range(10)]
    for _ in range(1000):
        for now in (0.0, 1.0):
            for timer in timers:
                heap.arm(timer, now + 30)
                heap.arm(timer, now + 0.5)
                heap.arm(timer, None)
                heap.arm(timer, now + 40)
    assert len(heap) < 200
    assert sorted(heap.due(41.0)) == sorted(str(number) for number in range(10))


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.none() | st.integers(0, 50), st.integers(0, 5)),
        max_size=80,
    ),
    st.sampled_from([1, SWEEP_FROM]),
)
def test_every_deadline_fires_once_and_on_time(steps: list, sweep_from: int) -> None:
    heap: TimerHeap[int] = TimerHeap(sweep_from)
    timers = [heap.timer(i) for i in range(5)]
    armed: dict[int, float] = {}
    now = 0.0
    for index, delay, passing in steps:
        deadline = None if delay is None else now + delay
        heap.arm(timers[index], deadline)
        armed.pop(index, None)
        if deadline is not None:
            armed[index] = deadline
        now += passing
        fired = sorted(heap.due(now))
        assert fired == sorted(i for i, when in armed.items() if when <= now)
        for i in fired:
            del armed[i]
        upcoming = heap.next()
        assert not armed or (upcoming is not None and upcoming <= min(armed.values()))


def test_the_callback_gets_the_earliest_deadline_when_it_moves() -> None:
    reported: list[float | None] = []
    heap: TimerHeap[str] = TimerHeap(moved=reported.append)
    first, second = heap.timer("first"), heap.timer("second")
    for timer, deadline in ((first, 5.0), (second, 9.0), (second, 3.0), (second, 4.0)):
        heap.arm(timer, deadline)
    assert reported == [5.0, 3.0]
    heap.drop(first)
    heap.drop(second)
    assert reported == [5.0, 3.0, None]
