import pytest

from emu.admin.snapshot import Rates
from tests.support.admin.snapshots import Measured


def test_what_grew_by_the_second() -> None:
    measured = Measured()
    measured.logins.add("accepted", by=10)
    measured.drops.add("login", "old", by=5)
    before = measured.snapshot(taken=100.0)
    measured.logins.add("accepted", by=4)
    measured.logins.add("refused", by=1)
    measured.drops.add("world", "new", by=3)
    rates = Rates.between(before, measured.snapshot(taken=102.0))
    assert rates.rate("logins") == 2.5
    assert rates.rate("logins", "refused") == 0.5
    assert rates.rates_by_last("session_drops") == {"new": 1.5}


def test_ticks_are_those_between_the_two() -> None:
    measured = Measured()
    measured.ticks.observe(4.0)
    before = measured.snapshot(taken=100.0)
    assert Rates(before).histogram("world_tick_seconds").count == 1
    for _ in range(10):
        measured.ticks.observe(0.0004)
    rates = Rates.between(before, measured.snapshot(taken=101.0))
    found = rates.histogram("world_tick_seconds")
    assert found.count == 10
    assert found.quantile(0.99) == pytest.approx(0.0005, rel=0.1)


def test_two_processes_or_one_moment_give_no_rate() -> None:
    measured = Measured()
    measured.logins.add("accepted", by=9)
    before = measured.snapshot(taken=100.0)
    again = Measured().snapshot(taken=200.0, process=8)
    for rates in (
        Rates.between(None, before),
        Rates.between(before, again),
        Rates.between(before, measured.snapshot(taken=100.0)),
        Rates.between(measured.snapshot(taken=300.0), before),
    ):
        assert rates.rate("logins") is None
        assert rates.rates_by_last("logins") == {}
