"""Round trips to a PostgreSQL server: with one far away, each costs a player its whole delay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from emu.cluster.ports import NodeAbout, ZonePlace
from emu.model import Handoff, RegisteredWorld
from emu.store import Store
from tests.support.database.engines import store_database
from tests.support.database.relay import Relay
from tests.support.database.stores import character, saved_state, world_character


class Far:
    """A store whose round trips are counted."""

    def __init__(self, store: Store, relay: Relay) -> None:
        self.store = store
        self._relay = relay

    def trips(self, call: Any, *values: Any, **named: Any) -> int:
        """Return the round trips of a call."""
        before = self._relay.trips
        self.result = call(*values, **named)
        return self._relay.trips - before


@pytest.fixture
def far() -> Iterator[Far]:
    with (
        store_database() as where,
        Relay(where.host, int(where.port or 5432)) as relay,
        Store.open(replace(where, host="127.0.0.1", port=str(relay.port))) as store,
    ):
        yield Far(store, relay)


def test_a_world_key_is_issued_and_redeemed_in_one_round_trip_each(far: Far) -> None:
    keys = far.store.world.handoffs
    assert far.trips(keys.issue, Handoff(1, 5, "Aldana"), lambda: 9, 60.0, 10, is_only=True) == 1
    assert far.trips(keys.held_by_others, 2) == 1
    assert far.trips(keys.redeem, 1, 9) == 1
    assert far.result == Handoff(1, 5, "Aldana")
    assert far.trips(keys.withdraw_account, 1) == 1


def test_an_account_is_read_with_its_characters_in_one_round_trip(far: Far) -> None:
    login = far.store.login
    account = login.accounts.add("Alice", "hash", 1.0)
    world = login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", "hash"))
    login.characters.add(character(account_id=account.id, world_id=world.id))
    assert far.trips(login.accounts.find_listed, "alice", login.characters) == 1
    found, listed = far.result
    assert (found, [row.account_id for row in listed]) == (account, [account.id])
    assert far.trips(login.accounts.find_listed, "bob", login.characters) == 1
    assert far.result == (None, ())


def test_a_character_is_claimed_in_one_round_trip(far: Far) -> None:
    characters = far.store.world.characters
    made = characters.create(world_character(account_id=3))
    assert far.trips(characters.claim, 3, made.id, "east") == 1
    assert [(row.id, row.term) for row in far.result] == [(made.id, made.term + 1)]
    assert far.trips(characters.pay, 3, made.id, 0) == 1
    keys = far.store.world.handoffs
    keys.issue(Handoff(3, made.id, made.name), lambda: 9, 60.0, 10)
    assert far.trips(keys.redeem_claiming, 3, 9, "west", characters) == 1
    assert [row.holder for row in far.result[1]] == ["west"]


def test_a_node_beats_and_a_zone_is_placed_in_one_round_trip_each(far: Far) -> None:
    nodes = far.store.world.nodes
    assert far.trips(nodes.take_term, "east", NodeAbout("192.0.2.1", 9001, "1.0", 100)) == 1
    term = far.result
    assert far.trips(nodes.claim, ZonePlace(12, 0, "east", term), None) == 1
    assert far.trips(nodes.beat, "east", term, 7, 6.0) == 1
    assert [place.zone_id for place in far.result.places] == [12]
    assert far.trips(nodes.placement, 12) == 1
    assert [row.players for row in far.result.nodes] == [7]


def test_a_place_is_saved_in_two_round_trips(far: Far) -> None:
    characters = far.store.world.characters
    made = characters.create(world_character())
    state = saved_state(made, term=made.term)
    assert far.trips(characters.save_character, made.id, state) == 2
    found = characters.find(made.id)
    assert found is not None
    assert found.revision == state.revision
