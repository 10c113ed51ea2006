"""The random numbers of running zones: each zone has a source of its own, which a seed decides.

Fights, spells and whatever else leaves something to chance in a zone take their numbers from it. A
recorded fight with the same seed has the same end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from emu.rules.combat import FightChance
from emu.rules.loot import Chance
from emu.world.zones.zone import Zone

_SEEDS: Final = 1 << 62


class ZoneChance(FightChance, Chance, Protocol):
    """Chooses numbers; `random.Random` does."""


class ZoneChances:
    """The random numbers of the running zones of one world."""

    def __init__(self, roll: Callable[[int], int], seeded: Callable[[str], ZoneChance]) -> None:
        """`roll` draws the seeds, and `seeded` returns the numbers that follow from one."""
        self._roll = roll
        self._seeded = seeded
        self._of: dict[Zone, ZoneChance] = {}

    def of(self, zone: Zone) -> ZoneChance:
        """Return the numbers of a zone; what comes next depends on what was drawn before."""
        found = self._of.get(zone)
        if found is None:
            found = self.begin(zone, f"{self._roll(_SEEDS)} {zone.zone_id} {zone.instance}")
        return found

    def begin(self, zone: Zone, seed: str) -> ZoneChance:
        """Let the numbers of a zone follow from a seed from now on."""
        self._of[zone] = found = self._seeded(seed)
        return found

    def ended(self, zone: Zone) -> None:
        """Forget a zone that has ended."""
        self._of.pop(zone, None)
