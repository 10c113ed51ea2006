"""Arithmetic of 16-bit sequence numbers that wrap.

Source: docs/protocol/transport.md#reliability, RFC 1982.
"""

from __future__ import annotations

MASK = 0xFFFF
HALF = 0x8000


def distance(start: int, sequence: int) -> int:
    """Return how far `sequence` is ahead of `start`: -32768 to 32767, negative when behind."""
    ahead = (sequence - start) & MASK
    return ahead if ahead < HALF else ahead - MASK - 1
