"""Rows of the windows of merchants and menders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from emu.items.kinds import ItemKind
from emu.ledger import Owner, OwnerKind
from emu.rules.stance import RED, arrow_color
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn

STRUCT: Final = "WS_UpdateMerchant"
ENDLESS: Final = 255
"""The quantity of what the merchant has always, and of a single thing of the player."""
MOST_ROWS: Final = 0xFFFF
NOBODY: Final = 0xFFFFFFFF
CLOSED: Final = 16
"""The type of the window that closes it."""


def row(player: Player, kind: ItemKind, price: int, *, stack: int) -> dict[str, Any]:
    """Return a row of a kind of things."""
    # What needs no level is right for everybody.
    level = kind.level or player.spawn.level
    return {
        "item_name": kind.name,
        "price": price,
        "item_id": kind.id,
        "item_id2": kind.id,
        "stack_size": stack,
        "stack_size2": stack,
        "icon": kind.icon,
        "level": kind.level,
        "item_difficulty": RED - arrow_color(level, player.spawn.level),
        "quantity": ENDLESS,
        "tier": kind.tier,
        "description": "",
    }


def send_rows(player: Player, spawn: Spawn, rows: Sequence[Mapping[str, Any]], window: int) -> None:
    """Send a list of a merchant, if the client still has the merchant."""
    index = player.index_of(spawn)
    if index is not None:
        rows = rows[:MOST_ROWS]
        fields = {"spawn_id": index, "num_items": len(rows), "item_array": rows, "type": window}
        player.client.send(STRUCT, fields)


def send_closed(player: Player) -> None:
    """Send the list without a merchant, which follows those of a new window."""
    fields = {"spawn_id": NOBODY, "num_items": 0, "item_array": [], "type": CLOSED}
    player.client.send(STRUCT, fields)


def owner_of(spawn: Spawn) -> Owner:
    """Return a merchant as an owner of the ledger."""
    return Owner(OwnerKind.MERCHANT, spawn.look.dealing.number)
