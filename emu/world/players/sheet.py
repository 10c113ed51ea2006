"""The character sheet: one large struct, sent as the XOR with the one before and packed.

Owns the values of WS_CharacterSheet and what one client was sent last. Every byte that nobody set
is zero (EQ2Emulator's sheets carry what was left in its memory;
docs/protocol/world/entering.md#character-sheet).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from emu.dialects import Dialect
from emu.model import WorldCharacter
from emu.structs.packed import pack, unpack, xor

SHEET: Final = "WS_CharacterSheet"
ATTRIBUTES: Final = tuple(
    name + base for base in ("", "_base") for name in ("str", "sta", "agi", "wis", "int")
)
USUAL_ATTRIBUTE: Final = 20
EFFECTS: Final = 30
NO_SPELL: Final = 0xFFFFFFFF
BREATH: Final = 30.0
NO_GUILD: Final = 888888
NOWHERE: Final = "None"
INVITES: Final = (
    "flags_show_hood",
    "flags_show_illusion_form",
    "flags_show_duel_invites",
    "flags_show_trade_invites",
    "flags_show_group_invites",
    "flags_show_raid_invites",
    "flags_show_guild_invites",
)
"""Twelve flags of their own up to 546; from 561 on they are bits of `flags`."""
INVITE_BITS: Final = 301465665
"""The same seven flags as the one number that EQ2Emulator was recorded to send."""


def sheet_fields(character: WorldCharacter, *, health: int, power: int) -> dict[str, Any]:
    """Return the values of a sheet, health and power being full; versions take those they know."""
    return {
        "character_name": character.name,
        "race": character.race,
        "gender": character.gender,
        "class3": character.class_,
        "level": character.level,
        "effective_level": character.level,
        "tradeskill_level": 1,
        **dict.fromkeys(("current_hp", "max_hp", "base_hp"), health),
        **dict.fromkeys(("current_power", "max_power", "base_power"), power),
        **dict.fromkeys(ATTRIBUTES, USUAL_ATTRIBUTE),
        "combat_exp_enabled": 1,
        "max_weight": 90,
        "spell_effects": [{"spell_id": NO_SPELL}] * EFFECTS,
        "breath": BREATH,
        **dict.fromkeys(INVITES, 1),
        "flags": INVITE_BITS,
        "guild_status": NO_GUILD,
        "house_zone": NOWHERE,
        "bind_zone": NOWHERE,
    }


class SheetSender:
    """What one client was sent of its sheet."""

    __slots__ = ("_dialect", "_sent")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a client does that enters a zone. Raises `UnknownStruct`."""
        self._dialect = dialect
        dialect.layout(SHEET)
        self._sent: bytes | None = None
        """The sheet as the client has it, packed: most of its 5 to 16 kB are zeros."""

    def update(self, values: Mapping[str, Any]) -> bytes | None:
        """Return the payload that brings the client's sheet up to date, None when it is."""
        version = self._dialect.version
        new = self._dialect.encode_known(SHEET, values)
        packed = pack(new, version)
        before, self._sent = self._sent, packed
        if before is None:
            return packed
        if before == packed:
            return None
        base, _ = unpack(before, len(new), version)
        return pack(xor(new, base), version)
