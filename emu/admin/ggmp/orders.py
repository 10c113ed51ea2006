"""The two orders of bytes: the authors' client writes big-endian, the text says nothing.

Both ends of a conversation use one; nothing in a message tells which. Source:
docs/protocol/administration/ggmp.md#decisions.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, Literal


class ByteOrder:
    """How numbers of several bytes are written, in heads, values and data alike."""

    __slots__ = ("_is_big", "name", "numbers", "place", "point", "short", "starts")

    def __init__(self, name: Literal["big", "little"]) -> None:
        self.name = name
        mark = ">" if name == "big" else "<"
        self._is_big = name == "big"
        self.starts = tuple(struct.Struct(f"{mark}II{more * 'I'}") for more in range(5))
        """Head and client as `join_head` makes one number of them, the id, and so many more."""
        self.short = struct.Struct(f"{mark}BBHBBBB")
        self.point = struct.Struct(f"{mark}ddd")
        self.place = struct.Struct(f"{mark}dddd")
        self.numbers = tuple(struct.Struct(f"{mark}BB{form}") for form in "IiQqd")
        """Size, type and number, by type of value."""

    def join_head(self, head: int, client: int) -> int:
        """Return head and client as the first number of a message: the head is the first byte."""
        return head << 24 | client if self._is_big else client << 8 | head

    def client_of(self, number: int) -> int:
        """Return the client of a message's first number."""
        return number & 0xFFFFFF if self._is_big else number >> 8

    def push_actors(self, actors: Sequence[int]) -> bytes:
        """Return a list of actors as data."""
        return b"".join(actor.to_bytes(4, self.name) for actor in actors)

    def pull_actors(self, data: bytes) -> list[int]:
        """Return the actors that data list; what is left over is left out."""
        at = range(0, len(data) - 3, 4)
        return [int.from_bytes(data[start : start + 4], self.name) for start in at]


BIG: Final = ByteOrder("big")
LITTLE: Final = ByteOrder("little")
ORDERS: Final[Mapping[str, ByteOrder]] = {order.name: order for order in (BIG, LITTLE)}
