"""What falls and drowning cost. Source: EQ2Emulator's code (eq2-combat.md 4.3)."""

import pytest

from emu.rules.hazards import drowning_damage, fall_damage


@pytest.mark.parametrize(
    ("height", "skill", "most", "points"),
    [
        (-5.0, 0, 1000, 0),
        (13.2, 0, 1000, 0),
        # One unit above 13 + 1/5: 125 ten-thousandths.
        (14.2, 0, 10_000, 125),
        (13.25, 0, 10_000, 7),
        (14.2, 4, 10_000, 25),
        (79.9, 0, 10_000, 8338),
        (80.0, 0, 10_000, 10_000),
        (500.0, 0, 100, 100),
    ],
)
def test_falls(height: float, skill: int, most: int, points: int) -> None:
    assert fall_damage(height, skill, most) == points


def test_things_soften_falls() -> None:
    assert fall_damage(14.2, 0, 10_000, 40.0) == 75
    assert fall_damage(14.2, 0, 10_000, 400.0) == 0


def test_drowning_takes_a_twentieth() -> None:
    assert [drowning_damage(most) for most in (10, 100, 1000)] == [1, 5, 50]
