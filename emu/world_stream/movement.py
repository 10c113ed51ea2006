"""Positions, and a client's predictions of its own movement: OP_PredictionUpdateMsg.

Source: docs/protocol/world/movement.md#prediction.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from emu.errors import MalformedMessage
from emu.world_stream.deltas import BaselinePair, StateReader
from emu.world_stream.ghosts import Layouts

HALF_TURN: Final = 180.0
FULL_TURN: Final = 360.0


class Position(NamedTuple):
    """A place in a zone: x, y, z in units with Y up, the heading in degrees, the client's grid.

    The heading is 0 to 360 as in zone files and databases. On the wire, clients count from the
    opposite direction (docs/protocol/world/spawns.md#units).
    """

    x: float
    y: float
    z: float
    heading: float = 0.0
    grid: int = 0

    def distance_to(self, other: Position) -> float:
        """Return the distance on the ground, without height: the one for visibility and chat."""
        return math.hypot(self.x - other.x, self.z - other.z)

    def heading_to(self, other: Position) -> float:
        """Return the heading from here to `other`, in degrees."""
        angle = math.degrees(math.atan2(other.x - self.x, other.z - self.z))
        return (angle + FULL_TURN) % FULL_TURN

    def toward(self, other: Position, distance: float) -> Position:
        """Return the place `distance` units along the straight line to `other`, heading there.

        It is never beyond `other`.
        """
        span = math.dist(self[:3], other[:3])
        heading = self.heading_to(other) if span else self.heading
        if span <= distance:
            return other._replace(heading=heading)
        share = distance / span
        return Position(
            self.x + (other.x - self.x) * share,
            self.y + (other.y - self.y) * share,
            self.z + (other.z - self.z) * share,
            heading,
            self.grid,
        )


ENVELOPE: Final = "WS_PredictionUpdateMsg"
CONTENT: Final = "Player_Update"
LARGEST: Final = 0x400
"""The most bytes of packed content that a client sends."""


class Prediction(NamedTuple):
    """One message: the type and time of its envelope, and the bytes of the position struct."""

    type: int
    time: int
    position: BaselinePair


class PredictionReader:
    """The predictions of one session."""

    __slots__ = ("_envelope", "positions")

    def __init__(self, layouts: Layouts) -> None:
        """Start with a baseline of zeros. Raises `UnknownStruct`."""
        self._envelope = layouts.layout(ENVELOPE)
        self.positions = StateReader(layouts.layout(CONTENT), layouts.version)

    @property
    def size(self) -> int:
        """The memory that the baseline uses, in bytes."""
        return self.positions.size

    def read(self, body: bytes) -> Prediction:
        """Decode one message. Raises as `StateReader.read`."""
        envelope = self._envelope.decode(body)
        packed = envelope["packed"].encode("latin-1")
        if len(packed) > LARGEST:
            raise MalformedMessage("prediction too long")
        return Prediction(envelope["type"], envelope["time"], self.positions.read(packed))

    def fields(self, prediction: Prediction) -> dict[str, Any]:
        """Return the envelope's fields, and in `position` the changed fields."""
        position = self.positions.fields(prediction.position)
        return {"type": prediction.type, "time": prediction.time, "position": position}

    def miss(self) -> None:
        """Note that a prediction was not read."""
        self.positions.miss()
