"""A recipe of our own for the content of the simulation, with its book and its forge."""

from __future__ import annotations

from typing import Any

from tests.simulation.content_of_things import BOOK, BUCKLE, ORE, SLAG, STACK, Tables

FORGE = "a forge"
DEVICE = 2
"""The number of forges."""
RECIPE, CODE = 610, 61_000
TECHNIQUE = 4032608519
"""The number of the skill Metalworking."""
NEEDED = {ORE: 2, STACK: 1}
"""What a creation takes: an ore as its primary component, an apple, and an ore as its fuel."""
PRODUCTS = ({SLAG: 1}, {SLAG: 2}, {BUCKLE: 1}, {BUCKLE: 2}, {BUCKLE: 2, SLAG: 1})
"""What each phase gives, the last one with a byproduct."""

EVENTS = ("Soft Metal", "Hot Coals")
"""What happens now and then while something is made."""


def tables() -> Tables:
    """Return the recipe with its book."""
    phases: dict[str, Any] = {}
    for phase, products in enumerate(PRODUCTS):
        for name, (item, count) in zip(("", "_byp"), products.items(), strict=False):
            phases |= {f"stage{phase}{name}_id": item, f"stage{phase}{name}_qty": count}
    components = ((1, STACK), (2, ORE))
    return {
        "recipe": [
            {"id": RECIPE, "soe_id": CODE, "bHaveAllProducts": 1, "name": "a buckle", "level": 1,
             "technique": TECHNIQUE, "knowledge": TECHNIQUE, "bench": "forge",
             "primary_comp_list": 2, "primary_comp_qty": 1, "fuel_comp_list": 2,
             "fuel_comp_qty": 1, **phases},
        ],
        "recipe_secondary_comp": [
            {"id": 1, "recipe_id": RECIPE, "index": 0, "comp_list": 1, "qty": 1},
        ],
        "recipe_comp_list": [{"id": number, "name": "some"} for number, _ in components],
        "recipe_comp_list_item": [
            {"id": number, "comp_list": number, "item_id": item} for number, item in components
        ],
        "item_details_recipe": [{"id": 1, "item_id": BOOK, "recipe_id": 1}],
        "item_details_recipe_items": [
            {"id": 1, "recipe_id": 1, "name": "a buckle", "soe_recipe_crc": CODE},
        ],
        "tradeskillevents": [
            {"id": number, "name": name, "icon": 427 + number, "technique": TECHNIQUE,
             "success_progress": 50, "success_durability": 20, "fail_progress": -30,
             "fail_durability": -40}
            for number, name in enumerate(EVENTS)
        ],
    }  # fmt: skip
