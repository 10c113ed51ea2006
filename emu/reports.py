"""What happens, told to whoever wants to know: the log, an audit, a page that is open.

Owns the one port for events. What an event is, its area says (`emu.login.events`,
`emu.world.events`, ...); who takes it and what for is the business of subscribers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """One event and the area of the server that tells it, for instance ``"login"``."""

    area: str
    event: Any


class Reports:
    """Gives every event to all who subscribed, in the order in which they did.

    A subscriber that raises stays subscribed and keeps nobody else from the event; `failed` is
    called while the exception is being handled.
    """

    def __init__(self, failed: Callable[[], object]) -> None:
        self._failed = failed
        self._subscribers: dict[object, tuple[str | None, Callable[[Report], object]]] = {}

    def port(self, area: str) -> Callable[[object], None]:
        """Return what an area calls with each of its events."""

        def tell(event: object) -> None:
            report = Report(area, event)
            for wanted, take in tuple(self._subscribers.values()):
                if wanted is None or wanted == area:
                    try:
                        take(report)
                    except Exception:  # noqa: BLE001  # whatever it is
                        self._failed()

        return tell

    def subscribe(
        self, take: Callable[[Report], object], area: str | None = None
    ) -> Callable[[], None]:
        """Have `take` called with every report, or with those of one area.

        Returns what ends the subscription; a second call does nothing.
        """
        key = object()
        self._subscribers[key] = (area, take)

        def end() -> None:
            self._subscribers.pop(key, None)

        return end
