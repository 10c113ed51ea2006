"""Puts reliable packets in order; 16-bit sequence numbers wrap.

Source: docs/protocol/transport.md#reliability, RFC 1982.

Source: docs/protocol/transport.md#reliability.
"""

from __future__ import annotations

from enum import Enum

from emu.session.configuration import SessionConfig

MASK = 0xFFFF
HALF = 0x8000


def distance(start: int, sequence: int) -> int:
    """Return how far `sequence` is ahead of `start`: -32768 to 32767, negative when behind."""
    ahead = (sequence - start) & MASK
    return ahead if ahead < HALF else ahead - MASK - 1


class Placement(Enum):
    """Where a sequence number stands."""

    NEXT = "the one awaited"
    FUTURE = "inside the window, held"
    DUPLICATE = "received before"
    OUTSIDE = "outside the window"
    FULL = "inside the window, but nothing more can be held"


class ReceiveWindow:
    """Which packet is awaited, and what came before its turn.

    `expected` is the sequence number that comes next, `bytes_limit` how much is held at most, which
    is little as long as the peer is a stranger. An entry is (protocol opcode, bytes behind
    the sequence number).
    """

    __slots__ = ("_count_limit", "_window", "bytes_limit", "expected", "held", "held_bytes")

    def __init__(self, config: SessionConfig) -> None:
        self.expected = config.first_sequence
        self.held: dict[int, tuple[int, bytes]] | None = None
        self.held_bytes = 0
        self._window = config.window
        self._count_limit = config.held_packet_limit
        self.bytes_limit = min(config.held_bytes_limit, config.stranger_message_size_limit)

    def place(self, sequence: int, opcode: int, data: bytes) -> Placement:
        """Find out where a packet belongs; hold it when it is early. NEXT moves the window."""
        if sequence == self.expected:
            self.expected = (sequence + 1) & MASK
            return Placement.NEXT
        ahead = distance(self.expected, sequence)
        # Behind the window a number may belong to the round of 65,536 before or to the next one:
        # nothing may be acknowledged by guess.
        if ahead < 0:
            return Placement.DUPLICATE if ahead >= -self._window else Placement.OUTSIDE
        if ahead >= self._window:
            return Placement.OUTSIDE
        return self.hold(sequence, opcode, data)

    def hold(self, sequence: int, opcode: int, data: bytes) -> Placement:
        """Hold a packet whose turn comes later; returns FUTURE or FULL."""
        held = self.held
        if held is None:
            held = self.held = {}
        if sequence in held:
            return Placement.FUTURE
        if len(held) >= self._count_limit or self.held_bytes + len(data) > self.bytes_limit:
            return Placement.FULL
        held[sequence] = (opcode, data)
        self.held_bytes += len(data)
        return Placement.FUTURE

    def take_next(self) -> tuple[int, bytes] | None:
        """Return the held entry whose turn it is now, moving the window, or None."""
        held = self.held
        if held is None:
            return None
        entry = held.pop(self.expected, None)
        if entry is None:
            return None
        self.held_bytes -= len(entry[1])
        self.expected = (self.expected + 1) & MASK
        if not held:
            self.held = None  # not an empty dict: `None` is what the short way looks for
        return entry

    def clear(self) -> None:
        """Let go of everything held."""
        self.held = None
        self.held_bytes = 0
