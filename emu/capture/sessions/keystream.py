"""Where in a session's RC4 key stream a capture begins, when the key is known and the start is not.

Cipher text alone does not tell how many bytes went before it. But the first byte of every message
has few values: a server's flag is 0 or 1, a client's opcode is one of its version's
(docs/protocol/transport.md#messages). A place in the stream under which a row of messages all begin
with such a byte is the right one, once the row is long enough to leave no room for chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

MAX_POSITION: Final = 8 * 1024 * 1024
"""Bytes of one direction that may have gone before the capture."""
MAX_MESSAGES: Final = 512
"""Messages that may be needed to be sure."""
_CHANCE: Final = 1e-6
"""How likely a wrong place may pass for the right one."""
_DROPPED: Final = 20  # key stream bytes that every session throws away


class KeyStream:
    """One direction's key stream, from any place on.

    `key` is K of docs/protocol/transport.md#keys.
    """

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes, *, from_client: bool, position: int = 0) -> None:
        own = bytes(byte ^ 0xFF for byte in key) if from_client else key
        self._cipher = Cipher(ARC4(own), mode=None).encryptor()
        self._cipher.update(bytes(_DROPPED + position))

    def apply(self, data: bytes) -> bytes:
        """Return the next bytes in the clear, or in cipher text: it is the same."""
        return self._cipher.update(data)


def messages_needed(first_bytes: Collection[int]) -> int | None:
    """Return how many messages make sure of a place; None when too many values may come first."""
    share = len(frozenset(first_bytes)) / 256
    if not 0 < share < 1:
        return None
    needed = math.ceil(math.log(_CHANCE / MAX_POSITION) / math.log(share))
    return needed if needed <= MAX_MESSAGES else None


def find_positions(
    stream: KeyStream, messages: Sequence[bytes], first_bytes: Collection[int]
) -> tuple[int, bool]:
    """Return the first place that fits and whether it is the only one; -1 when none fits.

    `stream` is at its beginning, `messages` are cipher texts in a row without escape bytes.
    """
    before = sum(len(message) for message in messages[:-1])
    keys = stream.apply(bytes(MAX_POSITION + before))
    fitting = -1
    at = 0
    for message in messages:
        first = message[0]
        fits = bytes((key ^ first) in first_bytes for key in range(256))
        hits = keys[at : at + MAX_POSITION].translate(fits)
        fitting &= int.from_bytes(hits, "little")
        if not fitting:
            return -1, False
        at += len(message)
    lowest = fitting & -fitting
    return (lowest.bit_length() - 1) // 8, fitting == lowest
