"""The world's calendar."""

from __future__ import annotations

from emu.world.clock import game_time


def test_a_minute_takes_three_seconds_and_units_carry() -> None:
    assert game_time(0.0) == (3000, 0, 0, 0, 0)
    assert game_time(2.9) == (3000, 0, 0, 0, 0)
    assert game_time(3.0) == (3000, 0, 0, 0, 1)
    assert game_time(3.0 * 60 * 24 * 30 * 12 - 0.1) == (3000, 11, 29, 23, 59)
    assert game_time(3.0 * 60 * 24 * 30 * 12) == (3001, 0, 0, 0, 0)
    assert game_time(-3.0) == (2999, 11, 29, 23, 59)
    assert game_time(-1e10).year == 0
    assert str(game_time(3.0 * 61)) == "01:01, day 1 of month 1"
