"""The asking side: a snapshot as values that can be looked up. Raises `MalformedMessage` only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emu.admin.status import OpenDoor
from emu.errors import MalformedMessage

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values were at most each bound, and how many there were in all."""

    bounds: tuple[float, ...] = ()
    at_most: tuple[int, ...] = ()
    count: int = 0

    def since(self, earlier: Histogram) -> Histogram:
        """Return what has come since an earlier look at the same histogram."""
        if earlier.bounds != self.bounds or earlier.count > self.count:
            return self
        at_most = (now - then for now, then in zip(self.at_most, earlier.at_most, strict=True))
        return Histogram(self.bounds, tuple(at_most), self.count - earlier.count)

    def quantile(self, share: float) -> float | None:
        """Return the value that `share` (0 to 1) of all are at most, None while there is none.

        Inside a bucket it is drawn on a straight line, as Prometheus does; beyond the last bound it
        is that bound.
        """
        if not self.count:
            return None
        wanted = share * self.count
        low, below = 0.0, 0
        for bound, at_most in zip(self.bounds, self.at_most, strict=True):
            if at_most >= wanted and at_most > below:
                return low + (bound - low) * (wanted - below) / (at_most - below)
            low, below = bound, at_most
        return low


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The server at one time. Rows are as `/api/` tells them, players with their addresses."""

    process: int
    taken: float
    """Steady seconds, comparable within a process only."""
    server: Mapping[str, Any]
    worlds: Sequence[Mapping[str, Any]]
    zones: Sequence[Mapping[str, Any]]
    players: Sequence[Mapping[str, Any]]
    doors: tuple[OpenDoor, ...]
    numbers: Mapping[str, Mapping[Labels, float]]
    """Counters and gauges by name, each by its label values."""
    histograms: Mapping[str, Mapping[Labels, Histogram]]
    log: tuple[str, ...]
    """The last lines, the newest at the end."""

    @classmethod
    def of(cls, value: Any) -> Snapshot:
        """Read the data of a reply. Raises `MalformedMessage` for anything else."""
        try:
            numbers, histograms = _measures(value["measures"])
            return cls(
                process=int(value["process"]),
                taken=float(value["taken"]),
                server=dict(value["server"]),
                worlds=[dict(row) for row in value["worlds"]],
                zones=[dict(row) for row in value["zones"]],
                players=[dict(row) for row in value["players"]],
                doors=tuple(OpenDoor(**row) for row in value["doors"]),
                numbers=numbers,
                histograms=histograms,
                log=tuple(map(str, value["log"])),
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            raise MalformedMessage("no snapshot of a server of this version") from None

    def number(self, name: str, *labels: str) -> float:
        """Return a counter's or a gauge's value, summed over the labels that are not given."""
        values = self.numbers.get(name, {})
        return sum(value for key, value in values.items() if key[: len(labels)] == labels)

    def by_last(self, name: str, *labels: str) -> dict[str, float]:
        """Return the values of a counter by its last label, as for drops by reason."""
        found: dict[str, float] = {}
        for key, value in self.numbers.get(name, {}).items():
            if key and key[: len(labels)] == labels:
                found[key[-1]] = found.get(key[-1], 0) + value
        return found

    def histogram(self, name: str, *labels: str) -> Histogram:
        """Return a histogram, an empty one when nothing was noted yet."""
        return self.histograms.get(name, {}).get(labels, Histogram())


def _measures(
    value: Mapping[str, Any],
) -> tuple[dict[str, dict[Labels, float]], dict[str, dict[Labels, Histogram]]]:
    numbers: dict[str, dict[Labels, float]] = {}
    histograms: dict[str, dict[Labels, Histogram]] = {}
    for name, pairs in value.items():
        for labels, one in pairs:
            key = tuple(map(str, labels))
            if isinstance(one, dict):
                histogram = Histogram(tuple(one["bounds"]), tuple(one["at_most"]), one["count"])
                histograms.setdefault(name, {})[key] = histogram
            else:
                numbers.setdefault(name, {})[key] = float(one)
    return numbers, histograms
