"""World keys in the database: the contract of `HandoffKeys`, and two processes that share them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from emu.processes.ports import HandoffKeys
from emu.store import Store
from emu.store.asynchronous import AsyncHandoffKeys
from tests.processes.contracts.handoff_keys import HandoffKeysContract
from tests.store.test_asynchronous import ways_of
from tests.support.coroutines import finish


def keys_of(store: Store, draw: Callable[[], int], most: int) -> AsyncHandoffKeys:
    return AsyncHandoffKeys(ways_of(store), draw, most=most)


class TestStoredHandoffKeys(HandoffKeysContract):
    def later(self, seconds: float) -> None:
        # Nobody can put the clock of a database forward, so the ends of the keys come nearer.
        with self.store.database.transaction() as connection:
            connection.execute("UPDATE handoff_keys SET ends = ends - ?", (seconds,))

    @pytest.fixture
    def keys(self, empty_store: Store) -> HandoffKeys:
        self.store = empty_store
        return keys_of(empty_store, count(1).__next__, self.MOST)


def test_a_key_of_one_process_works_once_in_all(empty_store: Store) -> None:
    with Store.open(empty_store.where) as other:
        here = keys_of(empty_store, iter((0, 1 << 32, 9)).__next__, 10)
        there = keys_of(other, iter((9, 10)).__next__, 10)
        key = finish(here.issue(1, 5, "Aldana", 100))
        assert key == 9, "0 is no key"
        assert finish(there.issue(2, 6, "Borvik")) == 10, "9 is used"
        found = finish(there.redeem(1, key))
        assert found is not None
        assert (found.name, found.rank, found.is_zoning) == ("Aldana", 100, False)
        assert finish(here.redeem(1, key)) is None


def test_a_lock_withdraws_keys_of_lower_ranks_except_of_those_who_change_zones(
    empty_store: Store,
) -> None:
    keys = keys_of(empty_store, count(1).__next__, 10)
    issued = [
        (account, finish(keys.issue(account, account, "x", rank, entry)))
        for account, rank, entry in ((1, 0, 0), (2, 0, 1), (3, 0, 2), (4, 100, 0))
    ]
    finish(keys.withdraw_entries(100))
    works = [finish(keys.redeem(account, key)) is not None for account, key in issued]
    assert works == [False, True, True, True]
