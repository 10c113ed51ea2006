"""What of a player's things a creation takes: exactly what the recipe says.

Source: ../shared/spec/eq2-items.md 15 (the forms of BeginItemCreation) and R41 of its chapter 18.
"""

from __future__ import annotations

from emu.content.knowledge import Component
from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.world.crafting.components import ALL, FUEL, PRIMARY, choose, offers, wanted_of
from tests.support.world import item_kinds as kinds
from tests.support.world.craft_scenes import COAL, CRAFT_ROWS, ORE, STRAP, buckle

SATCHEL = kinds.SATCHEL


def inventory(*things: tuple[int, int, int], where: Where = Where.BAGS) -> Inventory:
    """Things with number, kind and count."""
    loaded = kinds.item_kinds(CRAFT_ROWS).load([item for _, item, _ in things])
    return Inventory(
        [
            Thing(number, item, Place(where, 0, slot), count)
            for slot, (number, item, count) in enumerate(things)
        ],
        loaded,
    )


FULL = ((1, ORE, 3), (2, STRAP, 9), (3, COAL, 9))


def test_what_is_enough_is_chosen() -> None:
    offered = offers(buckle(), inventory(*FULL))
    assert {place: list(one.chosen) for place, one in offered.items()} == {
        PRIMARY: [(1, 1)], 0: [(2, 2)], FUEL: [(3, 2)],
    }  # fmt: skip
    few = offers(buckle(), inventory((1, ORE, 3), (2, STRAP, 1)))
    assert [len(one.chosen) for one in few.values()] == [1, 0, 0]
    assert [len(one.choices) for one in few.values()] == [1, 1, 0]


def test_the_choice_of_a_client_counts() -> None:
    held = inventory((1, ORE, 3), (4, ORE, 3), (2, STRAP, 9), (3, COAL, 9))
    assert choose(buckle(), held, {PRIMARY: [(4, ALL)]}) == {4: 1, 2: 2, 3: 2}
    assert choose(buckle(), held, {0: [(2, 1)], FUEL: [(3, 200)]}) == {1: 1, 2: 2, 3: 2}
    assert choose(buckle(), held, {}) == {1: 1, 2: 2, 3: 2}


def test_what_does_not_fit_is_refused() -> None:
    held = inventory(*FULL)
    for number in (9, 2, -1, 1 << 40):
        assert choose(buckle(), held, {PRIMARY: [(number, 1)]}) is None
    assert choose(buckle(), inventory(*FULL, where=Where.BANK), {}) is None
    held.locked.add(1)
    assert choose(buckle(), held, {}) is None


def test_a_thing_counts_for_one_component_only() -> None:
    recipe = buckle(secondary=(Component((ORE,), 2, "Ore"),))
    assert choose(recipe, inventory(*FULL), {}) == {1: 3, 3: 2}
    assert choose(recipe, inventory((1, ORE, 2), (3, COAL, 9)), {}) is None
    twice = {PRIMARY: [(1, ALL)], 0: [(1, 2), (1, 2)]}
    assert choose(recipe, inventory(*FULL), twice) == {1: 3, 3: 2}


def test_what_comes_first_in_the_recipe_is_taken_first() -> None:
    recipe = buckle(fuel=Component((COAL, STRAP), 2, "Fuel"))
    held = inventory((1, ORE, 1), (2, STRAP, 9), (3, COAL, 1))
    assert choose(recipe, held, {}) == {1: 1, 2: 3, 3: 1}


def test_a_bag_with_things_in_it_is_no_component() -> None:
    recipe = buckle(primary=Component((SATCHEL,), 1, "Bag"), secondary=(), fuel=None)
    held = inventory((1, SATCHEL, 1), (2, ORE, 1))
    assert choose(recipe, held, {}) == {1: 1}
    held.move_to(held.get(2) or Thing(2, ORE, Place(Where.BAGS, 0, 1)), Place(Where.BAGS, 1, 0))
    assert choose(recipe, held, {}) is None


def test_the_three_forms_of_the_message() -> None:
    old = {
        "primary_component_id": 7, "fuel_id": 9, "fuel_qty": 2,
        "component_array": [{"component_num": 0, "component_id": 8, "component_qty": 2}],
    }  # fmt: skip
    assert wanted_of(old) == {PRIMARY: [(7, ALL)], 0: [(8, 2)], FUEL: [(9, 2)]}
    newer = {
        "num_primary_selected_items": 1,
        "primary_selected_items_array": [{"item_id": 7, "qty": 1}],
        "component_array": [{"slot": 0, "selected_item_array": [{"item_id": 8, "qty": 2}]}],
        "fuel_item_array": [{"item_id": 9, "qty": 2}],
    }  # fmt: skip
    assert wanted_of(newer) == {PRIMARY: [(7, 1)], 0: [(8, 2)], FUEL: [(9, 2)]}
