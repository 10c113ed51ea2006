"""Round trips to a PostgreSQL server: with one far away, each costs a player its whole delay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from emu.cluster.ports import NodeAbout, ZonePlace
from emu.correspondence import NewLetter, Postage
from emu.ledger import Movement, Outcome, Owner, OwnerKind, Part, Reason
from emu.model import Handoff
from emu.store import Store
from emu.worlds import RegisteredWorld
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
        self._relay.settle()
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
    assert far.trips(keys.with_characters, 2, far.store.world.characters) == 1
    assert far.trips(keys.redeem, 1, 9) == 1
    assert far.result == Handoff(1, 5, "Aldana")
    assert far.trips(keys.withdraw_account, 1) == 1


def test_accounts_are_read_with_their_characters_in_one_round_trip(far: Far) -> None:
    login = far.store.login
    account = login.accounts.add("Alice", "hash", 1.0)
    world = login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", "hash"))
    login.characters.add(character(account_id=account.id, world_id=world.id))
    other = login.accounts.add("Carol", "hash", 1.0)
    asked = ["bob", "ALICE", "carol", "alice"]
    assert far.trips(login.accounts.find_listed, asked, login.characters) == 1
    found = [(one, [row.account_id for row in listed]) for one, listed in far.result]
    alice = (account, [account.id])
    assert found == [(None, []), alice, (other, []), alice]


def test_a_character_is_claimed_in_one_round_trip(far: Far) -> None:
    characters = far.store.world.characters
    made = characters.create(world_character(account_id=3))
    assert far.trips(characters.claim, 3, made.id, "east") == 1
    assert [(row.id, row.term) for row in far.result] == [(made.id, made.term + 1)]
    keys = far.store.world.handoffs
    keys.issue(Handoff(3, made.id, made.name), lambda: 9, 60.0, 10)
    assert far.trips(keys.redeem_claiming, 3, 9, "west", characters) == 1
    assert [row.holder for row in far.result.characters] == ["west"]


def test_a_node_beats_and_a_zone_is_placed_in_one_round_trip_each(far: Far) -> None:
    nodes = far.store.world.nodes
    assert far.trips(nodes.take_term, "east", NodeAbout("192.0.2.1", 9001, "1.0", 100)) == 1
    term = far.result
    assert far.trips(nodes.claim, ZonePlace(12, 0, "east", term), None) == 1
    assert far.trips(nodes.beat, "east", term, 7, 6.0) == 1
    assert [place.zone_id for place in far.result.places] == [12]
    assert far.trips(nodes.placement, 12) == 1
    assert [row.players for row in far.result.nodes] == [7]


def test_a_movement_of_any_number_of_owners_is_one_round_trip(far: Far) -> None:
    add = far.store.world.characters.create
    one, *others = [
        Owner.character(add(world_character(name=name, coins=100)).id)
        for name in ("Aldana", "Borvik", "Cenwyn", "Dagny")
    ]
    way, move = Owner(OwnerKind.TRANSPORTER, 1), far.store.world.ledger.move
    price = Movement("a", Reason.TRAVEL, (Part(one, way, 40),))
    for outcome in ("done", "repeated"):
        assert far.trips(move, price, 1.0) == 1, outcome
        assert (far.result.is_done, far.result.balances[0].coins) == (True, 60)
    split = Movement("b", Reason.SPLIT, tuple(Part(one, other, 20) for other in others))
    assert far.trips(move, split, 1.0) == 1
    assert [one.coins for one in far.result.balances] == [0, 120, 120, 120]
    assert far.trips(move, replace(split, request="c"), 1.0) == 1
    assert far.result.outcome is Outcome.TOO_FEW


def test_letters_need_few_round_trips(far: Far) -> None:
    """Before the ledger they were 7, 5, 6, 4 and 4."""
    add, mail = far.store.world.characters.create, far.store.world.mail
    one, two = (
        add(world_character(account_id=number, name=name, coins=100))
        for number, name in ((1, "Aldana"), (2, "Borvik"))
    )
    postage = Postage(price=10, lasts=100.0, most=9, most_of_one=9)
    letter = NewLetter(
        sender_id=one.id, account_id=1, recipient_id=two.id, sender="Aldana", subject="",
        body="", coins=20,
    )  # fmt: skip
    assert far.trips(mail.send, letter, postage, 1.0, "a") == 4
    assert far.trips(mail.send, replace(letter, coins=99), postage, 1.0, "b") == 2
    unsent = replace(letter, sender_id=0, account_id=0)
    assert far.trips(mail.deliver, unsent, postage, 1.0, "c") == 4
    assert far.trips(mail.open, 2, two.id, postage, 1.0) == 2
    assert far.trips(mail.take_coins, 2, two.id, far.result.letters[0].id, 1.0, "d") == 3
    assert far.result.coins == 120


def test_a_place_is_saved_in_two_round_trips(far: Far) -> None:
    characters = far.store.world.characters
    made = characters.create(world_character())
    state = saved_state(made, term=made.term)
    assert far.trips(characters.save_character, made.id, state) == 2
    found = characters.find(made.id)
    assert found is not None
    assert found.revision == state.revision
