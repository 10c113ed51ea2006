"""Messages that nobody handles: told once for each client and opcode, however often they come.

They are how a new client version shows what it wants. A client here is whatever its service tells
apart, best an account with its client version, so that coming back tells nothing again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

MOST_CLIENTS: Final = 4096
"""Clients that are remembered; the one silent for longest is forgotten."""
MOST_OPCODES: Final = 64
"""Opcodes of one client that are told of; a client that sends more of them is making them up."""
FIRST_BYTES: Final = 16
"""Bytes of a message that are shown."""


class UnknownMessages:
    """Remembers which opcode of which client was told of."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: OrderedDict[Hashable, set[int]] = OrderedDict()

    def is_new(self, client: Hashable, opcode: int) -> bool:
        """Say whether this opcode of this client is to be told of, and remember it."""
        told = self._told.setdefault(client, set())
        self._told.move_to_end(client)
        if len(self._told) > MOST_CLIENTS:
            self._told.popitem(last=False)
        if opcode in told or len(told) >= MOST_OPCODES:
            return False
        told.add(opcode)
        return True


def first_bytes(body: bytes) -> str:
    """Return the beginning of a message as hexadecimal digits, with dots where it goes on."""
    return body[:FIRST_BYTES].hex(" ") + (" ..." if len(body) > FIRST_BYTES else "")
