"""One struct that is told again and again: packed, as the XOR with the time before.

The character sheet comes so, and what a client predicts of itself. The base is all zeros when a
session begins, and moves on with everything that can be unpacked, whatever it says: its sender's
did, too (docs/protocol/structs.md#deltas).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from emu.errors import MalformedMessage, UnknownBase
from emu.sight.changes import changed_fields
from emu.structs import Layout
from emu.structs.packed import DeltaBase, reverses_literals, unpack_stream


class Told(NamedTuple):
    """A struct's bytes as they are now, and as they were told before (None the first time)."""

    before: bytes | None
    now: bytes


class StateReader:
    """What one session has told of one struct."""

    __slots__ = ("_base", "_reverse", "_told", "layout", "size")

    def __init__(self, layout: Layout, version: int) -> None:
        """Begin as a session does. `version` is the client's."""
        self.layout = layout
        self.size = layout.empty_size()
        """Bytes of the struct before it is packed."""
        self._reverse = reverses_literals(version)
        self._base: DeltaBase | None = DeltaBase(self.size)
        self._told = False

    def read(self, stream: bytes) -> Told:
        """Take one packed XOR, its length not in front.

        Raises `MalformedMessage`, which leaves the base as it was, and `UnknownBase`.
        """
        delta, end = unpack_stream(stream, self.size, reverse=self._reverse)
        if end != len(stream):
            raise MalformedMessage("bytes behind the packed stream")
        if self._base is None:
            raise UnknownBase(f"the {self.layout.name} that this one changes")
        before = self._base.last if self._told else None
        self._told = True
        return Told(before, self._base.decode(delta))

    def read_message(self, body: bytes) -> Told:
        """Take a message that is nothing but a u32 length and a packed XOR. Raises as `read`."""
        if len(body) < _LENGTH or int.from_bytes(body[:_LENGTH], "little") != len(body) - _LENGTH:
            raise MalformedMessage("packed stream of another length than it says")
        return self.read(body[_LENGTH:])

    def fields(self, told: Told) -> dict[str, Any]:
        """Return every field the first time, later those that changed."""
        now = self.layout.decode(told.now)
        return now if told.before is None else changed_fields(self.layout.decode(told.before), now)

    def miss(self) -> None:
        """Learn that something was told that will not be read: what follows cannot be, either."""
        self._base = None


_LENGTH = 4
