"""Ghosts as a client has them: created, changed and removed by commands of the server.

Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/movement.md#updates.

A ghost is three structs told as packed XORs, each with what was told of it last; whoever reads them
keeps the three. An update names ghosts by index and gives no lengths: where an entry ends follows
from its struct's size. Source: docs/protocol/world/spawns.md#create-ghost,
docs/protocol/world/movement.md#updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from emu.errors import MalformedMessage, UnknownStruct
from emu.structs import StructLayout
from emu.structs.packed import reverses_literals, unpack, unpack_stream, xor
from emu.versions import LAST_OLD_CLIENT
from emu.world_stream.deltas import changed_fields

HEADER: Final = "WS_SpawnStruct_Header"
PARTS: Final = (
    "Substruct_SpawnPositionStruct",
    "Substruct_SpawnVisualizationInfoStruct",
    "Substruct_SpawnInfoStruct",
)
"""Position, visibility and info: what a ghost is made of, in the order of the wire."""
POSITION, VISIBILITY, INFO = range(3)
"""Places of the parts in every tuple of parts."""
SECTIONS: Final = (INFO, POSITION, VISIBILITY)
"""The parts in the order in which an update has them."""
WIDGET_FOOTER: Final = "WS_WidgetSpawnStruct_Footer"
SIGN_FOOTER: Final = "WS_SignWidgetSpawnStruct_Footer"

CREATE_GHOST: Final = "OP_EqCreateGhostCmd"
CREATE_WIDGET: Final = "OP_EqCreateWidgetCmd"
CREATE_SIGN: Final = "OP_EqCreateSignWidgetCmd"
UPDATE_GHOST: Final = "OP_EqUpdateGhostCmd"
DESTROY_GHOST: Final = "OP_EqDestroyGhostCmd"
FOOTERS: Final = {CREATE_GHOST: "", CREATE_WIDGET: WIDGET_FOOTER, CREATE_SIGN: SIGN_FOOTER}
"""For each command that creates a ghost, the struct behind its packed parts."""
HEADING_UNIT: Final = 64
"""Headings on the wire are degrees times this (docs/protocol/world/spawns.md#units)."""

_BYTE_LIMIT: Final = 255


class Layouts(Protocol):
    """The structs of one client version; `emu.dialects.Dialect` is one."""

    @property
    def version(self) -> int:
        """The client version."""

    def layout(self, name: str) -> StructLayout:
        """Return a struct's layout; raises `UnknownStruct`."""


def oversized(value: int) -> bytes:
    """Return a number as one byte below 255, else FF and a u16.

    Source: docs/protocol/structs.md#oversized.
    """
    if value < _BYTE_LIMIT:
        return bytes((value,))
    return b"\xff" + value.to_bytes(2, "little")


def read_oversized(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and where it ends. Raises `MalformedMessage`."""
    end = at + (3 if data[at : at + 1] == b"\xff" else 1)
    if end > len(data):
        raise MalformedMessage("number cut short")
    return (data[at] if end == at + 1 else int.from_bytes(data[at + 1 : end], "little")), end


PART_NAMES: Final = ("position", "vis", "info")
"""What the parts are called among the fields of a ghost, as in WS_SpawnStruct."""
FOOTER_NAME: Final = "footer"


@dataclass(slots=True)
class Ghost:
    """One ghost: the fields around its packed parts, and the parts as they are now."""

    header: dict[str, Any]
    parts: list[bytes]
    footer: dict[str, Any]


class GhostEntry(NamedTuple):
    """One part of one ghost, named by index; both None for one whose creation was not read."""

    part: int
    ghost: int
    before: bytes | None
    now: bytes | None


class GhostUpdate(NamedTuple):
    """One update; `time` is the server's clock in milliseconds, entries are in wire order."""

    time: int
    entries: list[GhostEntry]


class GhostReader:
    """The ghosts of one client, by index."""

    __slots__ = ("_footers", "_header", "_layouts", "_reverse", "_version", "ghosts", "sizes")

    def __init__(self, layouts: Layouts) -> None:
        """Begin with none. Raises `UnknownStruct` for versions whose ghosts nobody wrote down."""
        if layouts.version > LAST_OLD_CLIENT:
            raise UnknownStruct(f"what ghosts are after version {LAST_OLD_CLIENT} is not known")
        self._version = layouts.version
        self._reverse = reverses_literals(layouts.version)
        self._header = layouts.layout(HEADER)
        self._layouts = [layouts.layout(name) for name in PARTS]
        self._footers = {name: layouts.layout(name) for name in (WIDGET_FOOTER, SIGN_FOOTER)}
        self.sizes = tuple(layout.empty_size() for layout in self._layouts)
        """Bytes of each part before it is packed."""
        self.ghosts: dict[int, Ghost] = {}

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return len(self.ghosts) * sum(self.sizes)

    def create(self, command: str, payload: bytes) -> Ghost:
        """Take a command that creates a ghost; it replaces one that has its index.

        Raises `MalformedMessage`.
        """
        header, at = self._header.decode_prefix(payload)
        whole, end = unpack(payload, sum(self.sizes), self._version, at)
        ghost = Ghost(header, list(_cut(whole, self.sizes)), self._footer(command, payload[end:]))
        self.ghosts[header["index"]] = ghost
        return ghost

    def update(self, payload: bytes) -> GhostUpdate:
        """Take an update and change the ghosts that it names.

        Raises `MalformedMessage`; every ghost is then forgotten, as nobody knows which ones the
        rest would have changed.
        """
        try:
            entries = list(self._entries(payload))
        except MalformedMessage:
            self.ghosts.clear()
            raise
        return GhostUpdate(int.from_bytes(payload[:_TIME], "little"), entries)

    def destroy(self, index: int) -> None:
        """Forget a ghost; one that is not there is no error."""
        self.ghosts.pop(index, None)

    def miss(self) -> None:
        """Learn that commands were sent that will not be read: every ghost may have changed."""
        self.ghosts.clear()

    def part_fields(self, part: int, data: bytes) -> dict[str, Any]:
        """Return the fields of one part."""
        return self._layouts[part].decode(data)

    def ghost_fields(self, ghost: Ghost) -> dict[str, Any]:
        """Return the header's fields, then each part's under its name, then the footer's."""
        fields = dict(ghost.header)
        for part, name in enumerate(PART_NAMES):
            fields[name] = self.part_fields(part, ghost.parts[part])
        if ghost.footer:
            fields[FOOTER_NAME] = ghost.footer
        return fields

    def update_fields(self, update: GhostUpdate) -> dict[str, Any]:
        """Return time, info, position and vis, each of the three a list of what changed.

        An entry has `index` and the changed fields, none for a ghost that is named without need. A
        ghost whose creation was not read has `undecoded` instead of fields.
        """
        fields: dict[str, Any] = {"time": update.time}
        fields |= {PART_NAMES[part]: [] for part in SECTIONS}
        for entry in update.entries:
            fields[PART_NAMES[entry.part]].append(self._entry_fields(entry))
        return fields

    def _entry_fields(self, entry: GhostEntry) -> dict[str, Any]:
        if entry.before is None or entry.now is None:
            return {"index": entry.ghost, "undecoded": "the ghost that this changes is not known"}
        changes: dict[str, Any] = {}
        if entry.before != entry.now:
            now, before = (self.part_fields(entry.part, one) for one in (entry.now, entry.before))
            changes = changed_fields(before, now)
        return {"index": entry.ghost, **changes}

    def _entries(self, payload: bytes) -> Iterator[GhostEntry]:
        at = _TIME
        for part in SECTIONS:
            length, at = read_oversized(payload, at)
            end = at + length
            if end > len(payload):
                raise MalformedMessage("section of an update runs past the end")
            while at < end:
                index, at = read_oversized(payload, at)
                delta, at = unpack_stream(
                    payload, self.sizes[part], reverse=self._reverse, offset=at, end=end
                )
                yield self._advance(part, index, delta)
            if at != end:
                raise MalformedMessage("entry of an update runs past its section")
        if at != len(payload):
            raise MalformedMessage("bytes behind the sections of an update")

    def _advance(self, part: int, index: int, delta: bytes) -> GhostEntry:
        ghost = self.ghosts.get(index)
        if ghost is None:
            return GhostEntry(part, index, None, None)
        before = ghost.parts[part]
        now = ghost.parts[part] = xor(delta, before)
        return GhostEntry(part, index, before, now)

    def _footer(self, command: str, data: bytes) -> dict[str, Any]:
        name = FOOTERS[command]
        if name:
            return self._footers[name].decode(data)
        if data:
            raise MalformedMessage("bytes behind the packed parts of a ghost")
        return {}


_TIME: Final = 4


def _cut(whole: bytes, sizes: tuple[int, ...]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield whole[at : at + size]
        at += size
