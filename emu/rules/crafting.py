"""Crafting: rounds with durability and progress, what they make, and what they teach.

Chance decides; the same source of chance gives the same rounds.
Source: docs/protocol/world/crafting.md#rounds.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from emu.rules.loot import ALL, Chance

MOST: Final = 1000
"""The durability with which a creation begins, and the progress with which it ends."""
PHASE_PROGRESS: Final = (0, 400, 600, 800, MOST)
"""The least progress of each phase."""
KEPT_DURABILITY: Final = {3: 200, 4: 800}
"""The least durability of a phase; less makes the one below."""
EXPERIENCE_SHARES: Final = (0.0, 0.55, 0.70, 0.85, 1.0)
"""The share of the experience that each phase gives."""
EVENT_PERCENT: Final = 15.0
"""How often a round brings an event."""
BASE_EXPERIENCE: Final = 33.0
"""What a recipe of level 1 gives (28 recorded for the fourth phase)."""
LEVELS_OF_TIER: Final = 10


class RoundEnd(enum.IntEnum):
    """How a round ends, as clients number it."""

    GREAT_SUCCESS = 1
    SUCCESS = 2
    FAILURE = 3
    GREAT_FAILURE = 4


class CraftChange(NamedTuple):
    """What something adds to durability and progress."""

    durability: int = 0
    progress: int = 0

    def plus(self, other: CraftChange) -> CraftChange:
        """Return both together."""
        return CraftChange(self.durability + other.durability, self.progress + other.progress)


_ROUNDS: Final = (
    (RoundEnd.GREAT_FAILURE, 1.0, CraftChange(-100, -50)),
    (RoundEnd.GREAT_SUCCESS, 2.0, CraftChange(10, 100)),
    (RoundEnd.FAILURE, 10.0, CraftChange(-50, 0)),
    (RoundEnd.SUCCESS, 87.0, CraftChange(-10, 50)),
)
"""The ends of a round with their percentages."""
COUNTERED: Final = CraftChange(50, 50)
"""What an answered event adds to the next round, if its row says nothing."""
MISSED: Final = CraftChange(-50, -50)
"""What an event costs that was not answered, if its row says nothing."""


class CraftEvent(NamedTuple):
    """Something that happens in a round; an art with the same icon answers it."""

    name: str
    icon: int
    success: CraftChange = CraftChange()
    """What the right art adds to the next round."""
    failure: CraftChange = CraftChange()
    """What a wrong art adds to it."""

    @property
    def countered(self) -> CraftChange:
        """What the right art adds; the public tables have only zeros, and arts are to help."""
        return self.success if any((*self.success, *self.failure)) else COUNTERED

    @property
    def missed(self) -> CraftChange:
        """What a wrong art adds."""
        return self.failure if any((*self.success, *self.failure)) else MISSED


class Round(NamedTuple):
    """What one round did, and where the creation stands after it."""

    effect: RoundEnd
    change: CraftChange
    durability: int
    progress: int


class Bonus(NamedTuple):
    """What arts and events change in one round: durability and progress, and percent of success."""

    change: CraftChange = CraftChange()
    success: float = 0.0


NO_BONUS: Final = Bonus()


def play_round(durability: int, progress: int, chance: Chance, bonus: Bonus = NO_BONUS) -> Round:
    """Return the next round of a creation; both numbers stay from 0 to `MOST`.

    `bonus.success` takes so many percent from the failures.
    """
    drawn = chance.random() * ALL
    effect, change = _drawn(drawn, bonus.success)
    change = change.plus(bonus.change)
    return Round(
        effect, change, _cut(durability + change.durability), _cut(progress + change.progress)
    )


def _drawn(drawn: float, success: float) -> tuple[RoundEnd, CraftChange]:
    left = drawn
    for effect, percent, change in _ROUNDS:
        is_failure = effect in (RoundEnd.FAILURE, RoundEnd.GREAT_FAILURE)
        share = percent * max(0.0, 1.0 - success / ALL) if is_failure else percent
        if left < share:
            return effect, change
        left -= share
    return _ROUNDS[-1][0], _ROUNDS[-1][2]


def _cut(number: int) -> int:
    return max(0, min(MOST, number))


def brings_event(chance: Chance) -> bool:
    """Return whether a round brings an event."""
    return chance.random() * ALL < EVENT_PERCENT


def reached(progress: int) -> int:
    """Return the phase that a progress has reached, from 0 to 4."""
    return max(phase for phase, least in enumerate(PHASE_PROGRESS) if progress >= least)


def made_phase(durability: int, progress: int) -> int:
    """Return the phase whose product a creation makes when it ends.

    Little durability costs the best phases: below 200 the second one at most, below 800 the third.
    """
    phase = reached(progress)
    while phase in KEPT_DURABILITY and durability < KEPT_DURABILITY[phase]:
        phase -= 1
    return phase


def tier_of(level: int) -> int:
    """Return the tier of a recipe, by its level."""
    return level // LEVELS_OF_TIER + 1


def experience(level: int, own_level: int, phase: int) -> int:
    """Return the tradeskill experience of a creation; 0 for recipes far below the own level."""
    gap = own_level - level
    if gap >= LEVELS_OF_TIER:
        return 0
    whole = BASE_EXPERIENCE * max(1, level) * (1 - max(0, gap) / LEVELS_OF_TIER)
    return int(whole * EXPERIENCE_SHARES[phase])
