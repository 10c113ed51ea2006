"""The registry: every measure of a process under its name, each made once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from emu.measures.families import Counter, Family, Gauge, Histogram, Labels, Reading

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Bounds for histograms of times, from half a millisecond to five seconds."""


Measure = Counter | Gauge | Histogram
_M = TypeVar("_M", Counter, Gauge, Histogram)


class Measures:
    """Makes measures and reads them all. Raises `ValueError` for a bad name, or one made before.

    Used from one thread.
    """

    def __init__(self) -> None:
        self._measures: dict[str, Measure] = {}
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
        """Make a gauge: `ask` is called whenever somebody looks."""
        self._keep(Gauge(_family(name, about, labels), ask))

    def histogram(
        self, name: str, about: str, labels: Sequence[str] = (), bounds: Sequence[float] = SECONDS
    ) -> Histogram:
        """Make a histogram; its name ends with the unit of the values."""
        return self._keep(Histogram(_family(name, about, labels), bounds))

    def before_reading(self, prepare: Callable[[], object]) -> None:
        """Have something called each time somebody looks: sums that several measures need."""
        self._before.append(prepare)

    def read(self) -> list[Reading]:
        """Return every measure as it is now, in the order in which they were made."""
        self._prepare()
        return [measure.read() for measure in self._measures.values()]

    def value(self, name: str, *labels: str) -> float:
        """Return one value of a counter or a gauge; 0 when nothing was counted yet.

        Raises `KeyError` for a name that no measure has.
        """
        measure = self._measures[name]
        self._prepare()
        found = measure.read().values.get(labels, 0)
        if not isinstance(found, int | float):
            raise TypeError(f"{name} is a histogram")
        return found

    def _prepare(self) -> None:
        for prepare in self._before:
            prepare()

    def _keep(self, measure: _M) -> _M:
        name = measure.family.name
        if name in self._measures:
            raise ValueError(f"there is a measure {name} already")
        self._measures[name] = measure
        return measure


def _family(name: str, about: str, labels: Sequence[str]) -> Family:
    for one in (name, *labels):
        if not _NAME.match(one):
            raise ValueError(f"{one!r} is no name for a measure or a label")
    return Family(name, about, tuple(labels))
