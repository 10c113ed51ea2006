"""Stores for tests: files in a temporary folder, and a runner that needs no thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from emu.facts import saved_facts
from emu.model import Character, Color, Equipment, SavedState, WorldCharacter

T = TypeVar("T")


class Done(Awaitable[T]):
    """An awaitable that is there already."""

    def __init__(self, value: T) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, Any, T]:
        yield from ()
        return self._value


def run_inline(call: Callable[[], T]) -> Awaitable[T]:
    """Run a call at once, as a `Run` of the asynchronous store."""
    return Done(call())


def character(**changes: Any) -> Character:
    """A character of the login server's list, with something in every field."""
    fields: dict[str, Any] = {
        "id": 0, "account_id": 1, "world_id": 1, "char_id": 7, "name": "Ayla", "race": 5,
        "class_": 3, "gender": 1, "deity": 2, "level": 12, "tradeskill_class": 1,
        "tradeskill_level": 4, "zone_id": 12, "zone_name": "qey_village01",
        "zone_description": "Starcrest Commune", "created": 1000.5, "last_played": 2000.25,
        "client_version": 546, "appearance": {"race_type": 111, "body_size": -20},
        "colors": {"hair_color1": Color(1, -2, 3, signed=True), "nose_type": Color(9, 8, 7)},
        "equipment": (Equipment(3, 900, (1, 2, 3), (4, 5, 6)),),
    }  # fmt: skip
    return Character(**(fields | changes))


def world_character(**changes: Any) -> WorldCharacter:
    """A character of the built-in world, with something in every field."""
    fields: dict[str, Any] = {
        "id": 0, "account_id": 1, "name": "Ayla", "race": 5, "class_": 3, "gender": 1, "deity": 2,
        "level": 1, "starting_zone": 3, "zone_id": 12, "client_version": 546, "created": 1000.5,
        "appearance": {"race_file": "ec/pc/human", "body_size": 12},
        "colors": {"skin_color": Color(250, 0, 1)},
    }  # fmt: skip
    return WorldCharacter(**(fields | changes))


def saved_state(row: WorldCharacter, revision: int = 1, **changes: Any) -> SavedState:
    """A save of a character that is somewhere; `changes` are fields of it, or facts."""
    fields: dict[str, Any] = {
        "char_id": row.id, "account_id": row.account_id, "created": row.created, "name": row.name,
        "revision": revision, "zone_id": 166, "place": (1.5, -2.25, 3.75, 90.0, 0xFFFFFFFF),
    }  # fmt: skip
    facts = {name: changes.pop(name) for name in [*changes] if name in saved_facts(WorldCharacter)}
    return SavedState(**(fields | changes), facts=facts)
