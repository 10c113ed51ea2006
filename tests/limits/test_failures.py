from __future__ import annotations

from emu.limits.failures import FailureRules, Failures


def test_each_costs_more_and_enough_of_them_ban() -> None:
    failures = Failures(FailureRules())
    assert [failures.failed("192.0.2.1", 0.0) for _ in range(9)] == list(range(1, 10))
    assert not failures.is_banned("192.0.2.1", 0.0)
    failures.failed("192.0.2.1", 5.0)
    assert failures.is_banned("192.0.2.1", 604.9)
    assert not failures.is_banned("192.0.2.2", 5.0)
    assert not failures.is_banned("192.0.2.1", 605.0)
    assert failures.failed("192.0.2.1", 605.0) == 1.0


def test_the_right_one_forgives() -> None:
    failures = Failures(FailureRules())
    failures.failed("2001:db8::1", 0.0)
    assert failures.failed("2001:db8::2", 0.0) == 2.0
    failures.succeeded("2001:db8::3")
    assert failures.failed("2001:db8::1", 0.0) == 1.0


def test_memory_is_bounded() -> None:
    failures = Failures(FailureRules(most_addresses=10))
    for number in range(100):
        failures.failed(f"192.0.2.{number}", 0.0)
    assert len(failures) == 10
    assert failures.failed("192.0.2.99", 0.0) == 2.0
