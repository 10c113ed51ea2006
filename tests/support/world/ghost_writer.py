"""Writes a world's messages about ghosts and books with structs and packing alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emu.structs.packed import oversized, pack, pack_stream, xor
from emu.world_stream.ghosts import HEADER, PARTS, SECTIONS
from tests.support.world.ghost_views import dialect

PART_NAMES = ("position", "vis", "info")


class GhostWriter:
    """A server's side: it knows what it has sent of every ghost."""

    def __init__(self, version: int = 546) -> None:
        self.version = version
        self.dialect = dialect(version)
        self.sent: dict[int, list[bytes]] = {}

    def parts(self, position: Any = None, vis: Any = None, info: Any = None) -> list[bytes]:
        """Encode the three parts from their fields."""
        values = (position or {}, vis or {}, info or {})
        return [
            self.dialect.layout(name).encode(fields)
            for name, fields in zip(PARTS, values, strict=True)
        ]

    def create(self, index: int, footer: bytes = b"", **fields: Any) -> bytes:
        """Return the command that creates a ghost."""
        parts = self.sent[index] = self.parts(**fields)
        header = self.dialect.layout(HEADER).encode({"index": index, "spawn_id": index})
        return header + pack(b"".join(parts), self.version) + footer

    def update(self, time: int, entries: Sequence[tuple[int, int, bytes]]) -> bytes:
        """Return an update; `entries` are (part, index, bytes as they are now)."""
        sections: dict[int, bytes] = dict.fromkeys(SECTIONS, b"")
        for part, index, now in entries:
            delta = xor(now, self.sent[index][part])
            self.sent[index][part] = now
            sections[part] += oversized(index) + pack_stream(delta, reverse=True)
        body = b"".join(oversized(len(sections[part])) + sections[part] for part in SECTIONS)
        return time.to_bytes(4, "little") + body

    def changed(self, part: int, index: int, fields: Mapping[str, Any]) -> tuple[int, int, bytes]:
        """Return an entry for `update`: a part with some fields changed."""
        layout = self.dialect.layout(PARTS[part])
        values = layout.decode(self.sent[index][part]) | dict(fields)
        return part, index, layout.encode(values)
