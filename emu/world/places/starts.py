"""Where new characters begin: rows that name classes, races, cities or client versions.

Of the rows that fit a character the one counts that names the most, and the first of those. City
choices are the numbers a client sends: 1 Qeynos, 2 Freeport, 4 Kelethin, 8 Neriak, 16 Gorowyn, 32
New Halas; the 2006 client counts 0 and 1 for its two islands.
Source: docs/protocol/characters.md#create.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emu.model import WorldCharacter
from emu.world.spawns import Position


@dataclass(frozen=True, slots=True)
class Start:
    """One row; an empty condition fits everybody."""

    zone_id: int
    place: Position | None = None
    """None for the safe place of the zone."""
    classes: frozenset[int] = frozenset()
    races: frozenset[int] = frozenset()
    cities: frozenset[int] = frozenset()
    deities: frozenset[int] = frozenset()
    versions: tuple[int, int] | None = None
    """First and last client version."""

    def fits(self, character: WorldCharacter) -> bool:
        """Say whether a character may begin here."""
        wanted = (
            (self.classes, character.class_),
            (self.races, character.race),
            (self.cities, character.starting_zone),
            (self.deities, character.deity),
        )
        if any(allowed and value not in allowed for allowed, value in wanted):
            return False
        first, last = self.versions or (0, character.client_version)
        return first <= character.client_version <= last

    @property
    def conditions(self) -> int:
        """How many conditions it names."""
        named = (self.classes, self.races, self.cities, self.deities, self.versions)
        return sum(bool(condition) for condition in named)


def best_start(rows: Sequence[Start], character: WorldCharacter) -> Start | None:
    """Return the row that counts for a character, None when none fits."""
    fitting = [row for row in rows if row.fits(character)]
    return max(fitting, key=lambda row: row.conditions, default=None)
