"""The parts of a Combined or AppCombined: a length, so many bytes, up to the end.

Knows neither what a part is nor what is in front of the first
(docs/protocol/transport.md#datagrams, docs/protocol/transport.md#payloads).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram

PART_LIMIT: Final = 4096
"""How many parts are read when a caller gives no bound of its own."""
_ESCAPE: Final = 0xFF
_SHORT: Final = tuple(bytes((length,)) for length in range(_ESCAPE))
"""Lengths in one byte, as those of nearly all parts are."""
_U16_MAXIMUM: Final = 0xFFFF
_U32_MAXIMUM: Final = 0xFFFFFFFF


def length_bytes(length: int) -> bytes:
    """Return a length (big-endian) in its shortest form: u8, FF and u16, or FF FF FF and u32."""
    if 0 <= length < _ESCAPE:
        return _SHORT[length]
    if 0 <= length < _U16_MAXIMUM:
        return b"\xff" + length.to_bytes(2, "big")
    if 0 <= length <= _U32_MAXIMUM:
        return b"\xff\xff\xff" + length.to_bytes(4, "big")
    raise LocalProtocolError(f"{length} is not a length")


def _pull_long(data: bytes, start: int) -> tuple[int, int]:
    """Return the length that an escape at `start` announces, and where the part behind it begins.

    Raises `MalformedDatagram` when the length itself is cut off.
    """
    begin = start + 3
    length = int.from_bytes(data[start + 1 : begin], "big")
    if length == _U16_MAXIMUM:
        begin = start + 7
        length = int.from_bytes(data[start + 3 : begin], "big")
    if begin > len(data):
        raise MalformedDatagram("truncated packet")
    return length, begin


def pull_parts(data: bytes, limit: int = PART_LIMIT, start: int = 0) -> tuple[bytes, ...]:
    """Read the parts that `data` is made of, from `start` on.

    An empty part says nothing and costs its sender one byte, so that a datagram of them would be
    work for nothing: it spoils the whole, as does a length past the end (`MalformedDatagram`), or
    one part more than `limit` (`LimitExceeded`).
    """
    parts: list[bytes] = []
    position, size = start, len(data)
    while position < size:
        length, begin = data[position], position + 1
        if length == _ESCAPE:
            length, begin = _pull_long(data, position)
        if not length:
            raise MalformedDatagram("empty part")
        if len(parts) == limit:
            raise LimitExceeded("too many parts")
        position = begin + length
        if position > size:
            raise MalformedDatagram("truncated packet")
        parts.append(data[begin:position])
    return tuple(parts)


def push_parts(parts: Iterable[bytes]) -> bytes:
    """Write each part behind its length; raises `LocalProtocolError` for an empty one."""
    pieces: list[bytes] = []
    for part in parts:
        if not part:
            raise LocalProtocolError("a part may not be empty")
        size = len(part)
        pieces += (_SHORT[size] if size < _ESCAPE else length_bytes(size), part)
    return b"".join(pieces)
