"""The own character of a client: its sheet, its things and its spells.

The world sends each as a change of what it has sent before, so every message is read.
Source: docs/protocol/world/entering.md#books, docs/protocol/world/entering.md#character-sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from emu.client.world.events import PossessionsChanged
from emu.dialects.dialect import read_name
from emu.world_stream.deltas import BookReader, Layouts, StateReader
from emu.world_stream.stream import BOOKS, SHEET, sheet_reader

INVENTORY: Final = "OP_UpdateInventoryMsg"
SPELLS: Final = "OP_UpdateSpellBookMsg"
MESSAGES: Final = frozenset((SHEET, INVENTORY, SPELLS))
"""The messages that `Possessions.handle_message` reads."""
HELD, WORN = 0, 1
"""The numbers of the lists of things (docs/protocol/world/items.md#lists)."""
PLACEABLE: Final = 32768
"""The bit of a record's menu by which a client offers to place a thing in a house."""
DAMAGED, BROKEN = 1 << 27, 1 << 28
"""The bits by which it marks what is worn, and nearly or wholly worn out."""
WAITING: Final = 0xFFFFFFFE
"""The list of what waits for a free place (docs/protocol/world/items.md#lists)."""
MOST_COINS: Final = ("copper", "silver", "gold", "plat")


@dataclass(frozen=True, slots=True)
class Owned:
    """One thing of the character."""

    place: int
    """The place of its record in the list, by which commands name it."""
    unique: int
    kind: int
    name: str
    count: int
    bag: int
    slot: int
    """Its place in the bag, or the slot of what is worn."""
    menu: int
    """Bits of what can be done with it."""
    is_waiting: bool = False
    """Whether it waits for a free place; then `unique` is the number of its kind."""


class Possessions:
    """The sheet, the things and the spells of one session."""

    __slots__ = ("_books", "_layouts", "_sheet", "sheet")

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self._sheet: StateReader | None = None
        self._books: dict[str, BookReader] = {}
        self.sheet: dict[str, Any] = {}
        """The fields of the character sheet."""

    def handle_message(self, name: str, payload: bytes) -> PossessionsChanged:
        """Read one of the `MESSAGES`. Raises `MalformedMessage` and `UnknownBase`."""
        if name == SHEET:
            if self._sheet is None:
                self._sheet = sheet_reader(self._layouts, payload)
            self._merge(self._sheet.fields(self._sheet.read_message(payload)))
        else:
            reader = self._books.get(name)
            if reader is None:
                layout = self._layouts.layout(BOOKS[name])
                reader = self._books[name] = BookReader(layout, self._layouts.version)
            reader.read(payload)
        return PossessionsChanged(name)

    def _merge(self, changed: Mapping[str, Any]) -> None:
        """Take over changed fields; those of an element of a list are under ``name[index]``."""
        for name, value in changed.items():
            rows, bracket, index = name.partition("[")
            if bracket:
                self.sheet[rows][int(index.rstrip("]"))] |= value
            else:
                self.sheet[name] = value

    def things(self, which: int = HELD) -> list[Owned]:
        """Return the things of a list."""
        reader = self._books.get(INVENTORY)
        if reader is None:
            return []
        return [
            Owned(
                at, row["unique_id"], row["item_id"], read_name(row["name"].rstrip("\0")),
                row["count"], row["bag_id"], row["slot_id"], row["menu_type"],
                row["inv_slot_id"] & 0xFFFFFFFF == WAITING,
            )
            for at, row in enumerate(reader.elements(which))
            if row["item_id"]
        ]  # fmt: skip

    def spells(self) -> list[dict[str, Any]]:
        """Return the records of the spell book."""
        reader = self._books.get(SPELLS)
        return reader.elements() if reader is not None else []

    @property
    def coins(self) -> int:
        """The copper that the character carries."""
        return sum(
            int(self.sheet.get(f"coins_{name}", 0)) * 100**power
            for power, name in enumerate(MOST_COINS)
        )
