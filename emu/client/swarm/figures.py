"""What a swarm measured, as one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return the value that so many percent of all do not exceed, None when there are none."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(slots=True)
class Figures:
    """Counters and measurements; seconds until they are reported as milliseconds."""

    clients: int
    logins_ok: int = 0
    logins_failed: int = 0
    lost: int = 0
    """Sessions that ended before their client wanted to leave."""
    logins: list[float] = field(default_factory=list)
    """From the first datagram to the login server to standing in the zone."""
    entries: list[float] = field(default_factory=list)
    """From showing the world's key to having been sent all that is near."""
    round_trips: list[float] = field(default_factory=list)
    """Smoothed round trips to the world, sampled while the clients play."""
    sights: list[float] = field(default_factory=list)
    """From a step that one client makes to another's being told of it."""
    packets: int = 0
    """Datagrams of all world sessions, both directions."""
    bytes: int = 0
    messages: int = 0
    """Application messages that came while packets and bytes were counted."""
    seconds: float = 0.0
    """How long packets and bytes were counted."""

    def report(self) -> dict[str, float | int | None]:
        """Return the figures for programs: counts, milliseconds, and what went by in a second.

        A percentile of nothing is None.
        """
        span = self.seconds or 1.0
        return {
            "clients": self.clients,
            "logins_ok": self.logins_ok,
            "logins_failed": self.logins_failed,
            "lost": self.lost,
            "login_ms_p50": _milliseconds(self.logins, 50),
            "login_ms_p99": _milliseconds(self.logins, 99),
            "entering_ms_p50": _milliseconds(self.entries, 50),
            "entering_ms_p99": _milliseconds(self.entries, 99),
            "rtt_ms_p50": _milliseconds(self.round_trips, 50),
            "rtt_ms_p99": _milliseconds(self.round_trips, 99),
            "sight_ms_p50": _milliseconds(self.sights, 50),
            "sight_ms_p99": _milliseconds(self.sights, 99),
            "packets_per_s": round(self.packets / span, 1),
            "bytes_per_s": round(self.bytes / span, 1),
            "messages": self.messages,
        }


def _milliseconds(values: Sequence[float], percent: float) -> float | None:
    value = percentile(values, percent)
    return None if value is None else round(value * 1000, 2)
