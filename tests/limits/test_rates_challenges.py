from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.limits.rates import PERIOD, Challenges

HOST = "192.0.2.1"


@given(st.integers(0, 65535), st.floats(0, 1e9), st.floats(0, PERIOD))
def test_a_number_is_taken_for_a_period_at_least(port: int, now: float, later: float) -> None:
    challenges = Challenges(bytes(16))
    number = challenges.issue(HOST, port, now)
    assert 0 < number < 0x80000000
    assert challenges.accepts(number, HOST, port, now + later)


def test_it_is_of_one_address_one_secret_and_one_time() -> None:
    challenges = Challenges(bytes(16))
    number = challenges.issue(HOST, 27000, 100.0)
    assert not challenges.accepts(number, "192.0.2.2", 27000, 100.0)
    assert not challenges.accepts(number, HOST, 27001, 100.0)
    assert not challenges.accepts(number, HOST, 27000, 100.0 + 2 * PERIOD)
    assert not Challenges(bytes(15) + b"x").accepts(number, HOST, 27000, 100.0)


def test_numbers_that_mean_none_are_never_given() -> None:
    challenges = Challenges(b"secret")
    given_out = {challenges.issue(HOST, port, 0.0) for port in range(5000)}
    assert len(given_out) > 4900
    assert all(0 < number < 0x80000000 for number in given_out)  # 0 and -1 are none
