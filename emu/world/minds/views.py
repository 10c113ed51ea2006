"""Lines of sight to targets: the one question of spells, blows and creatures.

Source: docs/protocol/maps.md#views, docs/protocol/world/fights.md#errors.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.world.actors.spawn import Spawn
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone

STEALTH, INVISIBLE = "stealth", "invisible"
"""The words of spawns that spells hide."""


class Views:
    """Answers which spawns see each other."""

    def __init__(self, grounds: Grounds, aggro_needs_view: Callable[[], bool]) -> None:
        """Ask the maps of running zones; in a zone without a map everybody sees everybody.

        `aggro_needs_view` returns the setting ``world.aggro_needs_view``.
        """
        self._grounds, self._aggro_needs_view = grounds, aggro_needs_view

    def sees(self, zone: Zone, one: Spawn, other: Spawn) -> bool:
        """Return whether two spawns of a zone see each other; everybody sees itself."""
        return one is other or self._grounds.sees(zone, one, other)

    def may_attack(self, zone: Zone, creature: Spawn, player: Spawn) -> bool:
        """Return whether a creature may begin to attack a player who is near enough.

        This is asked last, after distance, faction and level. EQ2Emulator's server asks for no view
        through walls.
        """
        if not notices(creature, player):
            return False
        return not self._aggro_needs_view() or self.sees(zone, creature, player)


def notices(one: Spawn, other: Spawn) -> bool:
    """Return whether a spawn sees another one although spells may hide that."""
    words, sheet = other.words, one.sheet
    return one is other or not (
        (STEALTH in words and not sheet.sees_hidden)
        or (INVISIBLE in words and not sheet.sees_invisible)
    )
