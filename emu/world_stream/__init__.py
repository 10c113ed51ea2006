"""Decoders of the messages that are sent as changes: ghosts, sheets, books, and predictions.

Each message is the XOR with the one before it, so a reader keeps what it has read. `WorldStream`
decodes a whole session for captures and tools; `GhostReader` and the others serve a client that
plays. Source: docs/protocol/structs.md#deltas.
"""

from __future__ import annotations

from emu.world_stream.deltas import BookReader, Layouts, PredictionReader, StateReader
from emu.world_stream.ghosts import Ghost, GhostReader, GhostUpdate
from emu.world_stream.stream import WorldStream

__all__ = [
    "BookReader",
    "Ghost",
    "GhostReader",
    "GhostUpdate",
    "Layouts",
    "PredictionReader",
    "StateReader",
    "WorldStream",
]
