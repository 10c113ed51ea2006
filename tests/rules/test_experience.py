"""Rules of experience, by tables; recorded numbers name their recording."""

import pytest

from emu.rules.experience import (
    MOST_DEBT,
    Fallen,
    Progress,
    debt_after_death,
    debt_paid,
    kill_points,
    most_points,
    usual_needs,
)

NEEDS = {2: 600, 3: 800, 4: 1000}


@pytest.mark.parametrize(
    ("level", "points"),
    [
        (2, 600), (3, 800), (4, 1000), (5, 1400), (13, 4600), (14, 5000), (15, 5500), (26, 11000),
        (27, 11750), (42, 23000), (47, 28000), (48, 29250), (56, 45500), (57, 48500), (63, 66500),
        (64, 70000), (75, 108500), (77, 132500), (90, 392500), (91, 863550), (95, 1264323),
    ],
)  # fmt: skip
def test_needs(level: int, points: int) -> None:
    assert usual_needs()[level] == points


@pytest.mark.parametrize(
    ("fallen", "own_level", "fighters", "points"),
    [
        # Recorded: fight-546-melee-a, a player of level 2 kills level 1, without vitality.
        (Fallen(1), 2, 1, 28),
        (Fallen(1), 2, 2, 14),
        (Fallen(1), 5, 1, 0),
        (Fallen(5), 5, 1, 32),
        (Fallen(8), 5, 1, 48),
        (Fallen(5, difficulty=8), 5, 1, 96),
        (Fallen(5, difficulty=5), 5, 1, 16),
        (Fallen(5, difficulty=-3), 5, 1, 5),
        (Fallen(5, heroic=2), 5, 1, 64),
    ],
)
def test_points_of_a_kill(fallen: Fallen, own_level: int, fighters: int, points: int) -> None:
    assert kill_points(fallen, own_level, fighters) == points


def test_rates_multiply_before_the_cut() -> None:
    assert kill_points(Fallen(1), 2, 1, rate=3.75) == 105


def test_half_of_a_gain_pays_the_debt() -> None:
    # One percent of 800 points is 8.
    assert debt_paid(Progress(2, 0, debt=1.0), 10, 800) == (5, pytest.approx(0.375))
    assert debt_paid(Progress(2, 0, debt=1.0), 100, 800) == (92, 0.0)


def test_without_debt_or_at_the_last_level_nothing_is_paid() -> None:
    assert debt_paid(Progress(2, 0), 10, 800) == (10, 0.0)
    assert debt_paid(Progress(2, 0, debt=1.0), 10, 0) == (10, 1.0)
    assert debt_paid(Progress(2, 0, debt=1.0), -5, 800) == (0, 1.0)


def test_points_of_a_forbidden_level_are_bounded() -> None:
    assert most_points(NEEDS) == 3000
    assert most_points({}) == 0


def test_debts_add_up_to_a_level_at_most() -> None:
    assert debt_after_death(0.0) == 0.5
    assert debt_after_death(99.9) == MOST_DEBT
