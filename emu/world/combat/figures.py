"""The figures of fighters: what a spawn's sheet says about its blows and how it avoids others'.

Source: docs/guides/lua.md#sheet, docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

import math
from typing import Final

from emu.rules.combat import (
    SKILL_OF_LEVEL,
    Attack,
    Defense,
    Facing,
    bare_damage,
    delay,
    facing,
    weapon_damage,
)
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn

RADIUS_UNIT: Final = 32
USUAL_PARRY, USUAL_DODGE = 2.0, 3.0
"""Percent of those whose sheet says nothing."""
SKILL_OF_PERCENT: Final = 10
PRIMARY, SECONDARY, RANGED = "primary", "secondary", "ranged"


def whole(spawn: Spawn, name: str) -> int:
    """Return a whole number of a spawn's sheet; 0 without one."""
    return int(spawn.sheet.get(name, FieldKind.UNSIGNED) or 0)


def fraction(spawn: Spawn, name: str) -> float:
    """Return a fraction of a spawn's sheet; 0 without one."""
    return float(spawn.sheet.get(name, FieldKind.FRACTION) or 0)


def has_second_weapon(spawn: Spawn) -> bool:
    """Return whether a spawn strikes with its second hand as well."""
    return whole(spawn, "secondary_weapon_damage_high") > 0


def delay_of(spawn: Spawn, hand: str) -> float:
    """Return the seconds between two blows of a hand."""
    both = has_second_weapon(spawn)
    haste = fraction(spawn, "haste") + fraction(spawn, "attackspeed")
    return delay(whole(spawn, f"{hand}_weapon_delay"), haste=haste, both_hands=both)


def attack_of(spawn: Spawn, hand: str = PRIMARY, weapon_skill: int | None = None) -> Attack:
    """Return how a spawn strikes with a hand; creatures have the skill of their level."""
    strength = spawn.sheet.attribute("str")
    high = whole(spawn, f"{hand}_weapon_damage_high")
    if high:
        damage = weapon_damage(whole(spawn, f"{hand}_weapon_damage_low"), high, strength)
    else:
        damage = bare_damage(spawn.level, strength)
    skill = SKILL_OF_LEVEL * spawn.level
    return Attack(
        spawn.level, *damage,
        weapon_skill=skill if weapon_skill is None else weapon_skill,
        offense=skill,
        dps=fraction(spawn, "dps"),
        critical_chance=fraction(spawn, "crit_chance"),
        critical_bonus=fraction(spawn, "crit_bonus"),
    )  # fmt: skip


def defense_of(spawn: Spawn) -> Defense:
    """Return how a spawn avoids blows, and what its armor keeps off."""
    return Defense(
        parry=fraction(spawn, "parry") or USUAL_PARRY,
        # A shield's protection counts as parrying does: ten points are one percent.
        block=fraction(spawn, "block") / SKILL_OF_PERCENT,
        dodge=(fraction(spawn, "cur_avoidance") or USUAL_DODGE),
        mitigation=whole(spawn, "cur_mitigation"),
        is_invulnerable=spawn.sheet.is_invulnerable,
    )


def gap(one: Spawn, other: Spawn) -> float:
    """Return the distance between the outer edges of two spawns."""
    radii = (one.collision_radius + other.collision_radius) / RADIUS_UNIT
    return math.dist(one.position[:3], other.position[:3]) - radii


def side_of(attacker: Spawn, victim: Spawn) -> Facing:
    """Return from where a blow comes, as the victim looks."""
    place, source = victim.position, attacker.position
    if math.dist(place[:3], source[:3]) < 0.01:  # nowhere to look
        return Facing.AHEAD
    return facing(place.heading_to(source) - place.heading)
