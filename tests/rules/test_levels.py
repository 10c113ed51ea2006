"""Health of levels, and who may enter a zone."""

from __future__ import annotations

import pytest

from emu.rules.levels import (
    ZoneLimits,
    cut_level,
    player_pools,
    primary_attribute,
    usual_pools,
    zone_refusal,
)

CRYPT = ZoneLimits("The Crypt", rank=50, lowest=20, highest=30)
MEADOW = ZoneLimits("The Meadow", rank=0, lowest=0, highest=0)


@pytest.mark.parametrize(
    ("level", "health", "power"),
    [(1, 102, 107), (2, 108, 113), (3, 118, 123), (5, 150, 157), (10, 300, 314), (12, 388, 407)],
)
def test_players_have_the_recorded_health_and_power(level: int, health: int, power: int) -> None:
    """Recorded with 20 points of each attribute: fight-*."""
    assert usual_pools(level, is_player=True) == (health, power)


def test_creatures_have_the_health_of_their_level() -> None:
    assert usual_pools(10, is_player=False) == (151, 151)


@pytest.mark.parametrize(
    ("level", "health", "power"), [(20, 840 + 90, 884 + 120), (30, 1840 + 120, 1934 + 160),
                                   (95, 18090 + 300, 18997 + 400)],
)  # fmt: skip
def test_attributes_count_more_at_high_levels(level: int, health: int, power: int) -> None:
    """Source: EQ2Emulator: 3 up to level 20, 4 at 30, at most 10."""
    assert player_pools(level, 30.0, 40.0) == (health, power)


@pytest.mark.parametrize(
    ("class_", "name"),
    [(43, "wis"), (45, "agi"), (21, "intel"), (30, "intel"), (0, "str"),
     (3, "str"), (10, "str"), (11, "wis"), (20, "wis"), (26, "intel"), (31, "agi"),
     (42, "agi"), (44, "wis")],
)  # fmt: skip
def test_each_archetype_has_a_primary_attribute(class_: int, name: str) -> None:
    assert primary_attribute(class_) == name


@pytest.mark.parametrize(("level", "cut"), [(0, 1), (1, 1), (50, 50), (51, 50)])
def test_a_level_is_one_of_the_world(level: int, cut: int) -> None:
    assert cut_level(level, 50) == cut


@pytest.mark.parametrize(
    ("rank", "level", "refusal"),
    [
        (0, 25, "You may not enter The Crypt."),
        (50, 19, "You must be level 20 to enter The Crypt."),
        (50, 31, "The Crypt is only for players up to level 30."),
        (49, 25, "You may not enter The Crypt."),
        (51, 25, None),
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
