"""Rules of blows, by tables; the sources are named in docs/protocol/world/fights.md#rules."""

from collections import Counter
from random import Random

import pytest

from emu.rules.combat import (
    LARGEST_DAMAGE,
    Attack,
    DamageSpan,
    Defense,
    Facing,
    FightChance,
    Result,
    avoidances,
    bare_damage,
    damage,
    delay,
    dps_factor,
    facing,
    mastered,
    mitigated,
    multi_attacks,
    regeneration,
    result,
    usable_mitigation,
    weapon_damage,
)
from tests.support.rolls import Rolls

BLOW = Attack(level=5, low=3, high=9)
DEFENDER = Defense(parry=5, block=10, dodge=10)


def test_chances_of_tests_and_of_the_world_have_one_shape() -> None:
    chance: FightChance = Rolls(3)
    assert chance.randint(1, 6) == 3


@pytest.mark.parametrize(
    ("rolls", "expected"),
    [
        ((95, 99), Result.PARRY),
        ((95, 0), Result.RIPOSTE),
        ((94, 90), Result.BLOCK),
        ((94, 89, 90), Result.DODGE),
        ((94, 89, 89, 80), Result.MISS),
        ((94, 89, 89, 79), Result.HIT),
    ],
)
def test_the_first_that_applies_ends_a_blow(rolls: tuple[int, ...], expected: Result) -> None:
    chance = Rolls(*rolls)
    assert result(BLOW, DEFENDER, Facing.AHEAD, chance) is expected
    assert chance.numbers == []


def test_who_cannot_be_hurt_comes_before_all_rolls() -> None:
    invulnerable = Defense(is_invulnerable=True)
    assert result(BLOW, invulnerable, Facing.BEHIND, Rolls()) is Result.INVULNERABLE


def test_a_blow_from_behind_lands() -> None:
    assert result(BLOW, DEFENDER, Facing.BEHIND, Rolls()) is Result.HIT


def test_a_brawler_avoids_blows_from_behind() -> None:
    """EQ2Emulator's rule (eq2-combat.md 4.3, step 2)."""
    brawler = DEFENDER._replace(guards_back=True)
    assert result(BLOW, brawler, Facing.BEHIND, Rolls(95)) is Result.PARRY


def test_a_shield_does_not_help_at_the_side() -> None:
    # One roll each for parry, dodge and miss.
    assert result(BLOW, DEFENDER, Facing.SIDE, Rolls(0, 0, 0)) is Result.HIT


def test_no_parry_at_the_side_is_answered() -> None:
    assert result(BLOW, DEFENDER, Facing.SIDE, Rolls(99)) is Result.PARRY


def test_skill_lowers_the_highest_roll() -> None:
    chance = Rolls(0)
    result(Attack(20, 1, 2, weapon_skill=100, offense=100), Defense(), Facing.AHEAD, chance)
    assert chance.asked == [(0, 85)]


@pytest.mark.parametrize(
    ("attack", "defense", "side", "rolls", "expected"),
    [
        # Skill raises the roll from which a blow misses by one for each 25, resistance lowers it.
        (Attack(5, 3, 9, weapon_skill=100), Defense(), Facing.AHEAD, (83,), Result.HIT),
        (Attack(5, 3, 9, weapon_skill=100), Defense(), Facing.AHEAD, (84,), Result.MISS),
        (BLOW, Defense(resistance=30), Facing.AHEAD, (49,), Result.HIT),
        (BLOW, Defense(resistance=30), Facing.AHEAD, (50,), Result.MISS),
        # Each way to avoid a blow has a least roll, however great the chance is.
        (BLOW, Defense(parry=95), Facing.SIDE, (30,), Result.PARRY),
        (BLOW, Defense(parry=95), Facing.SIDE, (29, 0), Result.HIT),
        (BLOW, Defense(block=95), Facing.AHEAD, (30,), Result.BLOCK),
        (BLOW, Defense(block=95), Facing.AHEAD, (29, 0), Result.HIT),
        (BLOW, Defense(dodge=95), Facing.SIDE, (30,), Result.DODGE),
        (BLOW, Defense(dodge=95), Facing.SIDE, (29, 0), Result.HIT),
        (BLOW, Defense(dodge=1), Facing.SIDE, (99,), Result.DODGE),
        (BLOW, Defense(block=1), Facing.AHEAD, (99,), Result.BLOCK),
        (BLOW, Defense(parry=1), Facing.SIDE, (99,), Result.PARRY),
        # A seventh of the parries is answered.
        (BLOW, Defense(parry=70), Facing.AHEAD, (99, 9), Result.RIPOSTE),
        (BLOW, Defense(parry=70), Facing.AHEAD, (99, 10), Result.PARRY),
    ],
)
def test_chances_to_avoid_a_blow(
    attack: Attack, defense: Defense, side: Facing, rolls: tuple[int, ...], expected: Result
) -> None:
    chance = Rolls(*rolls)
    assert result(attack, defense, side, chance) is expected
    assert chance.numbers == []


def test_which_numbers_the_rolls_of_a_blow_have() -> None:
    chance = Rolls(99, 9)
    result(BLOW, Defense(parry=70), Facing.AHEAD, chance)
    assert chance.asked == [(0, 99), (0, 99)]
    chance = Rolls(0)
    assert result(Attack(90, 1, 2, weapon_skill=2000), Defense(), Facing.AHEAD, chance)
    assert chance.asked == [(0, 0)]


def test_a_master_always_has_one_roll() -> None:
    master = Attack(90, 1, 2, weapon_skill=2000)
    assert result(master, Defense(), Facing.AHEAD, Random(1)) is Result.HIT


def test_shares_of_results_are_as_recorded() -> None:
    """Of 822 recorded blows of 546, 77 % hit, 18 % miss and 2 % are dodged."""
    chance = Random(5)
    attack = Attack(level=2, low=3, high=9, weapon_skill=10, offense=10)
    blows = (result(attack, Defense(dodge=3), Facing.AHEAD, chance) for _ in range(20_000))
    found = Counter(blows)
    # The recorded shares without the spells that were resisted.
    assert found[Result.HIT] / 20_000 == pytest.approx(0.77 / 0.97, abs=0.03)
    assert found[Result.MISS] / 20_000 == pytest.approx(0.18 / 0.97, abs=0.03)
    assert found[Result.DODGE] / 20_000 == pytest.approx(0.02, abs=0.01)


@pytest.mark.parametrize(
    ("degrees", "side"),
    [
        (0, Facing.AHEAD), (63, Facing.AHEAD), (-63, Facing.AHEAD), (297, Facing.AHEAD),
        (64, Facing.SIDE), (90, Facing.SIDE), (91, Facing.BEHIND), (180, Facing.BEHIND),
        (-91, Facing.BEHIND), (540, Facing.BEHIND),
    ],
)  # fmt: skip
def test_sides(degrees: float, side: Facing) -> None:
    assert facing(degrees) is side


@pytest.mark.parametrize(
    ("tenths", "haste", "both", "seconds"),
    [
        (0, 0, False, 2.0),
        (16, 0, False, 1.6),
        (20, 0, True, 2.66),
        (20, 50, False, 2 / 1.5),
        (20, 100, False, 1.0),
        (20, 150, False, 2 / 2.125),
        (20, 1000, False, 2 / 2.25),
        (20, -50, False, 2.0),
        (1, 0, False, 0.5),
    ],
)
def test_delays(tenths: int, haste: float, both: bool, seconds: float) -> None:
    assert delay(tenths, haste=haste, both_hands=both) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("level", "strength", "expected"),
    [(1, 20, (3, 7)), (4, 0, (1, 5)), (5, 20, (4, 12)), (8, 30, (5, 16)), (20, 60, (11, 91))],
)
def test_damage_of_bare_hands(level: int, strength: int, expected: tuple[int, int]) -> None:
    assert bare_damage(level, strength) == expected


def test_a_rule_says_how_much_strength_adds_a_point() -> None:
    assert bare_damage(1, 20, 5) == (5, 9)
    assert weapon_damage(2, 7, 25, 5) == (7, 12)


def test_strength_adds_to_a_weapon() -> None:
    assert weapon_damage(2, 7, 25) == (4, 9)
    assert weapon_damage(0, 0, 0) == (1, 1)
    assert weapon_damage(5, 2, 0) == (5, 5)


def test_critical_blows_hurt_more() -> None:
    assert damage(Attack(5, 10, 10), Rolls(10)) == (10, False)
    assert damage(Attack(5, 10, 10, critical_chance=50), Rolls(10, 5000)) == (10, False)
    assert damage(Attack(5, 10, 10, critical_chance=50), Rolls(10, 4999)) == (13, True)
    more = Attack(5, 10, 10, dps=100, critical_chance=50, critical_bonus=20)
    assert damage(more, Rolls(10, 0)) == (30, True)
    assert damage(Attack(5, 10, 10, dps=-100), Rolls(10)) == (1, False)
    chance = Rolls(3, 49, 50)
    assert damage(Attack(5, 3, 1, critical_chance=0.5), chance)[1]
    assert chance.asked == [(3, 3), (0, 9999)]


@pytest.mark.parametrize(
    ("points", "armor", "level", "through"),
    [
        (100, 0, 5, 100),
        (100, -50, 5, 100),
        (100, 90, 1, 50),
        (100, 290, 5, 50),
        (100, 100_000, 5, 25),
        (1, 100_000, 5, 1),
        (0, 0, 5, 0),
        (10**9, 0, 5, LARGEST_DAMAGE),
    ],
)
def test_armor_keeps_off_a_share(points: int, armor: int, level: int, through: int) -> None:
    assert mitigated(points, armor, level) == through


def test_armor_helps_less_against_higher_levels() -> None:
    through = [mitigated(1000, 400, level) for level in range(1, 91)]
    assert through == sorted(through)
    assert through[0] < through[-1]


@pytest.mark.parametrize(
    ("level", "fighting", "expected"),
    [(1, False, (1, 2)), (1, True, (1, 1)), (10, False, (9, 12)), (10, True, (2, 2)),
     (43, False, (37, 48))],
)  # fmt: skip
def test_regeneration(level: int, fighting: bool, expected: tuple[int, int]) -> None:
    assert regeneration(level, is_fighting=fighting) == expected


@pytest.mark.parametrize(
    ("percent", "least", "most"), [(0.0, 0, 0), (-5.0, 0, 0), (100.0, 1, 1), (250.0, 2, 3),
                                   (9e9, 5, 5)],
)  # fmt: skip
def test_multi_attack_adds_blows(percent: float, least: int, most: int) -> None:
    chance = Random(3)
    found = {multi_attacks(percent, chance) for _ in range(200)}
    assert (min(found), max(found)) == (least, most)


@pytest.mark.parametrize(
    ("percent", "roll", "blows"), [(250.5, 5049, 3), (250.5, 5050, 2), (0.5, 49, 1), (0.5, 50, 0)]
)
def test_the_rest_of_a_multi_attack_is_a_chance(percent: float, roll: int, blows: int) -> None:
    chance = Rolls(roll)
    assert multi_attacks(percent, chance) == blows
    assert chance.asked == [(0, 9999)]
    assert multi_attacks(100.0, Rolls()) == 1


@pytest.mark.parametrize(
    ("percent", "factor"),
    [
        (-200, 0.0), (-50, 0.5), (0, 1.0), (50, 1.5), (100, 2.0), (200, 2.25), (300, 2.35),
        (900, 2.65), (1900, 2.75),
    ],
)  # fmt: skip
def test_more_damage_counts_less_and_less(percent: float, factor: float) -> None:
    """EQ2Emulator's steps (eq2-spells.md 7, "dps modifier")."""
    assert dps_factor(percent) == pytest.approx(factor)


def test_avoidance_ends_at_seventy_percent() -> None:
    """EQ2Emulator's rule (eq2-spells.md 7): dodging gets what parrying and blocking leave."""
    assert avoidances(10, 20, 30)[:3] == (10, 20, 30)
    assert avoidances(10, 20, 30, 50)[:3] == (15, 30, 25)
    assert avoidances(50, 40, 30)[:3] == (50, 20, 0)
    assert avoidances(-5, 0, 3)[:3] == (0, 0, 3)


def test_only_eighty_points_of_armor_for_each_level_are_of_use() -> None:
    """The cap of eq2-spells.md 7."""
    assert [usable_mitigation(500, level) for level in (0, 1, 5, 10)] == [80, 80, 400, 500]


@pytest.mark.parametrize(
    ("skill", "span"),
    [(50, (10, 40)), (60, (10, 40)), (49, (8, 34)), (40, (5, 20)), (0, (5, 15))],
)
def test_a_weapon_is_better_with_skill(skill: int, span: tuple[int, int]) -> None:
    """EQ2Emulator's formula (eq2-spells.md 7, "weapon with skill below its recommended level")."""
    assert mastered(DamageSpan(5, 15), DamageSpan(10, 40), skill, 50) == span
