"""The character list: rows of the store turned into CharSelectProfile entries.

Source: docs/protocol/characters.md.

Owns what every field of an entry is filled with, for all layouts at once: a layout takes the
fields it has. Which characters are listed, and from where they come, is `emu.login.messages.lists`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emu.dialects import Dialect
from emu.dialects.common import DELETED_NAME
from emu.dialects.text import wire_name
from emu.login.characters.colors import color_bytes, signed_triple
from emu.login.settings import LoginServiceConfig
from emu.looks.coding import SLIDER_FIELDS
from emu.model import Character, Color, Equipment

MOST_ENTRIES = 255
EMPTY_SLOTS = 24
"""Slots below this are white when empty, those above are zero (PacketHeaders.h)."""

CONSTANTS: Mapping[str, Any] = {
    "unknown3": 57,
    "unknown4": 56,
    "zonename2": " ",
    "unknown6": [0, 1],  # without the 1 the entry is not shown
    "unknown8": 15,  # format of the appearance block
    "mount": 1377,
    "mount_color1": [57, 0, 0],
    "unknown11": [0xFF, 0xFF, 0xFF, 0x61, 0x00, 0x2C, 0x04, 0xA5, 0x09, 0x02, 0x0F, 0x00, 0x00],
    "unknown13": 212,
    "unknown14": [0xFF, 0xFF, 0xFF],
}

MODELS = (
    "race_type", "hair_type", "hair_face_type", "wing_type", "chest_type", "legs_type",
    "soga_race_type", "soga_hair_type", "soga_hair_face_type", "soga_chest_type",
)  # fmt: skip
FALLBACKS = {
    "soga_race_type": "race_type",
    "soga_chest_type": "chest_type",
    "soga_hair_type": "hair_type",
    "soga_hair_face_type": "hair_face_type",
}

_SLIDERS = frozenset(SLIDER_FIELDS.values())
_ALL_ONES = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Entry:
    """A character as it is listed: its row, its world's name, and where it is."""

    character: Character
    world_name: str
    zone: str
    zone_description: str
    deleted: bool = False
    """Deleted in this session, and kept because old clients crash when an entry vanishes."""


def character_list(
    dialect: Dialect,
    config: LoginServiceConfig,
    account_id: int,
    entries: Sequence[Entry],
    *,
    veterans: int,
) -> bytes:
    """Return the payload of OP_AllCharactersDescReplyMsg.

    `veterans` is the number of characters at or above their world's highest level.
    """
    shown = entries[:MOST_ENTRIES]
    parts = [bytes([len(shown)])]
    parts += [profile(dialect, config, account_id, entry) for entry in shown]
    told = dialect.rules.told_max_characters or config.max_characters
    info = {
        "account_id": account_id,
        "unknown1": _ALL_ONES,
        "max_characters": told,
        "unknown5": [_ALL_ONES, _ALL_ONES, _ALL_ONES, 0],
        "veteran_adventure_bonus": min(veterans, 255),
    }
    parts.append(dialect.encode_known("LS_CharSelectAccountInfo", info))
    return b"".join(parts)


def profile(dialect: Dialect, config: LoginServiceConfig, account_id: int, entry: Entry) -> bytes:
    """Return one entry of the list."""
    row = entry.character
    values: dict[str, Any] = dict(CONSTANTS)
    values.update(_appearance(dialect, row))
    values["equip"] = equipment(
        row.equipment,
        len(dialect.template("CharSelectProfile")["equip"]),
        swap=config.choices.swap_equipment_green_blue,
    )
    values |= {
        "version": dialect.rules.entry_format,
        "account_id": account_id,
        "charid": row.char_id,
        "server_id": row.world_id,
        "name": wire_name(row.name),
        "server_name": wire_name(entry.world_name),
        "race": row.race & 0xFF,
        "class": row.class_ & 0xFF,
        "gender": row.gender & 0xFF,
        "level": row.level & _ALL_ONES,
        "tradeskill_class": row.tradeskill_class & 0xFF,
        "tradeskill_level": row.tradeskill_level & _ALL_ONES,
        "zone": wire_name(entry.zone),
        "zonedesc": wire_name(entry.zone_description),
        "created_date": _seconds(row.created),
        "last_played": _seconds(row.last_played),
    }
    if entry.deleted:
        gone = ("charid", "server_id", "created_date", "unknown1", "unknown2")
        values |= dict.fromkeys(gone, _ALL_ONES) | {"name": DELETED_NAME}
    return dialect.encode_known("CharSelectProfile", values)


def equipment(items: Sequence[Equipment], slots: int, *, swap: bool = False) -> list[Any]:
    """Return what every slot shows; items for slots that the layout lacks are dropped."""
    white = {"type": 0, "color": [255, 255, 255], "highlight": [255, 255, 255]}
    zero = {"type": 0, "color": [0, 0, 0], "highlight": [0, 0, 0]}
    shown: list[Any] = [white if slot < EMPTY_SLOTS else zero for slot in range(slots)]
    for item in items:
        if 0 <= item.slot < slots:
            shown[item.slot] = {
                "type": item.model & 0xFFFF,
                "color": _tint(item.color, swap=swap),
                "highlight": _tint(item.highlight, swap=swap),
            }
    return shown


def _appearance(dialect: Dialect, row: Character) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in MODELS:
        model = row.appearance.get(name) or row.appearance.get(FALLBACKS.get(name, ""), 0)
        values[name] = model & 0xFFFF
    values["body_size"] = signed_triple([row.appearance.get("body_size", 0)])[0]
    template = dialect.template("CharSelectProfile")
    for name, color in row.colors.items():
        if isinstance(template.get(name), list):
            values[name] = _triple(dialect, name, color)
    return values


def _triple(dialect: Dialect, name: str, color: Color) -> list[int]:
    if name in _SLIDERS:
        return signed_triple((color.red, color.green, color.blue))
    parts = color_bytes(color, old_family=dialect.rules.signed_colors)
    if dialect.holds_signed("CharSelectProfile", name):
        return signed_triple(parts)
    return list(parts)


def _tint(color: Sequence[int], *, swap: bool) -> list[int]:
    red, green, blue = color[0] & 0xFF, color[1] & 0xFF, color[2] & 0xFF
    return [red, blue, green] if swap else [red, green, blue]


def _seconds(moment: float) -> int:
    return max(0, min(_ALL_ONES, int(moment)))
