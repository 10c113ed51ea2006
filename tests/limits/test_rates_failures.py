from __future__ import annotations

from emu.limits.rates import FailureRules, Failures


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


def test_an_address_that_knew_the_password_has_a_try_in_ten_seconds_while_it_is_banned() -> None:
    failures = Failures(FailureRules(banned_after=2, most_addresses=3))
    failures.succeeded("192.0.2.1")
    for host in ("192.0.2.1", "192.0.2.2"):
        failures.failed(host, 0.0)
        assert failures.may_try(host, 0.0)
        failures.failed(host, 0.0)
        assert failures.is_banned(host, 0.0)
    assert not failures.keeps_out("192.0.2.1", 0.0)
    assert failures.keeps_out("192.0.2.2", 0.0)
    assert not failures.may_try("192.0.2.2", 0.0)
    tried = [failures.may_try("192.0.2.1", when) for when in (0.0, 0.0, 9.9, 10.0, 10.1)]
    assert tried == [True, False, False, True, False]
    for number in range(10, 13):
        failures.succeeded(f"192.0.2.{number}")
    assert failures.keeps_out("192.0.2.1", 10.0), "forgotten first"
