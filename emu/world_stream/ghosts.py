"""Ghosts as a client has them: created, changed and destroyed by commands of the server.

A ghost has three parts, each a struct that is sent as a packed XOR with its previous value.
`GhostReader` keeps the three parts of each ghost. An update names ghosts by index and has no
lengths: an entry ends when its part is complete.
Source: docs/protocol/world/spawns.md#create-ghost, docs/protocol/world/movement.md#updates.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from emu.errors import MalformedMessage
from emu.structs.packed import read_oversized, reverses_literals, unpack, unpack_stream, xor
from emu.world_stream.deltas import Layouts, changed_fields

HEADER: Final = "WS_SpawnStruct_Header"
PARTS: Final = (
    "Substruct_SpawnPositionStruct",
    "Substruct_SpawnVisualizationInfoStruct",
    "Substruct_SpawnInfoStruct",
)
"""The structs of a ghost's parts (position, visibility, info), in the order of a create command."""
POSITION, VISIBILITY, INFO = range(3)
"""The indexes of the parts in every tuple of parts."""
SECTIONS: Final = (INFO, POSITION, VISIBILITY)
"""The parts in the order of an update command."""
FOOTER: Final = "WS_SpawnStruct_Footer"
"""The names of every ghost; clients up to 561 have them in the info part."""
UPDATE_TITLE: Final = "WS_UpdateTitle"
WIDGET_FOOTER: Final = "WS_WidgetSpawnStruct_Footer"
SIGN_FOOTER: Final = "WS_SignWidgetSpawnStruct_Footer"

CREATE_GHOST: Final = "OP_EqCreateGhostCmd"
CREATE_WIDGET: Final = "OP_EqCreateWidgetCmd"
CREATE_SIGN: Final = "OP_EqCreateSignWidgetCmd"
UPDATE_GHOST: Final = "OP_EqUpdateGhostCmd"
DESTROY_GHOST: Final = "OP_EqDestroyGhostCmd"
TITLE_CHANGED: Final = "OP_UpdateTitleCmd"
"""The message of a player whose names have changed, for clients that have names in footers."""
FOOTERS: Final = {CREATE_GHOST: "", CREATE_WIDGET: WIDGET_FOOTER, CREATE_SIGN: SIGN_FOOTER}
"""For each command that creates a ghost, the struct behind its packed parts."""
HEADING_UNIT: Final = 64
"""Headings on the wire are degrees times this (docs/protocol/world/spawns.md#units)."""


PART_NAMES: Final = ("position", "vis", "info")
"""The names of the parts in a decoded ghost, as in WS_SpawnStruct."""
FOOTER_NAME: Final = "footer"


NOT_A_PLAYER: Final = 2
"""A bit of activity_status from 562 on: everything but players has it."""


class EntryMarks(enum.Enum):
    """What the position entries of an update have besides index and change."""

    NONE = "nothing"
    TIME_OF_PLAYERS = "a player's entry has the time"
    KIND = "a byte says whether the time follows"


FIRST_TIME: Final = 562
FIRST_KIND_BYTE: Final = 1188


def entry_marks(version: int) -> EntryMarks:
    """Return the marks of a client version (docs/protocol/world/newer.md#update)."""
    if version >= FIRST_KIND_BYTE:
        return EntryMarks.KIND
    return EntryMarks.TIME_OF_PLAYERS if version >= FIRST_TIME else EntryMarks.NONE


@dataclass(slots=True)
class Ghost:
    """One ghost: its header, the current bytes of its parts, and its footer."""

    header: dict[str, Any]
    parts: list[bytes]
    footer: dict[str, Any]
    is_player: bool = False
    """Whether its position entries have a time, in versions before `FIRST_KIND_BYTE`."""


class GhostEntry(NamedTuple):
    """One entry of an update: a part of a ghost (an index), before and after.

    Both are None for a ghost whose creation was not read.
    """

    part: int
    ghost: int
    before: bytes | None
    now: bytes | None


class GhostUpdate(NamedTuple):
    """One update: the server's clock in milliseconds, and the entries in wire order."""

    time: int
    entries: list[GhostEntry]


class GhostReader:
    """The ghosts of one client, by index."""

    __slots__ = (
        "_footers", "_header", "_layouts", "_marks", "_reverse", "_source", "_version", "ghosts",
        "sizes",
    )  # fmt: skip

    def __init__(self, layouts: Layouts) -> None:
        """Start without ghosts. Raises `UnknownStruct` for versions whose ghosts are unknown."""
        self._source = layouts
        self._version = layouts.version
        self._reverse = reverses_literals(layouts.version)
        self._header = layouts.layout(HEADER)
        self._layouts = [layouts.layout(name) for name in PARTS]
        self._marks = entry_marks(layouts.version)
        self._footers = {name: layouts.layout(name) for name in (WIDGET_FOOTER, SIGN_FOOTER)}
        # Older clients have the names in the info part, so their ordinary ghosts have no footer.
        if self._marks is not EntryMarks.NONE:
            self._footers[FOOTER] = layouts.layout(FOOTER)
        # The parts have fixed sizes, so a struct of zeros is as long as any other.
        self.sizes = tuple(layout.empty_size() for layout in self._layouts)
        """The length of each part in bytes, before it is packed."""
        self.ghosts: dict[int, Ghost] = {}

    @property
    def size(self) -> int:
        """The memory that the ghosts use, in bytes."""
        return len(self.ghosts) * sum(self.sizes)

    def create(self, command: str, payload: bytes) -> Ghost:
        """Read a command that creates a ghost; replace a ghost with the same index.

        Raises `MalformedMessage`.
        """
        header, at = self._header.decode_prefix(payload)
        # A create command packs the three parts as one stream, an update packs each entry by
        # itself.
        whole, end = unpack(payload, sum(self.sizes), self._version, at)
        parts = list(_cut(whole, self.sizes))
        footer = self._footer(command, payload[end:])
        ghost = Ghost(header, parts, footer, self._is_player(parts, footer))
        self.ghosts[header["index"]] = ghost
        return ghost

    def update(self, payload: bytes) -> GhostUpdate:
        """Read an update and change the ghosts that it names.

        Raises `MalformedMessage` and then removes all ghosts: the unread rest may change any.
        """
        # The entries are read completely before the update is returned, but each one changes its
        # ghost at once: one update may name a ghost twice.
        try:
            entries = list(self._entries(payload))
        except MalformedMessage:
            self.ghosts.clear()
            raise
        return GhostUpdate(int.from_bytes(payload[:_TIME], "little"), entries)

    def rename(self, payload: bytes) -> int:
        """Read an UpdateTitle: the new names of a ghost's footer. Return its index.

        Nothing changes for a ghost that is not known. Raises `MalformedMessage`, and
        `UnknownStruct` for versions that have the names in the info part.
        """
        fields = self._source.layout(UPDATE_TITLE).decode(payload)
        index: int = fields.pop("player_id")
        fields["name"] = fields.pop("player_name")
        # The creation of this ghost may not have been read.
        ghost = self.ghosts.get(index)
        if ghost is not None:
            ghost.footer |= {name: fields[name] for name in ghost.footer.keys() & fields.keys()}
        return index

    def destroy(self, index: int) -> None:
        """Remove a ghost; do nothing if there is none."""
        self.ghosts.pop(index, None)

    def miss(self) -> None:
        """Note that commands were not read: remove all ghosts, because any may have changed."""
        self.ghosts.clear()

    def part_fields(self, part: int, data: bytes) -> dict[str, Any]:
        """Return the fields of one part."""
        return self._layouts[part].decode(data)

    def ghost_fields(self, ghost: Ghost) -> dict[str, Any]:
        """Return the header's fields, each part's fields under its name, and the footer's."""
        fields = dict(ghost.header)
        for part, name in enumerate(PART_NAMES):
            fields[name] = self.part_fields(part, ghost.parts[part])
        if ghost.footer:
            fields[FOOTER_NAME] = ghost.footer
        return fields

    def update_fields(self, update: GhostUpdate) -> dict[str, Any]:
        """Return `time`, and in `info`, `position` and `vis` a list of changes each.

        A change has the ghost's `index` and the changed fields, possibly none. If the creation of
        the ghost was not read, it has `undecoded` with the reason instead.
        """
        fields: dict[str, Any] = {"time": update.time}
        fields |= {PART_NAMES[part]: [] for part in SECTIONS}
        for entry in update.entries:
            fields[PART_NAMES[entry.part]].append(self._entry_fields(entry))
        return fields

    def _entry_fields(self, entry: GhostEntry) -> dict[str, Any]:
        if entry.before is None or entry.now is None:
            return {"index": entry.ghost, "undecoded": "the creation of this ghost was not read"}
        changes: dict[str, Any] = {}
        # Decoding is the slow step, so it is skipped for equal bytes.
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
                if part == POSITION:
                    at += self._mark_size(index, payload[at:end])
                delta, at = unpack_stream(
                    payload, self.sizes[part], reverse=self._reverse, offset=at, end=end
                )
                yield self._advance(part, index, delta)
            # An entry that crosses the section means wrong sizes or marks; nothing behind it can
            # be trusted.
            if at != end:
                raise MalformedMessage("entry of an update runs past its section")
        if at != len(payload):
            raise MalformedMessage("bytes behind the sections of an update")

    def _is_player(self, parts: list[bytes], footer: dict[str, Any]) -> bool:
        if self._marks is not EntryMarks.TIME_OF_PLAYERS:
            return False
        if "is_player" in footer:
            return bool(footer["is_player"])
        # Before 882 nothing says so, but all other kinds have this bit.
        return not self.part_fields(INFO, parts[INFO])["activity_status"] & NOT_A_PLAYER

    def _mark_size(self, index: int, rest: bytes) -> int:
        """Return the bytes between the index of a position entry and its change.

        Raises `MalformedMessage` for a ghost of which it is unknown whether it is a player.
        """
        match self._marks:
            case EntryMarks.KIND:
                return 1 + (_TIME if rest[:1] != b"\0" else 0)
            case EntryMarks.TIME_OF_PLAYERS:
                ghost = self.ghosts.get(index)
                if ghost is None:
                    raise MalformedMessage("position of a ghost whose creation was not read")
                return _TIME if ghost.is_player else 0
        return 0

    def _advance(self, part: int, index: int, delta: bytes) -> GhostEntry:
        ghost = self.ghosts.get(index)
        # The change was consumed, so the next entry can be read, but there is no state to apply
        # it to.
        if ghost is None:
            return GhostEntry(part, index, None, None)
        before = ghost.parts[part]
        now = ghost.parts[part] = xor(delta, before)
        return GhostEntry(part, index, before, now)

    def _footer(self, command: str, data: bytes) -> dict[str, Any]:
        name = FOOTERS[command]
        if not name and FOOTER in self._footers:
            name = FOOTER
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
