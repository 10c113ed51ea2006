"""The stance of a spawn to a player: the color of the arrow at its name, and its attitude.

Both depend on the viewer: on the difference of the levels, and on what the spawn's faction thinks
of the viewer. Source: docs/protocol/world/spawns.md#arrow.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, NamedTuple

GREY, GREEN, BLUE, WHITE, YELLOW, ORANGE, RED = range(7)
FIXED_FACTIONS: Final = 10
"""Factions up to this number have an attitude that nobody can change: their number less 5."""
MIDDLE_FACTION: Final = 5
FACTION_STEP: Final = 10_000
"""The standing with a faction that is one step of its attitude."""
WORST, BEST = -5, 5
OWN_ARROW: Final = -1
"""The arrow of a `Look` that has only what quests show."""
SHOWN: Final = 4
"""The best attitude that ghosts show; the worst is its opposite, and means that it attacks."""
DISLIKED: Final = -3
_FLOORS: Final = ((9, RED), (5, ORANGE), (1, YELLOW), (0, WHITE), (-5, BLUE), (-10, GREEN))
_STRETCHED: Final = ((10, 3), (20, 2))
"""Below each level, a difference counts as many times as this: early levels matter more."""


class Encounter(enum.IntEnum):
    """To whom a creature's fight belongs, as clients show it."""

    FREE = 1
    BROKEN = 2
    """Its fighters have called for help: anybody may strike it, and nobody is rewarded."""
    LOCKED = 3
    """It belongs to those who struck it first."""
    OVERMATCHED = 4
    NO_REWARD = 5


class Stance(NamedTuple):
    """What decides how dangerous and friendly a spawn looks."""

    level: int
    faction: int
    attackable: bool
    encounter: Encounter = Encounter.FREE
    fighters: frozenset[int] = frozenset()
    """The numbers of the spawns whose fight it is."""
    target: int = 0
    """The number of the spawn that it hates most while it fights; 0 for none."""


class Look(NamedTuple):
    """How one viewer sees a `Stance`: the color of the name's arrow, and the attitude."""

    arrow: int
    """`OWN_ARROW`: what all others see."""
    con: int
    encounter: int = Encounter.FREE
    mark: int = 0
    """The mark of a quest over it; 0 for none."""
    is_hated: bool = False
    """Whether the viewer is the one whom it hates most."""
    is_sought: bool = False
    """Whether a quest of the viewer wants it dead."""


NEUTRAL: Final = Look(WHITE, 0)
"""How everybody sees a spawn that has no stance."""


def arrow_color(level: int, own_level: int) -> int:
    """Return the color by which a player of a level sees an enemy of another level."""
    difference = level - own_level
    times = next((times for below, times in _STRETCHED if own_level < below), 1)
    difference *= times
    return next((color for floor, color in _FLOORS if difference >= floor), GREY)


def attitude(faction: int, standings: Mapping[int, int]) -> int:
    """Return what a faction thinks of a player: -5 attacks at once, 5 is an ally, 0 indifferent.

    `standings` are the player's with factions, by number; a missing one is 0.
    """
    if not faction:
        return 0
    if faction <= FIXED_FACTIONS:
        return faction - MIDDLE_FACTION
    # Toward zero, as in C: -9,999 is still indifferent.
    return max(WORST, min(BEST, int(standings.get(faction, 0) / FACTION_STEP)))


def look_at(stance: Stance, own_level: int, standings: Mapping[int, int], viewer: int = 0) -> Look:
    """Return how a player sees a spawn; `viewer` is the number of the player's spawn.

    Clients are sent an attitude of -4 to 4, and -3 for an enemy that is too weak to attack.
    """
    arrow = arrow_color(stance.level, own_level) if stance.attackable else WHITE
    con = max(-SHOWN, min(SHOWN, attitude(stance.faction, standings)))
    con = DISLIKED if con == -SHOWN and arrow == GREY else con
    if stance.encounter is not Encounter.FREE and viewer not in stance.fighters:
        # Nobody else gets anything for it (recorded).
        arrow = GREY
    # After a call for help nobody is shown to be hated (recorded: fight-60114-melee-a).
    is_hated = stance.encounter is Encounter.LOCKED and bool(viewer) and stance.target == viewer
    return Look(arrow, con, stance.encounter, is_hated=is_hated)
