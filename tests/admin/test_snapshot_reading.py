import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.snapshot import HistogramReading, Snapshot
from emu.errors import MalformedMessage
from emu.metrics import MetricRegistry
from tests.support.admin.snapshots import Measured

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def test_numbers_are_found_by_labels_and_summed_over_the_rest() -> None:
    measured = Measured()
    measured.drops.add("login", "bad checksum", by=3)
    measured.drops.add("world", "bad checksum", by=2)
    measured.drops.add("world", "too old", by=1)
    now = measured.snapshot()
    assert now.number("session_drops") == 6
    assert now.number("session_drops", "world") == 3
    assert now.number("session_drops", "world", "too old") == 1
    assert now.number("no such measure") == 0
    assert now.by_last("session_drops") == {"bad checksum": 5, "too old": 1}
    assert now.by_last("session_drops", "login") == {"bad checksum": 3}
    assert now.number("passwords_waiting") == 4
    assert now.histogram("world_tick_seconds") == HistogramReading()
    assert now.ports[0].key == "login.listen"


@pytest.mark.parametrize(
    "missing", ["process", "server", "players", "listeners", "measures", "log"]
)
def test_what_is_no_snapshot_is_refused(missing: str) -> None:
    value = Measured().value()
    del value[missing]
    with pytest.raises(MalformedMessage):
        Snapshot.of(value)


@given(JSON, st.sampled_from(["server", "players", "listeners", "measures", "taken", "log"]))
def test_nonsense_is_refused_and_nothing_worse(nonsense: object, key: str) -> None:
    value = Measured().value()
    value[key] = nonsense
    for one in (value, nonsense):
        try:
            Snapshot.of(json.loads(json.dumps(one)))
        except MalformedMessage:
            continue


@given(st.lists(st.floats(0, 10), min_size=1, max_size=50), st.floats(0.01, 1))
def test_a_quantile_is_right_to_the_bucket(values: list[float], share: float) -> None:
    bounds = (0.5, 1.0, 2.0, 4.0, 8.0)
    histogram = read_back(values, bounds)
    found = histogram.quantile(share)
    assert found is not None
    exact = sorted(values)[max(0, -(-len(values) * share // 1).__int__() - 1)]
    above = next((bound for bound in bounds if exact <= bound), bounds[-1])
    assert found <= above
    assert sum(value <= above for value in values) >= min(
        share * len(values), sum(value <= 8 for value in values)
    )


def test_quantiles_of_a_known_crowd() -> None:
    histogram = read_back([0.1] * 98 + [1.5, 100.0], (0.5, 1.0, 2.0))
    assert histogram.quantile(0.49) == pytest.approx(0.25)
    assert histogram.quantile(0.99) == pytest.approx(2.0)
    assert histogram.quantile(1.0) == 2.0, "what is beyond the last bound"
    assert HistogramReading().quantile(0.5) is None


def test_what_came_since_an_earlier_look() -> None:
    early, late = read_back([0.1, 0.7], (0.5, 1.0)), read_back([0.1, 0.7, 0.7, 3.0], (0.5, 1.0))
    since = late.since(early)
    assert (since.at_most, since.count) == ((0, 1), 2)
    assert early.since(late) == early, "the server was started anew"
    assert late.since(HistogramReading()) == late


def read_back(values: list[float], bounds: tuple[float, ...]) -> HistogramReading:
    """Return a histogram of ours as the asking side reads it."""
    measures = MetricRegistry()
    histogram = measures.histogram("seconds", "S.", bounds=bounds)
    for value in values:
        histogram.observe(value)
    (reading,) = measures.read_samples()
    (buckets,) = reading.values.values()
    return HistogramReading(tuple(buckets.bounds), tuple(buckets.at_most), buckets.count)
