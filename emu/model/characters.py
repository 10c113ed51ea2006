"""Characters as the login server lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from emu.times import UNKNOWN, Moment


@dataclass(frozen=True, slots=True)
class Color:
    """A color row: three components as stored, and whether they are signed.

    Source: docs/protocol/characters.md#looks.
    """

    red: int
    green: int
    blue: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Equipment:
    """What one equipment slot shows in the character list."""

    slot: int
    model: int
    color: tuple[int, int, int] = (255, 255, 255)
    highlight: tuple[int, int, int] = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Character:
    """One row of the login server's character list.

    `appearance` maps the field names of CharSelectProfile that hold model ids (``race_type``,
    ``hair_type`` ...) and ``body_size`` to numbers; `colors` maps color and slider field names
    to their rows.
    """

    id: int
    """Row id in the login store; 0 for a row that is not stored yet."""
    account_id: int
    world_id: int
    char_id: int
    """The character's id on its world."""
    name: str
    race: int = 0
    class_: int = 0
    gender: int = 0
    deity: int = 0
    level: int = 1
    tradeskill_class: int = 0
    tradeskill_level: int = 0
    zone_id: int = 0
    zone_name: str = ""
    zone_description: str = ""
    created: Moment = UNKNOWN
    last_played: Moment = UNKNOWN
    client_version: int = 0
    """Version of the client that created it; decides how its colors are coded."""
    deleted: bool = False
    appearance: Mapping[str, int] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)
    equipment: Sequence[Equipment] = ()


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A character as an operator knows it: in the list, in the built-in world, or in both."""

    id: int | None
    """Its row in the list; None when the list does not have it."""
    own_id: int | None
    """Its row in the built-in world; None when another world has it, or the world lost it."""
    char_id: int
    """Its id on its world."""
    name: str
    account_id: int
    account: str
    """Name of its account; empty when the account is another login server's."""
    world: str
    """Name of its world; empty for one that only the built-in world knows."""
    is_built_in: bool
    """Whether the built-in world is its world."""
    level: int
    race: int
    class_: int
    gender: int
    zone_id: int
    client_version: int
    created: Moment
    last_played: Moment
    deleted: bool
    deleted_at: Moment | None
