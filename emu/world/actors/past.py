"""The past of a character: its standing with factions, notes of scripts, its spells.

It is stored with the character as one text. Source: docs/guides/lua.md#past.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from emu.spells.kinds import LONGEST_PET_NAME

WORST_STANDING, BEST_STANDING = -50_000, 50_000
MOST_FACTIONS: Final = 500
MOST_EVENTS: Final = 500
"""Factions and events of one character."""
MOST_SPELLS: Final = 1500
"""Spells in the book of one character: its text stays below `emu.model.LONGEST_PAST`."""
HIGHEST_TIER: Final = 255
LARGEST: Final = 0xFFFFFFFF
FIXED_FACTIONS: Final = 10
"""Factions up to this number think of everybody the same."""
KEPT_TEXTS: Final = frozenset(("adventure_class_selection", "refresh_advspells"))
"""Texts of a character's sheet that are kept: what its class quest has set for its next class, and
whether its spells are to be looked at after the level. Source: PlayerScripts/global.lua of content.
"""
LONGEST_KEPT: Final = 32
WRITTEN: Final = "at"
"""When what lasts was written in a zone: the moment, and how many seconds were played."""


class Past:
    """The past of one character."""

    __slots__ = (
        "_events", "_spells", "_standings", "_texts", "lasting", "lasts_now", "pet_name",
        "spells", "standings", "tutorial_step",
    )  # fmt: skip

    def __init__(self, text: str = "") -> None:
        """Read a stored text; what it does not understand is left out."""
        stored = _read(text)
        self._standings = {
            number: value
            for number, value in _pairs(stored.get("factions"))
            if WORST_STANDING <= value <= BEST_STANDING
        }
        self._events: dict[int, tuple[int, int]] = {}
        for number, values in _lists(stored.get("events")):
            self._events[number] = values
        self._spells = {
            number: tier
            for number, tier in _pairs(stored.get("spells"), MOST_SPELLS)
            if 0 < number <= LARGEST and 1 <= tier <= HIGHEST_TIER
        }
        texts = stored.get("texts")
        self._texts: dict[str, str] = {}
        for name, kept in texts.items() if isinstance(texts, dict) else ():
            if isinstance(kept, str):
                self.keep(name, kept)
        lasting = stored.get("lasting")
        self.lasting: dict[str, Any] = lasting if isinstance(lasting, dict) else {}
        """What lasted when the character left; `emu.world.spells.kept` writes it."""
        self.lasts_now: Callable[[], dict[str, Any]] | None = None
        """Returns the spells that last at this moment, while the character stands in a zone."""
        step = stored.get("tutorial")
        self.tutorial_step = step if type(step) is int and 0 <= step <= LARGEST else 0
        """How far the character has come in the tutorial; 0 at first."""
        name = stored.get("pet")
        self.pet_name = name[:LONGEST_PET_NAME] if isinstance(name, str) else ""
        """The name that the pets of the character get which fight; empty before the first one."""
        self.spells: Mapping[int, int] = MappingProxyType(self._spells)
        """The spells of the book: tiers by number, in the order they came; it shows changes."""
        self.standings: Mapping[int, int] = MappingProxyType(self._standings)
        """What factions think of the character, by number; it shows later changes."""

    @property
    def text(self) -> str:
        """The past as it is stored; empty if there is none."""
        lasting = self.lasting if self.lasts_now is None else self.lasts_now()
        parts = (
            self._standings, self._events, self._spells, self.tutorial_step, self._texts, lasting,
            self.pet_name,
        )  # fmt: skip
        if not any(parts):
            return ""
        stored: dict[str, Any] = {"factions": self._standings, "events": self._events}
        if self.tutorial_step:
            stored["tutorial"] = self.tutorial_step
        if self._spells:
            stored["spells"] = self._spells
        if self._texts:
            stored["texts"] = self._texts
        if lasting:
            stored["lasting"] = lasting
        if self.pet_name:
            stored["pet"] = self.pet_name
        return json.dumps(stored, separators=(",", ":"))

    def stand_still(self) -> None:
        """Write down what lasts as the character leaves: its time stands still from now on."""
        if self.lasts_now is not None:
            self.lasting, self.lasts_now = self.lasts_now(), None
            self.lasting.pop(WRITTEN, None)

    def kept(self, name: str) -> str:
        """Return a text of `KEPT_TEXTS`; empty if none was set."""
        return self._texts.get(name, "")

    def keep(self, name: str, text: str) -> None:
        """Set a text of `KEPT_TEXTS`; an empty one is forgotten, and other names are ignored."""
        self._texts.pop(name, None)
        if text and name in KEPT_TEXTS:
            self._texts[name] = text[:LONGEST_KEPT]

    def standing(self, faction: int, usual: int = 0) -> int:
        """Return what a faction thinks of the character; `usual` is what it thinks of others."""
        return self._standings.get(faction, usual)

    def change_standing(self, faction: int, amount: int, usual: int = 0) -> bool:
        """Raise or lower a standing; return False if nobody can change it or it is at its end."""
        is_full = faction not in self._standings and len(self._standings) >= MOST_FACTIONS
        if not FIXED_FACTIONS < faction <= LARGEST or not amount or is_full:
            return False
        before = self.standing(faction, usual)
        after = max(WORST_STANDING, min(BEST_STANDING, before + amount))
        self._standings[faction] = after
        return after != before

    def event(self, number: int) -> tuple[int, int] | None:
        """Return the two values that were noted of an event; None if none were."""
        return self._events.get(number)

    def note(self, number: int, value: int, other: int) -> bool:
        """Note two values of an event; return False if there are too many events."""
        if number not in self._events and len(self._events) >= MOST_EVENTS:
            return False
        self._events[number] = (value & LARGEST, other & LARGEST)
        return True

    def spell_tier(self, spell: int) -> int:
        """Return the tier of a spell in the character's book; 0 if the book does not have it."""
        return self._spells.get(spell, 0)

    def learn(self, spell: int, tier: int) -> bool:
        """Put a spell into the book, or raise its tier; return whether the book has changed.

        A spell that the book does not have begins at tier 1, as EQ2Emulator does it.
        """
        known = self._spells.get(spell)
        if known is None:
            if not 0 < spell <= LARGEST or len(self._spells) >= MOST_SPELLS:
                return False
            self._spells[spell] = 1
            return True
        tier = min(tier, HIGHEST_TIER)
        if tier <= known:
            return False
        self._spells[spell] = tier
        return True

    def unlearn(self, spell: int) -> bool:
        """Remove a spell from the book; return whether the book had it."""
        return self._spells.pop(spell, None) is not None


def _read(text: str) -> dict[str, Any]:
    try:
        stored = json.loads(text or "{}")
    except ValueError:
        return {}
    return stored if isinstance(stored, dict) else {}


def _pairs(found: Any, most: int = MOST_FACTIONS) -> list[tuple[int, int]]:
    if not isinstance(found, dict):
        return []
    pairs = [
        (int(key), value)
        for key, value in found.items()
        if key.isdecimal() and len(key) <= 10 and type(value) is int
    ]
    return pairs[:most]


def _lists(found: Any) -> list[tuple[int, tuple[int, int]]]:
    if not isinstance(found, dict):
        return []
    lists = [
        (int(key), (value[0], value[1]))
        for key, value in found.items()
        if key.isdecimal()
        and len(key) <= 10
        and isinstance(value, list)
        and len(value) == 2
        and all(type(one) is int and 0 <= one <= LARGEST for one in value)
    ]
    return lists[:MOST_EVENTS]
