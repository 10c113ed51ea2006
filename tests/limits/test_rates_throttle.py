from hypothesis import given
from hypothesis import strategies as st

from emu.limits.rates import Allowance, EntryLimits, RateLimit, Throttle, minutely
from emu.times import Monotonic

HOST = "192.0.2.1"


def test_a_burst_then_one_for_each_refill() -> None:
    throttle = Throttle(Allowance(burst=3, refill=10.0))
    assert [throttle.take("a", 0.0) for _ in range(5)] == [True, True, True, False, False]
    assert not throttle.allows("a", 9.9)
    assert throttle.take("a", 10.0)
    assert not throttle.take("a", 19.9)
    assert throttle.take("b", 10.0)


def test_a_token_given_back_was_never_taken() -> None:
    throttle = Throttle(Allowance(burst=1, refill=10.0))
    for _ in range(5):
        assert throttle.take("a", 0.0)
        throttle.give_back("a", 0.0)
    assert len(throttle) == 0


def test_debt_grows_to_one_bucket_at_most() -> None:
    throttle = Throttle(Allowance(burst=2, refill=10.0))
    for _ in range(50):
        throttle.charge("a", 0.0)
    assert not throttle.allows("a", 29.9)
    assert throttle.allows("a", 30.0)


def test_a_clock_that_is_set_back_takes_nothing_away() -> None:
    throttle = Throttle(Allowance(burst=2, refill=10.0))
    assert throttle.take("a", 1000.0)
    assert throttle.take("a", 0.0)
    assert not throttle.take("a", 0.0)


def test_memory_is_bounded_and_the_longest_untouched_go_first() -> None:
    throttle = Throttle(Allowance(burst=1, refill=10.0), most_keys=3)
    for key in ("a", "b", "c", "d"):
        assert throttle.take(key, 0.0)
    assert len(throttle) == 3
    assert throttle.allows("a", 0.0)
    assert not throttle.allows("b", 0.0)


@given(st.lists(st.floats(0, 100), max_size=200))
def test_never_more_than_burst_and_refill_allow(moments: list[float]) -> None:
    throttle = Throttle(Allowance(burst=4, refill=5.0))
    taken = sum(throttle.take("a", now) for now in sorted(moments))
    assert taken <= 4 + (max(moments, default=0.0) - min(moments, default=0.0)) / 5.0 + 1e-6


def test_a_burst_then_the_rate() -> None:
    limit = RateLimit(2, 5, 100.0)
    assert all(limit.take(1, 100.0) for _ in range(5))
    assert not limit.take(1, 100.0)
    assert not limit.take(1, 100.4)
    assert limit.take(1, 100.5)
    assert not limit.take(1, 100.5)
    assert limit.take(5, 200.0)
    assert not limit.take(0.1, 200.0)


def test_a_clock_that_steps_back_gives_nothing() -> None:
    limit = RateLimit(10, 10, 100.0)
    assert limit.take(10, 100.0)
    assert not limit.take(1, 50.0)
    assert not limit.take(1, 100.0)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_never_more_than_burst_plus_rate_times_time(waits: list[float]) -> None:
    limit, now, taken = RateLimit(3, 7, 0.0), 0.0, 0
    for wait in waits:
        now += wait
        while limit.take(1, now):
            taken += 1
    assert taken <= 7 + 3 * now + 1e-6


def test_looking_takes_nothing() -> None:
    limit = RateLimit(1, 2, 0.0)
    assert limit.left(0.0) == limit.left(0.0) == 2
    assert limit.take(2, 0.0)
    assert limit.left(0.5) == 0.5
    assert limit.left(1.0) == 1


def limits(account: int = 3, address: int = 2) -> EntryLimits:
    return EntryLimits(minutely(6, account), minutely(60, address))


def test_minutely_is_a_burst_and_a_rate() -> None:
    assert minutely(6, 3) == Allowance(burst=3, refill=10.0)


def test_an_account_comes_so_often_and_then_at_its_rate() -> None:
    found, now = limits(address=100), Monotonic(0.0)
    for _ in range(3):
        assert found.reason_against(7, HOST, now) is None
        found.take(7, HOST, now)
    assert found.reason_against(7, HOST, now) == "too often for one account"
    assert found.reason_against(8, HOST, now) is None
    assert found.reason_against(7, HOST, Monotonic(9.9)) is not None
    assert found.reason_against(7, HOST, Monotonic(10.0)) is None


def test_the_first_time_of_each_account_costs_its_address_nothing() -> None:
    found, now = limits(), Monotonic(0.0)
    for account in range(500):
        assert found.reason_against(account, HOST, now) is None
        found.take(account, HOST, now)
    for account in range(2):
        assert found.reason_against(account, HOST, now) is None
        found.take(account, HOST, now)
    why = "too often for one address"
    assert found.reason_against(2, HOST, now) == why
    assert found.reason_against(2, "192.0.2.99", now) is None
    assert found.reason_against(9999, HOST, now) is None
    assert found.reason_against(2, HOST, Monotonic(1.0)) is None


def test_addresses_of_one_ipv6_network_are_one() -> None:
    found, now = limits(), Monotonic(0.0)
    for account in range(3):
        found.take(account, "2001:db8::1", now)
    for account in range(2):
        found.take(account, f"2001:db8::{account + 2}", now)
    assert found.reason_against(2, "2001:db8::ffff", now) is not None
    assert found.reason_against(2, "2001:db8:0:1::1", now) is None
