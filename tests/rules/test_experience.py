"""Rules of experience, by tables; recorded numbers name their recording."""

import pytest

from emu.rules.experience import (
    MOST_DEBT,
    Fallen,
    Progress,
    debt_after_death,
    debt_after_rest,
    debt_paid,
    kill_points,
    most_points,
    usual_needs,
    vitality_after_rest,
    vitality_bonus,
)

NEEDS = {2: 600, 3: 800, 4: 1000}


@pytest.mark.parametrize(
    ("level", "points"),
    [
        (2, 600), (3, 800), (4, 1000), (5, 1400), (13, 4600), (14, 5000), (15, 5500), (26, 11000),
        (27, 11750), (42, 23000), (47, 28000), (48, 29250), (49, 30500),
        (50, 32000), (51, 33750), (52, 35750), (53, 38000), (54, 40500), (55, 42500), (56, 45500),
        (57, 48500), (63, 66500),
        (64, 70000), (75, 108500), (76, 116500), (77, 132500), (90, 392500), (91, 863550),
        (92, 949905), (93, 1044895), (94, 1149385), (95, 1264323),
    ],
)  # fmt: skip
def test_needs(level: int, points: int) -> None:
    assert usual_needs()[level] == points


def test_each_level_up_to_the_last_needs_more_than_the_one_before() -> None:
    needs = usual_needs()
    assert list(needs) == list(range(2, 96))
    assert list(needs.values()) == sorted(set(needs.values()))


@pytest.mark.parametrize(
    ("fallen", "own_level", "fighters", "points"),
    [
        # Recorded: fight-546-melee-a, a player of level 2 kills level 1, without vitality.
        (Fallen(1), 2, 1, 28),
        (Fallen(1), 2, 2, 14),
        (Fallen(1), 5, 1, 0),
        (Fallen(5), 5, 1, 32),
        (Fallen(8), 5, 1, 48),
        (Fallen(5, difficulty=7), 5, 1, 64),
        (Fallen(5, difficulty=8), 5, 1, 96),
        (Fallen(5, difficulty=5), 5, 1, 16),
        (Fallen(5, difficulty=-3), 5, 1, 5),
        (Fallen(5, difficulty=1), 5, 1, 5),
        (Fallen(5, difficulty=2), 5, 1, 6),
        (Fallen(5, heroic=1), 5, 1, 32),
        (Fallen(5, heroic=2), 5, 1, 64),
        (Fallen(5), 5, 0, 32),
        (Fallen(6), 5, 1, 34),
        (Fallen(10), 13, 1, 26),
    ],
)
def test_points_of_a_kill(fallen: Fallen, own_level: int, fighters: int, points: int) -> None:
    assert kill_points(fallen, own_level, fighters) == points


def test_rates_multiply_before_the_cut() -> None:
    assert kill_points(Fallen(1), 2, 1, rate=3.75) == 105


def test_a_bonus_for_kills_is_percent_of_the_whole_points() -> None:
    """Source: eq2-real-content.md 2 (÷ players, whole part, plus COMBATEXPMOD %)."""
    assert kill_points(Fallen(1), 2, 3) == 9
    assert kill_points(Fallen(1), 2, 3, more=50.0) == 13
    assert kill_points(Fallen(1), 2, 1, more=-200.0) == 0


def test_half_of_a_gain_pays_the_debt() -> None:
    # One percent of 800 points is 8.
    assert debt_paid(Progress(2, 0, debt=1.0), 10, 800) == (5, pytest.approx(0.375))
    assert debt_paid(Progress(2, 0, debt=1.0), 100, 800) == (92, 0.0)
    assert debt_paid(Progress(2, 0, debt=0.5), 1, 1) == (1, 0.0)


def test_without_debt_or_at_the_last_level_nothing_is_paid() -> None:
    assert debt_paid(Progress(2, 0), 10, 800) == (10, 0.0)
    assert debt_paid(Progress(2, 0, debt=1.0), 10, 0) == (10, 1.0)
    assert debt_paid(Progress(2, 0, debt=1.0), 0, 800) == (0, 1.0)
    assert debt_paid(Progress(2, 0, debt=1.0), -5, 800) == (0, 1.0)
    assert debt_paid(Progress(2, 0, debt=-1.0), 10, 800) == (10, -1.0)


def test_points_of_a_forbidden_level_are_bounded() -> None:
    assert most_points(NEEDS) == 3000
    assert most_points({}) == 0


def test_debts_add_up_to_a_level_at_most() -> None:
    assert debt_after_death(0.0) == 0.5
    assert debt_after_death(99.9) == MOST_DEBT


def test_a_death_costs_what_the_rule_says() -> None:
    assert debt_after_death(1.0, 2.5) == 3.5
    assert debt_after_death(1.0, 0.0) == debt_after_death(1.0, -2.5) == 1.0


@pytest.mark.parametrize(
    ("debt", "percent", "periods", "left"),
    [(0.5, 0.5, 1.0, 0.4975), (0.5, 0.5, 0.0, 0.5), (10.0, 100.0, 1.0, 0.0), (1.0, 50.0, 2.0, 0.25),
     (0.0005, 0.5, 0.0, 0.0), (1.0, 50.0, -3.0, 1.0),
     (1.0, 0.0, 1.0, 1.0), (1.0, -50.0, 1.0, 1.0), (1.0, 150.0, 1.0, 0.0),
     (0.001, 0.0, 1.0, 0.001)],
)  # fmt: skip
def test_debt_is_forgiven_with_the_time(
    debt: float, percent: float, periods: float, left: float
) -> None:
    """Source: rule ExperienceDebtRecoveryPercent: a share of the debt each period."""
    assert debt_after_rest(debt, percent, periods) == pytest.approx(left)


@pytest.mark.parametrize(
    ("vitality", "gain", "periods", "after"),
    [
        (0.0, 0.5, 1.0, 0.5),
        (99.9, 0.5, 10.0, 100.0),
        (1.0, -1.0, 5.0, 1.0),
        (1.0, 0.5, 0.5, 1.25),
        (1.0, 0.5, -1.0, 1.0),
        (0.0, 0.0, 9.0, 0.0),
    ],
)
def test_vitality_grows_up_to_a_level(
    vitality: float, gain: float, periods: float, after: float
) -> None:
    """Source: rules VitalityAmount and VitalityFrequency."""
    assert vitality_after_rest(vitality, gain, periods) == pytest.approx(after)


@pytest.mark.parametrize(
    ("points", "vitality", "needed", "bonus", "left"),
    [
        # Recorded: 28 points, and one of vitality.
        (28, 0.125, 800, 1, 0.0),
        (28, 10.0, 800, 28, 6.5),
        (28, 0.0, 800, 0, 0.0),
        (28, -1.0, 800, 0, 0.0),
        (-1, 10.0, 800, 0, 10.0),
        (28, 10.0, -1, 0, 10.0),
        (28, 100.0, 1, 1, 0.0),
        (1, 100.0, 800, 1, 99.875),
        (1, 0.25, 800, 1, 0.125),
        (28, 10.0, 0, 0, 10.0),
        (0, 10.0, 800, 0, 10.0),
        # Less than a point is used up, or it would stay for ever.
        (28, 0.1, 800, 0, 0.0),
    ],
)
def test_vitality_doubles_a_kill_while_it_lasts(
    points: int, vitality: float, needed: int, bonus: int, left: float
) -> None:
    assert vitality_bonus(points, vitality, needed) == (bonus, pytest.approx(left))
