"""What every `HandoffKeys` must do. An implementation's test class gives `keys` and `later`."""

from __future__ import annotations

import pytest

from emu.errors import LimitExceeded
from emu.model import Handoff
from emu.processes.ports import HandoffKeys


class HandoffKeysContract:
    """Subclass it, with a fixture `keys` and the method `later`."""

    LIFETIME = 60.0
    MOST = 100
    """Keys that the fixture's `keys` may have outstanding."""

    def later(self, seconds: float) -> None:
        """Let time pass for whoever keeps the keys."""
        raise NotImplementedError

    async def test_a_key_lets_its_account_in_once(self, keys: HandoffKeys) -> None:
        key = await keys.issue(101, 5, "Aldana")
        assert 0 < key <= 0xFFFFFFFF
        assert await keys.redeem(101, key) == Handoff(101, 5, "Aldana")
        assert await keys.redeem(101, key) is None

    async def test_a_key_is_good_for_its_time(self, keys: HandoffKeys) -> None:
        first, second = await keys.issue(101, 5, "Aldana"), await keys.issue(102, 6, "Borvik")
        self.later(self.LIFETIME - 1)
        assert await keys.redeem(101, first) is not None
        self.later(1)
        assert await keys.redeem(102, second) is None

    async def test_another_account_gets_nothing_and_spoils_nothing(self, keys: HandoffKeys) -> None:
        key = await keys.issue(101, 5, "Aldana")
        assert await keys.redeem(102, key) is None
        assert await keys.redeem(101, 0) is None
        assert await keys.redeem(101, key) is not None

    async def test_keys_differ(self, keys: HandoffKeys) -> None:
        issued = [await keys.issue(n, n, "someone") for n in range(1, 41)]
        assert len(set(issued)) == 40

    async def test_a_new_key_replaces_the_unused_one_of_the_same_character(
        self, keys: HandoffKeys
    ) -> None:
        first, second = [await keys.issue(101, 5, "Aldana") for _ in range(2)]
        other = await keys.issue(101, 6, "Borvik")
        assert await keys.redeem(101, first) is None
        assert await keys.redeem(101, second) is not None
        assert await keys.redeem(101, other) is not None

    async def test_a_key_that_is_to_be_the_only_one_replaces_all_of_its_account(
        self, keys: HandoffKeys
    ) -> None:
        before = [await keys.issue(101, n, "someone") for n in (5, 6)]
        other = await keys.issue(102, 7, "Cilla")
        only = await keys.issue(101, 8, "Aldana", is_only=True)
        assert [await keys.redeem(101, key) for key in before] == [None, None]
        assert await keys.redeem(101, only) == Handoff(101, 8, "Aldana")
        assert await keys.redeem(102, other) is not None

    async def test_a_deleted_character_has_no_keys(self, keys: HandoffKeys) -> None:
        gone, other = await keys.issue(101, 5, "Aldana"), await keys.issue(101, 6, "Borvik")
        await keys.withdraw(5)
        await keys.withdraw(99)
        assert await keys.redeem(101, gone) is None
        assert await keys.redeem(101, other) is not None

    async def test_an_account_that_chooses_another_character_has_no_keys(
        self, keys: HandoffKeys
    ) -> None:
        issued = [await keys.issue(101, n, "someone") for n in (5, 6)]
        other = await keys.issue(102, 7, "Cilla")
        await keys.withdraw_account(101)
        await keys.withdraw_account(103)
        assert [await keys.redeem(101, key) for key in issued] == [None, None]
        assert await keys.redeem(102, other) is not None

    async def test_keys_of_others_are_counted_as_long_as_they_are_good(
        self, keys: HandoffKeys
    ) -> None:
        await keys.issue(101, 5, "Aldana")
        await keys.issue(101, 6, "Borvik")
        self.later(10)
        key = await keys.issue(102, 7, "Cilla")
        assert [await keys.held_by_others(n) for n in (101, 102, 103)] == [1, 2, 3]
        self.later(self.LIFETIME - 10)
        assert await keys.held_by_others(103) == 1
        await keys.redeem(102, key)
        assert await keys.held_by_others(103) == 0

    async def test_outstanding_keys_are_bounded_until_they_end(self, keys: HandoffKeys) -> None:
        for number in range(self.MOST):
            await keys.issue(number, number, "someone")
        with pytest.raises(LimitExceeded):
            await keys.issue(self.MOST, self.MOST, "one too many")
        await keys.issue(0, 0, "in place of one's own")
        self.later(self.LIFETIME)
        assert await keys.issue(self.MOST, self.MOST, "in time")
