"""What is used up, for the content of the simulation: bread, a lens with charges, and jewels."""

from __future__ import annotations

from typing import Any

from emu.items.kinds import Slot
from tests.simulation.content_of_things import BREAD, CHIPS, DUST, JEWEL, LENS, NAMES, Tables

MENDER = "a tinker"
"""Who repairs what a death has damaged."""
CHARGES = 3
MEAL = 6
"""Seconds for which nobody eats again."""
LENS_SCRIPT = "ItemScripts/Simulation/Lens.lua"
MATERIALS = (CHIPS, DUST)
"""What a jewel gives: one of them, or both."""
LEVEL, TIER = 5, 5
"""Of a jewel: the lowest level and tier that can be transmuted."""


def scripts() -> dict[str, str]:
    """Return the scripts by their paths."""
    return {LENS_SCRIPT: "function used(Item, Player) StartTransmute(Player) end"}


def tables() -> Tables:
    """Return the kinds of things, and what jewels give."""
    common = {"item_type": "Normal", "sell_price": 2, "weight": 1, "adventure_classes": 0}
    bread = {"slots": 1 << Slot.FOOD, "stack_count": 20, "item_type": "Food"}
    lens = {"max_charges": CHARGES, "usable": 1, "lua_script": LENS_SCRIPT}
    jewel = {"adventure_default_level": LEVEL, "tier": TIER}
    rows: dict[int, dict[str, Any]] = {
        BREAD: bread,
        LENS: lens,
        JEWEL: jewel,
        CHIPS: {"stack_count": 20},
        DUST: {},
    }
    return {
        "items": [
            {"id": number, "name": NAMES[number], **common, **row} for number, row in rows.items()
        ],
        "item_details_food": [
            {"id": 1, "item_id": BREAD, "type": 1, "level": 1, "duration": MEAL, "satiation": 1},
        ],
        "transmuting": [
            {"tier_id": 1, "min_level": 1, "max_level": 9, "fragment": CHIPS, "powder": DUST,
             "infusion": DUST, "mana": DUST},
        ],
    }  # fmt: skip
