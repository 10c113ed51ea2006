"""Transmuting without a world: the skill that it needs, and what it makes.

Source: docs/guides/crafting.md#transmuting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

LEGENDARY, FABLED = 7, 9
"""Tiers of things from which on they give better materials."""
LEAST_LEVEL: Final = 5
SKILL_OF_LEVEL: Final = 5
BOTH, COMMON = 15, 75
"""Up to so many of 100 both materials are made, else up to so many the common one alone."""


class TransmuteTier(NamedTuple):
    """The materials that things of some levels give: numbers of things, the plainest first."""

    least: int
    most: int
    fragment: int
    powder: int
    infusion: int
    mana: int


def needed_skill(level: int) -> int:
    """Return the skill that a thing of a level needs."""
    return SKILL_OF_LEVEL * (max(level, LEAST_LEVEL) - LEAST_LEVEL)


def may_teach(level: int, skill: int) -> bool:
    """Return whether a thing of a level can still raise a skill."""
    return skill // SKILL_OF_LEVEL - level < 0


def materials(
    tiers: Iterable[TransmuteTier], level: int, tier: int, roll: Callable[[int], int]
) -> tuple[int, ...]:
    """Return what a thing of a level and a tier gives; nothing if no row has its level.

    `roll` returns a number below its argument.
    """
    found = next((one for one in tiers if one.least <= level <= one.most), None)
    if found is None:
        return ()
    if tier >= FABLED:
        common, rare = found.infusion, found.mana
    elif tier >= LEGENDARY:
        common, rare = found.powder, found.infusion
    else:
        common, rare = found.fragment, found.powder
    chance = roll(100) + 1
    if chance <= BOTH:
        return rare, common
    return (common,) if chance <= COMMON else (rare,)
