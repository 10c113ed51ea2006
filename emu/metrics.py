"""Metrics: counters that grow, gauges that are read, histograms of values, and their registry.

A metric has one value for each set of label values, which are texts. The number of sets is bounded,
because some labels come from unauthenticated peers: further sets count as `OTHER`. Sessions keep
their own counters, which are added up when the metrics are read, so the hot path pays nothing.
"""

from __future__ import annotations

import collections
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import accumulate
from typing import TypeVar

Labels = tuple[str, ...]
"""A value for each label of a metric, in their order."""

MOST_SERIES = 200
"""The most sets of label values of one metric."""
OTHER = "other"


class MetricType(Enum):
    """The kind of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """The name of a metric (lower case, with its unit at the end), its help text and its labels."""

    name: str
    about: str
    labels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Buckets:
    """The values of a histogram: the number up to each bound, their sum and their total number."""

    bounds: Sequence[float]
    at_most: Sequence[int]
    sum: float
    count: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The values of a metric at one moment."""

    family: Family
    kind: MetricType
    values: Mapping[Labels, float | Buckets]


class Counter:
    """A number that only grows. Functions may add counts of living objects at each reading."""

    __slots__ = ("_alive", "_values", "family")

    def __init__(self, family: Family) -> None:
        self.family = family
        self._values: dict[Labels, float] = {}
        self._alive: list[Callable[[], Mapping[Labels, float]]] = []

    def add(self, *labels: str, by: float = 1) -> None:
        """Add to the count of a set of labels."""
        _add(self._values, labels, by)

    def also(self, alive: Callable[[], Mapping[Labels, float]]) -> None:
        """Add the counts that `alive` returns at each reading."""
        self._alive.append(alive)

    def read_samples(self) -> Reading:
        """Return all counts."""
        values = dict(self._values)
        for alive in self._alive:
            for labels, count in alive().items():
                _add(values, labels, count)
        return Reading(self.family, MetricType.COUNTER, values)


class Gauge:
    """A number that a function returns at each reading."""

    __slots__ = ("_ask", "family")

    def __init__(self, family: Family, ask: Callable[[], Mapping[Labels, float]]) -> None:
        self.family = family
        self._ask = ask

    def read_samples(self) -> Reading:
        """Return the present values."""
        return Reading(self.family, MetricType.GAUGE, dict(self._ask()))


class Histogram:
    """Values counted in buckets; `bounds` are the upper bounds, in growing order."""

    __slots__ = ("_bounds", "_counts", "_sums", "family")

    def __init__(self, family: Family, bounds: Sequence[float]) -> None:
        # Bounds that do not grow would make buckets overlap.
        if not bounds or list(bounds) != sorted(set(bounds)):
            raise ValueError(f"{family.name}: the bounds of a histogram must grow")
        self.family = family
        self._bounds = tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        """Add one value."""
        counts = self._counts.get(labels)
        if counts is None:
            # A new set of labels may become `OTHER`, so it is resolved once for both tables.
            labels = _known(self._counts, labels)
            # One bucket more, for values beyond the last bound.
            counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        # The bound itself belongs to its bucket, as Prometheus defines it.
        counts[bisect_left(self._bounds, value)] += 1
        _add(self._sums, labels, value)

    def read_samples(self) -> Reading:
        """Return all buckets."""
        values = {
            labels: Buckets(
                self._bounds,
                tuple(accumulate(counts[:-1])),
                self._sums[labels],
                sum(counts),
            )
            for labels, counts in self._counts.items()
        }
        return Reading(self.family, MetricType.HISTOGRAM, values)


def _add(values: dict[Labels, float], labels: Labels, by: float) -> None:
    if labels not in values:
        labels = _known(values, labels)
    values[labels] = values.get(labels, 0) + by


def _known(values: Mapping[Labels, object], labels: Labels) -> Labels:
    """Return the labels for a new value: `OTHER` once there are too many sets."""
    # Known sets go on counting; only further ones are joined.
    is_full = labels not in values and len(values) >= MOST_SERIES
    return (OTHER,) * len(labels) if is_full else labels


_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Bounds for histograms of times, from half a millisecond to five seconds."""


Metric = Counter | Gauge | Histogram
_M = TypeVar("_M", Counter, Gauge, Histogram)


class MetricRegistry:
    """Makes metrics and reads them all. Raises `ValueError` for a bad or repeated name.

    Used from one thread.
    """

    def __init__(self) -> None:
        self._measures: dict[str, Metric] = {}
        self._before: list[Callable[[], object]] = []

    def counter(self, name: str, about: str, labels: Sequence[str] = ()) -> Counter:
        """Make a counter; its name ends with what is counted."""
        return self._keep(Counter(_family(name, about, labels)))

    def gauge(
        self,
        name: str,
        about: str,
        ask: Callable[[], Mapping[Labels, float]],
        labels: Sequence[str] = (),
    ) -> None:
        """Make a gauge; `ask` is called at each reading."""
        self._keep(Gauge(_family(name, about, labels), ask))

    def histogram(
        self, name: str, about: str, labels: Sequence[str] = (), bounds: Sequence[float] = SECONDS
    ) -> Histogram:
        """Make a histogram; its name ends with the unit of the values."""
        return self._keep(Histogram(_family(name, about, labels), bounds))

    def before_reading(self, prepare: Callable[[], object]) -> None:
        """Call a function before each reading: it computes sums that several metrics need."""
        self._before.append(prepare)

    def read_samples(self) -> list[Reading]:
        """Return the present values of every metric, in the order of their making."""
        self._prepare()
        return [measure.read_samples() for measure in self._measures.values()]

    def value(self, name: str, *labels: str) -> float:
        """Return one value of a counter or a gauge; 0 if nothing was counted yet.

        Raises `KeyError` for an unknown name.
        """
        measure = self._measures[name]
        self._prepare()
        found = measure.read_samples().values.get(labels, 0)
        # A histogram has no single value.
        if not isinstance(found, int | float):
            raise TypeError(f"{name} is a histogram")
        return found

    def _prepare(self) -> None:
        for prepare in self._before:
            prepare()

    def _keep(self, measure: _M) -> _M:
        name = measure.family.name
        if name in self._measures:
            raise ValueError(f"there is a metric {name} already")
        self._measures[name] = measure
        return measure


def _family(name: str, about: str, labels: Sequence[str]) -> Family:
    for one in (name, *labels):
        if not _NAME.match(one):
            raise ValueError(f"{one!r} is not a name for a metric or a label")
    return Family(name, about, tuple(labels))


@dataclass(slots=True)
class EndpointUses:
    """Counters of one endpoint for operators or the web."""

    requests: collections.Counter[str] = field(default_factory=collections.Counter)
    """Requested commands or pages, by result."""
    logins: collections.Counter[str] = field(default_factory=collections.Counter)
    """Logins, by result."""
    ended: collections.Counter[str] = field(default_factory=collections.Counter)
    """Connections that were refused or have ended, by reason."""

    def counted(self) -> dict[str, int]:
        """Return all counts by name."""
        requests = {f"requests {result}": count for result, count in self.requests.items()}
        logins = {f"logins {result}": count for result, count in self.logins.items()}
        return requests | logins | self.ended


class EndpointMetrics:
    """Metrics of all such endpoints of a process; the name of each is the label ``port``."""

    def __init__(self, measures: MetricRegistry) -> None:
        self._endpoints: dict[str, tuple[EndpointUses, Callable[[], int] | None]] = {}
        measures.gauge("connections", "Open connections.", self._open, ["port"])
        for name, about, label, counts in (
            ("requests", "Requested commands and pages.", "result", "requests"),
            ("authentications", "Passwords and tokens that were checked.", "result", "logins"),
            ("connections_ended", "Connections refused or ended.", "reason", "ended"),
        ):
            measures.counter(name, about, ["port", label]).also(partial(self._of_uses, counts))

    def watch(
        self, port: str, uses: EndpointUses, connections: Callable[[], int] | None = None
    ) -> None:
        """Add an endpoint under a name; `connections` returns how many are open, if it has any."""
        self._endpoints[port] = (uses, connections)

    def _open(self) -> dict[tuple[str, ...], float]:
        endpoints = self._endpoints.items()
        return {(port,): count() for port, (_, count) in endpoints if count is not None}

    def _of_uses(self, counts: str) -> dict[tuple[str, ...], float]:
        """Return one of the counters of `EndpointUses`, by port and label."""
        return {
            (port, label): count
            for port, (uses, _) in self._endpoints.items()
            for label, count in getattr(uses, counts).items()
        }
