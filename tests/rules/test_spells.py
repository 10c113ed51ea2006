"""Formulas of spells. Source: docs/guides/spells.md#rules."""

from random import Random

import pytest

from emu.rules.spells import (
    SpellAim,
    SpellForce,
    SpellGuard,
    critical_amount,
    damage_amount,
    fizzle_chance,
    heal_amount,
    hit_chance,
    is_critical,
    keeps_casting,
    lands,
    power_needed,
    resisted_share,
    rolled,
    ticks_of,
    with_speed,
)
from tests.support.rolls import Rolls


@pytest.mark.parametrize(
    ("percent", "seconds"),
    [(0, 2.0), (1, 2 / 1.01), (50, 4 / 3), (100, 1.0), (300, 1.0), (-50, 3.0)],
)
def test_speed_changes_times(percent: float, seconds: float) -> None:
    assert with_speed(2.0, percent) == pytest.approx(seconds)


def test_power_is_points_and_a_share_of_the_most() -> None:
    assert power_needed(8.4, 0, 500) == 8
    assert power_needed(0, 10, 500) == 50
    assert power_needed(100, 0, 500, skill=1000) == 85
    assert power_needed(10, 10, 500) == 60
    assert power_needed(100, 0, 500, skill=50) == 98
    assert power_needed(100, 0, 500, skill=400) == 85
    assert power_needed(100, 0, 500, saving=50) == 50
    assert power_needed(100, 0, 500, skill=50, saving=50) == 49
    assert [power_needed(100, 0, 500, saving=one) for one in (-50, 99, 200)] == [100, 1, 0]
    assert power_needed(-5, 0, 500) == 0


def test_fizzles_grow_with_what_the_skill_lacks() -> None:
    assert fizzle_chance(12, 10, 10.0) == 0
    assert fizzle_chance(10, 10, 10.0) == pytest.approx(2.0)
    assert fizzle_chance(0, 10, 10.0) == pytest.approx(10.0)
    assert fizzle_chance(0, 10, 20.0) == pytest.approx(20.0)
    assert fizzle_chance(0, 10, 20.0, least=0.0) == pytest.approx(24.0)
    assert fizzle_chance(3, 10, 10.0, least=0.2) == pytest.approx(9.0)
    assert [fizzle_chance(5, needed, 10.0) for needed in (-1, 0)] == [0, 0]
    assert fizzle_chance(0, 1, 10.0) == pytest.approx(10.0)
    assert fizzle_chance(12, 10, 10.0, sure=2.0) == pytest.approx(8.0)


def test_damage_of_magic_grows_with_intelligence() -> None:
    # A templar of level 12 with 20 intelligence hits for 20 and 21 (fight-546-priest-a): the
    # script adds 11 to 8 to 10.
    force = SpellForce(level=12, intelligence=20)
    assert [int(damage_amount(points, 7, force)) for points in (19, 20)] == [19, 20]
    assert damage_amount(20, 0, force) == 20
    strong = SpellForce(level=12, intelligence=20, potency=50, ability=1000)
    assert damage_amount(20, 0, strong) == 45
    assert damage_amount(20, 0, strong, share=3) == 40
    assert damage_amount(20, 0, SpellForce(potency=50, ability=7)) == 37


@pytest.mark.parametrize("kind", range(3, 10))
def test_the_types_from_heat_to_poison_are_magic(kind: int) -> None:
    """Source: eq2-spells.md 7: times (1 + log10(level x INT) / 50), (1 + spell damage %)."""
    force = SpellForce(level=10, intelligence=100, damage=10)
    assert damage_amount(100, kind, force) == pytest.approx(100 * 1.06 * 1.1)
    assert damage_amount(100, kind, SpellForce(level=0, intelligence=-5)) == 100


@pytest.mark.parametrize("kind", [0, 1, 2, 10])
def test_other_types_are_not_magic(kind: int) -> None:
    assert damage_amount(100, kind, SpellForce(level=10, intelligence=100, damage=10)) == 100


def test_heals_and_criticals() -> None:
    force = SpellForce(healing=10, critical_chance=100, critical_bonus=20)
    assert heal_amount(100, force) == pytest.approx(110)
    assert heal_amount(100, SpellForce(ability=1000)) == 150
    assert heal_amount(100, SpellForce(ability=1000), share=4) == 125
    assert is_critical(force, Random(1))
    assert not is_critical(SpellForce(), Rolls(0))
    rolls = Rolls(49, 50)
    rare = SpellForce(critical_chance=0.5)
    assert [is_critical(rare, rolls) for _ in range(2)] == [True, False]
    assert rolls.asked == [(0, 9999)] * 2
    assert critical_amount(100, force) == pytest.approx(150)


def test_bonuses_raise_what_they_are_for() -> None:
    """The factors of eq2-spells.md 7: spells and arts, taunts and arts, heals."""
    assert damage_amount(100, 0, SpellForce(arts=10, blows=20, heals=50)) == pytest.approx(132)
    assert damage_amount(100, 10, SpellForce(arts=10, blows=20)) == pytest.approx(110)
    assert heal_amount(100, SpellForce(healing=10, heals=20, arts=50)) == pytest.approx(132)


def test_a_low_end_above_the_high_one_counts() -> None:
    assert rolled(9, 3, Random(1)) == 9
    assert rolled(5, 5, Rolls()) == 5
    assert rolled(3, 9, Random(1)) in range(3, 10)


def test_resistances_take_a_percent_for_each_fifty() -> None:
    assert resisted_share(0) == 1
    assert resisted_share(50) == pytest.approx(0.99)
    assert resisted_share(500) == pytest.approx(0.9)
    assert resisted_share(3_700) == pytest.approx(0.26)
    assert resisted_share(100_000) == 0.25
    assert resisted_share(-50) == 1


def test_resistibility_changes_the_chance() -> None:
    # As EQ2Emulator computes it: 0.6 changes nothing, 0.75 takes 17, 0.3 adds 45.
    guard = SpellGuard(1, 1)
    usual = hit_chance(SpellAim(1, 1, 0), guard)
    found = [hit_chance(SpellAim(1, 1, 0, resistibility=one), guard) - usual
             for one in (0.6, 0.75, 0.3)]  # fmt: skip
    assert found == pytest.approx([0, -17.1, 45.5], abs=0.1)
    assert lands(SpellAim(1, 1, 0, resistibility=0.01), guard, Random(1))
    assert not lands(SpellAim(1, 1, 0, resistibility=50), guard, Random(1))


def test_a_spell_lands_by_level_wisdom_skill_mastery_and_what_keeps_it_off() -> None:
    """Source: eq2-spells.md 7, to hit."""
    aim = SpellAim(10, 10, 50, mastery=75, bonus=5.0)
    assert hit_chance(aim, SpellGuard(1, 1)) == pytest.approx(80 + 2 + 0.04 + 5 + 3 - 1)
    few = SpellAim(10, 10, 50, mastery=75, mastery_points=50, bonus=5.0)
    assert hit_chance(few, SpellGuard(1, 1)) == pytest.approx(80 + 2 + 0.04 + 5 + 1.5 - 1)
    guard = SpellGuard(10, 100, avoidance=20, resist=150)
    assert hit_chance(aim, guard) == pytest.approx(80 + 2 + 0.04 + 5 + 3 - 4 - 2.006)
    assert hit_chance(SpellAim(0, 0, 0), SpellGuard(0, 0, resist=-200)) == 79


@pytest.mark.parametrize(
    ("skill", "top", "most"), [(0, 99, 78), (9, 99, 79), (250, 74, 88), (5_000, 0, 0)]
)
def test_a_skill_shortens_the_roll(skill: int, top: int, most: int) -> None:
    """Source: eq2-spells.md 7: resisted if random below (100 - skill/10) >= chance."""
    aim, guard = SpellAim(1, 1, skill), SpellGuard(1, 1)
    rolls = Rolls(most, most + 1)
    assert lands(aim, guard, rolls)
    assert lands(aim, guard, rolls) is (skill == 5_000)
    assert rolls.asked == [(0, top)] * 2


def test_six_points_of_focus_keep_one_more_cast_in_a_hundred() -> None:
    """Source: eq2-spells.md: kept if random 1..100 <= base + (1 + Focus) / 6."""
    cases = [(0, 65, True), (0, 66, False), (4, 66, False), (5, 66, True), (5, 67, False)]
    for focus, roll, kept in cases:
        rolls = Rolls(roll)
        assert keeps_casting(focus, rolls, 65.0) is kept, (focus, roll)
        assert rolls.asked == [(1, 100)]


def test_a_third_of_the_hits_interrupts() -> None:
    chance = Random(7)
    kept = sum(keeps_casting(0, chance, 65.0) for _ in range(10_000))
    assert 6300 < kept < 6700
    assert sum(keeps_casting(240, chance, 65.0) for _ in range(100)) == 100


@pytest.mark.parametrize(
    ("duration", "period", "ticks"),
    [(24, 4, 5), (25, 4, 6), (4, 4, 0), (30, 0, 0), (0, 4, 0), (5, 1, 4), (1, 3, 0),
     (24.00001, 4, 5),     (0.9, 0.3, 2), (-8, -4, 0), (8, -4, 0), (0.5, 0.1, 4)],
)  # fmt: skip
def test_a_cast_counts_as_the_first_tick(duration: float, period: float, ticks: int) -> None:
    assert ticks_of(duration, period) == ticks
