"""Counters, gauges and histograms, and how many label values they distinguish."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.metrics import MOST_SERIES, Counter, Family, Gauge, Histogram, MetricType

LOGINS = Family("logins", "Logins.", ("result",))


def test_a_counter_counts_by_label_and_adds_what_is_alive_when_read() -> None:
    counter = Counter(LOGINS)
    counter.add("accepted")
    counter.add("accepted", by=2)
    alive = {("accepted",): 4, ("refused",): 1}
    counter.also(lambda: alive)  # type: ignore[return-value]
    reading = counter.read_samples()
    assert (reading.kind, reading.family) == (MetricType.COUNTER, LOGINS)
    assert reading.values == {("accepted",): 7, ("refused",): 1}
    alive.clear()
    assert counter.read_samples().values == {("accepted",): 3}


def test_a_gauge_is_asked_when_it_is_read_and_not_before() -> None:
    asked = []

    def ask():
        asked.append(1)
        return {(): len(asked)}

    gauge = Gauge(Family("x", "X."), ask)
    assert asked == []
    assert [gauge.read_samples().values[()] for _ in range(2)] == [1, 2]


@given(st.lists(st.floats(-1, 10, width=32), max_size=60))
def test_buckets_hold_what_is_at_most_their_bound(values: list[float]) -> None:
    bounds = (0.0, 0.5, 1.0, 5.0)
    histogram = Histogram(Family("x", "X."), bounds)
    for value in values:
        histogram.observe(value)
    read = histogram.read_samples().values
    if not values:
        assert read == {}
        return
    buckets = read[()]
    assert buckets.count == len(values)
    assert buckets.sum == pytest.approx(sum(values))
    assert list(buckets.at_most) == [sum(value <= one for value in values) for one in bounds]


@pytest.mark.parametrize("bounds", [(), (1.0, 1.0), (2.0, 1.0)])
def test_bounds_that_do_not_grow_are_refused(bounds) -> None:
    with pytest.raises(ValueError, match="must grow"):
        Histogram(Family("x", "X."), bounds)


def test_labels_of_unauthenticated_peers_are_bounded() -> None:
    counter, histogram = Counter(LOGINS), Histogram(LOGINS, (1.0,))
    for number in range(10 * MOST_SERIES):
        counter.add(f"reason {number}")
        histogram.observe(0.5, f"reason {number}")
    for reading in (counter.read_samples(), histogram.read_samples()):
        assert len(reading.values) == MOST_SERIES + 1
        assert ("reason 0",) in reading.values
    assert counter.read_samples().values[("other",)] == 9 * MOST_SERIES
    assert histogram.read_samples().values[("other",)].count == 9 * MOST_SERIES
