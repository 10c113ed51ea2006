"""Rules of levels: the health and power of actors, and where a player may go.

Source: docs/protocol/world/fights.md#pools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

STAMINA: Final = "sta"
"""The attribute that gives players health."""
USUAL_ATTRIBUTE: Final = 20
"""What players have of each attribute without things and spells."""
_PRIMARY: Final = ((1, "str"), (11, "wis"), (21, "intel"), (31, "agi"))
"""The first class of each archetype, and the attribute that gives it power."""
_LATER_PRIMARY: Final[Mapping[int, str]] = {43: "wis", 44: "wis"}
"""Classes behind the blocks of the archetypes: shapers and channelers are priests."""


class Pools(NamedTuple):
    """The most health and power of an actor."""

    health: int
    power: int


def primary_attribute(class_: int) -> str:
    """Return the attribute that gives the players of a class power."""
    later = _LATER_PRIMARY.get(class_)
    if later is not None:
        return later
    return [name for first, name in _PRIMARY if class_ >= first or first == 1][-1]


def per_attribute(level: int) -> float:
    """Return the health of one point of stamina, and the power of one of the primary attribute."""
    return max(3.0, min(3.0 + (level - 20) / 10, 10.0))


def player_pools(level: int, stamina: float, primary: float) -> Pools:
    """Return the most health and power of a player with these attributes, without bonuses."""
    times = per_attribute(level)
    return Pools(
        int(2.0 * level**2 + 40) + int(max(0.0, stamina) * times),
        # The factor has single precision: at level 10 the sum is just below 255 (recorded).
        int(2.0999999046 * level**2 + 45) + int(max(0.0, primary) * times),
    )


def usual_pools(level: int, *, is_player: bool) -> Pools:
    """Return the most health and power of an actor of which only the level is known."""
    if is_player:
        return player_pools(level, USUAL_ATTRIBUTE, USUAL_ATTRIBUTE)
    return Pools(15 * level + 1, 15 * level + 1)


def cut_level(level: int, highest: int) -> int:
    """Return a level cut to those that a player of a world can have."""
    return max(1, min(level, highest))


class ZoneLimits(NamedTuple):
    """Who may enter a zone: the least rank, and the levels; a highest level of 0 is none."""

    name: str
    rank: int
    lowest: int
    highest: int


def zone_refusal(zone: ZoneLimits, *, rank: int, level: int, is_master: bool) -> str | None:
    """Return why a player may not enter a zone; game masters go wherever they are needed."""
    if rank < zone.rank:
        return f"You may not enter {zone.name}."
    if is_master:
        return None
    if level < zone.lowest:
        return f"You must be level {zone.lowest} to enter {zone.name}."
    if 0 < zone.highest < level:
        return f"{zone.name} is only for players up to level {zone.highest}."
    return None
