"""Reads what a client says of its own movement: OP_PredictionUpdateMsg.

The message packs a position struct XORed with the one before. Both ends keep that one, so it moves
on with every message that can be unpacked, whatever is in it: a client that once sends nonsense is
understood again with its next step (eq2-world.md 4.1, eq2-world-recorded.md 10.5). Whether a step
is believed is `emu.world.movement.trust`'s business.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.dialects import Dialect
from emu.errors import MalformedMessage
from emu.structs.packed import DeltaBase, reverses_literals, unpack_stream
from emu.world.spawns import Position

ENVELOPE: Final = "WS_PredictionUpdateMsg"
CONTENT: Final = "Player_Update"
LARGEST: Final = 0x400
"""Bytes of packed content that a client sends at most (client-546-notes.md 6)."""
HALF_TURN: Final = 180.0
FULL_TURN: Final = 360.0


class Step(NamedTuple):
    """Where a client says it is, and how it goes on: speeds in world units a second."""

    position: Position
    speed: float
    side_speed: float
    vert_speed: float
    pitch: float
    activity: int


class PredictionReader:
    """The server's end of one client's predictions."""

    __slots__ = ("_base", "_content", "_envelope", "_reverse")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a client does when it enters a zone. Raises `UnknownStruct`."""
        self._envelope = dialect.layout(ENVELOPE)
        self._content = dialect.layout(CONTENT)
        self._reverse = reverses_literals(dialect.version)
        self._base = DeltaBase(self._content.empty_size())

    def read(self, payload: bytes) -> Step:
        """Return the step that a message says. Its numbers may be anything, NaN included.

        Raises `MalformedMessage`; the base is then as before.
        """
        packed = self._envelope.decode(payload)["packed"].encode("latin-1")
        if len(packed) > LARGEST:
            raise MalformedMessage("prediction too long")
        size = len(self._base.last)
        delta, end = unpack_stream(packed, size, reverse=self._reverse)
        if end != len(packed):
            raise MalformedMessage("bytes behind the packed prediction")
        fields = self._content.decode(self._base.decode(delta))
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
