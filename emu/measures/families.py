"""The three kinds of measures: counters that grow, gauges that are read, histograms of values.

A measure has one value for each set of label values, which are texts. How many sets there may be is
bounded, since some are made of what a stranger sent: what comes later counts as `OTHER`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate

Labels = tuple[str, ...]
"""A value for each label of a measure, in their order."""

MOST_SERIES = 200
"""Sets of label values that one measure tells apart."""
OTHER = "other"


class Kind(Enum):
    """What may be done with the values."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """What a measure is called (lower case, with its unit at the end), and what it is about."""

    name: str
    about: str
    labels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Buckets:
    """A histogram's values: how many were at most each bound, their sum and their number."""

    bounds: Sequence[float]
    at_most: Sequence[int]
    sum: float
    count: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A measure as it is now."""

    family: Family
    kind: Kind
    values: Mapping[Labels, float | Buckets]


class Counter:
    """Grows. What is alive may be added by who knows it, each time somebody looks."""

    __slots__ = ("_alive", "_values", "family")

    def __init__(self, family: Family) -> None:
        self.family = family
        self._values: dict[Labels, float] = {}
        self._alive: list[Callable[[], Mapping[Labels, float]]] = []

    def add(self, *labels: str, by: float = 1) -> None:
        """Count something."""
        _add(self._values, labels, by)

    def also(self, alive: Callable[[], Mapping[Labels, float]]) -> None:
        """Have what `alive` returns counted along whenever somebody looks."""
        self._alive.append(alive)

    def read(self) -> Reading:
        """Return all counts."""
        values = dict(self._values)
        for alive in self._alive:
            for labels, count in alive().items():
                _add(values, labels, count)
        return Reading(self.family, Kind.COUNTER, values)


class Gauge:
    """Is asked for when somebody looks."""

    __slots__ = ("_ask", "family")

    def __init__(self, family: Family, ask: Callable[[], Mapping[Labels, float]]) -> None:
        self.family = family
        self._ask = ask

    def read(self) -> Reading:
        """Return the values of now."""
        return Reading(self.family, Kind.GAUGE, dict(self._ask()))


class Histogram:
    """Sorts values into buckets: `bounds` are their upper ends, in growing order."""

    __slots__ = ("_bounds", "_counts", "_sums", "family")

    def __init__(self, family: Family, bounds: Sequence[float]) -> None:
        if not bounds or list(bounds) != sorted(set(bounds)):
            raise ValueError(f"{family.name}: the bounds of a histogram must grow")
        self.family = family
        self._bounds = tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        """Take one value in."""
        counts = self._counts.get(labels)
        if counts is None:
            labels = _known(self._counts, labels)
            counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        _add(self._sums, labels, value)

    def read(self) -> Reading:
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
        return Reading(self.family, Kind.HISTOGRAM, values)


def _add(values: dict[Labels, float], labels: Labels, by: float) -> None:
    if labels not in values:
        labels = _known(values, labels)
    values[labels] = values.get(labels, 0) + by


def _known(values: Mapping[Labels, object], labels: Labels) -> Labels:
    """Return under which labels something new is kept."""
    is_full = labels not in values and len(values) >= MOST_SERIES
    return (OTHER,) * len(labels) if is_full else labels
