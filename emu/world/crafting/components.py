"""Components of recipes: what of a player's things fits, and what a creation takes of it.

A creation takes exactly what the recipe says, of unlocked things in the bags. One thing never
counts for two components at once.

Source: docs/protocol/world/crafting.md#creations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from emu.content.knowledge import Component, Recipe
from emu.items.held import Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import ItemKind

PRIMARY, FUEL = -1, -2
"""The places of the two components that have no place in the client's list."""
ALL: Final = 1 << 32


class FittingThing(NamedTuple):
    """A thing that fits a component."""

    thing: Thing
    kind: ItemKind


Taken = tuple[int, int]
"""The number of a thing, and how many of it."""


class OfferedComponent(NamedTuple):
    """A component with what fits it, and what is chosen of it."""

    component: Component
    choices: Sequence[FittingThing]
    chosen: Sequence[Taken]


def components_of(recipe: Recipe) -> Iterator[tuple[int, Component]]:
    """Return the components of a recipe with their places, in the order of the window."""
    if recipe.primary is not None:
        yield PRIMARY, recipe.primary
    yield from enumerate(recipe.secondary)
    if recipe.fuel is not None:
        yield FUEL, recipe.fuel


def offers(recipe: Recipe, inventory: Inventory) -> dict[int, OfferedComponent]:
    """Return what a player has for each component; what is enough is chosen already."""
    used: Counter[int] = Counter()
    found = {}
    for place, component in components_of(recipe):
        choices = _fitting(component, inventory)
        chosen = _filled(component, choices, [], used) or ()
        used.update(dict(chosen))
        found[place] = OfferedComponent(component, choices, chosen)
    return found


def choose(
    recipe: Recipe, inventory: Inventory, wanted: Mapping[int, Sequence[Taken]]
) -> dict[int, int] | None:
    """Return what a creation takes: how many of each thing, by its number.

    `wanted` is what a client has chosen. Too much of it is left out, and what is missing comes from
    other things that fit. None if there is not enough, or if a chosen thing does not fit.
    """
    used: Counter[int] = Counter()
    for place, component in components_of(recipe):
        choices = _fitting(component, inventory)
        fitting = {one.thing.id for one in choices}
        chosen = [one for one in wanted.get(place, ()) if one[0]]
        if any(number not in fitting for number, _ in chosen):
            return None
        taken = _filled(component, choices, chosen, used)
        if taken is None:
            return None
        used.update(dict(taken))
    return dict(used)


def _fitting(component: Component, inventory: Inventory) -> list[FittingThing]:
    rank = {item: place for place, item in enumerate(component.items)}
    found = [
        FittingThing(one, inventory.kind(one))
        for one in inventory.in_list(Where.BAGS)
        if one.item_id in rank and one.id not in inventory.locked and not inventory.inside(one)
    ]
    return sorted(found, key=lambda one: rank[one.thing.item_id])


def _filled(
    component: Component,
    choices: Sequence[FittingThing],
    wanted: Sequence[Taken],
    used: Mapping[int, int],
) -> list[Taken] | None:
    """Return how many of which things make a component; None if there are too few."""
    left = {one.thing.id: _count(one) - used.get(one.thing.id, 0) for one in choices}
    missing, taken = component.quantity, Counter[int]()
    for number, count in (*wanted, *((one.thing.id, ALL) for one in choices)):
        part = min(count, left[number], missing)
        if part > 0:
            taken[number] += part
            left[number] -= part
            missing -= part
    return list(taken.items()) if missing <= 0 else None


def _count(choice: FittingThing) -> int:
    """Return how often a thing counts: charges are one thing."""
    return choice.thing.count if choice.kind.is_stackable else 1


def wanted_of(fields: Mapping[str, Any]) -> dict[int, list[Taken]]:
    """Return what a client has chosen, by the place of the component, from its message."""
    if "num_primary_selected_items" in fields:
        found = {
            PRIMARY: _taken(fields["primary_selected_items_array"]),
            FUEL: _taken(fields["fuel_item_array"]),
        }
        for row in fields["component_array"]:
            found.setdefault(row["slot"], []).extend(_taken(row["selected_item_array"]))
        return found
    found = {
        PRIMARY: [(fields["primary_component_id"], ALL)],
        FUEL: [(fields["fuel_id"], fields["fuel_qty"])],
    }
    for row in fields["component_array"]:
        taken = row["component_id"], row["component_qty"]
        found.setdefault(row["component_num"], []).append(taken)
    return found


def _taken(rows: Sequence[Mapping[str, int]]) -> list[Taken]:
    return [(row["item_id"], row["qty"]) for row in rows]
