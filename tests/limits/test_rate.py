from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.limits.rate import RateLimit


def test_a_burst_then_the_rate() -> None:
    limit = RateLimit(2, 5, 100.0)
    assert all(limit.take(1, 100.0) for _ in range(5))
    assert not limit.take(1, 100.0)
    assert not limit.take(1, 100.4)
    assert limit.take(1, 100.5)
    assert not limit.take(1, 100.5)
    assert limit.take(5, 200.0)
    assert not limit.take(0.1, 200.0)


def test_a_clock_that_steps_back_gives_nothing() -> None:
    limit = RateLimit(10, 10, 100.0)
    assert limit.take(10, 100.0)
    assert not limit.take(1, 50.0)
    assert not limit.take(1, 100.0)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_never_more_than_burst_plus_rate_times_time(waits: list[float]) -> None:
    limit, now, taken = RateLimit(3, 7, 0.0), 0.0, 0
    for wait in waits:
        now += wait
        while limit.take(1, now):
            taken += 1
    assert taken <= 7 + 3 * now + 1e-6


def test_looking_takes_nothing() -> None:
    limit = RateLimit(1, 2, 0.0)
    assert limit.has(2, 0.0)
    assert not limit.has(3, 0.0)
    assert limit.take(2, 0.0)
    assert not limit.has(1, 0.5)
    assert limit.has(1, 1.0)
