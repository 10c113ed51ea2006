"""The estimate of round trip and timeout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.session import SessionConfig
from emu.session.send_queue import RoundTrip


def test_the_timeout_starts_at_500_ms_times_three():
    assert RoundTrip(SessionConfig()).timeout == pytest.approx(1.5)


def test_the_first_measurement_replaces_the_start():
    estimate = RoundTrip(SessionConfig())
    estimate.measure(0.4)
    assert estimate.smoothed == 0.4
    assert estimate.timeout == pytest.approx(0.4 + 4 * 0.2)


def test_steady_measurements_bring_the_timeout_down_to_its_floor():
    estimate = RoundTrip(SessionConfig(timeout_minimum=0.1))
    for _ in range(100):
        estimate.measure(0.08)
    assert estimate.smoothed == pytest.approx(0.08)
    assert estimate.timeout == pytest.approx(0.1)


def test_a_clients_statistics_count_until_something_is_measured():
    estimate = RoundTrip(SessionConfig())
    estimate.hint(0.0)
    assert estimate.timeout == pytest.approx(1.5)
    estimate.hint(0.2)
    assert estimate.timeout == pytest.approx(0.6)
    estimate.measure(0.1)
    estimate.hint(4.0)
    assert estimate.smoothed == pytest.approx(0.1)


@given(st.lists(st.floats(-1, 1e6)), st.floats(0, 1e9))
def test_the_timeout_stays_within_its_bounds(samples, hint):
    estimate = RoundTrip(SessionConfig())
    estimate.hint(hint)
    for sample in samples:
        estimate.measure(sample)
        assert 0.2 <= estimate.timeout <= 5.0
        assert estimate.low <= estimate.high


def test_the_variation_follows_by_a_quarter_and_the_average_by_an_eighth():
    trip = RoundTrip(SessionConfig())
    trip.measure(0.1)
    trip.measure(0.3)
    assert trip.smoothed == pytest.approx(0.125)
    assert trip.variation == pytest.approx(0.05 + (0.2 - 0.05) / 4)
    assert trip.timeout == pytest.approx(0.125 + 4 * 0.0875)
    assert (trip.low, trip.high) == (0.1, 0.3)
