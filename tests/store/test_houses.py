"""Houses in the database: coins are never lost or doubled, upkeep is paid once, access levels."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from emu.errors import EmuError
from emu.houses import (
    MOST_AHEAD,
    MOST_LISTED,
    MOST_OWNED,
    WEEK,
    AccessLevel,
    Deal,
    Dealt,
    Guest,
    House,
    Paid,
    Payment,
    Price,
)
from emu.items.held import Place, Thing, Where
from emu.ledger import Movement, Owner, OwnerKind, Part, Placed, Reason, ThingChanges, What
from emu.store import Store
from emu.times import DAY, Moment
from tests.support.world.world_fakes import world_character

NOW = Moment(1_800_000_000.0)
INN, MANOR = 9, 3
GIVER = Owner(OwnerKind.GAME_MASTER, 1)
numbers = count()


def after(seconds: float) -> Moment:
    return Moment(NOW + seconds)


class Street:
    """Two characters with 1,000 copper each."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.houses = store.world.houses
        add = store.world.characters.create
        self.aldana, self.borvik = (
            add(world_character(0, account, name=name, coins=1000)).id
            for account, name in ((1, "Aldana"), (2, "Borvik"))
        )

    def payment(self, house: int, cost: Price, **changes: Any) -> Payment:
        payment = Payment(
            request=str(next(numbers)), account_id=1, char_id=self.aldana, house=house, cost=cost,
            moment=NOW,
        )  # fmt: skip
        return replace(payment, **changes)

    def buys(self, home: int = INN, price: int = 100, **changes: Any) -> House:
        dealt = self.houses.buy(self.payment(home, Price(price), **changes))
        assert dealt.deal is Deal.DONE
        assert dealt.house is not None
        return dealt.house

    def puts(self, house: House, coins: int, status: int = 0, **changes: Any) -> Dealt:
        payment = self.payment(house.id, Price(coins, status), given=status, **changes)
        return self.houses.deposit(payment)

    def pays(self, house: House, upkeep: Price, given: int = 0, **changes: Any) -> Dealt:
        return self.houses.pay(self.payment(house.id, upkeep, given=given, **changes))

    def house(self, house: House) -> House:
        found = self.houses.find(house.id, self.aldana)
        assert found is not None
        return found[0]

    def coins(self, char_id: int) -> int:
        found = self.store.world.characters.find(char_id)
        assert found is not None
        return found.coins

    @property
    def is_right(self) -> bool:
        """Whether the entries of the ledger explain every balance."""
        audit = self.store.world.ledger.audit()
        return not audit.differences and audit.held == audit.by_entries


@pytest.fixture
def street(store: Store) -> Street:
    return Street(store)


def test_a_bought_house_is_paid_for_a_week(street: Street) -> None:
    house = street.buys()
    assert (house.home, house.owner, house.upkeep_due) == (INN, "Aldana", NOW + WEEK)
    assert house.public_level is AccessLevel.VISITOR
    assert street.houses.owned(street.aldana) == [house]
    assert street.houses.owned(street.borvik) == []
    assert street.coins(street.aldana) == 900
    assert street.is_right


def test_a_purchase_is_carried_out_once(street: Street) -> None:
    payment = street.payment(INN, Price(100))
    first, again = street.houses.buy(payment), street.houses.buy(payment)
    assert (first.deal, again.deal) == (Deal.DONE, Deal.DONE)
    assert first.house == again.house
    assert street.coins(street.aldana) == 900
    assert street.houses.buy(street.payment(INN, Price(100))).deal is Deal.OWNED


def test_a_refused_purchase_changes_nothing(street: Street) -> None:
    assert street.houses.buy(street.payment(INN, Price(1001))).deal is Deal.TOO_FEW_COINS
    assert (
        street.houses.buy(street.payment(INN, Price(0, 50), given=49)).deal is Deal.TOO_FEW_STATUS
    )
    assert street.houses.buy(street.payment(INN, Price(1), char_id=999)).deal is Deal.GONE
    assert street.houses.owned(street.aldana) == []
    assert street.coins(street.aldana) == 1000
    assert street.is_right


def test_nobody_owns_more_than_the_most(street: Street) -> None:
    for home in range(1, MOST_OWNED + 1):
        street.buys(home, price=0)
    assert street.houses.buy(street.payment(100, Price(0))).deal is Deal.TOO_MANY


def test_a_deposit_moves_coins_and_is_noted_by_name(street: Street) -> None:
    house = street.buys()
    street.puts(house, 200, 30)
    dealt = street.puts(house, 50, 5, moment=after(60), char_id=street.borvik)
    street.puts(house, 100, moment=after(90))
    assert dealt.balance is not None
    assert dealt.balance.coins == 950
    assert (street.house(house).coins, street.house(house).status) == (350, 35)
    assert street.houses.books(house.id).deposits == (
        ("Borvik", 50, 5, 50, 5, after(60)), ("Aldana", 300, 30, 100, 0, after(90)),
    )  # fmt: skip
    assert street.coins(street.aldana) == 600
    assert street.puts(house, 601).deal is Deal.TOO_FEW_COINS
    assert street.puts(replace(house, id=99), 1).deal is Deal.GONE
    assert street.is_right


def test_upkeep_is_taken_from_the_deposit_first(street: Street) -> None:
    house = street.buys()
    street.puts(house, 30, 4)
    dealt = street.pays(house, Price(50, 10), given=6)
    assert dealt.deal is Deal.DONE
    paid = street.house(house)
    assert (paid.coins, paid.status, paid.upkeep_due) == (0, 0, NOW + 2 * WEEK)
    assert street.coins(street.aldana) == 1000 - 100 - 30 - 20
    assert street.houses.books(house.id).history == (Paid("Aldana", 50, 10, "Paid Upkeep", NOW),)
    assert street.pays(house, Price(0, 10), given=9).deal is Deal.TOO_FEW_STATUS
    assert street.pays(house, Price(5000)).deal is Deal.TOO_FEW_COINS
    assert street.house(house) == paid
    assert street.is_right


def test_an_unpaid_house_is_paid_from_now_on(street: Street) -> None:
    house = street.buys()
    late = after(3 * WEEK)
    assert not street.house(house).is_paid(late)
    street.pays(house, Price(50), moment=late)
    assert street.house(house).upkeep_due == late + WEEK


def test_upkeep_cannot_be_paid_for_longer_than_twelve_weeks(street: Street) -> None:
    house = street.buys(price=0)
    deals = [street.pays(house, Price(1)).deal for _ in range(12)]
    assert deals == [Deal.DONE] * 11 + [Deal.TOO_FAR_AHEAD]
    assert street.house(house).upkeep_due == NOW + MOST_AHEAD


def test_the_deposit_pays_the_weeks_that_are_due(street: Street) -> None:
    house = street.buys(price=0)
    street.puts(house, 110, 7)
    upkeep = Price(40, 2)
    assert street.houses.settle(house.id, upkeep, after(WEEK - 1)) == street.house(house)
    settled = street.houses.settle(house.id, upkeep, after(2 * WEEK + 5))
    assert settled is not None
    assert (settled.coins, settled.status, settled.upkeep_due) == (30, 3, NOW + 3 * WEEK)
    (paid,) = street.houses.books(house.id).history
    assert paid == Paid("", 80, 4, "Paid Upkeep", after(2 * WEEK + 5))
    # The rest does not suffice for a further week.
    assert street.houses.settle(house.id, upkeep, after(9 * WEEK)) == settled
    assert street.is_right


def test_a_house_without_upkeep_is_always_paid(street: Street) -> None:
    house = street.buys(price=0)
    settled = street.houses.settle(house.id, Price(0), after(400 * DAY))
    assert settled is not None
    assert settled.is_paid(after(400 * DAY))


@pytest.mark.slow
def test_the_newest_deposits_are_listed(street: Street) -> None:
    house = street.buys(price=0)
    for number in range(MOST_LISTED + 2):
        name = f"Guest{number:03}"
        row = {"house_id": house.id, "name": name, "coins": 1, "status": 0, "last_coins": 1,
               "last_status": 0, "moment": float(after(number // 2))}  # fmt: skip
        street.houses._upsert("world_house_deposits", row, ("house_id", "name"))
    names = [one.name for one in street.houses.books(house.id).deposits]
    assert names == [f"Guest{number:03}" for number in range(2, MOST_LISTED + 2)]


@pytest.mark.slow
def test_the_history_has_an_end(street: Street) -> None:
    house = street.buys(price=0)
    for week in range(MOST_LISTED + 3):
        moment = after(week * WEEK)
        street.pays(house, Price(0), moment=moment)
    history = street.houses.books(house.id).history
    assert len(history) == MOST_LISTED
    assert history[0].moment == after(3 * WEEK)


def test_access_levels(street: Street) -> None:
    house = street.buys(MANOR)
    own = [(house, AccessLevel.OWNER)]
    assert street.houses.of_home(MANOR, street.aldana, 10) == own
    assert street.houses.of_home(INN, street.aldana, 10) == []
    assert street.houses.find(house.id, street.borvik) == (house, AccessLevel.VISITOR)
    street.houses.set_public(house.id, AccessLevel.NONE)
    assert street.houses.of_home(MANOR, street.borvik, 10)[0][1] is AccessLevel.NONE
    assert street.houses.set_access(house.id, street.borvik, AccessLevel.FRIEND)
    assert street.houses.set_access(house.id, street.borvik, AccessLevel.TRUSTEE)
    assert street.houses.of_home(MANOR, street.borvik, 10)[0][1] is AccessLevel.TRUSTEE
    guests = street.houses.books(house.id).guests
    assert guests == (Guest(street.borvik, "Borvik", AccessLevel.TRUSTEE),)
    assert street.houses.remove_access(house.id, street.borvik)
    assert not street.houses.remove_access(house.id, street.borvik)
    assert street.houses.find(house.id, street.borvik)[1] is AccessLevel.NONE  # type: ignore[index]


def test_an_unusable_level_is_none(street: Street) -> None:
    house = street.buys()
    database = street.store.database
    with database.transaction():
        database.connection.execute("UPDATE world_houses SET public_level = 77")
    assert street.houses.find(house.id, street.borvik)[1] is AccessLevel.NONE  # type: ignore[index]


def test_the_house_of_a_removed_character_goes_with_its_coins(street: Street) -> None:
    house = street.buys()
    street.puts(house, 200)
    street.houses.set_access(house.id, street.borvik, AccessLevel.FRIEND)
    roster = street.store.roster
    (entry,) = [one for one in roster.every() if one.name == "Aldana"]
    roster.delete(entry)
    assert street.houses.of_home(INN, street.borvik, 10) == []
    assert street.houses.find(house.id, street.borvik) is None
    roster.forget(entry)
    assert street.is_right
    assert street.store.world.ledger.audit().held == 1000


def test_a_thing_goes_to_a_house_with_its_place(street: Street) -> None:
    house = street.buys()
    houses, ledger = street.houses, street.store.world.ledger
    owner, mine = Owner(OwnerKind.HOUSE, house.id), Owner.character(street.aldana)
    chair = Thing(1000, 7, Place(Where.HELD, 0, 0))
    made = Movement(
        "made", Reason.COMMAND, (Part(GIVER, mine, 1, What.THINGS, 7),),
        things=(ThingChanges(mine, (chair.at(Where.BAGS, 0),)),),
    )  # fmt: skip
    at = Placed(1000, house.id, 1.5, 2.5, 3.5, 90.0)
    moved = Movement(
        "placed", Reason.PLACED, (Part(mine, owner, 1, What.THINGS, 7),),
        things=(ThingChanges(owner, (chair,)),), placed=(at,),
    )  # fmt: skip
    ledger.move(made, NOW)
    assert ledger.move(moved, NOW).is_done
    assert ledger.move(moved, NOW).is_done
    assert houses.things(house.id) == [(chair, at)]
    houses.stand(at._replace(x=9.0))
    houses.stand(at._replace(x=7.0, house=house.id + 1))
    assert houses.things(house.id)[0][1].x == 9.0
    assert ledger.audit().wrong_things == ()
    # What is picked up stands nowhere, also if its row of places is still there.
    back = Movement(
        "back", Reason.PICKED_UP, (Part(owner, mine, 1, What.THINGS, 7),),
        things=(ThingChanges(mine, (chair.at(Where.BAGS, 0),)),),
    )  # fmt: skip
    ledger.move(back, NOW)
    assert houses.things(house.id) == []
    ledger.move(replace(moved, request="again"), NOW)
    assert houses.things(house.id) == [(chair, at)]
    (entry,) = [one for one in street.store.roster.every() if one.name == "Aldana"]
    street.store.roster.delete(entry)
    street.store.roster.forget(entry)
    assert houses.things(house.id) == []
    assert ledger.audit().wrong_things == ()


def test_a_refused_movement_places_nothing(street: Street) -> None:
    house = street.buys()
    owner, mine = Owner(OwnerKind.HOUSE, house.id), Owner.character(street.aldana)
    chair = Thing(1000, 7, Place(Where.HELD, 0, 0))
    refused = Movement(
        "refused", Reason.PLACED, (Part(mine, owner, 1, What.THINGS, 7),),
        things=(ThingChanges(owner, (chair,)),), terms=((street.aldana, 99),),
        placed=(Placed(1000, house.id, 1.0, 2.0, 3.0, 4.0),),
    )  # fmt: skip
    assert not street.store.world.ledger.move(refused, NOW).is_done
    assert street.houses.things(house.id) == []


def test_a_payment_that_cannot_be_moved_is_undone(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = street.buys()
    monkeypatch.setattr("emu.store.houses._refusal", lambda *_: None)
    with pytest.raises(EmuError):
        street.puts(house, 5000)
    assert street.house(house) == house
    assert street.houses.books(house.id).deposits == ()
