"""Friends and enemies of factions, as a content file has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Alliance(NamedTuple):
    """The factions that a faction counts as its own, and those that it fights."""

    friends: tuple[int, ...] = ()
    enemies: tuple[int, ...] = ()


def alliances_of(rows: Iterable[Mapping[str, Any]]) -> dict[int, Alliance]:
    """Return the friends and enemies by faction; a row names one of each, or 0."""
    found: dict[int, Alliance] = {}
    for row in rows:
        known = found.get(row["faction_id"], Alliance())
        friends = (*known.friends, row["friend"]) if row["friend"] else known.friends
        enemies = (*known.enemies, row["enemy"]) if row["enemy"] else known.enemies
        found[row["faction_id"]] = Alliance(friends, enemies)
    return found
