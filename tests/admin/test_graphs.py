"""Graphs of the server's metrics: rates, steps, and that they are bounded."""

from __future__ import annotations

from typing import Any

import pytest

from emu.admin.graphs import SPANS, History, Sampler
from emu.metrics import MetricRegistry
from emu.times import Moment, Monotonic

MEBIBYTE = 1024 * 1024


class Metrics:
    """A server's metrics and a sampler of them."""

    def __init__(self) -> None:
        self.registry = MetricRegistry()
        self.sent = self.registry.counter("session_bytes_sent", "sent", ["port"])
        self.scripts = self.registry.counter("script_seconds", "time", ["kind"])
        self.refused = self.registry.counter("logins_refused", "refused", ["reason"])
        self.ticks = self.registry.histogram("world_tick_seconds", "ticks", bounds=(0.01, 0.1, 1.0))
        self.players = 3
        self.registry.gauge("players", "players", lambda: {(): self.players})
        self._sampler = Sampler()

    def sample(self, now: float, cpu: float = 0.0) -> dict[str, float]:
        return self._sampler.sample(
            self.registry.read_samples(), cpu, 50 * MEBIBYTE, Monotonic(now)
        )


def test_the_first_sample_has_no_rates() -> None:
    assert Metrics().sample(100.0) == {"players": 3, "memory": 50.0}


def test_counts_become_rates_since_the_sample_before() -> None:
    made = Metrics()
    made.sent.add("login", by=5_000_000)
    made.sample(100.0, cpu=4.0)
    made.sent.add("login", by=10_240)
    made.sent.add("world", by=20_480)
    made.scripts.add("lua", by=0.5)
    made.scripts.add("behavior", by=0.1)
    made.refused.add("bad password", by=2)
    made.refused.add("banned")
    values = made.sample(110.0, cpu=6.5)
    assert values["sent"] == pytest.approx(3.0)
    assert values["lua"] == pytest.approx(5.0)
    assert values["behaviors"] == pytest.approx(1.0)
    assert values["logins_refused"] == pytest.approx(18.0)
    assert values["cpu"] == pytest.approx(25.0)
    assert "saves" not in values, "this server has no such metric"


def test_ticks_have_a_mean_and_a_bound_of_the_slowest() -> None:
    made = Metrics()
    made.ticks.observe(5.0)
    made.sample(100.0)
    for seconds in (0.002, 0.004, 0.05):
        made.ticks.observe(seconds)
    values = made.sample(110.0)
    assert values["tick"] == pytest.approx(56 / 3)
    assert values["tick_slowest"] == 100.0
    made.ticks.observe(30.0)
    assert made.sample(120.0)["tick_slowest"] == 1000.0, "the largest bound"
    assert "tick" not in made.sample(130.0)


def test_a_count_that_begins_anew_is_no_negative_rate() -> None:
    made = Metrics()
    made.sample(100.0, cpu=9.0)
    assert made.sample(110.0, cpu=1.0)["cpu"] == 0.0


def graph(history: History, span: str, name: str) -> list[Any]:
    (found,) = (one for one in history.record(span)["graphs"] if one["name"] == name)
    return [line["values"] for line in found["series"]]


def test_a_day_keeps_peaks_of_numbers_and_means_of_rates() -> None:
    history = History()
    for number in range(24):
        history.add_sample({"players": number % 7, "sent": number}, Moment(240_000.0 + 10 * number))
    history.add_sample({"players": 2, "sent": 7}, Moment(240_240.0))
    assert graph(history, "day", "players") == [[6, 2]]
    assert graph(history, "day", "traffic") == [[11.5, 7]]
    assert len(history.record("hour")["moments"]) == 25
    assert history.record("day")["moments"] == [240_000.0, 240_240.0]


def test_what_was_not_measured_has_a_gap_or_no_graph() -> None:
    history = History()
    history.add_sample({"players": 1}, Moment(1000.0))
    history.add_sample({"players": 1, "tick": 3.0}, Moment(1010.0))
    assert graph(history, "hour", "ticks") == [[None, 3.0]]
    assert [one["name"] for one in history.record("hour")["graphs"]] == ["players", "ticks"]


def test_samples_are_bounded_and_their_moments_grow() -> None:
    history = History()
    for number in range(20_000):
        history.add_sample({"players": number}, Moment(10.0 * number))
    history.add_sample({"players": 90_000}, Moment(5.0))
    for span in SPANS:
        record = history.record(span.name)
        assert len(record["moments"]) == span.steps == 360
        assert record["moments"] == sorted(set(record["moments"]))
    assert graph(history, "hour", "players")[0][-1] == 90_000
