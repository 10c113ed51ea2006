"""The past of a character of EQ2Emulator's world database: factions, notes of scripts, spells.

The world stores them as one text (`emu.world.actors.past`). Source of the columns:
docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from emu.facts import U8, U32
from emu.spells.kinds import LONGEST_PET_NAME
from emu.sqldump.report import Columns, number, numbered, text

BEST_STANDING: Final = 50_000
"""The greatest standing with a faction, and without its sign the worst."""
MOST_FACTIONS: Final = 500
MOST_EVENTS: Final = 500
MOST_SPELLS: Final = 1500


@dataclass(slots=True)
class ImportedPast:
    """The rows of one character about what it has been through and learned."""

    standings: dict[int, int] = field(default_factory=dict)
    events: dict[int, tuple[int, int]] = field(default_factory=dict)
    spells: dict[int, int] = field(default_factory=dict)
    """The highest tier of each spell, in the order of the rows."""
    pet_name: str = ""

    def add_standing(self, columns: Columns) -> None:
        """Add what a faction thinks of the character. Raises `ValueError`."""
        faction = numbered(columns, "faction_id")
        _check_space(self.standings, faction, MOST_FACTIONS, "factions")
        self.standings[faction] = number(
            columns, "faction_level", least=-BEST_STANDING, most=BEST_STANDING
        )

    def add_event(self, columns: Columns) -> None:
        """Add the two values that a script has noted of an event. Raises `ValueError`."""
        event = numbered(columns, "event_id")
        _check_space(self.events, event, MOST_EVENTS, "events")
        self.events[event] = (
            number(columns, "value", most=U32), number(columns, "value2", most=U32)
        )  # fmt: skip

    def add_spell(self, columns: Columns) -> None:
        """Add a spell of the book; of several tiers the highest counts. Raises `ValueError`."""
        spell = numbered(columns, "spell_id")
        tier = number(columns, "tier", 1, least=1, most=U8)
        _check_space(self.spells, spell, MOST_SPELLS, "spells")
        self.spells[spell] = max(tier, self.spells.get(spell, 0))

    def add_details(self, columns: Columns) -> None:
        """Add the name of the pet that fights."""
        name = text(columns, "pet_name").strip()
        self.pet_name = name[:LONGEST_PET_NAME] if name.isprintable() else ""

    @property
    def stored(self) -> str:
        """The past as a character stores it; empty without any."""
        if not (self.standings or self.events or self.spells or self.pet_name):
            return ""
        made: dict[str, Any] = {"factions": self.standings, "events": self.events}
        if self.spells:
            made["spells"] = self.spells
        if self.pet_name:
            made["pet"] = self.pet_name
        return json.dumps(made, separators=(",", ":"))


def _check_space(kept: dict[int, Any], one: int, most: int, what: str) -> None:
    if one not in kept and len(kept) >= most:
        raise ValueError(f"a character has at most {most} {what}")
