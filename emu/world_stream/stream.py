"""Everything of one session that is told as changes: one reader for each kind, made when needed.

For those who look on: a message's name and bytes in, its fields out. What is told whole is the
business of the plain layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from emu.world_stream.deltas import BookReader, StateReader
from emu.world_stream.ghosts import (
    DESTROY_GHOST,
    FOOTERS,
    UPDATE_GHOST,
    GhostReader,
    Layouts,
    read_oversized,
)
from emu.world_stream.movement import PredictionReader

PREDICTION: Final = "OP_PredictionUpdateMsg"
SHEET: Final = "OP_UpdateCharacterSheetMsg"
SHEET_STRUCT: Final = "WS_CharacterSheet"
BOOKS: Final = {
    "OP_UpdateSkillBookMsg": "WS_UpdateSkillBook",
    "OP_UpdateSpellBookMsg": "WS_UpdateSpellBook",
    "OP_UpdateInventoryMsg": "WS_UpdateInventory",
    "OP_UpdateRecipeBookMsg": "WS_UpdateRecipeBook",
}
"""For each message that tells records, its struct."""
_GHOSTS: Final = "ghosts"

AnyReader = TypeVar("AnyReader", GhostReader, StateReader, BookReader, PredictionReader)


class WorldStream:
    """What the messages of one session have told so far.

    Nothing is guessed: a change of something that was not read raises `UnknownBase`.
    """

    __slots__ = ("_by_client", "_by_server", "_layouts")

    def __init__(self, layouts: Layouts) -> None:
        """Begin as a session does; `layouts` are those of its client's version."""
        self._layouts = layouts
        self._by_client = _Side()
        self._by_server = _Side()

    @property
    def size(self) -> int:
        """Bytes that are kept, about."""
        return self._by_client.size + self._by_server.size

    def read(self, name: str, payload: bytes, *, to_server: bool) -> dict[str, Any] | None:
        """Return the fields of a message or of a command in OP_ClientCmdMsg; None for others.

        `name` is the opcode's. A state shows every field the first time and later those that
        changed. Raises `MalformedMessage`, `LimitExceeded`, `UnknownBase` and `UnknownStruct`.
        """
        if to_server:
            return self._prediction(payload) if name == PREDICTION else None
        if name == DESTROY_GHOST:
            self._destroy(payload)
            return None
        if name == UPDATE_GHOST or name in FOOTERS:
            return self._ghosts(name, payload)
        if name in BOOKS:
            return self._book(name, payload)
        return self._sheet(payload) if name == SHEET else None

    def miss(self, *, to_server: bool) -> None:
        """Learn that messages of one direction will not be read: what they changed is unknown."""
        (self._by_client if to_server else self._by_server).miss()

    def _prediction(self, payload: bytes) -> dict[str, Any]:
        reader = self._by_client.get(PREDICTION, lambda: PredictionReader(self._layouts))
        return reader.fields(reader.read(payload))

    def _sheet(self, payload: bytes) -> dict[str, Any]:
        def make() -> StateReader:
            return StateReader(self._layouts.layout(SHEET_STRUCT), self._layouts.version)

        reader = self._by_server.get(SHEET, make)
        return reader.fields(reader.read_message(payload))

    def _book(self, name: str, payload: bytes) -> dict[str, Any]:
        def make() -> BookReader:
            return BookReader(self._layouts.layout(BOOKS[name]), self._layouts.version)

        return self._by_server.get(name, make).read(payload)

    def _ghosts(self, name: str, payload: bytes) -> dict[str, Any]:
        reader = self._by_server.get(_GHOSTS, lambda: GhostReader(self._layouts))
        if name == UPDATE_GHOST:
            return reader.update_fields(reader.update(payload))
        return reader.ghost_fields(reader.create(name, payload))

    def _destroy(self, payload: bytes) -> None:
        """Forget a ghost; what the command says otherwise is plain."""
        reader = self._by_server.readers.get(_GHOSTS)
        if reader is not None:
            index, _ = read_oversized(payload, 0)
            reader.destroy(index)


class _Side:
    """The readers of one direction, by what they read."""

    __slots__ = ("_missed", "readers")

    def __init__(self) -> None:
        self.readers: dict[str, Any] = {}
        self._missed = False

    @property
    def size(self) -> int:
        return sum(reader.size for reader in self.readers.values())

    def get(self, key: str, make: Callable[[], AnyReader]) -> AnyReader:
        """Return a reader, made as late as the first message that needs it."""
        reader = self.readers.get(key)
        if reader is None:
            reader = self.readers[key] = make()
            if self._missed:
                reader.miss()
        found: AnyReader = reader
        return found

    def miss(self) -> None:
        self._missed = True
        for reader in self.readers.values():
            reader.miss()
