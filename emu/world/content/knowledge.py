"""Skills, languages and titles that exist, and those that new characters begin with.

Facts come from files, the shipped ones and an operator's; what one character has is its player's.

Knows no character; what one begins with is `beginners`' business.

A row that names no class, race or gender is for everybody. Classes grow out of others (a guardian
is a warrior, who is a fighter), and a row for one is for all that grow out of it.
Source: docs/protocol/world/data.md#knowledge.

Any file may hold any of the lists. A row of a later file stands in for the earlier one of the same
number; a list of ``[beginner]`` in a later file stands in for the whole earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, get_type_hints

from emu.errors import FileFormatError
from emu.files import data_file, listed, quoted, read_document
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


Row = dict[str, Any]

OLDER: Final = "older"
LISTS: Final = ("skill", "language", "title")
LONGEST_NAME: Final = 60
"""Letters of a name that a mistake is told with."""
BEGINNER: Final = "beginner"
BEGUN: Final = ("skill", "language", "title", "hotkey")
"""Lists of ``[beginner]``."""
LARGEST: Final = 0xFFFFFFFF
MOST: Final[Mapping[type, Mapping[str, int]]] = {
    Hotkey: {"bar": 99, "slot": 99, "icon": 0xFFFF, "icon_type": 0xFFFF},
    KnownSkill: {"value": 0xFFFF, "most": 0xFFFF},
    Language: {"id": 0xFF},
}
"""What clients have room for, where that is less."""
LONGEST_TEXT: Final = 255
CONDITIONS: Final = ("classes", "races", "genders")


def read_knowledge(folder: Path | None = None) -> Knowledge:
    """Read the shipped files and those of a folder. Raises `FileFormatError`."""
    rows: dict[str, dict[int, tuple[Path, Row]]] = {name: {} for name in LISTS}
    beginners: dict[str, tuple[Path, list[Row]]] = {}
    older = OlderTypes()
    for path in _files(folder):
        document = _document(path)
        for name in LISTS:
            for row in document.get(name, ()):
                rows[name][_id(path, row)] = path, row
        if OLDER in document:
            older = _made(_older, path, document[OLDER])
        for name, begun in document.get(BEGINNER, {}).items():
            beginners[name] = path, begun
    titles = {number: _made(_title, *found) for number, found in rows["title"].items()}
    return Knowledge(
        skills=[_made(partial(_plain, Skill), *found) for found in rows["skill"].values()],
        languages=[_made(partial(_plain, Language), *found) for found in rows["language"].values()],
        titles=titles,
        beginners=_beginners(beginners, titles),
        older=older,
    )


def _files(folder: Path | None) -> list[Path]:
    shipped = sorted(data_file("world", "knowledge").glob("*.toml"))
    return shipped if folder is None else [*shipped, *listed(folder, ".toml", "world.knowledge")]


def _document(path: Path) -> Row:
    document = read_document(path)
    beginner = document.get(BEGINNER, {})
    if not isinstance(beginner, dict):
        raise FileFormatError(f"{path}: {BEGINNER} must be a table, written as [{BEGINNER}]")
    for names, found in ((LISTS, document), (BEGUN, beginner)):
        for name in names:
            rows = found.get(name, [])
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise FileFormatError(f"{path}: {name} must be a list of tables")
    unknown = {*document, *beginner} - {*LISTS, *BEGUN, BEGINNER, OLDER}
    if unknown:
        raise FileFormatError(f"{path}: there is nothing called {min(unknown)[:LONGEST_NAME]}")
    return document


def _id(path: Path, row: Row) -> int:
    number = row.get("id")
    if not isinstance(number, int):
        raise FileFormatError(f"{path}: a row needs an id: {quoted(row)}")
    return number


def _made(make: Callable[[Row], T], path: Path, row: Row) -> T:
    try:
        return make(dict(row))
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise FileFormatError(f"{path}: {quoted(row)}: {error}") from None


def _plain(kind: type[T], row: Row) -> T:
    """Make a value of plain fields. Raises `TypeError` and `ValueError` for what it cannot be."""
    made = kind(**row)
    for name, wanted in get_type_hints(kind).items():
        value = getattr(made, name)
        if not isinstance(value, wanted):
            raise TypeError(f"{name} must be {wanted.__name__}")
        most = MOST.get(kind, {}).get(name, LARGEST)
        if isinstance(value, int) and not 0 <= value <= most:
            raise ValueError(f"{name} must be 0 to {most}")
        if isinstance(value, str) and len(value.encode()) > LONGEST_TEXT:
            raise ValueError(f"{name} must not be longer than {LONGEST_TEXT} bytes")
    return made


def _title(row: Row) -> Title:
    del row["id"]
    return _plain(Title, {"is_prefix": row.pop("prefix", False)} | row)


def _language_id(row: Row) -> int:
    return _plain(Language, {"name": "", **row}).id


def _older(row: Row) -> OlderTypes:
    return OlderTypes(int(row["last_version"]), {int(old): int(new) for old, new in row["types"]})


def _beginners(
    found: Mapping[str, tuple[Path, list[Row]]], titles: Mapping[int, Title]
) -> Beginners:
    def rows(name: str, make: Callable[[Row], T]) -> list[For[T]]:
        path, listed = found.get(name, (Path(), []))
        return [_made(lambda row: _for(make, row), path, row) for row in listed]

    return Beginners(
        rows("skill", partial(_plain, KnownSkill)),
        rows("language", _language_id),
        rows("title", lambda row: titles[row["id"]]),
        rows("hotkey", partial(_plain, Hotkey)),
    )


def _for(make: Callable[[Row], T], row: Row) -> For[T]:
    conditions = {name: frozenset(row.pop(name)) for name in CONDITIONS if name in row}
    return For(make(row), **conditions)
