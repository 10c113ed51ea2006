"""Rules of levels: the usual health and power of an actor, and where a player may go."""

from __future__ import annotations

from typing import NamedTuple


def usual_health(level: int, *, is_player: bool) -> int:
    """Return the health, and the power, of an actor of whom nothing says how much it has."""
    # Players: the amount of a level while there is no fighting.
    return 40 + 20 * max(1, level) if is_player else 15 * level + 1


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
