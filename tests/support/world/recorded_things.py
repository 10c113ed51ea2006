"""Gives a player what a recorded one was shown to have."""

from __future__ import annotations

from typing import Any, Final

from emu.items.held import Place, Where
from emu.ledger import Owner, OwnerKind
from emu.world.actors.item_lists import server_slot
from emu.world.actors.player import Player
from emu.world.items.items import Items

BAGS, WORN = 0, 1
"""The numbers of the lists."""
_PLACES: Final = {0xFFFFFFFD: Where.BANK, 0xFFFFFFFC: Where.SHARED, 0xFFFFFFFE: Where.OVERFLOW}
"""Places of a record that are no bag."""
_BEFORE: Final = Owner(OwnerKind.NOTHING)


def give_shown(
    items: Items, player: Player, shown: dict[int, list[dict[str, Any]]], version: int
) -> dict[int, int]:
    """Let a player have the things that recorded lists show, at their places.

    Nothing is sent. Things of which nothing is known are left out. Return the numbers of the things
    that are carried, by their recorded ones.
    """
    inventory = player.holdings.inventory
    made: dict[int, int] = {}
    owner = Owner.character(player.id)
    for row in sorted(shown.get(BAGS, []), key=lambda one: one["inv_slot_id"]):
        kind = items.kinds.get(row["item_id"]) if row["unique_id"] else None
        if kind is None:
            continue
        (thing,) = inventory.add_things(kind, row["count"], items.new_number)
        made[row["unique_id"]] = thing.id
        bag = made.get(row["inv_slot_id"], 0)
        where = _PLACES.get(row["inv_slot_id"], Where.BAGS)
        inventory.move_to(thing, Place(where, bag, row["slot_id"]))
        player.holdings.flow(_BEFORE, owner, kind.id, row["count"])
    for row in shown.get(WORN, []):
        kind = items.kinds.get(row["item_id"]) if row["unique_id"] else None
        slot = server_slot(row["slot_id"], version)
        if kind is not None and slot is not None:
            inventory.add_worn(kind, row["count"], slot, items.new_number)
            player.holdings.flow(_BEFORE, owner, kind.id, row["count"])
    return made
