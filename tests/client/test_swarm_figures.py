"""Figures of a swarm: percentiles and what went by in a second."""

from hypothesis import given
from hypothesis import strategies as st

from emu.client.swarm import SwarmFigures, percentile


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 100))
def test_a_percentile_is_one_of_the_values_and_rises(values, percent) -> None:
    found = percentile(values, percent)
    assert found in values
    assert min(values) <= found <= percentile(values, 100) == max(values)


def test_the_report_is_in_milliseconds_and_by_the_second() -> None:
    figures = SwarmFigures(4, logins_ok=3, logins_failed=1, packets=500, bytes=1000, seconds=2.0)
    figures.logins = [0.010, 0.020, 0.030]
    figures.entries = [0.001 * number for number in range(1, 1001)]
    report = figures.report()
    assert (report["entering_ms_p50"], report["entering_ms_p99"]) == (501.0, 991.0)
    assert (report["login_ms_p50"], report["login_ms_p99"]) == (20.0, 30.0)
    assert (report["packets_per_s"], report["bytes_per_s"]) == (250.0, 500.0)
    assert report["rtt_ms_p50"] is report["sight_ms_p99"] is None
    assert percentile([], 50) is None
