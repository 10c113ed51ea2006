"""The parts of a Combined or AppCombined: a length, so many bytes, up to the end.

Knows neither what a part is nor what is in front of the first
(docs/protocol/transport.md#datagrams, docs/protocol/transport.md#payloads).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram
from emu.wire.buffer import Reader, length_bytes

PART_LIMIT: Final = 4096
"""How many parts are read when a caller gives no bound of its own."""
_OPCODE_SIZE: Final = 2


def pull_parts(data: bytes, limit: int = PART_LIMIT) -> tuple[bytes, ...]:
    """Read the parts behind the two opcode bytes.

    An empty part says nothing and costs its sender one byte, so that a datagram of them would be
    work for nothing: it spoils the whole, as does a length past the end (`MalformedDatagram`), or
    one part more than `limit` (`LimitExceeded`).
    """
    reader = Reader(data, _OPCODE_SIZE)
    parts: list[bytes] = []
    while reader.remaining:
        length = reader.pull_length()
        if not length:
            raise MalformedDatagram("empty part")
        if len(parts) == limit:
            raise LimitExceeded("too many parts")
        parts.append(reader.pull_bytes(length))
    return tuple(parts)


def push_parts(parts: Iterable[bytes]) -> bytes:
    """Write each part behind its length; raises `LocalProtocolError` for an empty one."""
    pieces: list[bytes] = []
    for part in parts:
        if not part:
            raise LocalProtocolError("a part may not be empty")
        pieces += (length_bytes(len(part)), part)
    return b"".join(pieces)
