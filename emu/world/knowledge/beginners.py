"""What new characters begin with, by class, race and gender.

A row that names no class, race or gender is for everybody. Classes grow out of others (a guardian
is a warrior, who is a fighter), and a row for one is for all that grow out of it.
Source: docs/protocol/world/data.md#knowledge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from emu.model import Hotkey, Title, WorldCharacter

T = TypeVar("T")

ARCHETYPES: Final = (1, 11, 21, 31)
"""Fighter, priest, mage, scout; nine classes follow each, in threes that begin with a parent."""
ARCHETYPE_SIZE: Final = 10


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A skill that somebody has, how well, and how well it may become."""

    id: int
    value: int
    most: int


@dataclass(frozen=True, slots=True)
class For(Generic[T]):
    """One thing, and who begins with it; an empty condition fits everybody."""

    what: T
    classes: frozenset[int] = frozenset()
    races: frozenset[int] = frozenset()
    genders: frozenset[int] = frozenset()

    def fits(self, character: WorldCharacter) -> bool:
        """Say whether a character begins with it."""
        return (
            (not self.classes or not self.classes.isdisjoint(class_line(character.class_)))
            and (not self.races or character.race in self.races)
            and (not self.genders or character.gender in self.genders)
        )


class Beginners:
    """What beginners have."""

    __slots__ = ("_hotkeys", "_languages", "_skills", "_titles")

    def __init__(
        self,
        skills: Sequence[For[KnownSkill]] = (),
        languages: Sequence[For[int]] = (),
        titles: Sequence[For[Title]] = (),
        hotkeys: Sequence[For[Hotkey]] = (),
    ) -> None:
        self._skills = tuple(skills)
        self._languages = tuple(languages)
        self._titles = tuple(titles)
        self._hotkeys = tuple(hotkeys)

    def skills(self, character: WorldCharacter) -> list[KnownSkill]:
        """Return the skills of a beginner, the best of each, by number."""
        best: dict[int, KnownSkill] = {}
        for skill in _fitting(self._skills, character):
            known = best.get(skill.id, skill)
            best[skill.id] = KnownSkill(
                skill.id, max(skill.value, known.value), max(skill.most, known.most)
            )
        return [best[number] for number in sorted(best)]

    def languages(self, character: WorldCharacter) -> list[int]:
        """Return the numbers of the languages that a beginner speaks besides the common one."""
        return sorted(set(_fitting(self._languages, character)))

    def titles(self, character: WorldCharacter) -> list[Title]:
        """Return the titles that a beginner may bear."""
        return list(dict.fromkeys(_fitting(self._titles, character)))

    def hotkeys(self, character: WorldCharacter) -> list[Hotkey]:
        """Return what stands on a beginner's hotbars; of two for one slot the later one counts."""
        keys = {(key.bar, key.slot): key for key in _fitting(self._hotkeys, character)}
        return [keys[place] for place in sorted(keys)]


def class_line(number: int) -> frozenset[int]:
    """Return a class with those it grew out of."""
    for first in ARCHETYPES:
        if first < number < first + ARCHETYPE_SIZE:
            parent = first + 1 + 3 * ((number - first - 1) // 3)
            return frozenset((first, parent, number))
    return frozenset((number,))


def _fitting(rows: Iterable[For[T]], character: WorldCharacter) -> list[T]:
    return [row.what for row in rows if row.fits(character)]
