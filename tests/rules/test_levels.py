"""Health of levels, and who may enter a zone."""

from __future__ import annotations

import pytest

from emu.rules.levels import ZoneLimits, cut_level, usual_health, zone_refusal

CRYPT = ZoneLimits("The Crypt", rank=50, lowest=20, highest=30)
MEADOW = ZoneLimits("The Meadow", rank=0, lowest=0, highest=0)


@pytest.mark.parametrize(
    ("level", "is_player", "health"), [(1, True, 60), (0, True, 60), (10, False, 151)]
)
def test_an_actor_has_the_usual_health_of_its_level(
    level: int, health: int, *, is_player: bool
) -> None:
    assert usual_health(level, is_player=is_player) == health


@pytest.mark.parametrize(("level", "cut"), [(0, 1), (1, 1), (50, 50), (51, 50)])
def test_a_level_is_one_of_the_world(level: int, cut: int) -> None:
    assert cut_level(level, 50) == cut


@pytest.mark.parametrize(
    ("rank", "level", "refusal"),
    [
        (0, 25, "You may not enter The Crypt."),
        (50, 19, "You must be level 20 to enter The Crypt."),
        (50, 31, "The Crypt is only for players up to level 30."),
        (50, 20, None),
        (50, 30, None),
    ],
)
def test_a_zone_refuses_by_rank_and_level(rank: int, level: int, refusal: str | None) -> None:
    assert zone_refusal(CRYPT, rank=rank, level=level, is_master=False) == refusal


def test_a_game_master_needs_the_rank_alone() -> None:
    assert zone_refusal(CRYPT, rank=100, level=1, is_master=True) is None
    assert zone_refusal(CRYPT, rank=0, level=1, is_master=True) == "You may not enter The Crypt."


def test_a_zone_without_limits_refuses_nobody() -> None:
    assert zone_refusal(MEADOW, rank=0, level=90, is_master=False) is None
