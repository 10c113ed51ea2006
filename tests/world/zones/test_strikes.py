"""Failures in a row, pauses, and when they are forgotten."""

from __future__ import annotations

from emu.times import Monotonic
from emu.world.zones.strikes import Strikes


def at(seconds: float) -> Monotonic:
    return Monotonic(seconds)


def test_one_failure_less_than_the_limit_pauses_nobody_and_the_limit_does() -> None:
    strikes: Strikes[int] = Strikes(3, 30.0)
    assert not strikes.records
    assert [strikes.failed(1, "Guard", at(n)) for n in (0, 1)] == [0, 0]
    assert not strikes.is_paused(1, 1.5)
    assert strikes.next() is None
    assert strikes.failed(1, "Guard", at(2)) == 3
    assert strikes.is_paused(1, 31.9)
    assert not strikes.is_paused(1, 32.0)
    assert strikes.next() == 32.0
    assert strikes.paused(10.0) == ["Guard"]


def test_who_works_again_begins_anew() -> None:
    strikes: Strikes[int] = Strikes(2, 30.0)
    strikes.failed(1, "Guard", at(0))
    strikes.worked(1)
    assert strikes.failed(1, "Guard", at(1)) == 0
    assert len(strikes.records) == 1


def test_a_pause_ends_once_and_the_next_failure_begins_another() -> None:
    strikes: Strikes[int] = Strikes(1, 10.0)
    strikes.failed(1, "Guard", at(0))
    assert list(strikes.resume(at(9.9))) == []
    assert list(strikes.resume(at(10.0))) == [1]
    assert list(strikes.resume(at(10.0))) == []
    assert strikes.failed(1, "Guard", at(11)) == 2


def test_old_failures_are_forgotten() -> None:
    strikes: Strikes[int] = Strikes(2, 10.0)
    strikes.failed(1, "Guard", at(0))
    assert strikes.failed(1, "Guard", at(20.1)) == 0
    list(strikes.resume(at(50.0)))
    assert not strikes.records
