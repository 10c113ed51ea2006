from __future__ import annotations

from emu.limits.answers import AnswerLimits, AnswerRules

RULES = AnswerRules(
    address_burst=3, address_rate=1.0, all_burst=10, all_rate=5.0, most_addresses=50
)


def test_one_address_has_its_share_and_gets_it_back() -> None:
    limits = AnswerLimits(RULES, 0.0)
    assert [limits.take("192.0.2.1", 0.0) for _ in range(5)] == [True] * 3 + [False] * 2
    assert [limits.take("192.0.2.1", 1.0) for _ in range(2)] == [True, False]


def test_addresses_of_one_ipv6_network_share() -> None:
    limits = AnswerLimits(RULES, 0.0)
    answered = [limits.take(f"2001:db8::{n}", 0.0) for n in range(1, 6)]
    assert answered == [True] * 3 + [False] * 2


def test_one_that_floods_takes_nothing_of_the_others() -> None:
    limits = AnswerLimits(RULES, 0.0)
    for _ in range(100):
        limits.take("192.0.2.1", 0.0)
    assert [limits.take(f"198.51.100.{n}", 0.0) for n in range(8)] == [True] * 7 + [False]


def test_invented_addresses_meet_one_limit_and_leave_bounded_memory() -> None:
    limits = AnswerLimits(RULES, 0.0)
    answered = sum(limits.take(f"10.{n >> 8}.{n & 255}.1", 0.0) for n in range(50_000 >> 4))
    assert answered == 10
    assert len(limits._each) == 50
