"""A character as its world stores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from emu.model.belongings import Hotkey, Membership, Title
from emu.model.characters import Color
from emu.times import UNKNOWN, Moment

Place = tuple[float, float, float, float, int]
"""x, y, z in world units, heading in degrees, and the grid that clients name with a place."""


@dataclass(frozen=True, slots=True)
class WorldCharacter:
    """One character as its world stores it."""

    id: int
    """0 for a row that is not stored yet; given by the store."""
    account_id: int
    name: str
    race: int
    class_: int
    gender: int
    deity: int
    level: int
    starting_zone: int
    zone_id: int
    client_version: int
    created: Moment
    last_played: Moment = UNKNOWN
    admin_status: int = 0
    """-2 banned for ever, -1 banned, 0 player, 100 and up game master."""
    deleted: bool = False
    appearance: Mapping[str, int | str] = field(default_factory=dict)
    """Model file names and numbers of the create request, by field name."""
    colors: Mapping[str, Color] = field(default_factory=dict)
    place: Place | None = None
    """Where it was last; None for the safe place of its zone."""
    muted_until: Moment = UNKNOWN
    """Until when it may not speak."""
    relations: tuple[tuple[int, str], ...] = ()
    """Names on its lists with the kind of list: 0 friends, 2 ignored."""
    titles: tuple[Title, ...] = ()
    """Titles it was given."""
    prefix: str = ""
    suffix: str = ""
    """The titles it bears, empty for none."""
    hotkeys: tuple[Hotkey, ...] = ()
    channels: tuple[Membership, ...] = ()
