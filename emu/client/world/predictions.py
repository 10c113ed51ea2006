"""Writes what a client predicts of its own movement: OP_PredictionUpdateMsg.

Source: docs/protocol/world/movement.md#prediction.
"""

from __future__ import annotations

from collections.abc import Mapping

from emu.dialects import Dialect
from emu.sight.predictions import CONTENT, ENVELOPE
from emu.structs.packed import DeltaBase, pack_stream, reverses_literals


class PredictionWriter:
    """One session's predictions: each is packed as the XOR with the one before."""

    __slots__ = ("_base", "_content", "_envelope", "_reverse")

    def __init__(self, dialect: Dialect) -> None:
        """Begin as a session does. Raises `UnknownStruct`."""
        self._envelope = dialect.layout(ENVELOPE)
        self._content = dialect.layout(CONTENT)
        self._reverse = reverses_literals(dialect.version)
        self._base = DeltaBase(self._content.empty_size())

    def write(self, fields: Mapping[str, object], time: int) -> bytes:
        """Return a message from fields of Player_Update and the client's time, milliseconds.

        Raises `StructValueError`.
        """
        delta = self._base.encode(self._content.encode(fields))
        packed = pack_stream(delta, reverse=self._reverse)
        return self._envelope.encode({"time": time, "packed": packed.decode("latin-1")})
