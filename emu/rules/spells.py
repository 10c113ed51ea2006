"""Rules of spells: times, whether a spell lands, and how much it does.

Source: docs/guides/spells.md#rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from emu.rules.combat import CRITICAL, FightChance

FASTEST: Final = 0.5
"""No speed makes a cast or a recast shorter than this share of it."""
MAGIC: Final = frozenset(range(3, 10))
"""The damage types that intelligence raises: heat to poison."""
BLOWS: Final = frozenset(range(3))
"""The damage types of blows."""
USUAL_HIT: Final = 80.0
NO_RESISTIBILITY: Final = 0.6
"""A spell with this number is resisted as usual; a higher one more often."""
MOST_MINISTRATION: Final = 15.0
HATE_OF_HARM: Final = 50
"""The hate that a harmful spell makes, besides that of its damage."""
HATE_OF_RESIST: Final = 5
HEAL_HATE_SHARE: Final = 2
"""One point of hate for so many healed ones."""
RESISTED_RECAST: Final = 0.5
"""Seconds until a resisted spell can be cast again."""
RESIST_STEP: Final = 50.0


def with_speed(seconds: float, percent: float) -> float:
    """Return a time of a cast, recovery or recast for somebody so many percent faster."""
    if percent > 0:
        return seconds * max(FASTEST, 1 / (1 + percent / 100))
    return seconds * (1 - percent / 100)


def power_needed(
    points: float, percent: int, most: int, *, skill: int = 0, saving: float = 0.0
) -> int:
    """Return the power that a cast takes from somebody with so much at most.

    `skill` is that of Ministration for spells with this mastery, `saving` percent of items.
    """
    whole = round(points + most * percent / 100)
    less = min(MOST_MINISTRATION, skill / 25)
    return max(0, int(whole * (1 - less / 100) * (1 - max(0.0, min(saving, 100.0)) / 100)))


def fizzle_chance(
    skill: int, needed: int, usual: float, *, sure: float = 1.2, least: float = 0.2
) -> float:
    """Return the percentage of casts that fail with a skill of those that a spell asks for.

    `usual` is the percentage for each whole requirement that the skill is below `sure` ones. A
    skill counts as `least` requirements at least.
    """
    if needed <= 0:
        return 0.0
    return max(0.0, sure - max(least, skill / needed)) * usual


def keeps_casting(focus: int, chance: FightChance, usual: float) -> bool:
    """Return whether a caster who was hit goes on casting; `usual` is percent without Focus."""
    return chance.randint(1, 100) <= usual + (1 + focus) // 6


@dataclass(frozen=True, slots=True)
class SpellForce:
    """What raises the amounts of a caster's spells. All but level and intelligence are percent."""

    level: int = 1
    intelligence: int = 0
    damage: float = 0.0
    """Of spells that harm."""
    healing: float = 0.0
    heals: float = 0.0
    """Of heals as well: what raises all spells."""
    arts: float = 0.0
    """Of the damage of spells and arts alike."""
    blows: float = 0.0
    """Of damage as that of blows: what raises taunts and arts."""
    potency: float = 0.0
    ability: float = 0.0
    """Points that are added, at most half of the amount."""
    critical_chance: float = 0.0
    critical_bonus: float = 0.0


def _logarithm(level: int, attribute: int) -> float:
    return math.log10(max(1, level) * max(1, attribute))


def rolled(low: int, high: int, chance: FightChance) -> int:
    """Return a number of those between; a higher low one is the only one."""
    return low if high <= low else chance.randint(low, high)


def damage_amount(points: int, kind: int, force: SpellForce, *, share: int = 2) -> float:
    """Return a spell's damage of a type before it is critical; `share` cuts the ability."""
    amount = float(points)
    if kind in MAGIC:
        amount *= 1 + _logarithm(force.level, force.intelligence) / 50
        amount *= 1 + force.damage / 100
    amount *= 1 + force.arts / 100
    if kind in BLOWS:
        amount *= 1 + force.blows / 100
    return _raised(amount, force, share)


def heal_amount(points: int, force: SpellForce, *, share: int = 2) -> float:
    """Return what a spell heals before it is critical."""
    amount = points * (1 + force.healing / 100) * (1 + force.heals / 100)
    return _raised(amount, force, share)


def _raised(amount: float, force: SpellForce, share: int) -> float:
    amount *= 1 + force.potency / 100
    return amount + min(force.ability, amount / share)


def is_critical(force: SpellForce, chance: FightChance) -> bool:
    """Return whether an amount is a critical one."""
    return force.critical_chance > 0 and chance.randint(0, 9999) < force.critical_chance * 100


def critical_amount(amount: float, force: SpellForce) -> float:
    """Return a critical amount."""
    return amount * (CRITICAL + force.critical_bonus / 100)


def resisted_share(resist: int) -> float:
    """Return the share of a damage that a resistance leaves: one percent less for each fifty.

    EQ2Emulator's own formula is upside down and takes nothing at usual values.
    """
    return 1 - min(0.75, max(0, resist) / RESIST_STEP / 100)


@dataclass(frozen=True, slots=True)
class SpellAim:
    """What decides whether a spell lands on somebody."""

    level: int
    wisdom: int
    skill: int
    """Of the school that the spell's caster has learned."""
    mastery: int = 0
    mastery_points: int = 25
    """Points of mastery that add one percent."""
    bonus: float = 0.0
    """Percent that the spell itself adds."""
    resistibility: float = 0.0


@dataclass(frozen=True, slots=True)
class SpellGuard:
    """What keeps spells off somebody."""

    level: int
    wisdom: int
    avoidance: int = 0
    resist: int = 0


def hit_chance(aim: SpellAim, guard: SpellGuard) -> float:
    """Return the percentage of casts that land, before the roll is shortened by the skill."""
    chance = USUAL_HIT + aim.skill / 25 + _logarithm(aim.level, aim.wisdom) / 50 + aim.bonus
    if aim.resistibility > 0:
        chance -= 100 * (1 - math.exp(-1.25 * (aim.resistibility - NO_RESISTIBILITY)))
    chance += aim.mastery / aim.mastery_points
    chance -= 1 + max(0, guard.resist) / RESIST_STEP
    return chance - (guard.avoidance + _logarithm(guard.level, guard.wisdom) / 50) / 10


def lands(aim: SpellAim, guard: SpellGuard, chance: FightChance) -> bool:
    """Return whether a spell lands; else it is resisted."""
    top = max(1, 100 - aim.skill // 10)
    return chance.randint(0, top - 1) < hit_chance(aim, guard)


def ticks_of(duration: float, period: float) -> int:
    """Return how many ticks follow a cast.

    The cast counts as the first one: a spell of 24 s with a period of 4 s ticks five times and is
    over after 20 s (recorded). A duration that is no multiple is rounded up.
    """
    if period <= 0 or duration <= 0:
        return 0
    return max(0, math.ceil(round(duration / period, 4)) - 1)
