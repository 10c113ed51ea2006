"""Hotbars and macros of a character of EQ2Emulator's world database.

The world stores macros in the text of `emu.world.actors.client_data`. Source of the columns:
docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from emu.facts import U8, U16
from emu.model import COMMAND_KEY, SPELL_KEY, Hotkey
from emu.sqldump.report import Columns, number, numbered, visible

LONGEST_TEXT: Final = 255
LONGEST_MACRO: Final = 64
MOST_MACROS: Final = 100
MOST_COMMANDS: Final = 10
"""Commands of one macro."""
MOST_MACRO_BYTES: Final = 24_000
"""Bytes of all macros as they are stored."""


@dataclass(slots=True)
class ImportedHotbars:
    """The rows of one character about its hotbars and macros."""

    keys: dict[tuple[int, int], Hotkey] = field(default_factory=dict)
    """The hotkeys by bar and slot."""
    macros: dict[int, tuple[str, int, list[str]]] = field(default_factory=dict)
    """Name, icon and commands of each macro, by number."""
    later: list[str] = field(default_factory=list)
    """Names of what cannot be used yet."""

    def add_hotkey(self, columns: Columns, icon_of: Callable[[int], tuple[int, int]]) -> None:
        """Add a hotkey of a spell or a command. Raises `ValueError`.

        `icon_of` returns icon and backdrop of a spell by number.
        """
        kind = number(columns, "type")
        if kind not in (SPELL_KEY, COMMAND_KEY):
            self.later.append("hotkeys of items and macros")
            return
        bar, slot = number(columns, "hotbar", most=U8), number(columns, "slot", most=U8)
        if kind == COMMAND_KEY:
            words = visible(columns, "text_val", LONGEST_TEXT)
            self.keys[bar, slot] = Hotkey(bar, slot, COMMAND_KEY, text=words)
            return
        spell = numbered(columns, "spell_id")
        icon, backdrop = icon_of(spell)
        self.keys[bar, slot] = Hotkey(
            bar, slot, SPELL_KEY, icon, backdrop, spell,
            number(columns, "tier", 1, least=1, most=U8),
        )  # fmt: skip

    def add_macro(self, columns: Columns) -> None:
        """Add a command of a macro: each row of its number is one. Raises `ValueError`."""
        place = number(columns, "macro_number", most=U8)
        name = visible(columns, "macro_name", LONGEST_MACRO)
        icon = number(columns, "macro_icon", most=U16)
        command = visible(columns, "macro_text", LONGEST_TEXT)
        if place not in self.macros and len(self.macros) >= MOST_MACROS:
            raise ValueError(f"a character has at most {MOST_MACROS} macros")
        before = self.macros.get(place, (name, icon, []))
        if len(before[2]) >= MOST_COMMANDS:
            raise ValueError(f"a macro has at most {MOST_COMMANDS} commands")
        after = (*before[:2], [*before[2], command])
        if len(_json({**self.macros, place: after})) > MOST_MACRO_BYTES:
            raise ValueError(f"macros have at most {MOST_MACRO_BYTES} bytes")
        self.macros[place] = after

    @property
    def stored(self) -> str:
        """The macros as a character stores them; empty without any."""
        return _json(self.macros) if self.macros else ""


def _json(macros: dict[int, tuple[str, int, list[str]]]) -> str:
    return json.dumps({"macros": macros}, separators=(",", ":"))
