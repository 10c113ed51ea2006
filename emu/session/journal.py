"""What a session has to tell its owner: events in order, and how often something was dropped."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from emu.session.events import DatagramDropped, Event, SessionClosed

_NO_DROPS: Final[Mapping[str, int]] = MappingProxyType({})


class Journal:
    """Events not taken yet, and counts of drops. Nothing follows `close`."""

    __slots__ = ("_drops", "_is_closed", "events")

    def __init__(self) -> None:
        self.events: list[Event] = []  # a deque takes 600 bytes when it is empty, as it is mostly
        self._drops: dict[str, int] | None = None  # most sessions drop nothing
        self._is_closed = False

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return MappingProxyType(self._drops) if self._drops else _NO_DROPS

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        return self.events.pop(0) if self.events else None

    def drop(self, reason: str) -> None:
        """Count a drop; the first one for a reason is an event as well."""
        drops = self._drops
        if drops is None:
            drops = self._drops = {}
        count = drops.get(reason, 0)
        drops[reason] = count + 1
        if not count and not self._is_closed:
            self.events.append(DatagramDropped(reason))

    def close(self, reason: str) -> None:
        """Tell that the session is over."""
        self.events.append(SessionClosed(reason))
        self._is_closed = True
