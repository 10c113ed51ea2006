from __future__ import annotations

import pytest

from emu.limits.rates import KNOWN_FOR, AnswerLimits, AnswerRules

RULES = AnswerRules(
    address_burst=3, address_rate=1.0, unproven_rate=3.0, share_burst=10, share_rate=5.0,
    most_addresses=50,
)  # fmt: skip
PROOF = b"proof"


def limits_of(now: float = 0.0) -> AnswerLimits:
    return AnswerLimits(RULES, now, lambda data, _address, _now: data == PROOF)


@pytest.fixture
def limits() -> AnswerLimits:
    return limits_of()


def take(
    limits: AnswerLimits, host: str, now: float = 0.0, data: bytes = b"", port: int = 5000
) -> bool:
    return limits.take(data, (host, port), now)


def flood(limits: AnswerLimits, now: float, count: int = 3000) -> int:
    return sum(take(limits, f"10.{n >> 8 & 255}.{n & 255}.1", now) for n in range(count))


def test_one_address_has_its_share_and_gets_it_back(limits: AnswerLimits) -> None:
    assert [take(limits, "192.0.2.1") for _ in range(5)] == [True] * 3 + [False] * 2
    assert [take(limits, "192.0.2.1", 1.0) for _ in range(2)] == [True, False]


def test_addresses_of_one_ipv6_network_share(limits: AnswerLimits) -> None:
    answered = [take(limits, f"2001:db8::{n}") for n in range(1, 6)]
    assert answered == [True] * 3 + [False] * 2


def test_one_that_floods_takes_nothing_of_the_others(limits: AnswerLimits) -> None:
    for _ in range(100):
        take(limits, "192.0.2.1")
    assert [take(limits, f"198.51.100.{n}") for n in range(8)] == [True] * 7 + [False]


def test_invented_addresses_meet_one_limit_and_leave_bounded_memory(limits: AnswerLimits) -> None:
    assert flood(limits, 0.0) == 10
    assert flood(limits, 1000.0) == 10
    assert len(limits._addresses) <= 50
    assert len(limits._ports) <= 50


def test_a_known_address_is_answered_while_unknown_ones_use_up_their_share(
    limits: AnswerLimits,
) -> None:
    assert take(limits, "192.0.2.1", data=PROOF)
    for second in range(1, 60):
        flood(limits, float(second), 100)
        assert not take(limits, "192.0.2.2", float(second))
        assert take(limits, "192.0.2.1", float(second))


def test_an_unknown_address_with_a_proof_is_answered_during_a_flood(limits: AnswerLimits) -> None:
    flood(limits, 0.0)
    assert not take(limits, "192.0.2.1")
    assert take(limits, "192.0.2.1", data=PROOF)


def test_known_addresses_have_limits_of_their_own(limits: AnswerLimits) -> None:
    answered = [take(limits, "192.0.2.1", data=PROOF) for _ in range(5)]
    assert answered == [True] * 3 + [False] * 2
    others = [take(limits, f"198.51.100.{n}", data=PROOF) for n in range(9)]
    assert others == [True] * 7 + [False] * 2
    assert take(limits, "203.0.113.1")


@pytest.mark.parametrize("rate", [20, 50, 1000])
def test_a_monitor_is_answered_while_its_own_address_is_forged(rate: int) -> None:
    """Both what it asks first, without a proof, and what it asks with one, at every moment."""
    limits = limits_of()
    monitor = "192.0.2.1"
    polls = 0
    for number in range(10 * rate):
        now = number / rate
        take(limits, monitor, now, port=4000)
        if number % (2 * rate) == rate:
            assert take(limits, monitor, now, port=40_000 + polls)
            assert take(limits, monitor, now, PROOF, port=40_000 + polls)
            polls += 1
    assert polls == 5


def test_all_ports_of_an_address_together_have_a_limit(limits: AnswerLimits) -> None:
    answered = [take(limits, "192.0.2.1", port=port) for port in range(1, 9)]
    assert answered == [True] * 6 + [False] * 2
    assert [take(limits, "192.0.2.1", 1.0, port=port) for port in range(10, 14)] == [
        True, True, True, False,
    ]  # fmt: skip
    assert take(limits, "192.0.2.1", 1.0, PROOF)


def test_proofs_of_a_known_address_are_looked_at_when_its_bucket_is_half_empty() -> None:
    looked_at: list[float] = []

    def validates(data: bytes, _address: tuple[str, int], now: float) -> bool:
        looked_at.append(now)
        return data == PROOF

    limits = AnswerLimits(AnswerRules(address_burst=10, address_rate=1.0), 0.0, validates)
    assert all(take(limits, "192.0.2.1", 0.0, PROOF) for _ in range(10))
    assert len(looked_at) == 1 + 5
    assert not take(limits, "192.0.2.1", 0.0, PROOF)
    assert take(limits, "192.0.2.1", 29.0, PROOF)
    assert len(looked_at) == 7
    assert take(limits, "192.0.2.1", 31.0, PROOF)
    assert looked_at[7:] == [31.0]


def test_a_datagram_without_a_proof_takes_nothing_of_those_with_one(limits: AnswerLimits) -> None:
    hosts = [f"198.51.100.{n}" for n in range(10)]
    for host in hosts:
        assert take(limits, host, data=PROOF)
    answered = [take(limits, host, 10.0, port=port) for port in range(3) for host in hosts]
    assert sum(answered) == 10, "the share of known addresses"
    assert all(take(limits, host, 10.0, PROOF) for host in hosts)


def test_a_proof_lasts_and_is_renewed_by_another() -> None:
    for asked_between, is_known in ((PROOF, True), (b"", False)):
        limits = limits_of()
        take(limits, "192.0.2.1", data=PROOF)
        assert take(limits, "192.0.2.1", KNOWN_FOR - 1, asked_between)
        flood(limits, KNOWN_FOR + 2)
        assert take(limits, "192.0.2.1", KNOWN_FOR + 2) is is_known


def test_no_more_addresses_are_known_than_may_be(limits: AnswerLimits) -> None:
    for n in range(500):
        take(limits, f"10.0.{n >> 8}.{n & 255}", float(n), PROOF)
    assert len(limits._known) == 50
    flood(limits, 500.0)
    assert take(limits, "10.0.1.243", 500.0)
    assert not take(limits, "10.0.0.1", 500.0)
