"""Where characters are, as login servers show it in their lists.

Source: docs/protocol/link.md, ZoneUpdate.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.link.characters import ZoneUpdate
from emu.processes.ports import Bus, Note
from emu.processes.presence import ENTERED, LEFT
from emu.world.places import Atlas


class Whereabouts:
    """Tells the login server of each change of a character's zone, in whatever process it is.

    `tell` sends a message, or keeps it for the next link.
    """

    __slots__ = ("_atlas", "_tell", "_told")

    def __init__(self, bus: Bus, atlas: Atlas, tell: Callable[[ZoneUpdate], None]) -> None:
        self._atlas = atlas
        self._tell = tell
        self._told: dict[int, int] = {}
        """Zone by character, of those who are in the world."""
        bus.subscribe(ENTERED, self._entered)
        bus.subscribe(LEFT, self._left)

    def _entered(self, note: Note) -> None:
        char_id, zone_id = int(note["char_id"] or 0), int(note["zone_id"] or 0)
        zone = self._atlas.get(zone_id)
        if zone is None or self._told.get(char_id) == zone_id:
            return
        self._told[char_id] = zone_id
        self._tell(ZoneUpdate(int(note["account_id"] or 0), char_id, zone_id, zone.file))

    def _left(self, note: Note) -> None:
        self._told.pop(int(note["char_id"] or 0), None)
