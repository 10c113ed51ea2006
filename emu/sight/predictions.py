"""What a client predicts of its own movement: OP_PredictionUpdateMsg.

Source: docs/protocol/world/movement.md#prediction.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from emu.errors import MalformedMessage
from emu.sight.forms import Layouts
from emu.sight.states import StateReader, Told

ENVELOPE: Final = "WS_PredictionUpdateMsg"
CONTENT: Final = "Player_Update"
LARGEST: Final = 0x400
"""Bytes of packed content that a client sends at most."""


class Prediction(NamedTuple):
    """One message: the type and time of its envelope, and the position struct's bytes."""

    type: int
    time: int
    position: Told


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
