"""Unusable stored values of characters, and their replacements.

A database may contain values that no character can have: a place that is no number, a level of a
million, invalid text. Other programs write such values, and faults of this program did. The
functions return a usable character, and a `Problem` for each replaced value. The caller decides how
to report them. The module does not access a store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from emu.model import (
    Character,
    Color,
    Equipment,
    Hotkey,
    KnownSkill,
    Membership,
    Place,
    Title,
    WorldCharacter,
)
from emu.times import FOR_EVER, UNKNOWN, Moment

FARTHEST: Final = 32_000.0
"""Largest coordinate that a place may have."""
LONGEST_NAME: Final = 64
LONGEST_TITLE: Final = 63
LONGEST_TEXT: Final = 255
"""Characters of a name, a title, and any other text."""
LONGEST_TRAVELS: Final = 16_000
"""Characters of its bind place, discoveries and instances."""
LONGEST_PAST: Final = 65_536
LONGEST_CLIENT_DATA: Final = 65_536
"""Characters of what it has been through."""
LONGEST_OPTIONS: Final = 1000
"""Characters of the words of its options."""
MOST_RELATIONS: Final = 200
MOST_TITLES: Final = 250
MOST_HOTKEYS: Final = 500
MOST_CHANNELS: Final = 100
MOST_SKILLS: Final = 1000
MOST_LANGUAGES: Final = 255
"""Rows of each kind that a character may have."""
RELATION_KINDS: Final = (0, 2)
MOST_COINS: Final = 0xFFFFFFFF * 1_000_000
"""Copper: as many platinum as the sheet can show."""
LAST_BAR: Final = 99
LAST_STATUS: Final = 1000
BANNED: Final = -2
"""Lowest `admin_status`: banned permanently."""
LAST_REVISION: Final = 1 << 52
U8: Final = 0xFF
U16: Final = 0xFFFF
U32: Final = 0xFFFFFFFF
I32: Final = 0x7FFFFFFF

Row = TypeVar("Row")
_Any = TypeVar("_Any", Character, WorldCharacter)


class Problem(NamedTuple):
    """An unusable value: its field, the value, and its replacement."""

    field: str
    value: str
    used: str

    def __str__(self) -> str:
        return f"unusable {self.field} ({self.value}); {self.used} is used instead"


class _Checker:
    """Checks values, and collects the problems."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def integer(self, field: str, value: Any, least: int, most: int, default: int) -> int:
        """Return a whole number within these limits, else the default."""
        # `type` and not `isinstance`: True is an integer for Python.
        if type(value) is int and least <= value <= most:
            return value
        self.note(field, value, default)
        return default

    def moment(self, field: str, value: Any) -> Moment:
        """Return a time; one after the year 9999 becomes its end, anything else is unknown."""
        if type(value) in (int, float) and 0 <= value <= FOR_EVER:
            return Moment(value)
        is_late = type(value) in (int, float) and value > FOR_EVER
        used = FOR_EVER if is_late else UNKNOWN
        self.note(field, value, "the end of the year 9999" if is_late else "no time")
        return used

    def text(self, field: str, value: Any, longest: int, default: str, *, least: int = 0) -> str:
        """Return a printable text within these lengths, else the default."""
        if is_text(value, longest) and len(value) >= least:
            return str(value)
        self.note(field, value, default or "nothing")
        return default

    def readable(self, field: str, value: Any, longest: int, default: str) -> str:
        """Return a text up to this length whose bytes are UTF-8, else the default."""
        # Surrogates stand for bytes that are not UTF-8.
        if type(value) is str and len(value) <= longest and not _has_surrogates(value):
            return value
        self.note(field, value, default or "nothing")
        return default

    def place(self, value: Any) -> Place | None:
        """Return a place; None if there is none, or if it is unusable."""
        if value is None:
            return None
        x, y, z, heading, grid = value
        # A place with one bad coordinate could be anywhere, so all of it goes.
        if not all(is_number(one, FARTHEST) for one in (x, y, z)):
            self.note("place", (x, y, z), "the safe place of its zone")
            return None
        if not is_number(heading, 1e6):
            self.note("heading", heading, 0)
            heading = 0.0
        return x, y, z, heading, self.integer("grid", grid, 0, U32, 0)

    def rows(
        self, field: str, rows: Iterable[Row], is_usable: Callable[[Row], bool], most: int
    ) -> tuple[Row, ...]:
        """Return the usable rows of a list, up to `most`."""
        kept: list[Row] = []
        for row in rows:
            if not is_usable(row):
                self.note(field, row, "the rest of the list")
            elif len(kept) >= most:
                # One problem for the whole rest; the list may be long.
                self.note(field, row, f"a list of {most}")
                break
            else:
                kept.append(row)
        return tuple(kept)

    def mapping(
        self, field: str, values: Mapping[str, Row], is_usable: Callable[[Row], bool]
    ) -> Mapping[str, Row]:
        """Return a mapping without its unusable values."""
        wrong = {name: one for name, one in values.items()
                 if _has_surrogates(name) or not is_usable(one)}  # fmt: skip
        if not wrong:
            return values
        for name, one in wrong.items():
            self.note(f"{field} {shown(name)}", one, "nothing")
        return {name: one for name, one in values.items() if name not in wrong}

    def note(self, field: str, value: object, used: object) -> None:
        """Add a problem."""
        self.problems.append(Problem(field, shown(value), str(used)))


def usable_world_character(row: WorldCharacter) -> tuple[WorldCharacter, list[Problem]]:
    """Return a character of the world with usable values, and the problems.

    Without problems, it is the same object.
    """
    check = _Checker()
    whole = check.integer
    changes: dict[str, Any] = {
        "account_id": whole("account number", row.account_id, 0, U32, 0),
        "name": check.text("name", row.name, LONGEST_NAME, f"Character{row.id}", least=1),
        "race": whole("race", row.race, 0, U8, 0),
        "class_": whole("class", row.class_, 0, U8, 0),
        "gender": whole("gender", row.gender, 0, U8, 0),
        "deity": whole("deity", row.deity, 0, U8, 0),
        "level": whole("level", row.level, 1, U8, 1),
        "starting_zone": whole("starting zone", row.starting_zone, 0, U32, 0),
        "zone_id": whole("zone", row.zone_id, 0, U32, 0),
        "client_version": whole("client version", row.client_version, 0, U32, 0),
        "created": check.moment("time of creation", row.created),
        "last_played": check.moment("time when it was played last", row.last_played),
        "admin_status": _status(check, row.admin_status),
        "muted_until": check.moment("time until which it is muted", row.muted_until),
        "revision": whole("number of its last save", row.revision, 0, LAST_REVISION, 0),
        "holder": check.text("holder", row.holder, LONGEST_TEXT, ""),
        "term": whole("term", row.term, 0, LAST_REVISION, 0),
        "place": check.place(row.place),
        "tradeskill_class": whole("tradeskill class", row.tradeskill_class, 0, U8, 0),
        "tradeskill_level": whole("tradeskill level", row.tradeskill_level, 0, U8, 1),
        "last_name": check.text("last name", row.last_name, LONGEST_NAME, ""),
        "coins": whole("coins", row.coins, 0, MOST_COINS, 0),
        "status_points": whole("status points", row.status_points, 0, U32, 0),
        "experience": whole("experience", row.experience, 0, U32, 0),
        "experience_needed": whole("experience needed", row.experience_needed, 0, U32, 0),
        "options": check.text("options", row.options, LONGEST_OPTIONS, ""),
        "travels": check.text("travels", row.travels, LONGEST_TRAVELS, ""),
        "past": check.text("past", row.past, LONGEST_PAST, ""),
        "client_data": check.text("client data", row.client_data, LONGEST_CLIENT_DATA, ""),
        "played": whole("time that it was played", row.played, 0, U32, 0),
        "skills": check.rows("skills", row.skills, _is_skill, MOST_SKILLS),
        "languages": check.rows("languages", row.languages, _is_language, MOST_LANGUAGES),
        "prefix": check.text("prefix", row.prefix, LONGEST_TITLE, ""),
        "suffix": check.text("suffix", row.suffix, LONGEST_TITLE, ""),
        "relations": check.rows("friends", row.relations, _is_relation, MOST_RELATIONS * 2),
        "titles": check.rows("titles", row.titles, _is_title, MOST_TITLES),
        "hotkeys": check.rows("hotkeys", row.hotkeys, _is_hotkey, MOST_HOTKEYS),
        "channels": check.rows("channels", row.channels, _is_membership, MOST_CHANNELS),
        "appearance": check.mapping("appearance", row.appearance, _is_appearance),
        "colors": check.mapping("colors", row.colors, _is_color),
    }
    return _changed(row, changes, check)


def usable_character(row: Character) -> tuple[Character, list[Problem]]:
    """Return a character of the login server's list with usable values, and the problems.

    Other servers' worlds set these values, so every value that can be sent to a client is kept.
    """
    check = _Checker()
    whole, text = check.integer, check.readable
    changes: dict[str, Any] = {
        "account_id": whole("account number", row.account_id, 0, I32, 0),
        "world_id": whole("world number", row.world_id, 0, I32, 0),
        "char_id": whole("number on its world", row.char_id, 0, U32, 0),
        "name": text("name", row.name, LONGEST_TEXT, f"Character{row.id}"),
        "race": whole("race", row.race, -I32, I32, 0),
        "class_": whole("class", row.class_, -I32, I32, 0),
        "gender": whole("gender", row.gender, -I32, I32, 0),
        "deity": whole("deity", row.deity, -I32, I32, 0),
        "level": whole("level", row.level, 0, U32, 1),
        "tradeskill_class": whole("tradeskill class", row.tradeskill_class, -I32, I32, 0),
        "tradeskill_level": whole("tradeskill level", row.tradeskill_level, 0, U32, 0),
        "zone_id": whole("zone", row.zone_id, 0, U32, 0),
        "zone_name": text("zone's file name", row.zone_name, LONGEST_TEXT, ""),
        "zone_description": text("zone's name", row.zone_description, LONGEST_TEXT, ""),
        "created": check.moment("time of creation", row.created),
        "last_played": check.moment("time when it was played last", row.last_played),
        "client_version": whole("client version", row.client_version, 0, U32, 0),
        "appearance": check.mapping("appearance", row.appearance, _is_appearance_number),
        "colors": check.mapping("colors", row.colors, _is_color),
        "equipment": check.rows("equipment", row.equipment, _is_equipment, LAST_BAR),
    }
    # The same object, so that a row without problems stays equal to itself.
    if len(changes["equipment"]) == len(row.equipment):
        changes["equipment"] = row.equipment
    return _changed(row, changes, check)


def is_text(value: object, longest: int) -> bool:
    """Return whether a value is a printable text of at most this length."""
    return type(value) is str and len(value) <= longest and value.isprintable()


def is_number(value: object, most: float) -> bool:
    """Return whether a value is a number with a magnitude up to `most`."""
    return type(value) in (int, float) and abs(value) <= most  # type: ignore[arg-type]  # NaN is not


def shown(value: object) -> str:
    """Return a value as a short line for people."""
    # Values of a damaged database may be megabytes long.
    text = repr(value)
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
    return text if text.isprintable() else ascii(text)


LONGEST_SHOWN: Final = 60


def _has_surrogates(text: str) -> bool:
    """Return whether a text was decoded from bytes that are not UTF-8."""
    return not text.isascii() and _SURROGATES.search(text) is not None


_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def _changed(row: _Any, changes: Mapping[str, Any], check: _Checker) -> tuple[_Any, list[Problem]]:
    if not check.problems:
        return row, []
    return replace(row, **changes), check.problems


def _status(check: _Checker, value: Any) -> int:
    """Return a rank; a number below all ranks stays a ban, any other unknown one is rank 0."""
    # A number below the lowest rank was written as a ban, and must not become a player's rank.
    if type(value) is int and value < BANNED:
        check.note("rank", value, BANNED)
        return BANNED
    return check.integer("rank", value, BANNED, LAST_STATUS, 0)


def _is_relation(row: Any) -> bool:
    kind, name = row
    return kind in RELATION_KINDS and is_text(name, LONGEST_NAME) and bool(name)


def _is_title(row: Title) -> bool:
    return is_text(row.text, LONGEST_TITLE) and 0 < len(row.text.encode()) <= LONGEST_TITLE


def _is_hotkey(row: Hotkey) -> bool:
    numbers = (row.type, row.icon, row.icon_type, row.ability, row.tier)
    return (
        _is_whole(row.bar, 0, LAST_BAR)
        and _is_whole(row.slot, 0, LAST_BAR)
        and all(_is_whole(one, -I32 - 1, U32) for one in numbers)
        and type(row.text) is str
        and len(row.text) <= LONGEST_TEXT
        and not _has_surrogates(row.text)
    )


def _is_skill(row: KnownSkill) -> bool:
    return (
        _is_whole(row.id, 0, U32) and _is_whole(row.value, 0, U16) and _is_whole(row.most, 0, U16)
    )


def _is_language(number: object) -> bool:
    return _is_whole(number, 1, U8)


def _is_membership(row: Membership) -> bool:
    name, password = row.channel, row.password
    return is_text(name, LONGEST_NAME) and bool(name) and is_text(password, LONGEST_TEXT)


def _is_appearance(value: object) -> bool:
    return is_text(value, LONGEST_TEXT) or _is_appearance_number(value)


def _is_appearance_number(value: object) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    return _is_whole(value, -I32 - 1, U32)


def _is_color(color: Color) -> bool:
    return all(_is_whole(one, -128, U8) for one in (color.red, color.green, color.blue))


def _is_equipment(item: Equipment) -> bool:
    parts: Sequence[object] = (*item.color, *item.highlight)
    return (
        _is_whole(item.slot, 0, U8)
        and _is_whole(item.model, 0, U32)
        and all(_is_whole(one, -128, U8) for one in parts)
    )


def _is_whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most
