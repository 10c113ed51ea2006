"""Reads what a client says of its own movement: OP_PredictionUpdateMsg.

The message packs a position struct XORed with the one before. Both ends keep that one, so it moves
on with every message that can be unpacked, whatever is in it: a client that once sends nonsense is
understood again with its next step (docs/protocol/world/movement.md#prediction,
docs/protocol/world/movement.md#bad-predictions). Whether a step is believed is
`emu.world.movement.trust`'s business.
"""

from __future__ import annotations

from typing import NamedTuple

from emu.dialects import Dialect
from emu.sight import PredictionReader
from emu.sight.position import FULL_TURN, HALF_TURN
from emu.world.spawns import Position


class Step(NamedTuple):
    """Where a client says it is, and how it goes on: speeds in world units a second."""

    position: Position
    speed: float
    side_speed: float
    vert_speed: float
    pitch: float
    activity: int


class StepReader:
    """The server's end of one client's predictions."""

    __slots__ = ("_layout", "_reader")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a client does when it enters a zone. Raises `UnknownStruct`."""
        self._reader = PredictionReader(dialect)
        self._layout = self._reader.positions.layout

    def read(self, payload: bytes) -> Step:
        """Return the step that a message says. Its numbers may be anything, NaN included.

        Raises `MalformedMessage`; the base is then as before.
        """
        fields = self._layout.decode(self._reader.read(payload).position.now)
        return Step(
            Position(
                fields["x"],
                fields["y"],
                fields["z"],
                (fields["direction1"] + HALF_TURN) % FULL_TURN,
                fields["grid_location"],
            ),
            fields["speed"],
            fields["side_speed"],
            fields["vert_speed"],
            HALF_TURN + fields["pitch"],
            fields["activity"],
        )
