from hypothesis import given
from hypothesis import strategies as st

from emu.net.timers import TimerHeap


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


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.none() | st.integers(0, 50), st.integers(0, 5)),
        max_size=80,
    )
)
def test_every_deadline_fires_once_and_on_time(steps: list) -> None:
    heap: TimerHeap[int] = TimerHeap()
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
