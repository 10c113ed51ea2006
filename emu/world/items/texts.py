"""The texts about things: links, and why an act changes nothing.

The texts and their colors are those that EQ2Emulator was recorded to send
(docs/protocol/world/items.md#texts).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.dialects import world_rules
from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal, Why
from emu.world.actors.client import PlayerClient

PLAIN, RED, STATUS, YELLOW, NARRATIVE = 0, 3, 4, 5, 12
"""Numbers of colors that all versions share."""
_NEWER_COLORS: Final = {
    34: 36, 39: 41, 49: 52, 74: 88, 75: 89, 80: 95, 81: 96, 89: 104,
}  # fmt: skip
"""Colors that have other numbers above 561, as recorded."""
NOTHING_TO_EXAMINE: Final = "There is nothing to examine."
"""The answer about spells, which this server does not have yet."""
_TEXTS: Final[Mapping[Why, tuple[int, str]]] = {
    Why.NO_THING: (RED, "You have no item."),
    Why.NO_SUCH_PLACE: (YELLOW, "Could not move item to that location."),
    Why.NO_FREE_PLACE: (RED, "You do not have any free slots."),
    Why.NO_FREE_BANK: (RED, "You do not have any free bank slots."),
    Why.NOT_SHARED: (RED, "That item (or an item inside) cannot be shared."),
    Why.IN_USE: (RED, "You cannot move the item in use."),
    Why.DESTROY_IN_USE: (RED, "You cannot destroy the item in use."),
    Why.NO_DESTROY: (RED, "You can't destroy this item."),
    Why.LORE: (STATUS, "You cannot obtain {name} due to lore conflict."),
    Why.STACK_LORE: (STATUS, "You already have one stack of the LORE item: {name}."),
    Why.EVIL_ONLY: (PLAIN, "{name} requires an evil race."),
    Why.GOOD_ONLY: (PLAIN, "{name} requires a good race."),
    Why.NOT_WORN: (PLAIN, "Item {name} isn't equipable."),
    Why.NO_SKILL: (PLAIN, "You lack the skill {skill}required to equip this item."),
    Why.NO_CLASS: (RED, "Your class may not equip {link}."),
    Why.TOO_LOW: (RED, "You must be at least level {number} to equip {link}."),
    Why.ONLY_APPEARANCE: (RED, "This item is for appearance slots only."),
    Why.LORE_WORN: (RED, "Lore conflict, cannot equip this item."),
    Why.LORE_EQUIPPED: (
        RED, "You already have this item equipped, you cannot equip another.",
    ),
    Why.IN_COMBAT: (RED, "You may not swap items while in combat."),
    Why.CANNOT_UNEQUIP: (YELLOW, "Unable to unequip item: no free inventory locations."),
    Why.CANNOT_SWAP: (YELLOW, "Unable to swap items"),
    Why.OCCUPIED: (STATUS, "You can not place an overflow item into an occupied slot"),
}  # fmt: skip


def link(kind: ItemKind, version: int) -> str:
    """Return the link by which texts name a kind; clients open its window with it."""
    if world_rules(version).older_windows:
        return f"\\aITEM {kind.id} {kind.name}:{kind.name}\\/a"
    return f"\\aITEM {kind.id} 0:{kind.name}\\/a"


def own_color(client: PlayerClient, color: int) -> int:
    """Return a color of old clients as the client's version numbers it."""
    is_older = client.dialect.world_rules.older_windows
    return color if is_older else _NEWER_COLORS.get(color, color)


def refusal_text(refusal: Refusal, version: int, skill: str = "") -> tuple[int, str] | None:
    """Return color and text of a refusal; None if nothing is said.

    `skill` is the name of a missing skill, for those who may read it.
    """
    found = _TEXTS.get(refusal.reason)
    if found is None:
        return None
    color, text = found
    kind = refusal.kind
    name = kind.name if kind is not None else ""
    named = link(kind, version) if kind is not None else ""
    shown = f"({skill}) " if skill else ""
    return color, text.format(name=name, link=named, number=refusal.number, skill=shown)
