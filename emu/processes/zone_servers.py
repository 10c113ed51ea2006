"""Which process serves a zone, from a table that does not change."""

from __future__ import annotations

from collections.abc import Mapping


class ZoneTable:
    """`ZoneServers` of a table: zones of other processes, and how clients reach those."""

    __slots__ = ("_elsewhere",)

    def __init__(self, elsewhere: Mapping[int, tuple[str, int]] | None = None) -> None:
        """Take the zones that others serve; the rest is served here."""
        self._elsewhere = dict(elsewhere or {})

    def elsewhere(self, zone_id: int) -> tuple[str, int] | None:
        """Return host and port by which clients reach a zone's process, None for this process."""
        return self._elsewhere.get(zone_id)
