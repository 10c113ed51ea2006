"""The registry: names, and reading all of it."""

from __future__ import annotations

import pytest

from emu.metrics import MetricRegistry, MetricType


def test_measures_are_read_together_in_their_order() -> None:
    measures = MetricRegistry()
    sums = {"n": 0}
    measures.before_reading(lambda: sums.update(n=sums["n"] + 1))
    measures.counter("a", "A.", ["reason"]).add("x")
    measures.gauge("b", "B.", lambda: {(): sums["n"]})
    measures.histogram("c_seconds", "C.").observe(0.1)
    readings = measures.read_samples()
    assert [one.family.name for one in readings] == ["a", "b", "c_seconds"]
    assert [one.kind for one in readings] == [
        MetricType.COUNTER,
        MetricType.GAUGE,
        MetricType.HISTOGRAM,
    ]
    assert readings[1].values == {(): 1}
    assert measures.value("a", "x") == 1
    assert measures.value("a", "never") == 0
    assert measures.value("b") == 4
    with pytest.raises(TypeError):
        measures.value("c_seconds")
    with pytest.raises(KeyError):
        measures.value("d")


def test_a_name_is_given_once_and_must_be_one() -> None:
    measures = MetricRegistry()
    measures.counter("a", "A.")
    with pytest.raises(ValueError, match="already"):
        measures.gauge("a", "A.", dict)
    for name in ("", "A", "1a", "a b", "a\n"):
        with pytest.raises(ValueError, match="not a name"):
            measures.counter(name, "X.")
    with pytest.raises(ValueError, match="not a name"):
        measures.counter("b", "X.", ["Label"])
