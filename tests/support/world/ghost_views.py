"""Reads ghosts back as a client does.

`View` shares no code with the readers of `emu.world_stream`, and so proves writers and readers
alike; `GhostView` has ghosts as our own client has them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from emu.dialects import Dialect, Dialects, shipped_rules
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.structs.packed import read_oversized, reverses_literals, unpack, unpack_stream, xor
from emu.world.visibility.forms import GhostForm, read_rules
from emu.world_stream.ghosts import (
    DESTROY_GHOST,
    FOOTERS,
    HEADER,
    PARTS,
    UPDATE_GHOST,
    GhostReader,
)

DIALECTS = Dialects(shipped_tables, shipped_catalog(), shipped_rules())


def dialect(version: int) -> Dialect:
    return DIALECTS.for_version(version)


@cache
def form(version: int) -> GhostForm:
    return GhostForm(dialect(version), read_rules().for_version(version))


class View:
    """One client's ghosts: index to the three parts as bytes."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.form = form(version)
        self.parts: dict[int, list[bytes]] = {}
        self.footers: dict[int, bytes] = {}

    def create(self, payload: bytes) -> dict[str, Any]:
        """Take a create command; returns its header."""
        header, at = dialect(self.version).layout(HEADER).decode_prefix(payload)
        body, end = unpack(payload, sum(self.form.sizes), self.version, at)
        parts = []
        for size in self.form.sizes:
            parts.append(body[:size])
            body = body[size:]
        self.parts[header["index"]] = parts
        self.footers[header["index"]] = payload[end:]
        return header

    def update(self, payload: bytes) -> set[int]:
        """Take an update command; returns the indexes it names. Sections are info, pos, vis."""
        at, named = 4, set()
        for part in (2, 0, 1):
            length, at = _oversized(payload, at)
            end = at + length
            while at < end:
                index, at = _oversized(payload, at)
                delta, at = unpack_stream(
                    payload, self.form.sizes[part],
                    reverse=reverses_literals(self.version), offset=at, end=end,
                )  # fmt: skip
                self.parts[index][part] = xor(delta, self.parts[index][part])
                named.add(index)
            assert at == end
        assert at == len(payload)
        return named

    def fields(self, index: int) -> dict[str, Any]:
        """Everything that is not zero or empty of one ghost."""
        return _fields_of(self.version, self.parts[index])


class GhostView:
    """What one client sees, read by `emu.world_stream`."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.reader = GhostReader(dialect(version))

    def look(self, name: str, payload: bytes) -> None:
        """Take a command; those that are not of ghosts are let be."""
        if name in FOOTERS:
            self.reader.create(name, payload)
        elif name == UPDATE_GHOST:
            update = self.reader.update(payload)
            assert all(entry.now is not None for entry in update.entries)
        elif name == DESTROY_GHOST:
            index, _ = read_oversized(payload, 0)
            assert index in self.reader.ghosts
            self.reader.destroy(index)

    @property
    def indexes(self) -> list[int]:
        """The indexes of all ghosts."""
        return list(self.reader.ghosts)

    def fields(self, index: int) -> dict[str, Any]:
        """Everything that is not zero or empty of one ghost."""
        ghost = self.reader.ghosts[index]
        return ghost.footer | _fields_of(self.version, ghost.parts)


def _fields_of(version: int, parts: list[bytes]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, data in zip(PARTS, parts, strict=True):
        values = dialect(version).layout(name).decode(data)
        out |= {key: _plain(value) for key, value in values.items() if _plain(value)}
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.rstrip("\0")
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if _plain(inner)}
    if isinstance(value, list):
        plain = [_plain(inner) for inner in value]
        return plain if any(plain) else []
    return value


def _oversized(data: bytes, at: int) -> tuple[int, int]:
    if data[at] != 0xFF:
        return data[at], at + 1
    return int.from_bytes(data[at + 1 : at + 3], "little"), at + 3
