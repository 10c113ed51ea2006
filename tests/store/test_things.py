"""Things in the database: they change with their movement, once, or not at all."""

from __future__ import annotations

import pytest

from emu.items.held import Place, Thing, Where
from emu.ledger import (
    Movement,
    Outcome,
    Owner,
    OwnerKind,
    Part,
    Reason,
    ThingChanges,
    What,
)
from emu.model import Handoff
from emu.store import Store
from emu.store.things import FIRST_NUMBER
from emu.times import Moment
from tests.support.world.world_fakes import world_character

NOW = Moment(1_000_000.0)
MERCHANT = Owner(OwnerKind.MERCHANT, 77)
PEBBLE = 910_002
DAY = 86_400.0


class Holders:
    """Two characters with 100 copper each."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.ledger, self.things = store.world.ledger, store.world.things
        self.ids = [
            store.world.characters.create(world_character(0, number, name=name, coins=100)).id
            for number, name in enumerate(("Aldana", "Borvik"), 1)
        ]
        self.one, self.two = map(Owner.character, self.ids)

    def buys(self, request: str, number: int, price: int, count: int = 1) -> Movement:
        """Return the movement by which the first character buys things."""
        return Movement(
            request, Reason.BOUGHT,
            (
                Part(self.one, MERCHANT, price),
                Part(MERCHANT, self.one, count, What.THINGS, PEBBLE),
            ),
            things=(ThingChanges(self.one, (pebbles(number, count),)),),
            terms=((self.one.number, 0),),
        )  # fmt: skip

    def of(self, owner: Owner) -> list[Thing]:
        return self.things.of([owner]).get(owner, [])

    def is_right(self) -> bool:
        audit = self.ledger.audit()
        return not audit.differences and not audit.wrong_things and audit.held == audit.by_entries


def pebbles(number: int, count: int, slot: int = 0) -> Thing:
    return Thing(number, PEBBLE, Place(Where.BAGS, 0, slot), count, creator="Old Meg", created=NOW)


@pytest.fixture
def holders(empty_store: Store) -> Holders:
    return Holders(empty_store)


def test_things_come_with_the_key_of_a_character(holders: Holders) -> None:
    """Those of the character and of its account, and nobody else's."""
    one, two = holders.one, holders.two
    owners = [
        one, Owner(OwnerKind.PIECES, one.number), Owner(OwnerKind.LIBRARY, one.number),
        Owner(OwnerKind.ACCOUNT, 1), two, Owner(OwnerKind.ACCOUNT, 2),
        Owner(OwnerKind.SOLD, one.number), Owner(OwnerKind.HOUSE, one.number),
    ]  # fmt: skip
    changes = [
        ThingChanges(owner, (pebbles(number, 1),)) for number, owner in enumerate(owners, 1000)
    ]
    assert holders.ledger.move(Movement("a", Reason.OWN, (), things=tuple(changes)), NOW).is_done
    keys, characters = holders.store.world.handoffs, holders.store.world.characters
    key = keys.issue(Handoff(1, one.number, "Aldana"), lambda: 9, 60.0, 10)
    assert keys.redeem_claiming(2, key, "east", characters).things is None
    used = keys.redeem_claiming(1, key, "east", characters)
    assert used.things == holders.things.of(owners[:4])
    assert len(used.things) == 4


def test_no_movement_of_an_earlier_holder_follows_the_things_that_came_with_a_key(
    holders: Holders,
) -> None:
    one = holders.one
    keys, characters = holders.store.world.handoffs, holders.store.world.characters
    key = keys.issue(Handoff(1, one.number, "Aldana"), lambda: 9, 60.0, 10)
    things = keys.redeem_claiming(1, key, "east", characters).things
    late = holders.buys("a", 1000, 40)
    assert holders.ledger.move(late, NOW).outcome is Outcome.NO_OWNER
    assert things == {} == holders.things.of([one])


def test_numbers_of_things_are_never_given_twice(holders: Holders) -> None:
    assert holders.things.reserve(5) == FIRST_NUMBER
    assert holders.things.reserve(1) == FIRST_NUMBER + 5
    assert holders.things.reserve(3) == FIRST_NUMBER + 6


def test_what_is_bought_comes_with_its_price_or_not_at_all(holders: Holders) -> None:
    one = holders.one
    moved = holders.ledger.move(holders.buys("a", 1000, 30, 4), NOW)
    assert moved.is_done
    assert [balance.coins for balance in moved.balances] == [70]
    assert holders.of(one) == [pebbles(1000, 4)]
    refused = holders.ledger.move(holders.buys("b", 1001, 71), NOW)
    assert refused.outcome is Outcome.TOO_FEW
    assert holders.of(one) == [pebbles(1000, 4)]
    assert holders.ledger.move(holders.buys("a", 1000, 30, 4), NOW).is_done  # asked again
    assert holders.ledger.audit().things == 4
    assert holders.is_right()


def test_a_trade_moves_things_and_coins_of_both(holders: Holders) -> None:
    one, two, ledger = holders.one, holders.two, holders.ledger
    ledger.move(holders.buys("a", 1000, 0, 4), NOW)
    both = tuple((char_id, 0) for char_id in holders.ids)
    trade = Movement(
        "t", Reason.TRADED,
        (Part(one, two, 4, What.THINGS, PEBBLE), Part(two, one, 60)),
        things=(ThingChanges(two, (pebbles(1000, 4, 3),)),), terms=both,
    )  # fmt: skip
    assert ledger.move(trade, NOW).is_done
    assert (holders.of(one), holders.of(two)) == ([], [pebbles(1000, 4, 3)])
    entries = [(row.what, row.change(two)) for row in ledger.of_owner(two, 2)]
    assert entries == [("coins", -60), ("things", 4)]
    assert holders.is_right()


def test_a_process_that_plays_a_character_no_more_changes_nothing(holders: Holders) -> None:
    move = Movement(
        "m", Reason.OWN, (), things=(ThingChanges(holders.one, (pebbles(1000, 1),)),),
        terms=((holders.one.number, 4),),
    )  # fmt: skip
    assert holders.ledger.move(move, NOW).outcome is Outcome.NO_OWNER
    assert holders.of(holders.one) == []
    bought = holders.buys("a", 1000, 1)
    late = Movement("a", bought.reason, bought.parts, things=bought.things, terms=move.terms)
    assert holders.ledger.move(late, NOW).outcome is Outcome.NO_OWNER
    assert holders.of(holders.one) == []


def test_a_move_among_own_places_needs_no_entry(holders: Holders) -> None:
    one, ledger = holders.one, holders.ledger
    ledger.move(holders.buys("a", 1000, 0), NOW)
    entries = len(ledger.of_owner(one, 99))
    terms = ((one.number, 0),)
    things = (ThingChanges(one, (pebbles(1000, 1, 5),)),)
    assert ledger.move(Movement("b", Reason.OWN, (), things=things, terms=terms), NOW).is_done
    assert holders.of(one) == [pebbles(1000, 1, 5)]
    assert len(ledger.of_owner(one, 99)) == entries
    gone = Movement(
        "c", Reason.DESTROYED, (Part(one, Owner(OwnerKind.NOTHING), 1, What.THINGS, PEBBLE),),
        things=(ThingChanges(one, (), (1000,)),), terms=terms,
    )  # fmt: skip
    assert ledger.move(gone, NOW).is_done
    assert holders.of(one) == []
    assert holders.is_right()


def test_an_audit_names_a_thing_that_nobody_has_given(holders: Holders) -> None:
    holders.ledger.move(holders.buys("a", 1000, 0, 4), NOW)
    with holders.store.database.transaction():
        holders.store.database.connection.execute("UPDATE world_things SET count = 5")
    assert holders.ledger.audit().wrong_things == ((PEBBLE, 4, 5),)


def test_removed_entries_are_still_counted(holders: Holders) -> None:
    holders.ledger.move(holders.buys("a", 1000, 0, 4), NOW)
    holders.ledger.move(holders.buys("b", 1001, 0, 2), NOW)
    later = Moment(NOW + 40 * DAY)
    assert holders.ledger.prune(Moment(later - 1.0), 0, later) == 4
    assert holders.is_right()
    holders.ledger.move(holders.buys("c", 1002, 0, 1), later)
    assert holders.ledger.audit().things == 7
    assert holders.is_right()


def test_a_character_that_is_removed_loses_its_things(holders: Holders) -> None:
    holders.ledger.move(holders.buys("a", 1000, 0, 4), NOW)
    entry = next(one for one in holders.store.roster.every() if one.own_id == holders.ids[0])
    holders.store.roster.forget(entry)
    assert holders.of(holders.one) == []
    assert holders.is_right()
