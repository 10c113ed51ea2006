"""The figures of fighters: what a spawn's sheet says about its blows and how it avoids others'.

Source: docs/guides/lua.md#sheet, docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from emu.rules.combat import (
    SKILL_OF_LEVEL,
    SKILL_OF_PERCENT,
    STRENGTH_POINTS,
    Attack,
    DamageSpan,
    Defense,
    Facing,
    avoidances,
    bare_damage,
    delay,
    facing,
    usable_mitigation,
    weapon_damage,
)
from emu.world.actors.bonus_types import AVOIDANCE
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn
from emu.world.zones.zone import Zone

RADIUS_UNIT: Final = 32
BRAWLERS: Final = range(5, 8)
"""The classes of brawlers, monks and bruisers."""
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


class DefenseSkills(NamedTuple):
    """The skills with which a player avoids blows."""

    parry: int
    defense: int


def attack_of(
    spawn: Spawn,
    hand: str = PRIMARY,
    weapon_skill: int | None = None,
    span: DamageSpan | None = None,
    points: int = STRENGTH_POINTS,
) -> Attack:
    """Return how a spawn strikes with a hand; creatures have the skill of their level.

    `span` is the damage of its weapon; None for that of its sheet. `points` of strength add one.
    """
    strength = spawn.sheet.attribute("str")
    low, high = span or (whole(spawn, f"{hand}_weapon_damage_{one}") for one in ("low", "high"))
    if high:
        damage = weapon_damage(low, high, strength, points)
    else:
        damage = bare_damage(spawn.level, strength, points)
    skill = SKILL_OF_LEVEL * spawn.level
    return Attack(
        spawn.level, *damage,
        weapon_skill=skill if weapon_skill is None else weapon_skill,
        offense=skill,
        dps=fraction(spawn, "dps"),
        critical_chance=fraction(spawn, "crit_chance"),
        critical_bonus=fraction(spawn, "crit_bonus"),
    )  # fmt: skip


def defense_of(spawn: Spawn, skills: DefenseSkills | None = None) -> Defense:
    """Return how a spawn avoids blows, and what its armor keeps off.

    Creatures have the skills of their level, which stand for None.
    """
    usual = SKILL_OF_LEVEL * spawn.level
    parry, defense = skills if skills is not None else (usual, usual)
    found = avoidances(
        parry / SKILL_OF_PERCENT + fraction(spawn, "parry"),
        # A shield's protection counts as parrying does: ten points are one percent.
        fraction(spawn, "block") / SKILL_OF_PERCENT,
        defense / SKILL_OF_PERCENT + fraction(spawn, "cur_avoidance"),
        spawn.sheet.bonus(AVOIDANCE),
    )
    return found._replace(
        mitigation=usable_mitigation(whole(spawn, "cur_mitigation"), spawn.level),
        is_invulnerable=spawn.sheet.is_invulnerable,
        guards_back=int(spawn.appearance.get("class", 0)) in BRAWLERS,
    )


def shared_hate(zone: Zone, foe: Spawn, amount: int) -> tuple[tuple[Spawn, int], ...]:
    """Return whom a creature hates for what a foe does, and how much.

    A spell on the foe may let somebody in the same zone take a share of it.
    """
    threat = foe.sheet.spells.threat if amount > 0 else None
    if threat is None:
        return ((foe, amount),)
    receiver: Spawn = threat[0]
    percent = threat[1]
    part = int(amount * max(0.0, min(percent, 100.0)) / 100)
    is_there = receiver.hp_percent > 0 and zone.spawn(receiver.id) is receiver
    if not part or not is_there or receiver is foe:
        return ((foe, amount),)
    return (foe, amount - part), (receiver, part)


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
