"""What people gather from nodes, the collection that it completes, and gifts of a script."""

from __future__ import annotations

from tests.simulation.content_of_things import LEAF, ORE, SHELL, STACK, Tables

ROOTS, COLLECTOR = "some roots", "a collector"
"""A node of each zone, and who takes collections."""
GROUND = 6
"""The number of what nodes give."""
RESPAWN = 25
"""Seconds until a node comes back."""
COLLECTION = 30
PIECES = (LEAF, SHELL)
COINS, SURE, CHOICES = 17, STACK, (ORE, STACK)
"""What the collection gives: coins, a thing, and one of some things by choice."""
GIFT_COINS = 3
"""What a keeper pays for an ore; who has none gets one from it."""
GIFTS = f"""
function give(NPC, Spawn)
    if HasItem(Spawn, {ORE}) then
        RemoveItem(Spawn, {ORE}, 1)
        AddCoin(Spawn, {GIFT_COINS})
    else
        SummonItem(Spawn, {ORE}, 1)
    end
end
"""
"""A part of the script of a keeper."""


def tables() -> Tables:
    """Return the nodes and the collection."""
    rewards = [("Coin", COINS, 0), ("Item", SURE, 1)]
    rewards += [("Selectable", item, 1) for item in CHOICES]
    return {
        "groundspawns": [
            {"id": 1, "groundspawn_id": GROUND, "tablename": "roots", "harvest1": 100,
             "enabled": 1},
        ],
        "groundspawn_items": [
            {"id": number, "groundspawn_id": GROUND, "item_id": item, "is_rare": 0}
            for number, item in enumerate(PIECES, 1)
        ],
        "collections": [
            {"id": COLLECTION, "collection_name": "Finds", "collection_category": "Plants",
             "level": 1},
        ],
        "collection_details": [
            {"id": place + 1, "collection_id": COLLECTION, "item_id": item, "item_index": place}
            for place, item in enumerate(PIECES)
        ],
        "collection_rewards": [
            {"id": number, "collection_id": COLLECTION, "reward_type": kind,
             "reward_value": value, "reward_quantity": count}
            for number, (kind, value, count) in enumerate(rewards, 1)
        ],
    }  # fmt: skip
