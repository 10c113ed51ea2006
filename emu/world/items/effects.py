"""Effects of worn things: the sheet, and what others see.

What things add is counted once for all of them, and the sheet is changed by the difference to what
they added before: scripts and spells change it as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.items.held import Where
from emu.items.inventory import Inventory
from emu.items.kinds import Ranged, Slot, Weapon
from emu.items.wearing import Bonuses, bonuses
from emu.rules.weights import carried_weight, most_weight
from emu.world.actors import looks
from emu.world.actors.player import Player
from emu.world.actors.sheet import FieldKind, Sheet

RESISTS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("heat", "cold"), 2: ("poison", "disease"), 3: ("magic", "mental", "divine"),
}  # fmt: skip
"""Fields of the sheet by the number of a statistic: elemental, noxious and arcane resistance."""
FIST_DELAY: Final = 20
"""Tenths of a second between two strikes without a weapon."""
_HANDS: Final = {Slot.PRIMARY: "primary", Slot.SECONDARY: "secondary", Slot.RANGE: "ranged"}
_WHITE: Final = (0, 0, 0)


def show_bonuses(player: Player) -> None:
    """Let the sheet of a player have what its worn things add."""
    holdings = player.holdings
    fresh, before = bonuses(holdings.inventory), holdings.bonuses
    sheet = player.spawn.sheet
    if fresh != before:
        _change(sheet, before, fresh)
        holdings.bonuses = fresh
        player.spawn.show_pools()
    _set_weapons(sheet, holdings.inventory)
    set_weight(player)


def set_weight(player: Player) -> bool:
    """Let the sheet have the weight that a player carries; return whether that is another one."""
    sheet = player.spawn.sheet
    before = sheet.get("weight", FieldKind.UNSIGNED)
    weight = carried_weight(player.holdings.inventory.weight, player.character.coins)
    sheet.set("weight", FieldKind.UNSIGNED, weight)
    sheet.set("max_weight", FieldKind.UNSIGNED, most_weight(sheet.attribute("str")))
    return weight != before


def _change(sheet: Sheet, before: Bonuses, fresh: Bonuses) -> None:
    for name in before.attributes.keys() | fresh.attributes.keys():
        change = fresh.attributes.get(name, 0) - before.attributes.get(name, 0)
        sheet.set(name, FieldKind.FRACTION, sheet.attribute(name) + change)
    for number, names in RESISTS.items():
        change = fresh.resists.get(number, 0) - before.resists.get(number, 0)
        for name in names:
            _add(sheet, name, change)
    _add(sheet, "cur_mitigation", fresh.mitigation - before.mitigation)
    block = float(sheet.get("block", FieldKind.FRACTION) or 0) + fresh.shield - before.shield
    sheet.set("block", FieldKind.FRACTION, block)
    for pool, change in (
        (sheet.health, fresh.health - before.health), (sheet.power, fresh.power - before.power),
    ):  # fmt: skip
        if change:
            pool.base = pool.base or pool.most
            is_full = pool.current >= pool.most
            pool.set_most(pool.most + change)
            if is_full:
                pool.set_current(pool.most)


def _add(sheet: Sheet, name: str, change: int) -> None:
    if change:
        value = int(sheet.get(name, FieldKind.UNSIGNED) or 0)
        sheet.set(name, FieldKind.UNSIGNED, max(0, value + change))


def _set_weapons(sheet: Sheet, inventory: Inventory) -> None:
    for slot, hand in _HANDS.items():
        thing = inventory.worn(slot)
        part = inventory.kind(thing).part if thing is not None and thing.condition else None
        low, high, delay = 0, 0, FIST_DELAY
        if isinstance(part, Weapon | Ranged):
            (low, high), delay = part.base, part.delay
        sheet.set(f"{hand}_weapon_damage_low", FieldKind.UNSIGNED, low)
        sheet.set(f"{hand}_weapon_damage_high", FieldKind.UNSIGNED, high)
        sheet.set(f"{hand}_weapon_delay", FieldKind.UNSIGNED, delay)


def show_worn(player: Player) -> None:
    """Let others see what a player wears; appearances are seen above what is worn."""
    inventory, shown = player.holdings.inventory, player.holdings.shown
    for slot in Slot:
        thing = inventory.worn(slot, Where.APPEARANCE) or inventory.worn(slot)
        look = inventory.kind(thing).look if thing is not None else None
        fresh = (look.model, look.color, look.highlight) if look else (0, _WHITE, _WHITE)
        if shown.get(slot, (0, _WHITE, _WHITE)) != fresh:
            shown[slot] = fresh
            looks.wear(player.spawn, slot, *fresh)
