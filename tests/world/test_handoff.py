from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded
from emu.world.handoff import Handoff, HandoffKeys


def drawing(*numbers: int) -> Callable[[], int]:
    left = iter(numbers)
    return lambda: next(left)


def test_a_key_lets_its_account_in_once() -> None:
    keys = HandoffKeys(drawing(77))
    assert keys.issue(101, 5, "Aldana", 10.0) == 77
    assert keys.redeem(101, 77, 20.0) == Handoff(101, 5, "Aldana", 70.0)
    assert keys.redeem(101, 77, 20.0) is None


def test_a_key_is_good_for_a_minute_on_the_clock() -> None:
    keys = HandoffKeys(drawing(77, 78))
    keys.issue(101, 5, "Aldana", 10.0)
    assert keys.get_timer() == 70.0
    assert keys.redeem(101, 77, 70.0) is None
    keys.issue(101, 5, "Aldana", 100.0)
    keys.expire(159.9)
    assert len(keys) == 1
    keys.expire(160.0)
    assert len(keys) == 0
    assert keys.get_timer() is None


def test_another_account_gets_nothing_and_spoils_nothing() -> None:
    keys = HandoffKeys(drawing(77))
    keys.issue(101, 5, "Aldana", 10.0)
    assert keys.redeem(102, 77, 11.0) is None
    assert keys.redeem(101, 0, 11.0) is None
    assert keys.redeem(101, 77, 11.0) is not None


def test_keys_are_never_zero_and_never_given_twice() -> None:
    keys = HandoffKeys(drawing(0, 1 << 32, 9, 9, 10))
    assert keys.issue(1, 1, "a", 0.0) == 9
    assert keys.issue(2, 2, "b", 0.0) == 10


def test_a_new_key_replaces_the_unused_one_of_the_same_character() -> None:
    keys = HandoffKeys(drawing(1, 2, 3))
    for _ in range(2):
        keys.issue(101, 5, "Aldana", 0.0)
    keys.issue(101, 6, "Borvik", 0.0)
    assert keys.redeem(101, 1, 0.0) is None
    assert keys.redeem(101, 2, 0.0) is not None
    assert keys.redeem(101, 3, 0.0) is not None


def test_a_deleted_character_has_no_keys() -> None:
    keys = HandoffKeys(drawing(1, 2))
    keys.issue(101, 5, "Aldana", 0.0)
    keys.issue(101, 6, "Borvik", 0.0)
    keys.withdraw(5)
    assert keys.redeem(101, 1, 0.0) is None
    assert keys.redeem(101, 2, 0.0) is not None


def test_an_account_that_chooses_another_character_has_no_keys() -> None:
    keys = HandoffKeys(drawing(1, 2, 3))
    keys.issue(101, 5, "Aldana", 0.0)
    keys.issue(101, 6, "Borvik", 0.0)
    keys.issue(102, 7, "Cilla", 0.0)
    keys.withdraw_account(101)
    keys.withdraw_account(103)
    assert keys.redeem(101, 1, 0.0) is None
    assert keys.redeem(101, 2, 0.0) is None
    assert keys.redeem(102, 3, 0.0) is not None


def test_keys_of_others_are_counted_as_long_as_they_are_good() -> None:
    keys = HandoffKeys(drawing(1, 2, 3))
    keys.issue(101, 5, "Aldana", 0.0)
    keys.issue(101, 6, "Borvik", 0.0)
    keys.issue(102, 7, "Cilla", 10.0)
    assert [keys.held_by_others(account, 10.0) for account in (101, 102, 103)] == [1, 2, 3]
    assert keys.held_by_others(103, 60.0) == 1


def test_outstanding_keys_are_bounded() -> None:
    keys = HandoffKeys(drawing(1, 2, 3), most=2)
    keys.issue(1, 1, "a", 0.0)
    keys.issue(2, 2, "b", 30.0)
    with pytest.raises(LimitExceeded):
        keys.issue(3, 3, "c", 59.0)
    assert keys.issue(3, 3, "c", 60.0) == 3


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.floats(0, 40)), max_size=40))
def test_no_key_outlives_its_minute_and_none_works_twice(steps: list) -> None:
    numbers = iter(range(1, 1000))
    keys, now, issued = HandoffKeys(lambda: next(numbers)), 0.0, {}
    for account, char, wait in steps:
        now += wait
        issued[keys.issue(account, char, "x", now)] = (account, now)
    for key, (account, when) in issued.items():
        found = keys.redeem(account, key, now)
        assert found is None or when + 60 > now
        assert keys.redeem(account, key, now) is None
    assert len(keys) == 0
    assert keys._by_account == {}
