"""The character list: stored rows converted into CharSelectProfile entries.

Source: docs/protocol/characters.md. The color coding is in `emu.appearance`. `Color.signed` of a
row says which family of clients coded it, so the other family sees the same color (EQ2Emulator
shows black).

One mapping fills the entries of all layouts; a layout takes the fields that it has.
`emu.login.messages.play` selects the characters.

Worlds describe their zones (docs/protocol/link.md#batches). Clients from 1212 on are sent the
zone's name, older ones the name of the zone's file, and all of them the description
(docs/protocol/characters.md#entry-format).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from emu.appearance import NEW_SCALE, OLD_SCALE, SLIDER_FIELDS, color_components, slider
from emu.dialects import Dialect
from emu.dialects.dialect import DELETED_NAME, wire_name
from emu.login.settings import LoginServiceConfig
from emu.model import Character, Color, Equipment
from emu.times import Clock, unix_seconds
from emu.worlds import ZoneDescription


def color_row(floats: Sequence[float], *, signed: bool) -> Color:
    """Return a color row of three floats of a create request.

    `signed` is the old family's coding.
    """
    red, green, blue = color_components(floats, signed=signed)
    return Color(red, green, blue, signed=signed)


def color_row_of_bytes(parts: Sequence[int]) -> Color:
    """Return a new-family color row of three components that are bytes already."""
    # The client chooses these numbers, so each is limited to what a byte holds.
    red, green, blue = (min(255, max(0, part)) for part in parts)
    return Color(red, green, blue)


def slider_row(floats: Sequence[float]) -> Color:
    """Return a slider row of three floats of a create request."""
    first, second, third = (slider(value) for value in floats)
    return Color(first, second, third, signed=True)


def color_bytes(color: Color, *, old_family: bool) -> tuple[int, int, int]:
    """Return a color row as three unsigned bytes in the coding of a family of clients."""
    # Stored components may be negative; the mask gives the byte with the same bits.
    parts = (color.red & 0xFF, color.green & 0xFF, color.blue & 0xFF)
    if color.signed == old_family:
        return parts
    have, want = (OLD_SCALE, NEW_SCALE) if color.signed else (NEW_SCALE, OLD_SCALE)
    # Rounded to the nearest, so that a color which goes there and back is the same again.
    red, green, blue = [min(255, (part * want + have // 2) // have) for part in parts]
    return red, green, blue


def signed_triple(parts: Sequence[int]) -> list[int]:
    """Return bytes as the signed numbers that a ``sint8[3]`` field takes."""
    return [((part + 128) & 0xFF) - 128 for part in parts]


# The list has its count in one byte.
MOST_ENTRIES = 255
EMPTY_SLOTS = 24
"""Empty slots below this are white, those from here on are zero (PacketHeaders.h)."""

# The same in every entry, whatever the character (docs/protocol/characters.md#entry).
CONSTANTS: Mapping[str, Any] = {
    "unknown3": 57,
    "unknown4": 56,
    "zonename2": " ",
    "unknown6": [0, 1],  # Without the 1 the client does not show the entry.
    "unknown8": 15,  # Format of the appearance block.
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
# A missing model of the alternate (SOGA) appearance is that of the normal one.
FALLBACKS = {
    "soga_race_type": "race_type",
    "soga_chest_type": "chest_type",
    "soga_hair_type": "hair_type",
    "soga_hair_face_type": "hair_face_type",
}

_SLIDERS = frozenset(SLIDER_FIELDS.values())
_ALL_ONES = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class CharacterListEntry:
    """A character in the list: its row, its world's name, and its zone."""

    character: Character
    world_name: str
    zone: str
    zone_description: str
    deleted: bool = False
    """Deleted in this session; kept because old clients crash when an entry vanishes."""


def character_list(
    dialect: Dialect,
    config: LoginServiceConfig,
    account_id: int,
    entries: Sequence[CharacterListEntry],
    *,
    veterans: int,
) -> bytes:
    """Return the payload of OP_AllCharactersDescReplyMsg.

    `veterans` is the number of characters at or above their world's highest level.
    """
    shown = entries[:MOST_ENTRIES]
    parts = [bytes([len(shown)])]
    parts += [profile(dialect, config, account_id, entry) for entry in shown]
    # Old clients are sent a fixed number here, whatever the setting is
    # (docs/protocol/characters.md#list).
    most = dialect.rules.sent_max_characters or config.max_characters
    info = {
        "account_id": account_id,
        "unknown1": _ALL_ONES,
        "max_characters": most,
        "unknown5": [_ALL_ONES, _ALL_ONES, _ALL_ONES, 0],
        "veteran_adventure_bonus": min(veterans, 255),
    }
    parts.append(dialect.encode_known("LS_CharSelectAccountInfo", info))
    return b"".join(parts)


def profile(
    dialect: Dialect, config: LoginServiceConfig, account_id: int, entry: CharacterListEntry
) -> bytes:
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
        # Stored numbers may be negative or too large for the field. The mask keeps their bits, so
        # that one bad row cannot make the whole list fail.
        "level": row.level & _ALL_ONES,
        "tradeskill_class": row.tradeskill_class & 0xFF,
        "tradeskill_level": row.tradeskill_level & _ALL_ONES,
        "zone": wire_name(entry.zone),
        "zonedesc": wire_name(entry.zone_description),
        "created_date": unix_seconds(row.created),
        "last_played": unix_seconds(row.last_played),
    }
    # The form of a deleted entry, which old clients keep in their list
    # (docs/protocol/characters.md#list).
    if entry.deleted:
        gone = ("charid", "server_id", "created_date", "unknown1", "unknown2")
        values |= dict.fromkeys(gone, _ALL_ONES) | {"name": DELETED_NAME}
    return dialect.encode_known("CharSelectProfile", values)


def equipment(items: Sequence[Equipment], slots: int, *, swap: bool = False) -> list[Any]:
    """Return the contents of every slot; items for slots that the layout lacks are dropped."""
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
    body = row.appearance.get("body_size", 0)
    values["body_size"] = signed_triple([body])[0]
    values["soga_body_size"] = signed_triple([row.appearance.get("soga_body_size", body)])[0]
    template = dialect.template("CharSelectProfile")
    # Only colors that this layout has: rows may hold the colors of newer and older clients.
    for name, color in row.colors.items():
        if isinstance(template.get(name), list):
            values[name] = _triple(dialect, name, color)
    return values


def _triple(dialect: Dialect, name: str, color: Color) -> list[int]:
    # Sliders are signed in all layouts and are not colors, so no family's coding applies to them.
    if name in _SLIDERS:
        return signed_triple((color.red, color.green, color.blue))
    parts = color_bytes(color, old_family=dialect.rules.signed_colors)
    if dialect.holds_signed("CharSelectProfile", name):
        return signed_triple(parts)
    return list(parts)


def _tint(color: Sequence[int], *, swap: bool) -> list[int]:
    red, green, blue = color[0] & 0xFF, color[1] & 0xFF, color[2] & 0xFF
    return [red, blue, green] if swap else [red, green, blue]


Texts = tuple[str, str]


class ZoneSource(Protocol):
    """The source of zones; `emu.login.ports.RegisteredWorlds` is one."""

    async def zones_of(self, world_id: int) -> Sequence[ZoneDescription]:
        """Return the zones a world has described."""


class ZoneTexts:
    """A cache of the zones of every world, each kept for `memory` seconds."""

    def __init__(self, source: ZoneSource, memory: float, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._memory = memory
        self._worlds: dict[int, tuple[float, dict[int, ZoneDescription]]] = {}

    async def texts(self, row: Character, *, by_name: bool) -> Texts:
        """Return the name and description of a character's zone; empty strings if unknown."""
        zone = await self._find(row.world_id, row.zone_id)
        # The world has not described its zones. The row has the texts that came with the character.
        if zone is None:
            return row.zone_name, row.zone_description
        name = (zone.name if by_name else row.zone_name) or row.zone_name or zone.name
        return name, zone.description or row.zone_description

    async def _find(self, world_id: int, zone_id: int) -> ZoneDescription | None:
        if not zone_id:
            return None
        kept = self._worlds.get(world_id)
        # A fixed lifetime instead of an invalidation: worlds describe their zones rarely, and an
        # old text does no harm.
        if kept is None or kept[0] <= self._clock.now():
            zones = {zone.zone_id: zone for zone in await self._source.zones_of(world_id)}
            kept = self._worlds[world_id] = (self._clock.now() + self._memory, zones)
        return kept[1].get(zone_id)
