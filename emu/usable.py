"""Unusable stored values of characters, and their replacements.

A database may contain values that no character can have: a place that is not a number, a level of a
million, invalid text. Other programs write such values, and faults of this program did. The
functions return a usable character, and a `Problem` for each replaced value. The caller decides how
to report them. The module does not access a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from emu.facts import I32, U8, U32, Problem, ValueChecker, facts_of, is_appearance_number, is_whole
from emu.model import LAST_BAR, LONGEST_TEXT, Character, Equipment, WorldCharacter, is_color

_Any = TypeVar("_Any", Character, WorldCharacter)


def usable_world_character(row: WorldCharacter) -> tuple[WorldCharacter, list[Problem]]:
    """Return a character of the world with usable values, and the problems.

    Without problems, it is the same object.
    """
    check, row_id = ValueChecker(), row.id
    changes = {
        name: value.usable(getattr(row, name), check, row_id)
        for name, value, _, _ in facts_of(type(row))
    }
    return _changed(row, changes, check)


def usable_character(row: Character) -> tuple[Character, list[Problem]]:
    """Return a character of the login server's list with usable values, and the problems.

    Other servers' worlds set these values, so every value that can be sent to a client is kept.
    """
    check = ValueChecker()
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
        "appearance": check.mapping("appearance", row.appearance, is_appearance_number),
        "colors": check.mapping("colors", row.colors, is_color),
        "equipment": check.rows("equipment", row.equipment, _is_equipment, LAST_BAR),
    }
    # The same object, so that a row without problems stays equal to itself.
    if len(changes["equipment"]) == len(row.equipment):
        changes["equipment"] = row.equipment
    return _changed(row, changes, check)


def _changed(
    row: _Any, changes: Mapping[str, Any], check: ValueChecker
) -> tuple[_Any, list[Problem]]:
    if not check.problems:
        return row, []
    return replace(row, **changes), check.problems


def _is_equipment(item: Equipment) -> bool:
    parts: Sequence[object] = (*item.color, *item.highlight)
    return (
        is_whole(item.slot, 0, U8)
        and is_whole(item.model, 0, U32)
        and all(is_whole(one, -128, U8) for one in parts)
    )
