"""Positions, and what a client predicts of its own movement: OP_PredictionUpdateMsg.

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
    """A place in a zone: world units with Y up, heading in degrees (0 to 360), the client's grid.

    The heading is the one that zone files and databases hold; clients count from its opposite
    (docs/protocol/world/spawns.md#units).
    """

    x: float
    y: float
    z: float
    heading: float = 0.0
    grid: int = 0

    def distance_to(self, other: Position) -> float:
        """Return the distance on the ground, which is what seeing and hearing go by."""
        return math.hypot(self.x - other.x, self.z - other.z)

    def heading_to(self, other: Position) -> float:
        """Return the heading in which somebody here looks at `other`."""
        angle = math.degrees(math.atan2(other.x - self.x, other.z - self.z))
        return (angle + FULL_TURN) % FULL_TURN

    def toward(self, other: Position, distance: float) -> Position:
        """Return the place `distance` units on the straight way to `other`, looking there.

        No farther than `other` itself.
        """
        span = math.dist(self[:3], other[:3])
        heading = self.heading_to(other) if span else self.heading
        if span <= distance:
            return other._replace(heading=heading)
        part = distance / span
        return Position(
            self.x + (other.x - self.x) * part,
            self.y + (other.y - self.y) * part,
            self.z + (other.z - self.z) * part,
            heading,
            self.grid,
        )


ENVELOPE: Final = "WS_PredictionUpdateMsg"
CONTENT: Final = "Player_Update"
LARGEST: Final = 0x400
"""Bytes of packed content that a client sends at most."""


class Prediction(NamedTuple):
    """One message: the type and time of its envelope, and the position struct's bytes."""

    type: int
    time: int
    position: BaselinePair


class PredictionReader:
    """The predictions of one session."""

    __slots__ = ("_envelope", "positions")

    def __init__(self, layouts: Layouts) -> None:
        """Begin as a session does. Raises `UnknownStruct`."""
        self._envelope = layouts.layout(ENVELOPE)
        self.positions = StateReader(layouts.layout(CONTENT), layouts.version)

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return self.positions.size

    def read(self, body: bytes) -> Prediction:
        """Take one message; raises as `StateReader.read`."""
        envelope = self._envelope.decode(body)
        packed = envelope["packed"].encode("latin-1")
        if len(packed) > LARGEST:
            raise MalformedMessage("prediction too long")
        return Prediction(envelope["type"], envelope["time"], self.positions.read(packed))

    def fields(self, prediction: Prediction) -> dict[str, Any]:
        """Return the envelope's fields and, in `position`, those that changed."""
        position = self.positions.fields(prediction.position)
        return {"type": prediction.type, "time": prediction.time, "position": position}

    def miss(self) -> None:
        """Learn that a prediction will not be read."""
        self.positions.miss()
