"""Rules of experience: what a level needs, what a kill gives, and what a death costs.

Source: docs/protocol/world/fights.md#experience.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from emu.rules.stance import BLUE, GREEN, GREY, ORANGE, RED, WHITE, YELLOW, arrow_color

_FACTORS: Final[Mapping[int, float]] = {
    GREY: 0.0, GREEN: 3.25, BLUE: 3.5, WHITE: 4.0, YELLOW: 4.25, ORANGE: 4.5, RED: 6.0,
}  # fmt: skip
_POINTS: Final = 8
PLAIN_ENCOUNTER: Final = 6
"""The difficulty of an encounter that changes nothing."""
DEATH_DEBT: Final = 0.5
"""Percent of a level that a death adds to the debt."""
MOST_DEBT: Final = 100.0
LEAST_DEBT: Final = 0.001
REST_PAUSE: Final = 600.0
"""Seconds between two times that the rest of a player in the world is counted."""
MOST_VITALITY: Final = 100.0
"""Percent of a level that vitality can double."""
MOST_KEPT: Final = 3
"""How many times the points of the dearest level a character keeps at most."""
DEBT_SHARE: Final = 2
"""One point in so many of a gain pays the debt while there is one."""


@cache
def usual_needs() -> Mapping[int, int]:
    """Return the points that lead to each level up to 95, by that level."""
    rows = [600, 800, 1000]
    rows += [1000 + 400 * step for step in range(1, 10)]  # 5 to 13
    rows.append(5000)
    rows += [5000 + 500 * step for step in range(1, 13)]  # 15 to 26
    rows += [11000 + 750 * step for step in range(1, 17)]  # 27 to 42
    rows += [23000 + 1000 * step for step in range(1, 6)]  # 43 to 47
    rows += [29250, 30500, 32000, 33750, 35750, 38000, 40500, 42500, 45500]  # 48 to 56
    rows += [45500 + 3000 * step for step in range(1, 8)]  # 57 to 63
    rows.append(70000)
    rows += [70000 + 3500 * step for step in range(1, 12)]  # 65 to 75
    rows += [116500, 132500]  # 76 and 77
    rows += [132500 + 20000 * step for step in range(1, 14)]  # 78 to 90
    rows += [863550, 949905, 1044895, 1149385, 1264323]  # 91 to 95
    return dict(enumerate(rows, start=2))


class Fallen(NamedTuple):
    """A creature that was killed."""

    level: int
    difficulty: int = PLAIN_ENCOUNTER
    heroic: int = 0


def kill_points(
    fallen: Fallen, own_level: int, fighters: int, *, rate: float = 1.0, more: float = 0.0
) -> int:
    """Return the points that one of `fighters` players gets for a kill.

    `more` is what spells and things add for this player, in percent of its whole points.
    """
    points = _FACTORS[arrow_color(fallen.level, own_level)] * _POINTS
    if fallen.difficulty > PLAIN_ENCOUNTER:
        points *= fallen.difficulty - PLAIN_ENCOUNTER + 1
    elif fallen.difficulty < PLAIN_ENCOUNTER:
        points /= PLAIN_ENCOUNTER + 1 - max(1, fallen.difficulty)
    if fallen.heroic > 1:
        points *= fallen.heroic
    share = int(points * rate / max(1, fighters))
    return max(0, int(share * (1 + more / 100)))


class Progress(NamedTuple):
    """Where a player stands."""

    level: int
    points: int
    debt: float = 0.0
    """Percent of a level."""


def debt_paid(before: Progress, points: int, needed: int) -> tuple[int, float]:
    """Return what is left of a gain, and the debt in percent: half of the gain pays the debt.

    `needed` are the points of the level. A debt is a share of them, so that it is paid after
    equally long a time at every level.
    """
    if before.debt <= 0 or needed <= 0 or points <= 0:
        return max(0, points), before.debt
    due = before.debt / 100 * needed
    paid = min(due, points / DEBT_SHARE)
    return points - round(paid), max(0.0, (due - paid) / needed * 100)


def most_points(needs: Mapping[int, int]) -> int:
    """Return the most points that a character keeps within a level."""
    # A script that forbids a level keeps up to 2.2 times what the next one needs.
    return max(needs.values(), default=0) * MOST_KEPT


def debt_after_death(debt: float, cost: float = DEATH_DEBT) -> float:
    """Return the debt of a player who has died, in percent of a level."""
    return min(MOST_DEBT, debt + max(0.0, cost))


def debt_after_rest(debt: float, percent: float, periods: float) -> float:
    """Return what is left of a debt after so many periods, each of which takes `percent` of it."""
    left = debt * (1 - min(100.0, max(0.0, percent)) / 100) ** max(0.0, periods)
    # A share of it never ends: what is less than a thousandth of a percent is forgotten.
    return left if left >= LEAST_DEBT else 0.0


def vitality_after_rest(vitality: float, gain: float, periods: float) -> float:
    """Return the vitality, in percent of a level, after so many periods of rest."""
    return min(MOST_VITALITY, vitality + max(0.0, gain) * max(0.0, periods))


def vitality_bonus(points: int, vitality: float, needed: int) -> tuple[int, float]:
    """Return what vitality adds to the points of a kill, and the vitality that is left.

    It doubles them while it lasts. `vitality` is in percent of the `needed` points of a level.
    """
    if vitality <= 0 or needed <= 0 or points <= 0:
        return 0, max(0.0, vitality)
    stored = vitality / 100 * needed
    bonus = min(points, int(stored))
    return bonus, max(0.0, (stored - max(1, bonus)) / needed * 100)
