"""Rounds, phases and experience of crafting.

Source of the numbers: ../shared/spec/eq2-items.md 15; the rounds and the 28 points of a third phase
were recorded in items-*-deal.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from emu.rules.crafting import (
    COUNTERED,
    MISSED,
    MOST,
    Bonus,
    CraftChange,
    CraftEvent,
    RoundEnd,
    brings_event,
    experience,
    made_phase,
    play_round,
    reached,
    tier_of,
)


class Drawn:
    """A chance that always draws one number."""

    def __init__(self, percent: float) -> None:
        self.number = percent / 100

    def random(self) -> float:
        return self.number


@pytest.mark.slow
def test_rounds_end_in_the_shares_of_the_page() -> None:
    chance, rounds = Random(3), 100_000
    seen = Counter(play_round(500, 500, chance).effect for _ in range(rounds))
    wanted = {
        RoundEnd.SUCCESS: 0.87, RoundEnd.FAILURE: 0.10, RoundEnd.GREAT_SUCCESS: 0.02,
        RoundEnd.GREAT_FAILURE: 0.01,
    }  # fmt: skip
    chi_square = sum(
        (seen[effect] - share * rounds) ** 2 / (share * rounds) for effect, share in wanted.items()
    )
    assert chi_square < 16.27  # three degrees of freedom: once in a thousand seeds


@pytest.mark.parametrize(
    ("drawn", "effect", "change"),
    [
        (0.5, RoundEnd.GREAT_FAILURE, (-100, -50)), (2.0, RoundEnd.GREAT_SUCCESS, (10, 100)),
        (5.0, RoundEnd.FAILURE, (-50, 0)), (50.0, RoundEnd.SUCCESS, (-10, 50)),
        (99.99, RoundEnd.SUCCESS, (-10, 50)),
    ],
)  # fmt: skip
def test_what_each_end_changes(drawn: float, effect: RoundEnd, change: tuple[int, int]) -> None:
    """Source: the rounds recorded in items-546-deal."""
    found = play_round(500, 500, Drawn(drawn))
    assert (found.effect, tuple(found.change)) == (effect, change)
    assert (found.durability, found.progress) == (500 + change[0], 500 + change[1])


def test_numbers_stay_within_their_limits() -> None:
    assert play_round(5, 990, Drawn(50.0)).progress == MOST
    assert play_round(50, 20, Drawn(0.5))[2:] == (0, 0)
    assert play_round(995, 0, Drawn(2.0)).durability == MOST


def test_a_bonus_counts_in_the_round() -> None:
    found = play_round(500, 500, Drawn(50.0), Bonus(CraftChange(30, 20)))
    assert (found.durability, found.progress) == (520, 570)
    # Half of the failures are left: half a percent, then two of great successes, then five.
    ends = [
        play_round(500, 500, Drawn(drawn), Bonus(success=50.0)).effect
        for drawn in (0.4, 0.6, 2.4, 2.6, 7.4, 7.6)
    ]
    assert ends == [
        RoundEnd.GREAT_FAILURE, RoundEnd.GREAT_SUCCESS, RoundEnd.GREAT_SUCCESS, RoundEnd.FAILURE,
        RoundEnd.FAILURE, RoundEnd.SUCCESS,
    ]  # fmt: skip
    # 100 percent more success leaves no failure.
    effects = {
        play_round(500, 500, chance, Bonus(success=100.0)).effect
        for chance in map(Random, range(500))
    }
    assert effects == {RoundEnd.SUCCESS, RoundEnd.GREAT_SUCCESS}


@pytest.mark.parametrize(
    ("durability", "progress", "phase"),
    [
        (1000, 0, 0), (1000, 399, 0), (1000, 400, 1), (0, 400, 1), (1000, 599, 1), (1000, 600, 2),
        (199, 600, 2), (199, 999, 2), (199, 1000, 2), (200, 800, 3), (799, 1000, 3),
        (800, 999, 3), (800, 1000, 4), (570, 1000, 3),
    ],
)  # fmt: skip
def test_the_phase_that_is_made(durability: int, progress: int, phase: int) -> None:
    """570 and 1000 were recorded (items-546-deal): the product of the fourth of five phases."""
    assert made_phase(durability, progress) == phase


def test_the_phase_of_the_progress() -> None:
    assert [reached(one) for one in (0, 400, 600, 800, 1000)] == [0, 1, 2, 3, 4]


def test_experience_by_phase_and_level() -> None:
    assert experience(1, 1, 3) == 28  # recorded
    assert [experience(1, 1, phase) for phase in range(5)] == [0, 18, 23, 28, 33]
    assert experience(10, 20, 4) == 0
    assert [experience(12, own, 4) for own in (11, 12, 13, 20, 21)] == [396, 396, 356, 79, 39]
    assert experience(0, 1, 4) == 29
    assert experience(20, 20, 4) > experience(19, 20, 4) > experience(12, 20, 4) > 0


def test_events_come_in_their_share() -> None:
    chance = Random(4)
    assert [brings_event(Drawn(one)) for one in (0.0, 14.9, 15.0)] == [True, True, False]
    assert 0.14 < sum(brings_event(chance) for _ in range(50_000)) / 50_000 < 0.16


def test_events_without_numbers_have_usual_ones() -> None:
    assert (CraftEvent("a", 1).countered, CraftEvent("a", 1).missed) == (COUNTERED, MISSED)
    own = CraftEvent("a", 1, CraftChange(5, 6), CraftChange(-7, 0))
    assert (own.countered, own.missed) == (CraftChange(5, 6), CraftChange(-7, 0))
    hard = CraftEvent("a", 1, failure=CraftChange(0, -7))
    assert (hard.countered, hard.missed) == (CraftChange(), CraftChange(0, -7))


def test_tiers() -> None:
    assert [tier_of(level) for level in (0, 9, 10, 50)] == [1, 1, 2, 6]
