"""World keys in the database: the contract of `HandoffKeys`, and two processes that share them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count

import pytest

from emu.model import Handoff
from emu.processes.claiming import UsedKey
from emu.processes.ports import HandoffKeys
from emu.store import Store
from emu.store.asynchronous_world import AsyncHandoffKeys
from tests.processes.contracts.handoff_keys import HandoffKeysContract
from tests.store.test_asynchronous import ways_of
from tests.support.coroutines import finish
from tests.support.database.engines import connect, run, store_database
from tests.support.database.stores import world_character


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


def test_characters_are_read_with_the_count_of_others_keys(empty_store: Store) -> None:
    keys = keys_of(empty_store, count(1).__next__, 10)
    characters = empty_store.world.characters
    made = [characters.create(world_character(account_id=1, name=name)) for name in ("A", "B")]
    for account_id in (1, 2, 3):
        finish(keys.issue(account_id, account_id, "x"))
    for account_id, expected in ((1, (made, 2)), (4, ([], 3))):
        assert finish(keys.with_characters(account_id)) == expected
        assert expected[1] == finish(keys.held_by_others(account_id))


def test_a_key_is_used_and_its_character_claimed_together(empty_store: Store) -> None:
    keys = keys_of(empty_store, count(1).__next__, 10)
    characters = empty_store.world.characters
    made = [characters.create(world_character(account_id=1, name=name)) for name in ("A", "B")]
    key = finish(keys.issue(1, made[0].id, "A", 5))
    assert finish(keys.redeem_claiming(2, key, "east")) == UsedKey(None)
    assert characters.find(made[0].id) == made[0], "another account's key changes nothing"
    handoff, rows, _ = finish(keys.redeem_claiming(1, key, "east"))
    assert handoff == Handoff(1, made[0].id, "A", 5)
    assert [(row.term, row.holder) for row in rows] == [
        (made[0].term + 1, "east"), (made[1].term, made[1].holder),
    ]  # fmt: skip
    assert rows == characters.of_account(1)
    assert finish(keys.redeem_claiming(1, key, "west")) == UsedKey(None)
    assert finish(keys.redeem(1, key)) is None
    assert characters.of_account(1) == rows


def test_a_key_of_another_s_character_claims_nothing(empty_store: Store) -> None:
    keys = keys_of(empty_store, count(1).__next__, 10)
    characters = empty_store.world.characters
    other = characters.create(world_character(account_id=2))
    key = finish(keys.issue(1, other.id, "A"))
    handoff, rows, _ = finish(keys.redeem_claiming(1, key, "east"))
    assert (handoff, rows) == (Handoff(1, other.id, "A"), [])
    assert characters.find(other.id) == other


def test_of_two_nodes_that_use_a_key_at_once_one_claims() -> None:
    with (
        store_database() as where,
        Store.open(where) as here,
        Store.open(where) as there,
        closing(connect(where)) as other,
    ):
        made = here.world.characters.create(world_character(account_id=1))
        key = finish(keys_of(here, count(1).__next__, 10).issue(1, made.id, "A"))
        found: list[Handoff | None] = []

        def use(store: Store) -> None:
            repository = store.world.handoffs
            found.append(repository.redeem_claiming(1, key, "x", store.world.characters)[0])

        threads = [threading.Thread(target=use, args=(store,)) for store in (here, there)]
        with other.transaction():
            other.execute("SELECT 1 FROM handoff_keys FOR UPDATE")
            for thread in threads:
                thread.start()
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            waiting += f" AND datname = '{where.database}'"
            while run(where, waiting) != [(2,)]:
                time.sleep(0.02)
        for thread in threads:
            thread.join()
        assert sorted(found, key=str) == [Handoff(1, made.id, "A"), None]
        row = here.world.characters.find(made.id)
        assert row is not None
        assert row.term == made.term + 1
