"""Reports: events of the server's areas, delivered to logs, pages and recorders.

Each area defines its events (`emu.login.events`, `emu.world.events`, ...). Subscribers decide what
to do with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """One event and the area of the server that reports it, for instance ``"login"``."""

    area: str
    event: Any


class Reports:
    """Delivers every event to all subscribers, in the order of their subscriptions.

    A subscriber that raises stays subscribed, and the others still get the event; `failed` is
    called while the exception is being handled.
    """

    def __init__(self, failed: Callable[[], object]) -> None:
        self._failed = failed
        self._subscribers: dict[object, tuple[str | None, Callable[[Report], object]]] = {}

    def port(self, area: str) -> Callable[[object], None]:
        """Return the function that an area calls with each of its events."""

        def report_event(event: object) -> None:
            report = Report(area, event)
            for wanted, take in tuple(self._subscribers.values()):
                if wanted is None or wanted == area:
                    try:
                        take(report)
                    except Exception:  # noqa: BLE001  # whatever it is
                        self._failed()

        return report_event

    def subscribe(
        self, take: Callable[[Report], object], area: str | None = None
    ) -> Callable[[], None]:
        """Call `take` with every report, or with those of one area.

        Returns the function that ends the subscription; a second call of it does nothing.
        """
        key = object()
        self._subscribers[key] = (area, take)

        def end() -> None:
            self._subscribers.pop(key, None)

        return end
