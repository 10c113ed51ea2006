"""Graphs of the last hour and the last day, made from samples of the server's own metrics.

A sample is taken every ten seconds. An hour keeps all of them, a day one value for four minutes, so
the memory is bounded. What is counted becomes a rate between two samples.
Source: docs/guides/monitoring.md#graphs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from emu.metrics import Buckets, Reading
from emu.times import Moment, Monotonic

EVERY: Final = 10.0
"""Seconds between two samples."""
MEBIBYTE: Final = 1024.0 * 1024.0


class Series(NamedTuple):
    """One line of a graph."""

    name: str
    label: str
    is_peak: bool = False
    """Whether several samples become their highest; otherwise their mean."""


class Graph(NamedTuple):
    """One graph: lines with the same unit."""

    name: str
    title: str
    unit: str
    series: tuple[Series, ...]


class Span(NamedTuple):
    """What a graph shows: so many steps of so many seconds."""

    name: str
    step: float
    steps: int


SPANS: Final = (Span("hour", EVERY, 360), Span("day", 240.0, 360))
GRAPHS: Final = (
    Graph("players", "Players", "players", (Series("players", "in the world", is_peak=True),)),
    Graph("ticks", "Ticks of the world", "ms", (
        Series("tick", "on average"), Series("tick_slowest", "the slowest, at most", is_peak=True),
    )),
    Graph("cpu", "Processor", "% of a core", (Series("cpu", "the server's main thread"),)),
    Graph("memory", "Memory", "MiB", (Series("memory", "resident", is_peak=True),)),
    Graph("traffic", "Traffic with clients", "KiB/s", (
        Series("sent", "sent"), Series("received", "received"),
    )),
    Graph("refusals", "Refused", "a minute", (
        Series("logins_refused", "logins"), Series("datagrams_refused", "datagrams"),
    )),
    Graph("scripts", "Time of scripts", "% of a core", (
        Series("lua", "Lua scripts"), Series("behaviors", "behaviors"),
    )),
    Graph("saves", "Saved characters", "a minute", (Series("saves", "saves"),)),
)  # fmt: skip
_PEAKS: Final = frozenset(one.name for graph in GRAPHS for one in graph.series if one.is_peak)


class Counts(NamedTuple):
    """What is counted since the start, at one moment."""

    at: Monotonic
    cpu: float
    """Seconds of the processor."""
    readings: Mapping[str, Reading]

    def total(self, name: str, *labels: str) -> float | None:
        """Return a count over all labels that begin so; None if it is not measured here."""
        reading = self.readings.get(name)
        if reading is None:
            return None
        return sum(
            float(value) for key, value in reading.values.items()
            if isinstance(value, int | float) and key[: len(labels)] == labels
        )  # fmt: skip

    def ticks(self) -> Buckets | None:
        """Return the durations of the world's ticks."""
        reading = self.readings.get("world_tick_seconds")
        found = None if reading is None else reading.values.get(())
        return found if isinstance(found, Buckets) else None


class Sampler:
    """Makes samples out of counts; each is about the time since the one before."""

    def __init__(self) -> None:
        self._before: Counts | None = None

    def sample(
        self, readings: Sequence[Reading], cpu: float, memory: int | None, now: Monotonic
    ) -> dict[str, float]:
        """Return the values of all series that are measured here."""
        counts = Counts(now, cpu, {one.family.name: one for one in readings})
        before, self._before = self._before, counts
        values: dict[str, float] = {}
        players = counts.total("players")
        if players is not None:
            values["players"] = players
        if memory is not None:
            values["memory"] = memory / MEBIBYTE
        if before is not None and now > before.at:
            values |= _rates(before, counts)
            values |= _tick_values(before.ticks(), counts.ticks())
        return values


_RATES: Final = (
    ("sent", 1 / 1024, "session_bytes_sent", ()),
    ("received", 1 / 1024, "session_bytes_received", ()),
    ("logins_refused", 60.0, "logins_refused", ()),
    ("datagrams_refused", 60.0, "datagrams_refused", ()),
    ("lua", 100.0, "script_seconds", ("lua",)),
    ("behaviors", 100.0, "script_seconds", ("behavior",)),
    ("saves", 60.0, "saves", ()),
)
"""The series that are rates: name, factor, metric and the beginning of its labels."""


def _rates(before: Counts, counts: Counts) -> dict[str, float]:
    seconds = counts.at - before.at
    values = {"cpu": 100.0 * max(0.0, counts.cpu - before.cpu) / seconds}
    for name, factor, metric, labels in _RATES:
        new, old = counts.total(metric, *labels), before.total(metric, *labels)
        if new is not None and old is not None:
            # The counts of a service that was made anew begin at 0.
            values[name] = factor * max(0.0, new - old) / seconds
    return values


def _tick_values(before: Buckets | None, now: Buckets | None) -> dict[str, float]:
    if now is None:
        return {}
    count = now.count - (before.count if before is not None else 0)
    if count <= 0:
        return {}
    seconds = now.sum - (before.sum if before is not None else 0.0)
    old = before.at_most if before is not None else (0,) * len(now.at_most)
    slowest = next(
        (bound for bound, new, was in zip(now.bounds, now.at_most, old, strict=True)
         if new - was >= count),
        now.bounds[-1],
    )  # fmt: skip
    return {"tick": 1000.0 * seconds / count, "tick_slowest": 1000.0 * slowest}


@dataclass(slots=True)
class _Step:
    """One step of a span: the sums, or the highest values, of its samples."""

    moment: Moment
    values: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            known = self.values.get(name)
            if known is None:
                self.values[name], self.counts[name] = value, 1
            elif name in _PEAKS:
                self.values[name] = max(known, value)
            else:
                self.values[name] = known + value
                self.counts[name] += 1

    def value(self, name: str) -> float | None:
        found = self.values.get(name)
        return None if found is None else round(found / self.counts[name], 3)


class History:
    """The samples of the last hour and the last day."""

    def __init__(self) -> None:
        self._steps = {span.name: deque[_Step](maxlen=span.steps) for span in SPANS}

    def add_sample(self, values: Mapping[str, float], moment: Moment) -> None:
        """Add a sample."""
        for span in SPANS:
            steps = self._steps[span.name]
            begin = Moment(moment - moment % span.step)
            # A clock that was set back adds to the newest step: the moments must grow.
            if not steps or begin > steps[-1].moment:
                steps.append(_Step(begin))
            steps[-1].add(values)

    def record(self, name: str) -> dict[str, Any]:
        """Return the graphs of a span with their values; a graph without a value is left out."""
        (span,) = (one for one in SPANS if one.name == name)
        steps = self._steps[name]
        graphs = []
        for graph in GRAPHS:
            lines = [
                {"name": one.name, "label": one.label,
                 "values": [step.value(one.name) for step in steps]}
                for one in graph.series if any(one.name in step.values for step in steps)
            ]  # fmt: skip
            if lines:
                graphs.append({"name": graph.name, "title": graph.title, "unit": graph.unit,
                               "series": lines})  # fmt: skip
        return {"span": name, "step": span.step, "seconds": span.step * span.steps,
                "moments": [step.moment for step in steps], "graphs": graphs}  # fmt: skip
