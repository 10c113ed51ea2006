"""Skills, languages and titles of a world, and those that new characters start with.

A row of ``[beginner]`` without classes, races and genders applies to every character. A row for a
class also applies to the classes that grow out of it: a guardian is a warrior, and that a fighter.
Source: docs/protocol/world/data.md#knowledge.

Files are the shipped ones and an operator's; any file may hold any of the lists. A row of a later
file replaces an earlier one with the same number. A list of ``[beginner]`` in a later file replaces
the whole earlier list. Hotkeys of a content file replace the shipped list, and an operator's list
replaces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from attrs import Factory, asdict, frozen

from emu.content.beginners import ANY, RESISTANCES, starting_facts, starting_hotkeys
from emu.errors import FileFormatError
from emu.files import data_file, listed, read_document
from emu.model import COMMAND_KEY, Hotkey, KnownSkill, Title, WorldCharacter
from emu.schema import LARGEST_NUMBER, TextBytes, TomlSource, WholeNumber, field, read_table

T = TypeVar("T")

LONGEST_TEXT: Final = 255
NAME: Final = TextBytes(LONGEST_TEXT)
"""Reads a name or text of clients, up to this many bytes."""

USUAL_RESISTANCES: Final[Mapping[str, int]] = MappingProxyType(dict.fromkeys(RESISTANCES, 3))
"""What every recorded player has, all of them humans: that of a race without a row."""
MOST_KINDS: Final = 4096
"""Kinds of characters, by class, race and gender, whose skills are kept."""
ARCHETYPES: Final = (1, 11, 21, 31)
"""Fighter, priest, mage, scout; nine classes follow each, in threes that begin with a parent."""
ARCHETYPE_SIZE: Final = 10


@dataclass(frozen=True, slots=True)
class For(Generic[T]):
    """One thing that new characters have, with conditions; an empty one fits every character."""

    what: T
    classes: frozenset[int] = frozenset()
    races: frozenset[int] = frozenset()
    genders: frozenset[int] = frozenset()

    def fits(self, character: WorldCharacter) -> bool:
        """Return whether a new character has it."""
        return (
            # A row for fighters fits guardians, too. An empty condition fits everybody.
            (not self.classes or not self.classes.isdisjoint(class_line(character.class_)))
            and (not self.races or character.race in self.races)
            and (not self.genders or character.gender in self.genders)
        )


class Beginners:
    """The skills, languages, titles, hotkeys and standings of new characters."""

    __slots__ = ("_hotkeys", "_known", "_languages", "_resistances", "_skills", "_standings",
                 "_titles")  # fmt: skip

    def __init__(
        self,
        skills: Sequence[For[KnownSkill]] = (),
        languages: Sequence[For[int]] = (),
        titles: Sequence[For[Title]] = (),
        hotkeys: Sequence[For[Hotkey]] = (),
        *,
        standings: Mapping[int, Mapping[int, int]] = MappingProxyType({}),
        resistances: Mapping[int, Mapping[str, int]] = MappingProxyType({}),
    ) -> None:
        """`standings` are what factions think of a new character, by the number of its city.

        `resistances` are those of races, by their numbers.
        """
        self._standings = standings
        self._resistances = resistances
        self._skills = tuple(skills)
        self._languages = tuple(languages)
        self._titles = tuple(titles)
        self._hotkeys = tuple(hotkeys)
        self._known: dict[tuple[int, int, int], tuple[KnownSkill, ...]] = {}
        """The skills by class, race and gender, as they were asked for."""

    def skills(self, character: WorldCharacter) -> list[KnownSkill]:
        """Return the skills of a new character by number, with the highest values of each."""
        # Each blow of a player who has learned nothing yet asks for them.
        kind = character.class_, character.race, character.gender
        if kind not in self._known:
            if len(self._known) >= MOST_KINDS:
                self._known.clear()
            self._known[kind] = self._skills_of(character)
        return list(self._known[kind])

    def _skills_of(self, character: WorldCharacter) -> tuple[KnownSkill, ...]:
        best: dict[int, KnownSkill] = {}
        for skill in _fitting(self._skills, character):
            # The highest of each: a character may get the same skill from its class and its
            # archetype.
            known = best.get(skill.id, skill)
            best[skill.id] = KnownSkill(
                skill.id, max(skill.value, known.value), max(skill.most, known.most)
            )
        return tuple(best[number] for number in sorted(best))

    def languages(self, character: WorldCharacter) -> list[int]:
        """Return the numbers of a new character's languages, without the common one."""
        return sorted(set(_fitting(self._languages, character)))

    def titles(self, character: WorldCharacter) -> list[Title]:
        """Return the titles of a new character."""
        # A dict keeps the order and drops titles that two rows give.
        return list(dict.fromkeys(_fitting(self._titles, character)))

    def standings(self, character: WorldCharacter) -> Mapping[int, int]:
        """Return what factions think of a new character, by the number of the faction."""
        return self._standings.get(character.starting_zone, {})

    def resistances(self, character: WorldCharacter) -> Mapping[str, int]:
        """Return the resistances that a character has by its race, at every level (recorded)."""
        return self._resistances.get(character.race, USUAL_RESISTANCES)

    def hotkeys(self, character: WorldCharacter) -> list[Hotkey]:
        """Return the hotkeys of a new character; of two for one slot the later one wins."""
        # Rows for all classes come first in the files, so that those for one class replace them.
        keys = {(key.bar, key.slot): key for key in _fitting(self._hotkeys, character)}
        # Sorted, so that equal characters have equal lists.
        return [keys[place] for place in sorted(keys)]


_LATER_CLASSES: Final = {41: 31, 42: 31, 43: 11, 44: 11}
"""Classes behind the blocks of the archetypes: beastlords are scouts, channelers are priests."""


def archetype(number: int) -> int:
    """Return the first class of a class's block: fighter, priest, mage or scout; 0 for others."""
    for first in ARCHETYPES:
        if first <= number < first + ARCHETYPE_SIZE:
            return first
    return _LATER_CLASSES.get(number, 0)


def class_line(number: int) -> frozenset[int]:
    """Return a class with the classes from which it grows: guardian, warrior, fighter."""
    for first in ARCHETYPES:
        if first < number < first + ARCHETYPE_SIZE:
            # Classes are numbered in blocks: an archetype, then three times a class and its two
            # subclasses.
            parent = first + 1 + 3 * ((number - first - 1) // 3)
            return frozenset((first, parent, number))
    return frozenset((number,))


def _fitting(rows: Iterable[For[T]], character: WorldCharacter) -> list[T]:
    return [row.what for row in rows if row.fits(character)]


LANGUAGE_TYPE: Final = 13
"""The type of skill for languages in messages (docs/protocol/world/data.md#knowledge)."""


@frozen
class Skill:
    """One skill, as clients know it: a row of ``skill``."""

    id: int = field()
    name: str = field(form=NAME)
    short_name: str = field("", form=NAME)
    description: str = field("", form=NAME)
    type: int = field(0)
    shown: bool = field(True)
    """Clients list it among the skills of a character."""


@frozen
class Language:
    """One language: a row of ``language``. Number 0, which every character speaks, has no row."""

    id: int = field(limits=(0, 0xFF))
    name: str = field(form=NAME)
    named: bool = field(True)
    """Clients are sent its name. EQ2Emulator sends the names of some languages only."""


def _type_pairs(value: Any) -> dict[int, int]:
    whole = WholeNumber(0, LARGEST_NUMBER)
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in value
    ):
        raise ValueError("must be a list of [type, type of these clients]")
    return {whole(here): whole(there) for here, there in value}


@frozen
class OlderTypes:
    """``[older]``: the numbers that clients up to a version use for some types of skills."""

    last_version: int = field(0)
    types: Mapping[int, int] = field(Factory(dict), form=_type_pairs)


@frozen
class NewerTypes:
    """A row of ``newer``: the numbers that clients of a range use for some types of skills."""

    first_version: int = field()
    last_version: int = field()
    types: Mapping[int, int] = field(form=_type_pairs)


class Knowledge:
    """The skills, languages and titles of a world, and those of new characters."""

    def __init__(
        self,
        *,
        skills: Iterable[Skill] = (),
        languages: Iterable[Language] = (),
        titles: Mapping[int, Title] | None = None,
        beginners: Beginners | None = None,
        older: OlderTypes | None = None,
        newer: Iterable[NewerTypes] = (),
        factions: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
    ) -> None:
        """`factions` are rows of a content file, by number."""
        self.factions = factions
        self.skills = {skill.id: skill for skill in skills}
        self.languages = {language.id: language for language in languages}
        self.titles = dict(titles or {})
        self.beginners = beginners or Beginners()
        self.older = older or OlderTypes()
        self.newer = tuple(newer)

    @property
    def named(self) -> list[Skill]:
        """All skills that clients need names of, including languages, which are sent as skills."""
        tongues = [
            Skill(one.id, one.name, _short(one.name), "language", LANGUAGE_TYPE)
            for one in self.languages.values()
            # A skill of the same number already has the name that clients show.
            if one.named and one.id not in self.skills
        ]
        return sorted([*tongues, *self.skills.values()], key=lambda skill: skill.id)

    def languages_of(self, character: WorldCharacter) -> Sequence[int]:
        """Return the numbers of a character's languages, without the common one."""
        return character.languages or self.beginners.languages(character)

    def understands(self, character: WorldCharacter, language: int) -> bool:
        """Return whether a character knows a language; everybody knows the common one, 0."""
        return not language or language in self.languages_of(character)

    def skill_type(self, skill: Skill, version: int) -> int:
        """Return the number of a skill's type for a client version."""
        if version <= self.older.last_version:
            return self.older.types.get(skill.type, skill.type)
        for row in self.newer:
            if row.first_version <= version <= row.last_version:
                return row.types.get(skill.type, skill.type)
        return skill.type

    def title(self, name: str) -> Title | None:
        """Return a title by its number or its text in any case, None for an unknown one."""
        wanted = name.casefold()
        for number, title in self.titles.items():
            # Commands name titles by number, people by text.
            if wanted in (str(number), title.text.casefold()):
                return title
        return None


def _short(name: str) -> str:
    """Return the short name of a language: small letters without blanks and hyphens."""
    return name.lower().replace(" ", "").replace("-", "")


@frozen
class TitleRow:
    """One row of ``title``."""

    id: int = field()
    text: str = field(form=NAME)
    prefix: bool = field(False)

    def title(self) -> Title:
        """Return the title."""
        return Title(self.text, is_prefix=self.prefix)


def _numbers() -> Any:
    return field(frozenset())


@frozen(kw_only=True)
class _ForRow:
    """The conditions of a row of ``[beginner]``."""

    classes: frozenset[int] = _numbers()
    races: frozenset[int] = _numbers()
    genders: frozenset[int] = _numbers()

    def to(self, what: T) -> For[T]:
        """Return a thing with these conditions."""
        return For(what, self.classes, self.races, self.genders)


@frozen(kw_only=True)
class SkillForRow(_ForRow):
    """A skill of new characters."""

    id: int = field()
    value: int = field(limits=(0, 0xFFFF))
    most: int = field(limits=(0, 0xFFFF))


@frozen(kw_only=True)
class LanguageForRow(_ForRow):
    """A language of new characters."""

    id: int = field(limits=(0, 0xFF))


@frozen(kw_only=True)
class TitleForRow(_ForRow):
    """A title of new characters."""

    id: int = field()


@frozen(kw_only=True)
class HotkeyForRow(_ForRow):
    """A slot of new characters' hotbars."""

    bar: int = field(limits=(0, 99))
    slot: int = field(limits=(0, 99))
    type: int = field()
    icon: int = field(0, limits=(0, 0xFFFF))
    icon_type: int = field(0, limits=(0, 0xFFFF))
    ability: int = field(0)
    tier: int = field(0)
    text: str = field("", form=NAME)

    def hotkey(self) -> Hotkey:
        """Return the hotkey."""
        return Hotkey(
            self.bar, self.slot, self.type, self.icon, self.icon_type, self.ability, self.tier,
            self.text,
        )  # fmt: skip


@frozen
class BeginnerLists:
    """``[beginner]``: what new characters have; a list that is not there is None."""

    skill: tuple[SkillForRow, ...] | None = field(None)
    language: tuple[LanguageForRow, ...] | None = field(None)
    title: tuple[TitleForRow, ...] | None = field(None)
    hotkey: tuple[HotkeyForRow, ...] | None = field(None)


@frozen
class KnowledgeFile:
    """The tables that one file may have."""

    skill: tuple[Skill, ...] = field(())
    language: tuple[Language, ...] = field(())
    title: tuple[TitleRow, ...] = field(())
    beginner: BeginnerLists = field(Factory(BeginnerLists))
    older: OlderTypes | None = field(None)
    newer: tuple[NewerTypes, ...] | None = field(None)


def read_knowledge(folder: Path | None = None, content: Path | None = None) -> Knowledge:
    """Read the shipped files, hotkeys and standings of a content file, and the files of a folder.

    Raises `FileFormatError`.
    """
    hotkeys = _hotkeys(content)
    skills: dict[int, Skill] = {}
    languages: dict[int, Language] = {}
    titles: dict[int, Title] = {}
    lists: dict[str, Any] = {}
    title_file = Path()
    older, newer = OlderTypes(), tuple[NewerTypes, ...]()
    for path in _files(folder):
        file = read_table(KnowledgeFile, read_document(path), TomlSource(path))
        skills |= {row.id: row for row in file.skill}
        languages |= {row.id: row for row in file.language}
        titles |= {row.id: row.title() for row in file.title}
        # The last file that has the table wins.
        older = file.older or older
        newer = newer if file.newer is None else file.newer
        # A list replaces the earlier list as a whole; an empty list removes it. Merging would leave
        # no way to remove a row.
        lists |= asdict(file.beginner, recurse=False, filter=lambda _, rows: rows is not None)
        if file.beginner.hotkey is not None and path.parent == folder:
            hotkeys = ()
        if file.beginner.title is not None:
            # For the error below, which names the file of the list that counts.
            title_file = path
    if hotkeys:
        lists["hotkey"] = hotkeys
    # Checked at the end, because a later file may hold a title of an earlier list.
    for row in lists.get("title", ()):
        if row.id not in titles:
            where = TomlSource(title_file).at(("beginner", "title"))
            raise FileFormatError(f"{where}: beginner.title: there is no title {row.id}")
    begins = starting_facts(content)
    return Knowledge(
        skills=skills.values(),
        languages=languages.values(),
        titles=titles,
        beginners=Beginners(
            [row.to(KnownSkill(row.id, row.value, row.most)) for row in lists.get("skill", ())],
            [row.to(row.id) for row in lists.get("language", ())],
            [row.to(titles[row.id]) for row in lists.get("title", ())],
            [row.to(row.hotkey()) for row in lists.get("hotkey", ())],
            standings=begins.standings,
            resistances=begins.resistances,
        ),
        older=older,
        factions=begins.factions,
        newer=newer,
    )


def _hotkeys(content: Path | None) -> tuple[HotkeyForRow, ...]:
    """Return the hotkeys of a content file in the order of a file of ours."""
    # The last row for a slot counts here, and the first one there.
    return tuple(
        HotkeyForRow(
            bar=one.bar, slot=one.slot, type=one.kind, ability=one.spell_id,
            text=one.text if one.kind == COMMAND_KEY else "",
            classes=_condition(one.class_), races=_condition(one.race),
        )
        for one in reversed(starting_hotkeys(content))
    )  # fmt: skip


def _condition(number: int) -> frozenset[int]:
    return frozenset() if number == ANY else frozenset((number,))


def _files(folder: Path | None) -> list[Path]:
    # The shipped files first, so that the operator's rows replace them.
    shipped = sorted(data_file("world", "knowledge").glob("*.toml"))
    return shipped if folder is None else [*shipped, *listed(folder, ".toml", "world.knowledge")]
