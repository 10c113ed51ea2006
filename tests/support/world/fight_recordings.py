"""Recorded fights, message by message, with the names of spawns in place of viewers' numbers.

They lie outside of the repository, beside the checkout (``EMU_RECORDINGS``). A message is decoded
by the shipped structs; another test proves that they read and write recordings byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from emu.capture.messages import MessageDecoder, SessionDecoder, StructLookup
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.world_stream import stream
from emu.world_stream.deltas import Layouts
from emu.world_stream.ghosts import (
    FOOTERS,
    INFO,
    POSITION,
    UPDATE_GHOST,
    VISIBILITY,
    Ghost,
    GhostReader,
)
from emu.world_stream.stream import WorldStream
from tests.support.files.recordings import recorded_rows
from tests.support.world.fight_chance import RecordedChance

WINDOW = "spell"
"""The part of a window that describes a spell: its fields number no spawns."""
NOBODY = 0xFFFFFFFF
BOOK = "OP_UpdateSpellBookMsg"
_PREPARED = re.compile(r"\w: client \d+, ")
"""A mark about who enters; the scene has not begun."""
_CLASS = re.compile(r"\w: client \d+, class (\d+), ")
_NUMBERS = frozenset((
    "spawn_id", "caster", "target", "target_id", "attacker", "defender", "defender_proxy",
    "killer_id", "killer", "dead", "spawn_index", "id", "kiosk_id",
))  # fmt: skip
"""Fields with the viewer's own number of a spawn."""


class Message(NamedTuple):
    """A message of one client's session."""

    at: float
    client: str
    to_server: bool
    name: str
    fields: dict[str, Any] | None
    body: bytes


class Mark(NamedTuple):
    """What the script of the recording wrote down."""

    at: float
    text: str


class Place(NamedTuple):
    """What a client knows of a spawn."""

    name: str
    level: int
    position: tuple[float, float, float]
    heading: float
    attackable: bool = False
    is_dead: bool = False
    encounter: int = 0


class LateStream(WorldStream):
    """The baselines of one session; the fields of changed ghosts are read when they are asked for.

    A recorded fight has hundreds of thousands of changes, and nearly all are steps.
    """

    def __init__(self, layouts: Layouts) -> None:
        super().__init__(layouts)
        self._known: dict[int, Ghost] = {}

    @property
    def ghosts(self) -> GhostReader:
        """The reader of ghosts."""
        return self._by_server.get(stream._GHOSTS, lambda: GhostReader(self._layouts))

    def read_message(self, name: str, payload: bytes, *, to_server: bool) -> dict[str, Any] | None:
        """Return the fields of a message; of an update of ghosts the time alone."""
        if to_server or name != UPDATE_GHOST:
            fields = super().read_message(name, payload, to_server=to_server)
            self._known |= self.ghosts.ghosts
            return fields
        return {"time": self.ghosts.update(payload).time}

    def fields_of(self, index: int) -> dict[str, Any]:
        """Return the last fields of a ghost; empty if there never was one."""
        ghost = self._known.get(index)
        if ghost is None:
            return {}
        fields: dict[str, Any] = {}
        for part in (POSITION, VISIBILITY, INFO):
            fields |= self.ghosts.part_fields(part, ghost.parts[part])
        return fields | ghost.footer


class Seen:
    """What one client has been sent about spawns."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.decoder = _decoder().session(version)
        self._stream = self.decoder.world = LateStream(self.decoder.world._layouts)
        self.names: dict[int, str] = {}
        self.book: list[dict[str, Any]] = []
        self.name = ""
        """Of the player itself."""

    def read(
        self, opcode: int, body: bytes, *, to_server: bool
    ) -> Iterator[tuple[str, Any, bytes]]:
        """Yield name, fields and body of a message, or of each of its commands."""
        decoded = self.decoder.decode(opcode, body, to_server=to_server)
        if decoded.commands is None:
            if decoded.name == "OP_UpdateCharacterSheetMsg" and decoded.fields:
                sheet = decoded.fields.get("sheet", decoded.fields)
                self.name = str(sheet.get("character_name", self.name))
            fields = decoded.fields
            if decoded.name == BOOK and fields:
                fields = {"book": self._read_book(fields)}
            yield decoded.name or str(opcode), fields, body
            return
        for one in decoded.commands:
            name = one.name or str(one.opcode)
            if one.fields is not None:
                self._look(name, one.fields)
            yield name, one.fields, one.payload

    def _read_book(self, fields: dict[str, Any]) -> dict[int, int]:
        """Return the spells whose status has changed, each with the new one."""
        before = {row["spell_id"]: row["status"] for row in self.book}
        if "spell_array" in fields:
            self.book = [dict(row) for row in fields["spell_array"]]
        for key, change in fields.items():
            if key.startswith("spell_array["):
                at = int(key[12:-1])
                self.book.extend({} for _ in range(at + 1 - len(self.book)))
                self.book[at] |= change
        after = {row["spell_id"]: row["status"] for row in self.book if "status" in row}
        return {spell: one for spell, one in after.items() if before.get(spell) != one}

    def _look(self, name: str, fields: dict[str, Any]) -> None:
        if name in FOOTERS:
            parts = (fields.get("info") or {}) | (fields.get("footer") or {})
            self.names[fields["index"]] = str(parts.get("name", ""))

    def name_of(self, index: int) -> str:
        """Return the name of a spawn by its number."""
        if index == NOBODY:
            return "nobody"
        return self.names.get(index) or (self.name if index == 1 else "unknown")

    def place_of(self, index: int) -> Place | None:
        """Return where a spawn was last, as far as the client knows."""
        ghost = self._stream.fields_of(index)
        if not ghost:
            return None
        level = int(ghost.get("level", 1))
        at = float(ghost["pos_x"]), float(ghost["pos_y"]), float(ghost["pos_z"])
        is_dead = ghost.get("hp_remaining", 0) == 100
        heading = (float(ghost.get("pos_heading1", 0)) / 64) % 360
        return Place(
            str(ghost.get("name")), level, at, heading, bool(_attackable(ghost)), is_dead,
            int(ghost.get("locked_no_loot", 0)),
        )  # fmt: skip

    def named(self, fields: Any) -> Any:
        """Return fields with names instead of numbers of spawns."""
        if isinstance(fields, dict):
            return {
                key: self.name_of(value)
                if key in _NUMBERS and isinstance(value, int)
                else value if key == WINDOW else self.named(value)
                for key, value in fields.items()
            }  # fmt: skip
        return [self.named(one) for one in fields] if isinstance(fields, list) else fields


def _attackable(ghost: dict[str, Any]) -> Any:
    flags = ghost.get("vis_flags", 0)
    return ghost.get("attackable", flags & 4)


@cache
def _decoder() -> MessageDecoder:
    return MessageDecoder(shipped_tables(), StructLookup(shipped_catalog()))


class Recording:
    """One file: the sessions of its clients in one line of time."""

    def __init__(self, name: str) -> None:
        """Skips the test where the recording is missing."""
        self._rows = recorded_rows(name)
        self.sessions: dict[str, Seen] = {}
        """What each client has seen so far."""

    def windows(self) -> dict[int, dict[str, Any]]:
        """Return the parts of the windows of spells, by spell."""
        found: dict[int, dict[str, Any]] = {}
        for _, fields in self._commands("OP_EqExamineInfoCmd"):
            if WINDOW in fields:
                found[fields[WINDOW]["id"]] = fields[WINDOW]
        return found

    def chance(self) -> RecordedChance:
        """Return what chance has decided about the spells of the players."""
        versions = {row["c"]: row["ver"] for row in self._rows if row["k"] == "meta"}
        return RecordedChance(self._commands(*RecordedChance.COMMANDS), versions)

    @property
    def version(self) -> int:
        """The version of the first client."""
        return next(int(row["ver"]) for row in self._rows if row["k"] == "meta")

    @property
    def class_(self) -> int:
        """The class of the first client's player, as the script of the recording says."""
        marks = (row["n"] for row in self._rows if row["k"] == "mark")
        return next(int(found[1]) for one in marks if (found := _CLASS.search(one)))

    def done(self) -> list[int]:
        """Return the quests that the first list of the journal shows as completed."""
        _, fields = next(self._commands("OP_EqQuestJournalUpdateCmd"))
        return [row["quest_id"] for row in fields["quests_array"] if row["completed"]]

    def level(self) -> int:
        """Return the level on the first character sheet."""
        for fields in self.messages("OP_UpdateCharacterSheet"):
            sheet = fields.get("sheet", fields)
            if "level" in sheet:
                return int(sheet["level"])
        return 1

    def messages(self, *names: str) -> Iterator[dict[str, Any]]:
        """Yield the fields of some messages to clients that are no commands."""
        decoders: dict[str, Seen] = {}
        for row in self._rows:
            if row["k"] == "meta":
                decoders[row["c"]] = Seen(row["ver"])
            elif row["k"] == "app" and row["d"] == "s2c" and row.get("name") in names:
                body = bytes.fromhex(row["hex"])
                for _, fields, _ in decoders[row["c"]].read(row["op"], body, to_server=False):
                    if fields:
                        yield fields

    def _commands(self, *names: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield the rows of some commands to clients, each with its fields."""
        decoders: dict[str, Seen] = {}
        for row in self._rows:
            if row["k"] == "meta":
                decoders[row["c"]] = Seen(row["ver"])
            elif row["k"] == "app" and row.get("subname") in names:
                body = bytes.fromhex(row["hex"])
                for _, fields, _ in decoders[row["c"]].read(row["op"], body, to_server=False):
                    if fields:
                        yield row, fields

    def __iter__(self) -> Iterator[Message | Mark]:
        for row in self._rows:
            at, client = float(row.get("t", 0.0)), str(row.get("c"))
            if row["k"] == "meta":
                # A client that changes the zone has a new session.
                before = self.sessions.get(client)
                self.sessions[client] = Seen(row["ver"])
                self.sessions[client].name = before.name if before is not None else ""
            elif row["k"] == "mark" and not _PREPARED.match(row["n"]):
                yield Mark(at, row["n"])
            elif row["k"] == "app":
                to_server = row["d"] == "c2s"
                body = bytes.fromhex(row["hex"])
                seen = self.sessions[client]
                for name, fields, payload in seen.read(row["op"], body, to_server=to_server):
                    yield Message(at, client, to_server, name, fields, payload)


def session(version: int) -> SessionDecoder:
    """Return a decoder of the messages of one client."""
    return _decoder().session(version)
