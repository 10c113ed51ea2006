"""What a client is shown of the world, read back from the messages that show it.

Ghosts, sheets, books and predictions are told as the XOR with what was told before, so a reader
keeps what it has read. `WorldStream` reads one session for people and programs that look on;
`GhostReader` and the others are for a client that plays. Source:
docs/protocol/structs.md#deltas and the rules that the files here name.
"""

from __future__ import annotations

from emu.world_stream.deltas import BookReader, StateReader
from emu.world_stream.ghosts import Ghost, GhostReader, GhostUpdate, Layouts
from emu.world_stream.movement import PredictionReader
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
