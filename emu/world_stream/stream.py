"""Decodes everything in a session that is sent as changes, for captures and tools.

A message's name and bytes go in, its fields come out. There is one reader for each kind of message,
made when the first one comes. Messages that are sent whole need only their layout.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from emu.errors import MalformedMessage, UnknownStruct
from emu.structs.packed import read_oversized
from emu.world_stream.deltas import (
    BookReader,
    Layouts,
    PredictionReader,
    StateReader,
    envelope_of,
)
from emu.world_stream.ghosts import (
    DESTROY_GHOST,
    FOOTERS,
    UPDATE_GHOST,
    GhostReader,
)

PREDICTION: Final = "OP_PredictionUpdateMsg"
NEWER_PREDICTION: Final = "OP_UpdatePositionMsg"
SHEET: Final = "OP_UpdateCharacterSheetMsg"
SHEET_STRUCT: Final = "WS_CharacterSheet"
OTHER_SHEET: Final = "WS_CharacterSheet_EQ2Emulator"
"""The sheet that EQ2Emulator sends to clients that read another one."""
BOOKS: Final = {
    "OP_UpdateSkillBookMsg": "WS_UpdateSkillBook",
    "OP_UpdateSpellBookMsg": "WS_UpdateSpellBook",
    "OP_UpdateInventoryMsg": "WS_UpdateInventory",
    "OP_UpdateRecipeBookMsg": "WS_UpdateRecipeBook",
}
"""For each message with records, its struct."""
PET: Final = "OP_CharacterPet"
PET_STRUCT: Final = "WS_CharacterPet"
PET_TAIL: Final = 4
"""Zero bytes behind the packed pet in every recorded message."""
_GHOSTS: Final = "ghosts"

AnyReader = TypeVar("AnyReader", GhostReader, StateReader, BookReader, PredictionReader)


class WorldStream:
    """The baselines of one session, in both directions.

    Nothing is guessed: a change of a baseline that was not read raises `UnknownBase`.
    """

    __slots__ = ("_by_client", "_by_server", "_layouts")

    def __init__(self, layouts: Layouts) -> None:
        """Start without baselines; `layouts` are those of the client's version."""
        self._layouts = layouts
        # Each direction has its own baselines: a lost message of one does not harm the other.
        self._by_client = _Side()
        self._by_server = _Side()

    @property
    def size(self) -> int:
        """The memory that the baselines use, in bytes."""
        return self._by_client.size + self._by_server.size

    def read_message(self, name: str, payload: bytes, *, to_server: bool) -> dict[str, Any] | None:
        """Return the fields of a message or of a command in OP_ClientCmdMsg; None for others.

        `name` is the opcode's. The first message of a kind has all fields, later ones the changed
        fields. Raises `MalformedMessage`, `LimitExceeded`, `UnknownBase` and `UnknownStruct`.
        """
        if to_server:
            return self._prediction(name, payload)
        if name == DESTROY_GHOST:
            self._destroy(payload)
            return None
        if name == UPDATE_GHOST or name in FOOTERS:
            return self._ghosts(name, payload)
        if name in BOOKS:
            return self._book(name, payload)
        if name == PET:
            return self._pet(payload)
        return self._sheet(payload) if name == SHEET else None

    def miss(self, *, to_server: bool) -> None:
        """Note that messages of one direction were not read: their changes are unknown."""
        (self._by_client if to_server else self._by_server).miss()

    def _prediction(self, name: str, payload: bytes) -> dict[str, Any] | None:
        envelope = envelope_of(self._layouts).definition
        # A client version sends one of the two messages; the other name would have another
        # layout.
        if name not in (PREDICTION, NEWER_PREDICTION) or name != envelope.opcode_name:
            return None
        reader = self._by_client.get(PREDICTION, lambda: PredictionReader(self._layouts))
        prediction = reader.read(payload)
        return reader.fields(prediction) if prediction is not None else None

    def _sheet(self, payload: bytes) -> dict[str, Any]:
        reader = self._by_server.get(SHEET, lambda: sheet_reader(self._layouts, payload))
        return reader.fields(reader.read_message(payload))

    def _pet(self, payload: bytes) -> dict[str, Any]:
        def make() -> StateReader:
            return StateReader(self._layouts.layout(PET_STRUCT), self._layouts.version)

        reader = self._by_server.get(PET, make)
        return reader.fields(reader.read_message(payload[:-PET_TAIL]))

    def _book(self, name: str, payload: bytes) -> dict[str, Any]:
        def make() -> BookReader:
            return BookReader(self._layouts.layout(BOOKS[name]), self._layouts.version)

        return self._by_server.get(name, make).read(payload)

    def _ghosts(self, name: str, payload: bytes) -> dict[str, Any]:
        # All ghost commands share one reader, because an update refers to ghosts that other
        # commands created.
        reader = self._by_server.get(_GHOSTS, lambda: GhostReader(self._layouts))
        if name == UPDATE_GHOST:
            return reader.update_fields(reader.update(payload))
        return reader.ghost_fields(reader.create(name, payload))

    def _destroy(self, payload: bytes) -> None:
        """Remove a ghost; the command itself is decoded by its layout."""
        reader = self._by_server.readers.get(_GHOSTS)
        # Without a reader no ghost is known, so nothing needs to be removed.
        if reader is not None:
            index, _ = read_oversized(payload, 0)
            reader.destroy(index)


def sheet_reader(layouts: Layouts, payload: bytes) -> StateReader:
    """Return a reader for the sheets of a session of which this is the first one.

    No message says which sheet it is, so the one whose length fits is taken. Raises
    `UnknownStruct`.
    """
    reader = StateReader(layouts.layout(SHEET_STRUCT), layouts.version)
    try:
        other = StateReader(layouts.layout(OTHER_SHEET), layouts.version)
    except UnknownStruct:
        return reader
    for one in (reader, other):
        # A trial moves the baseline, so it is made with a reader of its own.
        with suppress(MalformedMessage):
            StateReader(one.layout, layouts.version).read_message(payload)
            return one
    return reader


class _Side:
    """The readers of one direction, by message name."""

    __slots__ = ("_missed", "readers")

    def __init__(self) -> None:
        self.readers: dict[str, Any] = {}
        self._missed = False

    @property
    def size(self) -> int:
        return sum(reader.size for reader in self.readers.values())

    def get(self, key: str, make: Callable[[], AnyReader]) -> AnyReader:
        """Return a reader; make it when the first message needs it."""
        reader = self.readers.get(key)
        if reader is None:
            reader = self.readers[key] = make()
            # The sender's baseline has moved during the gap, so a reader made later does not
            # start at zero.
            if self._missed:
                reader.miss()
        found: AnyReader = reader
        return found

    def miss(self) -> None:
        self._missed = True
        for reader in self.readers.values():
            reader.miss()
