"""The whole server as one JSON value. The server makes it; `emu status` and `emu top` compare two.

Only the local console gets it, by the command `snapshot`: it contains players' addresses and the
last lines of the log.

Times are the server's own monotonic times, which the snapshot contains.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from emu.admin.status import OpenPort, ServerStatus
from emu.admin.web import api
from emu.errors import MalformedMessage
from emu.metrics import Buckets, Reading
from emu.times import Monotonic


def snapshot_value(
    status: ServerStatus,
    now: Monotonic,
    readings: Iterable[Reading],
    ports: Iterable[OpenPort],
    *,
    lines: Sequence[str],
    process: int,
) -> dict[str, Any]:
    """Return what `Snapshot.of` reads; `process` is the server's process id.

    `status` may be a second older than the readings, which are from `now`.
    """
    players = zip(api.players(status), status.players, strict=True)
    return {
        "process": process,
        "taken": now,
        "server": api.summary(status),
        "worlds": api.worlds(status),
        "zones": api.zones(status),
        "players": [{**row, "address": player.address} for row, player in players],
        "listeners": [asdict(one) for one in ports],
        "measures": {reading.family.name: _values(reading) for reading in readings},
        "troubles": list(status.troubles),
        "log": list(lines),
    }


def _values(reading: Reading) -> list[list[Any]]:
    """Return pairs of label values and a number, or the buckets of a histogram."""
    return [
        [list(labels), asdict(value) if isinstance(value, Buckets) else value]
        for labels, value in reading.values.items()
    ]


Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HistogramReading:
    """A histogram: how many values were at most each bound, and the total."""

    bounds: tuple[float, ...] = ()
    at_most: tuple[int, ...] = ()
    count: int = 0

    def since(self, earlier: HistogramReading) -> HistogramReading:
        """Return the values added since an earlier reading of the same histogram."""
        # A restarted server, or other buckets: the difference would be meaningless.
        if earlier.bounds != self.bounds or earlier.count > self.count:
            return self
        at_most = (now - then for now, then in zip(self.at_most, earlier.at_most, strict=True))
        return HistogramReading(self.bounds, tuple(at_most), self.count - earlier.count)

    def quantile(self, share: float) -> float | None:
        """Return the value that `share` (0 to 1) of all values are below; None without values.

        Within a bucket the value is interpolated linearly, as Prometheus does. Beyond the last
        bound it is that bound.
        """
        if not self.count:
            return None
        wanted = share * self.count
        low, below = 0.0, 0
        for bound, at_most in zip(self.bounds, self.at_most, strict=True):
            # A bucket without values of its own cannot contain the quantile.
            if at_most >= wanted and at_most > below:
                return low + (bound - low) * (wanted - below) / (at_most - below)
            low, below = bound, at_most
        # The value is beyond the last bound; nothing more is known.
        return low


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The server at one moment. Rows have the fields of `/api/`, players also their addresses."""

    process: int
    taken: float
    """Monotonic seconds, comparable only within one process."""
    server: Mapping[str, Any]
    worlds: Sequence[Mapping[str, Any]]
    zones: Sequence[Mapping[str, Any]]
    players: Sequence[Mapping[str, Any]]
    ports: tuple[OpenPort, ...]
    numbers: Mapping[str, Mapping[Labels, float]]
    """Counters and gauges by name, each by its label values."""
    histograms: Mapping[str, Mapping[Labels, HistogramReading]]
    log: tuple[str, ...]
    """The last lines of the log, the newest last."""
    troubles: tuple[str, ...] = ()
    """Present faults, for instance a stalled zone. Older servers send none."""

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
                # The name in the data is older than the class; changing it would break older tools.
                ports=tuple(OpenPort(**row) for row in value["listeners"]),
                numbers=numbers,
                histograms=histograms,
                log=tuple(map(str, value["log"])),
                # Missing in the data of older servers.
                troubles=tuple(map(str, value.get("troubles", ()))),
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            raise MalformedMessage("no snapshot of a server of this version") from None

    def number(self, name: str, *labels: str) -> float:
        """Return a counter's or a gauge's value, summed over the labels that are not given."""
        values = self.numbers.get(name, {})
        # The labels that are given are the first ones, so the rest is summed.
        return sum(value for key, value in values.items() if key[: len(labels)] == labels)

    def by_last(self, name: str, *labels: str) -> dict[str, float]:
        """Return the values of a counter by its last label, for instance drops by reason."""
        found: dict[str, float] = {}
        for key, value in self.numbers.get(name, {}).items():
            if key and key[: len(labels)] == labels:
                found[key[-1]] = found.get(key[-1], 0) + value
        return found

    def histogram(self, name: str, *labels: str) -> HistogramReading:
        """Return a histogram; an empty one if it has no values yet."""
        return self.histograms.get(name, {}).get(labels, HistogramReading())


def _measures(
    value: Mapping[str, Any],
) -> tuple[dict[str, dict[Labels, float]], dict[str, dict[Labels, HistogramReading]]]:
    numbers: dict[str, dict[Labels, float]] = {}
    histograms: dict[str, dict[Labels, HistogramReading]] = {}
    for name, pairs in value.items():
        for labels, one in pairs:
            key = tuple(map(str, labels))
            if isinstance(one, dict):
                histogram = HistogramReading(
                    tuple(one["bounds"]), tuple(one["at_most"]), one["count"]
                )
                histograms.setdefault(name, {})[key] = histogram
            else:
                numbers.setdefault(name, {})[key] = float(one)
    return numbers, histograms


@dataclass(frozen=True, slots=True)
class Rates:
    """The changes between two snapshots; `before` is None for the first snapshot of a server."""

    now: Snapshot
    before: Snapshot | None = None

    @classmethod
    def between(cls, before: Snapshot | None, now: Snapshot) -> Rates:
        """Compare two snapshots. Snapshots of two processes, or of one moment, give no rates."""
        # A restarted server counts from 0 again.
        if before is None or before.process != now.process or before.taken >= now.taken:
            return cls(now)
        return cls(now, before)

    def rate(self, name: str, *labels: str) -> float | None:
        """Return a counter's growth per second, or None without an earlier snapshot."""
        if self.before is None:
            return None
        grown = self.now.number(name, *labels) - self.before.number(name, *labels)
        # A counter never falls; a negative difference would be a fault of the reading.
        return max(0.0, grown) / (self.now.taken - self.before.taken)

    def rates_by_last(self, name: str, *labels: str) -> dict[str, float]:
        """Return a counter's growth per second by its last label."""
        if self.before is None:
            return {}
        before, seconds = self.before.by_last(name, *labels), self.now.taken - self.before.taken
        grown = {
            key: (value - before.get(key, 0)) / seconds
            for key, value in self.now.by_last(name, *labels).items()
        }
        return {key: value for key, value in grown.items() if value > 0}

    def histogram(self, name: str, *labels: str) -> HistogramReading:
        """Return the values added between the snapshots; for a first snapshot, since the start."""
        now = self.now.histogram(name, *labels)
        return now if self.before is None else now.since(self.before.histogram(name, *labels))
