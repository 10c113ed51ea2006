from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.processes.shared import LocalHandoffKeys
from tests.processes.contracts.handoff_keys import HandoffKeysContract
from tests.support.coroutines import finish
from tests.support.running.processes import handoff_keys
from tests.support.times import ManualClock


class TestLocalHandoffKeys(HandoffKeysContract):
    def later(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @pytest.fixture
    def keys(self) -> LocalHandoffKeys:
        self.clock = ManualClock()
        return LocalHandoffKeys(count(1).__next__, self.clock, most=self.MOST)


def drawing(*numbers: int) -> Callable[[], int]:
    left = iter(numbers)
    return lambda: next(left)


def test_keys_are_never_zero_and_never_given_twice() -> None:
    keys = handoff_keys(drawing(0, 1 << 32, 9, 9, 10))
    assert finish(keys.issue(1, 1, "a")) == 9
    assert finish(keys.issue(2, 2, "b")) == 10


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.floats(0, 40)), max_size=40))
def test_no_key_outlives_its_minute_and_none_works_twice(
    steps: list[tuple[int, int, float]],
) -> None:
    clock = ManualClock(0.0)
    keys = handoff_keys(count(1).__next__, clock)
    issued = {}
    for account, char, wait in steps:
        clock.seconds += wait
        issued[finish(keys.issue(account, char, "x"))] = (account, clock.seconds)
    for key, (account, when) in issued.items():
        found = finish(keys.redeem(account, key))
        assert found is None or when + 60 > clock.seconds
        assert finish(keys.redeem(account, key)) is None
    assert len(keys) == 0
    assert keys._by_account == {}
