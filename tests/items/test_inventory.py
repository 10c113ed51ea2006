"""Bags, banks and stacks: every act against a simple model, and each rule by an example."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from emu.errors import StoreError
from emu.items.held import BANK_PLACES, Place, Thing, Where
from emu.items.inventory import BANK, BASE, FIRST_FREE, OVERFLOW, SHARED, Inventory
from emu.items.kinds import Bag, Flag, ItemKind, MoreFlag, Sort
from emu.items.refusals import Refusal, Why

MARBLE = ItemKind(1, "Marble", weight=5)
PEBBLE = ItemKind(2, "Pebble", stack=20, weight=2)
SATCHEL = ItemKind(3, "Satchel", Sort.BAG, Bag(6, 5))
PURSE = ItemKind(4, "Purse", Sort.BAG, Bag(2, 0))
SEAL = ItemKind(5, "Seal", flags=Flag.LORE)
TOKEN = ItemKind(6, "Token", flags=Flag.NO_TRADE)
STONE = ItemKind(7, "Lodestone", flags=Flag.NO_DESTROY)
CHARM = ItemKind(8, "Charm", most_charges=3)
IDOL = ItemKind(9, "Idol", stack=5, flags=Flag.STACK_LORE)
THIMBLE = ItemKind(10, "Thimble", more_flags=MoreFlag.HEIRLOOM)
KINDS = {
    one.id: one
    for one in (MARBLE, PEBBLE, SATCHEL, PURSE, SEAL, TOKEN, STONE, CHARM, IDOL, THIMBLE)
}
Numbers = Any


class Hands:
    """An inventory, and numbers for new things."""

    def __init__(self) -> None:
        self.numbers = count(1000)
        self.inventory = Inventory((), KINDS)

    def get(self, kind: ItemKind, number: int = 1) -> Thing:
        return self.inventory.add_things(kind, number, self.new)[0]

    def new(self) -> int:
        return next(self.numbers)

    def move(
        self, thing: Thing, slot: int, inventory: int = BASE, number: int = 0, bank: bool = False
    ) -> Why | None:
        found = self.inventory.move(thing.id, slot, inventory, number, self.new, has_bank=bank)
        return found.reason if found else None

    def place(self, thing: Thing) -> Place | None:
        found = self.inventory.get(thing.id)
        return found.place if found else None

    def counts(self, kind: ItemKind) -> list[int]:
        return [one.count for one in self.inventory.of_kind(kind.id)]


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.mark.parametrize(("one", "two", "limit"), [(0, 0, 0), (0, 1, 1), (2, 1, 1), (2, 0, 2)])
def test_joined_stacks_have_the_lower_limit_of_their_price(
    hands: Hands, one: int, two: int, limit: int
) -> None:
    first = hands.get(PEBBLE, 15)
    second = hands.get(PEBBLE, 10)
    hands.inventory.set(first, most_price=one)
    hands.inventory.set(second, most_price=two)
    assert hands.move(second, first.place.slot, number=5) is None
    joined = hands.inventory.get(first.id)
    assert joined is not None
    assert (joined.count, joined.most_price) == (20, limit)


def test_new_things_go_into_bags_then_to_base_places_then_they_wait(hands: Hands) -> None:
    bag = hands.get(PURSE)
    marbles = [hands.get(MARBLE) for _ in range(8)]
    assert [one.place for one in marbles] == [
        Place(Where.BAGS, bag.id, 0), Place(Where.BAGS, bag.id, 1),
        *[Place(Where.BAGS, 0, slot) for slot in range(1, 6)], Place(Where.OVERFLOW, 0, 0),
    ]  # fmt: skip
    assert hands.get(SATCHEL).place == Place(Where.OVERFLOW, 0, 1)
    assert hands.inventory.free_places() == 0
    assert not hands.inventory.has_space([(MARBLE, 1)])


def test_stacks_fill_where_the_whole_amount_fits(hands: Hands) -> None:
    hands.get(PEBBLE, 15)
    hands.get(PEBBLE, 5)
    hands.get(PEBBLE, 4)
    assert hands.counts(PEBBLE) == [20, 4]
    hands.get(PEBBLE, 45)
    assert hands.counts(PEBBLE) == [20, 4, 20, 20, 5]
    assert hands.get(CHARM, 3).count == 3  # its charges


def test_a_stack_is_split_and_joined(hands: Hands) -> None:
    stack = hands.get(PEBBLE, 10)
    assert hands.move(stack, 3, number=4) is None
    part = hands.inventory.at(Place(Where.BAGS, 0, 3))
    assert part is not None
    assert (part.count, part.id != stack.id, hands.counts(PEBBLE)) == (4, True, [6, 4])
    assert hands.move(part, 0, number=4) is None
    assert hands.counts(PEBBLE) == [10]


@pytest.mark.parametrize("number", [-1, 11, 44, 255, 1 << 32])
def test_no_count_makes_things(hands: Hands, number: int) -> None:
    stack = hands.get(PEBBLE, 10)
    assert hands.move(stack, 3, number=number) is Why.NO_SUCH_PLACE
    assert hands.counts(PEBBLE) == [10]


@pytest.mark.parametrize(
    ("inventory", "slot"),
    [(BASE, 6), (BASE, 50), (BASE, -2), (BANK, 99), (-77, 0), (-5, 0), (OVERFLOW, 0), (123456, 0)],
)
def test_places_that_do_not_exist_hold_nothing(hands: Hands, inventory: int, slot: int) -> None:
    stone = hands.get(MARBLE)
    assert hands.move(stone, slot, inventory, bank=True) is Why.NO_SUCH_PLACE
    assert hands.place(stone) == Place(Where.BAGS, 0, 0)


def no_numbers() -> int:
    raise StoreError("the database does not answer")


def test_without_numbers_nothing_changes(hands: Hands) -> None:
    """A stack that is split, and things that are given, need new numbers: the store may be away."""
    stack = hands.get(PEBBLE, 18)
    hands.inventory.take_changes()
    numbers = iter([900])

    def few() -> int:
        return next(numbers, 0) or no_numbers()

    with pytest.raises(StoreError):
        hands.inventory.move(stack.id, 5, BASE, 3, no_numbers, has_bank=False)
    with pytest.raises(StoreError):
        hands.inventory.add_things(PEBBLE, 25, few)
    numbers = iter([901])
    with pytest.raises(StoreError):
        hands.inventory.add_to_bank(PEBBLE, 25, few)
    assert hands.counts(PEBBLE) == [18]
    assert not hands.inventory.has_changed


def test_the_bank_takes_all_stacks_or_none(hands: Hands) -> None:
    made = hands.inventory.add_to_bank(PEBBLE, 45, hands.new)
    assert [(one.place.slot, one.count) for one in made] == [(0, 20), (1, 20), (2, 5)]
    made = hands.inventory.add_to_bank(CHARM, 4, hands.new)
    assert [one.count for one in made] == [3, 1], "charges of two things"
    free = BANK_PLACES - 5
    assert not hands.inventory.has_bank_space(MARBLE, free + 1)
    assert hands.inventory.add_to_bank(MARBLE, free + 1, hands.new) == []
    assert len(hands.inventory.add_to_bank(MARBLE, free, hands.new)) == free


def test_a_bank_is_reached_only_while_it_is_open(hands: Hands) -> None:
    bag, marble = hands.get(PURSE), hands.get(MARBLE)
    assert hands.move(bag, 4, BANK) is Why.NO_SUCH_PLACE
    assert hands.move(bag, 4, BANK, bank=True) is None
    # What lies in a bag goes with it.
    assert hands.place(marble) == Place(Where.BANK, bag.id, 0)
    assert hands.move(marble, 0) is Why.NO_SUCH_PLACE
    assert hands.move(marble, FIRST_FREE, BASE, bank=True) is None
    assert hands.place(marble) == Place(Where.BAGS, 0, 0)
    assert hands.move(marble, FIRST_FREE, BANK, bank=True) is None
    assert hands.place(marble) == Place(Where.BANK, 0, 0)


def test_a_thing_moved_onto_a_bag_lies_in_it_and_no_bag_does(hands: Hands) -> None:
    bag, other, marble = hands.get(PURSE), hands.get(SATCHEL), hands.get(MARBLE)
    assert hands.place(marble) == Place(Where.BAGS, bag.id, 0)
    assert hands.move(marble, 1) is None
    assert hands.place(marble) == Place(Where.BAGS, other.id, 0)
    assert hands.move(bag, 0, other.id) is Why.NO_SUCH_PLACE
    assert hands.move(bag, 1) is Why.NO_SUCH_PLACE
    assert hands.move(bag, 0, bag.id) is Why.NO_SUCH_PLACE
    assert hands.move(marble, 2, bag.id) is Why.NO_SUCH_PLACE  # it has two places


def test_two_things_change_places(hands: Hands) -> None:
    marble, stack = hands.get(MARBLE), hands.get(PEBBLE, 3)
    assert hands.move(marble, 1) is None
    assert (hands.place(marble), hands.place(stack)) == (
        Place(Where.BAGS, 0, 1), Place(Where.BAGS, 0, 0),
    )  # fmt: skip
    bag = hands.get(PURSE)
    inside = hands.get(CHARM)
    assert hands.place(inside) == Place(Where.BAGS, bag.id, 0)
    # The bag would have to lie in itself.
    assert hands.move(inside, 2, number=1) is Why.NO_SUCH_PLACE


@pytest.mark.parametrize("kind", [TOKEN, THIMBLE])
def test_a_shared_bank_takes_only_what_may_change_hands(hands: Hands, kind: ItemKind) -> None:
    bag, own = hands.get(PURSE), hands.get(kind)
    assert hands.move(own, 0, SHARED, bank=True) is Why.NOT_SHARED
    assert hands.move(bag, 0, SHARED, bank=True) is Why.NOT_SHARED
    marble = hands.get(MARBLE)
    assert hands.move(marble, 0, SHARED, bank=True) is None
    # Nor does it come there by changing places.
    assert hands.move(marble, own.place.slot, bag.id, number=1, bank=True) is Why.NOT_SHARED
    assert hands.place(own) == own.place


def test_a_bag_protects_what_may_not_be_destroyed(hands: Hands) -> None:
    bag, stone, marble = hands.get(PURSE), hands.get(STONE), hands.get(MARBLE)
    assert hands.inventory.destroy(bag.id) == Refusal(Why.NO_DESTROY, STONE)
    assert len(hands.inventory) == 3
    assert hands.move(stone, 5) is None
    assert hands.inventory.destroy(bag.id) is None
    assert [one.id for one in hands.inventory] == [stone.id]
    assert hands.inventory.destroy(marble.id) == Refusal(Why.SILENT)


def test_what_is_in_use_stays(hands: Hands) -> None:
    bag, marble = hands.get(PURSE), hands.get(MARBLE)
    hands.inventory.locked.add(marble.id)
    assert hands.move(marble, 3) is Why.IN_USE
    assert hands.move(bag, 3) is Why.IN_USE
    assert hands.inventory.destroy(bag.id) == Refusal(Why.DESTROY_IN_USE, PURSE)
    assert not hands.inventory.take_things(MARBLE.id, 1)


def test_a_bag_in_use_takes_nothing(hands: Hands) -> None:
    """What is put into a bag that is offered or attached would go with it unseen."""
    bag, marble = hands.get(PURSE), hands.get(MARBLE)
    hands.move(marble, 3)
    hands.inventory.locked.add(bag.id)
    assert hands.move(marble, 0, bag.id) is Why.NO_SUCH_PLACE
    assert hands.move(marble, 0, BASE) is Why.NO_SUCH_PLACE
    assert hands.place(marble) == Place(Where.BAGS, 0, 3)
    assert hands.inventory.free_places() == 4


def test_a_bag_with_something_in_use_changes_places_with_nothing(hands: Hands) -> None:
    bag, marble = hands.get(PURSE), hands.get(MARBLE)
    other = hands.get(SATCHEL)
    hands.inventory.locked.add(marble.id)
    assert hands.place(marble) == Place(Where.BAGS, bag.id, 0)
    assert hands.move(other, 0, BASE, 1) is Why.NO_SUCH_PLACE
    assert hands.place(bag) == Place(Where.BAGS, 0, 0)


def test_lore_counts_worn_carried_and_banked_things(hands: Hands) -> None:
    refuses = hands.inventory.refuses
    assert refuses(SEAL) is None
    assert refuses(SEAL, 2) == Refusal(Why.LORE, SEAL)
    seal = hands.get(SEAL)
    assert hands.move(seal, 0, BANK, bank=True) is None
    assert refuses(SEAL) == Refusal(Why.LORE, SEAL)
    hands.get(IDOL, 3)
    assert refuses(IDOL, 2) is None
    assert refuses(IDOL, 3) == Refusal(Why.STACK_LORE, IDOL)


def test_a_waiting_thing_goes_to_a_free_place(hands: Hands) -> None:
    marbles = [hands.get(MARBLE) for _ in range(7)]
    pop = hands.inventory.pop
    assert pop(0, BASE, has_bank=False) == Refusal(Why.OCCUPIED)
    assert pop(FIRST_FREE, BASE, has_bank=False) == Refusal(Why.NO_FREE_PLACE)
    assert hands.inventory.destroy(marbles[2].id) is None
    assert pop(FIRST_FREE, BASE, has_bank=False) is None
    assert hands.place(marbles[6]) == Place(Where.BAGS, 0, 2)
    assert pop(FIRST_FREE, BASE, has_bank=False) == Refusal(Why.SILENT)


def test_weight_counts_stacks(hands: Hands) -> None:
    hands.get(PEBBLE, 10)
    hands.get(MARBLE)
    assert hands.inventory.weight == 25


def test_changes_are_what_has_to_be_stored(hands: Hands) -> None:
    one, two = hands.get(MARBLE), hands.get(PEBBLE, 3)
    assert set(hands.inventory.take_changes()) == {one.id, two.id}
    assert hands.inventory.destroy(one.id) is None
    assert hands.inventory.take_changes() == {one.id: None}
    assert not hands.inventory.has_changed


def test_a_thing_at_a_taken_or_wrong_place_waits() -> None:
    rows = [
        Thing(1, 1, Place(Where.BAGS, 0, 0)), Thing(2, 1, Place(Where.BAGS, 0, 0)),
        Thing(3, 1, Place(Where.BAGS, 999, 0)), Thing(4, 1, Place(Where.BANK, 0, 40)),
    ]  # fmt: skip
    inventory = Inventory(rows, KINDS)
    assert [one.id for one in inventory.waiting()] == [2, 4, 3]
    assert len(inventory) == 4


class Moves(RuleBasedStateMachine):
    """Acts with any numbers, against a model that knows what lies at each place."""

    def __init__(self) -> None:
        super().__init__()
        self.hands = Hands()
        self.model: dict[Place, list[int]] = {}
        """Number, kind and count by place."""

    def number(self, draw: int) -> int:
        held = sorted(values[0] for values in self.model.values())
        return held[draw % len(held)] if held else draw

    @rule(kind=st.sampled_from([MARBLE, PEBBLE, PURSE, TOKEN]), number=st.integers(1, 25))
    def get(self, kind: ItemKind, number: int) -> None:
        number = number if kind is PEBBLE else 1
        for thing in self.hands.inventory.add_things(kind, number, self.hands.new):
            # New places are checked by `everything_is_where_the_model_has_it`.
            self.model[thing.place] = [thing.id, kind.id, thing.count]

    @rule(draw=st.integers(0, 30))
    def destroy(self, draw: int) -> None:
        number = self.number(draw)
        place = self.where(number)
        refused = self.hands.inventory.destroy(number)
        assert (refused is None) == (place is not None and place.where is not Where.OVERFLOW)
        if refused is None:
            self.model = {
                one: values for one, values in self.model.items()
                if values[0] != number and one.bag != number
            }  # fmt: skip

    @rule(
        draw=st.integers(0, 30), number=st.integers(-1, 26), has_bank=st.booleans(),
        to=st.tuples(
            st.integers(-2, 13),
            st.sampled_from([BASE, BANK, SHARED, OVERFLOW, -5]),
            st.one_of(st.none(), st.integers(0, 30)),
        ),
    )  # fmt: skip
    def move(self, draw: int, number: int, has_bank: bool, to: tuple[int, int, int | None]) -> None:
        thing = self.number(draw)
        slot, inventory, bag = to
        inventory = inventory if bag is None else self.number(bag)
        before = {place: list(values) for place, values in self.model.items()}
        refused = self.hands.inventory.move(
            thing, slot, inventory, number, self.hands.new, has_bank=has_bank
        )
        self.model = {one.place: [one.id, one.item_id, one.count] for one in self.hands.inventory}
        if refused is not None:
            assert self.model == before
            return
        places = {
            place for place in self.model.keys() | before.keys()
            if self.model.get(place) != before.get(place)
        }  # fmt: skip
        assert all(has_bank or place.where is Where.BAGS for place in places)
        assert sums(self.model) == sums(before)
        # A move changes at most two places, and what lies in two bags.
        assert len({place for place in places if not place.bag}) <= 2

    def where(self, number: int) -> Place | None:
        return next((at for at, values in self.model.items() if values[0] == number), None)

    @invariant()
    def everything_is_where_the_model_has_it(self) -> None:
        found = {one.place: [one.id, one.item_id, one.count] for one in self.hands.inventory}
        assert found == self.model

    @invariant()
    def no_place_is_wrong(self) -> None:
        inventory = self.hands.inventory
        for one in inventory:
            assert 0 < one.count <= KINDS[one.item_id].stack
            assert inventory.at(one.place) is one
            if one.place.bag:
                bag = inventory.get(one.place.bag)
                assert bag is not None
                assert bag.place.where is one.place.where
                assert KINDS[one.item_id].bag is None
                assert one.place.slot < 2
            if one.place.where is Where.SHARED:
                assert one.item_id != TOKEN.id


def sums(model: dict[Place, list[int]]) -> Counter[int]:
    found: Counter[int] = Counter()
    for _, kind, number in model.values():
        found[kind] += number
    return found


@pytest.mark.slow
def test_no_succession_of_acts_loses_or_doubles_a_thing() -> None:
    run_state_machine_as_test(Moves)
