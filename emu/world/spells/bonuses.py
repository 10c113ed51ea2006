"""Bonuses of spells: what all effects on a spawn add up to, and the sheet that has them.

The sheet counts them together with what worn things add.
Source: docs/guides/spells.md#bonuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from emu.spells.kinds import SpellKind
from emu.world.actors.sheet import Sheet
from emu.world.actors.spawn import Spawn
from emu.world.spells.living import LivingSpell, SpellBonus

FIRST_RACE: Final = 100
"""Numbers below it in `SpellBonus.only` are classes."""
HEALTH_BONUS, POWER_BONUS = 500, 501
HEALTH_PERCENT, POWER_PERCENT = 607, 620
SPELLS: Final = "spells"
"""Under this name the sheet has what spells add."""
_WHOLE: Final = 100
FIELDS: Final[Mapping[int, tuple[tuple[str, float], ...]]] = {
    0: (("str", 1.0),),
    1: (("sta", 1.0),),
    2: (("agi", 1.0),),
    3: (("wis", 1.0),),
    4: (("intel", 1.0),),
    200: (("cur_mitigation", 1.0),),
    201: (("heat", 1.0), ("cold", 1.0)),
    202: (("poison", 1.0), ("disease", 1.0)),
    203: (("magic", 1.0), ("mental", 1.0), ("divine", 1.0)),
    207: (("cold", 1.0),),
    208: (("mental", 1.0),),
    209: (("divine", 1.0),),
    214: (("disease", 1.0),),
    HEALTH_BONUS: (("health", 1.0),),
    POWER_BONUS: (("power", 1.0),),
    503: (("max_concentration", 1.0),),
    606: (("health", 1.0),),
    617: (("haste", 1.0),),
    619: (("power", 1.0),),
    624: (("hate_mod", 1.0),),
    629: (("dps", 1.0),),
    641: (("multi_attack", 1.0),),
    651: (("block", 10.0),),
    654: (("crit_chance", 1.0),),
    657: (("crit_bonus", 1.0),),
    659: (("potency", 1.0),),
    662: (("reuse_speed", 1.0),),
    663: (("recovery_speed", 1.0),),
    664: (("casting_speed", 1.0),),
    696: (("cur_avoidance", 1.0),),
    707: (("ability_modifier", 1.0),),
}
"""The fields of the sheet that a type of bonus changes, with a factor. All others are only added
up: who needs one asks `Sheet.bonus`."""
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
    before = sheet.bonuses_of(SPELLS)
    for name, pool, percent in (
        ("health", sheet.health, sums.get(HEALTH_PERCENT, 0.0)),
        ("power", sheet.power, sums.get(POWER_PERCENT, 0.0)),
    ):
        # Of the most without spells, which attributes of spells may have raised as well.
        share = percent * (pool.most - int(before.get(name, 0.0))) / _WHOLE
        if share:
            added[name] = added.get(name, 0.0) + share
    sheet.put_bonuses(SPELLS, {name: value for name, value in added.items() if value})


def is_better(fresh: SpellKind, old: SpellKind) -> bool:
    """Return whether one of two spells of one timer is at least as strong as the other."""
    if fresh.min_class_skill > 0 and old.min_class_skill > 0:
        return fresh.min_class_skill >= old.min_class_skill
    return True
