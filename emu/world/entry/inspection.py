"""The window that shows another player: its fields, and what it wears.

Source: docs/protocol/world/commands.md#inspect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emu.dialects import Dialect
from emu.dialects.dialect import wire_name, wire_texts
from emu.world.actors.item_lists import server_slot
from emu.world.actors.player import Player
from emu.world.items.windows import plain_item
from emu.world.sheets import CharacterSheets

WINDOW: Final = "WS_InspectPlayer"
MESSAGE: Final = "OP_InspectPlayerMsg"
BIOGRAPHY: Final = 511
"""Letters of a biography, which the window always has."""
OLDER_SLOTS, NEWER_SLOTS = 22, 50
"""Slots of the window up to version 561 and above."""
ATTRIBUTES: Final = {
    "strength": "str", "stamina": "sta", "agility": "agi", "wisdom": "wis", "intelligence": "int",
}  # fmt: skip
"""Names of the window's attributes, and of the same ones in a character sheet."""
RESISTANCES: Final = ("heat", "cold", "magic", "mental", "divine", "disease", "poison")
"""Resistances of the window, in the order of the sheet."""
FIRST_RESISTANCE: Final = 3
"""The place of the first one in the sheet."""


def _slot(size: int, parts: Mapping[int, str]) -> bytes:
    """Return the bytes of an empty slot: zeros, but for these bytes in hex by their place."""
    data = bytearray(size)
    for at, text in parts.items():
        part = bytes.fromhex(text)
        data[at : at + len(part)] = part
    return bytes(data)


OLDER_SLOT: Final = _slot(61, {13: "FFFF", 37: "FF", 39: "8C5AF1D28C5AF1D201", 51: "03", 55: "03"})
NEWER_SLOT: Final = _slot(160, {16: "FFFF", 47: "64", 67: "03", 100: "FF" * 11})
"""A slot without an item, as EQ2Emulator writes it."""


def send_inspection(viewer: Player, player: Player, sheets: CharacterSheets) -> None:
    """Open the window that shows a player at the client of another one."""
    client = viewer.client
    is_older = client.dialect.world_rules.older_windows
    # Above 561 EQ2Emulator shows no things at 1096 and 1208 (recorded).
    slots = _older_slots(client.dialect, player) if is_older else NEWER_SLOT * NEWER_SLOTS
    fields = wire_texts(inspection_fields(player, sheets))
    # After `wire_texts`, because these are bytes, and no text of the player.
    fields["slots"] = slots.decode("latin-1")
    client.send_bytes(MESSAGE, client.dialect.encode_known(WINDOW, fields))


def _older_slots(dialect: Dialect, player: Player) -> bytes:
    """Return the slots of an old client's window, each with what is worn there."""
    inventory, found = player.holdings.inventory, []
    for number in range(OLDER_SLOTS):
        slot = server_slot(number, dialect.version)
        thing = inventory.worn(slot) if slot is not None else None
        found.append(OLDER_SLOT if thing is None else plain_item(dialect, inventory, thing))
    return b"".join(found)


def inspection_fields(player: Player, sheets: CharacterSheets) -> dict[str, Any]:
    """Return the fields of WS_InspectPlayer, without the slots."""
    character, sheet = player.character, sheets.fields(player)
    attributes = {
        name + base: sheet[short + base]
        for name, short in ATTRIBUTES.items()
        for base in ("", "_base")
    }
    return {
        "name": player.name,
        "race": character.race,
        "gender": character.gender,
        "adventure_level": character.level,
        "adventure_level_effective": character.level,
        "adventure_class": character.class_,
        "tradeskill_level": character.tradeskill_level,
        "tradeskill_class": character.tradeskill_class,
        "health": sheet["current_hp"],
        "health_max": sheet["max_hp"],
        "health_base": sheet["base_hp"],
        "power": sheet["current_power"],
        "power_max": sheet["max_power"],
        "power_base": sheet["base_power"],
        **attributes,
        **_defense(sheet),
        "biography_length": BIOGRAPHY,
        "biography": list(wire_name(player.client_data.biography).encode("latin-1")),
    }


def _defense(sheet: Mapping[str, Any]) -> dict[str, int]:
    """Return the fields of mitigation and resistances; the base is the same (recorded)."""
    values = sheet["resists"][FIRST_RESISTANCE:]
    resisted = {
        f"{name}_resist{base}": value
        for name, value in zip(RESISTANCES, values, strict=True)
        for base in ("", "_base")
    }
    mitigation = sheet["mitigation_cur"]
    return {"mitigation": mitigation, "mitigation_base": mitigation, **resisted}
