"""Skills, languages and titles that there are, by the numbers that clients know.

Knows no character; what one begins with is `beginners`' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from emu.model import Title
from emu.world.knowledge.beginners import Beginners

LANGUAGE_TYPE: Final = 13
"""The type of skill that languages are told as (docs/protocol/world/data.md#knowledge)."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as clients are told of it."""

    id: int
    name: str
    short_name: str = ""
    description: str = ""
    type: int = 0
    shown: bool = True
    """Whether clients list it among what somebody has."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language; number 0, which everybody speaks, is none of them."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class OlderTypes:
    """How clients up to a version call some types of skills."""

    last_version: int = 0
    types: Mapping[int, int] = field(default_factory=dict)


class Knowledge:
    """All that there is to know in a world."""

    def __init__(
        self,
        *,
        skills: Iterable[Skill] = (),
        languages: Iterable[Language] = (),
        titles: Mapping[int, Title] | None = None,
        beginners: Beginners | None = None,
        older: OlderTypes | None = None,
    ) -> None:
        self.skills = {skill.id: skill for skill in skills}
        self.languages = {language.id: language for language in languages}
        self.titles = dict(titles or {})
        self.beginners = beginners or Beginners()
        self.older = older or OlderTypes()

    @property
    def named(self) -> list[Skill]:
        """Everything that clients know by a name: skills, and languages, told as skills."""
        tongues = [
            Skill(one.id, one.name, one.name.lower().replace(" ", ""), "language", LANGUAGE_TYPE)
            for one in self.languages.values()
            if one.id not in self.skills
        ]
        return sorted([*tongues, *self.skills.values()], key=lambda skill: skill.id)

    def skill_type(self, skill: Skill, version: int) -> int:
        """Return a skill's type as clients of a version know it."""
        if version > self.older.last_version:
            return skill.type
        return self.older.types.get(skill.type, skill.type)

    def title(self, name: str) -> Title | None:
        """Return a title by its number or its text, without regard to case."""
        wanted = name.casefold()
        for number, title in self.titles.items():
            if wanted in (str(number), title.text.casefold()):
                return title
        return None
