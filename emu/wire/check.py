"""The keyed check at the end of a datagram: two calls of zlib's CRC-32.

Source: docs/protocol/transport.md#check.
"""

from __future__ import annotations

from zlib import crc32

CHECK_SIZE = 2  # bytes, big-endian


def check_start(key: int) -> int:
    """Return the CRC start value for a check key (u32 as SessionResponse carries it).

    It depends on the key alone, so a session computes it once.
    """
    return crc32(key.to_bytes(4, "little"))


def check_of(data: bytes, start: int) -> int:
    """Return the check (u16) of a datagram's bytes before the check."""
    return crc32(data, start) & 0xFFFF
