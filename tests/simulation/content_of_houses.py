"""A house of our own for the content of the simulation: its entrances and what stands in it."""

from __future__ import annotations

from tests.simulation.content_of_things import CHAIR, Tables

ENTRANCE = "the way into an inn"
"""Each zone has one."""
INN = 12
COST, UPKEEP = 15, 4
"""Copper that it costs, and that each week costs."""
INSIDE, INSIDE_NAME = 223, "qey_inn"
"""The zone of its inside, where nothing else stands; the number and the name are the client's."""
MODEL = 1712
"""The model of a chair."""


def tables(exit_zone: int) -> Tables:
    """Return the house, the zone of its inside, and the model of a chair."""
    return {
        "houses": [
            {"id": INN, "name": "an inn", "cost_coins": COST, "upkeep_coins": UPKEEP,
             "vault_slots": 2, "zone_id": INSIDE, "exit_zone_id": exit_zone},
        ],
        "zones": [
            {"id": INSIDE, "name": INSIDE_NAME, "file": INSIDE_NAME, "description": "An Inn",
             "safe_x": 0.0, "safe_y": 0.0, "safe_z": 0.0, "instance_type": "NONE",
             "shutdown_timer": 30},
        ],
        "item_details_house": [{"id": 1, "item_id": CHAIR}],
        "item_appearances": [{"id": 1, "item_id": CHAIR, "equip_type": MODEL}],
    }  # fmt: skip
