"""What is asked at the doors for those who run the server: RCON, the console, the web, queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from emu.measures.registry import Measures


@dataclass(slots=True)
class Uses:
    """What came of those who came to one door; it counts for itself."""

    requests: Counter[str] = field(default_factory=Counter)
    """Commands or pages that were asked for, by result."""
    logins: Counter[str] = field(default_factory=Counter)
    """By result."""
    ended: Counter[str] = field(default_factory=Counter)
    """Connections that were not taken, or that are over, by reason."""

    def counted(self) -> dict[str, int]:
        """Return everything by one name each."""
        requests = {f"requests {result}": count for result, count in self.requests.items()}
        logins = {f"logins {result}": count for result, count in self.logins.items()}
        return requests | logins | self.ended


class DoorMeasures:
    """Measures of all such doors of a process; each has a name, the label ``port``."""

    def __init__(self, measures: Measures) -> None:
        self._doors: dict[str, tuple[Uses, Callable[[], int] | None]] = {}
        measures.gauge("connections", "Connections that are open.", self._open, ["port"])
        for name, about, label, counts in (
            ("requests", "Commands and pages that were asked for.", "result", "requests"),
            ("authentications", "Passwords and tokens that were given.", "result", "logins"),
            ("connections_ended", "Connections not taken, or over.", "reason", "ended"),
        ):
            measures.counter(name, about, ["port", label]).also(partial(self._of_uses, counts))

    def watch(self, port: str, uses: Uses, connections: Callable[[], int] | None = None) -> None:
        """Measure a door under a name; `connections` says how many are open, if it has any."""
        self._doors[port] = (uses, connections)

    def _open(self) -> dict[tuple[str, ...], float]:
        doors = self._doors.items()
        return {(port,): count() for port, (_, count) in doors if count is not None}

    def _of_uses(self, counts: str) -> dict[tuple[str, ...], float]:
        """Return one of the counters of `Uses`, by port and label."""
        return {
            (port, label): count
            for port, (uses, _) in self._doors.items()
            for label, count in getattr(uses, counts).items()
        }
