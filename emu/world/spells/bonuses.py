"""Bonuses of spells: what all effects on a spawn add up to, and the sheet that has them.

The sheet counts them together with what worn things add.
Source: docs/guides/spells.md#bonuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from emu.spells.kinds import SpellKind
from emu.world.actors.bonus_types import FIELDS
from emu.world.actors.sheet import Sheet
from emu.world.actors.spawn import Spawn
from emu.world.spells.living import LivingSpell, SpellBonus

FIRST_RACE: Final = 100
"""Numbers below it in `SpellBonus.only` are classes."""
SPELLS: Final = "spells"
"""Under this name the sheet has what spells add."""
_PLACES: Final = 6
"""Digits to which fractions are rounded, so that what is taken back leaves nothing."""


def counts_for(bonus: SpellBonus, class_numbers: tuple[int, ...], races: tuple[int, ...]) -> bool:
    """Return whether a bonus counts for a spawn of classes and races."""
    if not bonus.only:
        return True
    return any(one in class_numbers if one < FIRST_RACE else one in races for one in bonus.only)


def totals(
    effects: Iterable[LivingSpell], spawn: Spawn, classes: tuple[int, ...], races: tuple[int, ...]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the sums of bonuses by type, and those of skills by number.

    Of one spell, whoever has cast it, only the highest tier counts; different spells add up.
    """
    best: dict[int, LivingSpell] = {}
    for one in effects:
        known = best.get(one.kind.id)
        if known is None or one.tier.number > known.tier.number:
            best[one.kind.id] = one
    sums: dict[int, float] = {}
    skills: dict[int, float] = {}
    for one in best.values():
        gifts = one.gifts.get(spawn)
        if gifts is None:
            continue
        for kind, bonus in gifts.bonuses.items():
            if counts_for(bonus, classes, races):
                sums[kind] = sums.get(kind, 0.0) + bonus.value
        for skill, value in gifts.skills.items():
            skills[skill] = skills.get(skill, 0.0) + value
    return {kind: round(value, _PLACES) for kind, value in sums.items() if value}, skills


def apply(sheet: Sheet, sums: Mapping[int, float]) -> None:
    """Let the sheet have these sums, and no more of what spells have added before."""
    added: dict[str, float] = {}
    for kind, value in sums.items():
        for name, factor in FIELDS.get(kind, ()):
            added[name] = added.get(name, 0.0) + value * factor
    sheet.put_bonuses(SPELLS, {name: value for name, value in added.items() if value})


def is_better(fresh: SpellKind, old: SpellKind) -> bool:
    """Return whether one of two spells of one timer is at least as strong as the other."""
    if fresh.min_class_skill > 0 and old.min_class_skill > 0:
        return fresh.min_class_skill >= old.min_class_skill
    return True
