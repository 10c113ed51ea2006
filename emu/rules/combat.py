"""Rules of blows: how often somebody strikes, whether a blow lands, and how much it hurts.

Source: docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

import enum
import math
from typing import Final, NamedTuple, Protocol

USUAL_DELAY: Final = 2.0
"""Seconds between two blows of bare hands."""
TWO_WEAPONS: Final = 1.33
"""The delay of each hand is multiplied by this while both strike."""
MOST_HASTE: Final = 100.0
MOST_FASTER: Final = 2.25
"""No haste divides a delay by more than this."""
STRENGTH_POINTS: Final = 10
"""Points of strength that add one to each damage, where no rule says another number."""
SKILL_OF_LEVEL: Final = 5
"""The most of a skill at each level."""
MOST_AVOIDED: Final = 70.0
"""Percent of parrying, blocking and dodging together: dodging gets what the others leave."""
SKILL_OF_PERCENT: Final = 10
"""Points of a skill for one percent of parrying or dodging."""
USABLE_MITIGATION: Final = 80
"""The most mitigation that keeps damage off, for each level of its owner."""
_DPS_STEPS: Final = ((100.0, 1.0), (200.0, 0.25), (300.0, 0.1), (900.0, 0.05))
"""Up to which percent of more damage a percent counts how much."""
_LAST_DPS: Final = 0.01
"""What each percent above the last step counts."""
_MASTERY: Final = 5.0
"""A weapon loses the logarithm of the missing skill divided by this of its best damage."""
LEAST_PARRY_ROLL, LEAST_BLOCK_ROLL, LEAST_DODGE_ROLL = 10, 30, 30
RIPOSTE_SHARE: Final = 7
"""One parry in so many percent of parrying is answered with a blow."""
HIT_FROM: Final = 80
"""A blow without any skill misses at a roll from here on."""
MOST_MULTI_ATTACK: Final = 500.0
CRITICAL: Final = 1.3
MOST_MITIGATED: Final = 0.75
LARGEST_DAMAGE: Final = 0xFFFF
"""The most that the messages can carry."""
FASTEST_DELAY: Final = 0.5
"""No pair of weapon and haste strikes more often."""


class FightChance(Protocol):
    """Chooses numbers; `random.Random` does."""

    def randint(self, low: int, high: int, /) -> int:
        """Return a number from `low` to `high`, both included."""


class Result(enum.Enum):
    """What becomes of a blow."""

    HIT = "hit"
    MISS = "miss"
    DODGE = "dodge"
    PARRY = "parry"
    RIPOSTE = "riposte"
    """Parried, and the victim strikes at once."""
    BLOCK = "block"
    INVULNERABLE = "invulnerable"
    RESIST = "resist"
    """Of spells."""
    REFLECT = "reflect"
    IMMUNE = "immune"

    __hash__ = object.__hash__
    """Each blow asks for it once for everybody who sees it, and that of `Enum` is in Python."""


class Attack(NamedTuple):
    """The one who strikes, with one weapon."""

    level: int
    low: int
    high: int
    weapon_skill: int = 0
    offense: int = 0
    dps: float = 0.0
    """Percent of more damage."""
    critical_chance: float = 0.0
    critical_bonus: float = 0.0
    """Percent of more damage of a critical blow, besides those of every one."""


class Defense(NamedTuple):
    """The one who is struck. Chances are percent."""

    parry: float = 0.0
    block: float = 0.0
    """0 without a shield."""
    dodge: float = 0.0
    resistance: float = 0.0
    mitigation: int = 0
    is_invulnerable: bool = False
    guards_back: bool = False
    """Whether it avoids blows from behind as well: a brawler."""


class DamageSpan(NamedTuple):
    """The least and the most damage of a weapon."""

    low: int
    high: int


class Facing(enum.Enum):
    """From where a blow comes, as the victim looks."""

    AHEAD = "ahead"
    SIDE = "side"
    BEHIND = "behind"


AHEAD_ANGLE, BEHIND_ANGLE = 63.0, 90.0
"""Degrees from the victim's heading up to which a blow comes from ahead, or not from behind."""


def facing(degrees: float) -> Facing:
    """Return from where a blow comes, so many degrees from the victim's heading."""
    off = abs((degrees + 180.0) % 360.0 - 180.0)
    if off > BEHIND_ANGLE:
        return Facing.BEHIND
    return Facing.AHEAD if off <= AHEAD_ANGLE else Facing.SIDE


def delay(tenths: int, *, haste: float = 0.0, both_hands: bool = False) -> float:
    """Return the seconds between two blows of a weapon; 0 `tenths` are bare hands."""
    seconds = tenths / 10 if tenths > 0 else USUAL_DELAY
    if both_hands:
        seconds *= TWO_WEAPONS
    # Haste above 100 percent counts a quarter.
    faster = 1.0 + max(0.0, min(haste, MOST_HASTE)) / 100 + max(0.0, haste - MOST_HASTE) / 400
    return max(FASTEST_DELAY, seconds / min(faster, MOST_FASTER))


def bare_damage(level: int, strength: int, points: int = STRENGTH_POINTS) -> tuple[int, int]:
    """Return the least and the most damage of bare hands and claws.

    `points` of strength add one.
    """
    more = strength // points
    return 1 + level // 5 + more, 5 + level * (level // 5) + more


def weapon_damage(
    low: int, high: int, strength: int, points: int = STRENGTH_POINTS
) -> tuple[int, int]:
    """Return the least and the most damage of a weapon in the hands of somebody.

    `points` of strength add one.
    """
    more = strength // points
    return max(1, low + more), max(1, low + more, high + more)


def mastered(base: DamageSpan, best: DamageSpan, skill: int, wanted: int) -> DamageSpan:
    """Return the least and the most damage of a weapon in the hands of somebody with its skill.

    With the skill that the weapon is `wanted` for, it has its best damage. Neither number is below
    that of `base`.
    """
    missing = max(0, wanted - skill)
    share = 1 - math.log(missing + 1) / _MASTERY
    return DamageSpan(max(base.low, int(best.low * share)), max(base.high, int(best.high * share)))


def avoidances(parry: float, block: float, dodge: float, more: float = 0.0) -> Defense:
    """Return the chances to avoid a blow, together at most `MOST_AVOIDED`; `more` is percent."""
    left, found = MOST_AVOIDED, []
    for one in (parry, block, dodge):
        found.append(max(0.0, min(left, one * (1 + more / 100))))
        left -= found[-1]
    return Defense(parry=found[0], block=found[1], dodge=found[2])


def usable_mitigation(mitigation: int, level: int) -> int:
    """Return how much of its mitigation keeps damage off somebody of a level."""
    return min(mitigation, USABLE_MITIGATION * max(1, level))


def dps_factor(percent: float) -> float:
    """Return what `percent` of more damage multiply a damage by; above 100 they count less."""
    if percent <= 0:
        return max(0.0, 1 + percent / 100)
    counted, before = 0.0, 0.0
    for end, share in (*_DPS_STEPS, (percent, _LAST_DPS)):
        counted += max(0.0, min(percent, end) - before) * share
        before = end
    return 1 + counted / 100


def result(attack: Attack, defense: Defense, side: Facing, chance: FightChance) -> Result:
    """Return what becomes of a blow: the first that applies, in the order of the source."""
    if defense.is_invulnerable:
        return Result.INVULNERABLE
    if side is Facing.BEHIND and not defense.guards_back:
        return Result.HIT
    # The better the attacker, the lower the highest roll, and high rolls are the victim's luck.
    top = max(1, 100 - attack.weapon_skill // 10 - attack.offense // 25) - 1
    avoided = _avoided(defense, side, top, chance)
    if avoided is not None:
        return avoided
    misses = chance.randint(0, top) >= HIT_FROM + attack.weapon_skill / 25 - defense.resistance
    return Result.MISS if misses else Result.HIT


def multi_attacks(percent: float, chance: FightChance) -> int:
    """Return how many further blows a swing has: one for each 100 percent, and by chance one."""
    whole, rest = divmod(max(0.0, min(percent, MOST_MULTI_ATTACK)), 100.0)
    return int(whole) + (rest > 0 and chance.randint(0, 9999) < rest * 100)


def _avoided(defense: Defense, side: Facing, top: int, chance: FightChance) -> Result | None:
    """Return how the victim avoids a blow; None if it does not."""
    parry = min(defense.parry, MOST_AVOIDED)
    if parry > 0 and chance.randint(0, top) >= max(LEAST_PARRY_ROLL, 100 - parry):
        answers = side is Facing.AHEAD and chance.randint(0, 99) < parry / RIPOSTE_SHARE
        return Result.RIPOSTE if answers else Result.PARRY
    may_block = defense.block > 0 and side is Facing.AHEAD
    if may_block and chance.randint(0, top) >= max(LEAST_BLOCK_ROLL, 100 - defense.block):
        return Result.BLOCK
    if defense.dodge > 0 and chance.randint(0, top) >= max(LEAST_DODGE_ROLL, 100 - defense.dodge):
        return Result.DODGE
    return None


def damage(attack: Attack, chance: FightChance) -> tuple[int, bool]:
    """Return the damage of a blow that lands, before armor, and whether it is critical."""
    dealt = chance.randint(attack.low, max(attack.low, attack.high)) * dps_factor(attack.dps)
    is_critical = (
        attack.critical_chance > 0 and chance.randint(0, 9999) < attack.critical_chance * 100
    )
    if is_critical:
        dealt *= CRITICAL + attack.critical_bonus / 100
    return max(1, int(dealt)), is_critical


def mitigated(points: int, mitigation: int, attacker_level: int) -> int:
    """Return the damage that gets through armor: at least 1, of no damage 0.

    The share that armor keeps off is m / (m + 50 L + 40), at most three quarters: m is the victim's
    mitigation, L the attacker's level.
    """
    armor = max(0, mitigation)
    share = min(MOST_MITIGATED, armor / (armor + 50 * attacker_level + 40))
    return max(min(1, points), min(LARGEST_DAMAGE, round(points * (1 - share))))


REGENERATION: Final = 6.0
"""Seconds between two steps of it."""


class Regained(NamedTuple):
    """What one step of regeneration gives."""

    health: int
    power: int


def regeneration(level: int, *, is_fighting: bool) -> Regained:
    """Return what an actor of a level regains in one step, without items and spells."""
    rest = level // 10 + 1
    if is_fighting:
        return Regained(rest, rest)
    return Regained(level * 3 // 4 + rest, level + rest)
