"""Sessions that began before the capture: the position in the key stream, and their messages.

Encrypted data does not show how many bytes preceded it. But the first byte of every message has few
possible values: a server's flag is 0 or 1, a client's opcode is one of its version's
(docs/protocol/transport.md#messages). A position in the key stream under which a series of messages
all begin with such a byte is the right one, if the series is long enough to exclude chance.

Messages are stored until their position is known, then decrypted with all that follow. Messages
that cannot be decrypted are counted by reason.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

from emu.session import LateMessage

MAX_POSITION: Final = 8 * 1024 * 1024
"""Bytes of one direction before the capture, at most."""
MAX_MESSAGES: Final = 512
"""Messages needed for certainty, at most."""
_CHANCE: Final = 1e-6
"""The accepted probability that a wrong position fits."""
_DROPPED: Final = 20  # Key stream bytes that every session discards.


class KeyStream:
    """The key stream of one direction, from any position on.

    `key` is K of docs/protocol/transport.md#keys.
    """

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes, *, from_client: bool, position: int = 0) -> None:
        # The two directions use one key and its complement (docs/protocol/transport.md#keys).
        own = bytes(byte ^ 0xFF for byte in key) if from_client else key
        self._cipher = Cipher(ARC4(own), mode=None).encryptor()
        # The cipher has no seek; the bytes before the position are generated and discarded.
        self._cipher.update(bytes(_DROPPED + position))

    def apply(self, data: bytes) -> bytes:
        """Return the next bytes decrypted, or encrypted: RC4 is symmetric."""
        return self._cipher.update(data)


def messages_needed(first_bytes: Collection[int]) -> int | None:
    """Return how many messages prove a position; None if too many first bytes are possible."""
    # A wrong position passes one message with the probability `share`, and N messages with
    # share**N. The number is chosen so that even of all positions together hardly one passes by
    # chance.
    share = len(frozenset(first_bytes)) / 256
    if not 0 < share < 1:
        return None
    needed = math.ceil(math.log(_CHANCE / MAX_POSITION) / math.log(share))
    return needed if needed <= MAX_MESSAGES else None


def find_positions(
    stream: KeyStream, messages: Sequence[bytes], first_bytes: Collection[int]
) -> tuple[int, bool]:
    """Return the first position that fits and whether it is the only one; -1 when none fits.

    `stream` is at its beginning; `messages` are consecutive encrypted messages without escape
    bytes.
    """
    # The last message begins behind all others, so the key stream must reach that far.
    before = sum(len(message) for message in messages[:-1])
    # All positions are tested at once. For each message, `hits` has 1 in the byte of every position
    # whose decrypted first byte is possible; the numbers of all messages are combined with "and".
    # One translate and one "and" of long integers replace eight million steps in Python.
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
    # The lowest bit is the first position. Further bits are further candidates.
    lowest = fitting & -fitting
    return (lowest.bit_length() - 1) // 8, fitting == lowest


MAX_HELD: Final = 4 * 1024 * 1024
"""Bytes of encrypted messages that are stored."""
SERVER_FLAGS: Final = frozenset((0, 1))
"""First byte of a server's message: plain or compressed."""
NO_KEY: Final = "the capture does not show the key exchange (--key 'rc4 SESSION HEX' gives the key)"
NO_VERSION: Final = "a client's opcodes depend on the client version (--version gives it)"
TOO_FEW: Final = "too few to find their position in the key stream"
NO_PLACE: Final = "the key does not fit, or too many bytes preceded the capture"
BEFORE: Final = "they refer to compressed data from before the capture"

_COMPRESSED = 1
_WIDE = 0xFF
_WINDOW = 1 << zlib.MAX_WBITS


class LateMessages:
    """Decrypts messages in order; escape bytes have been removed.

    `first_bytes` are the possible first bytes of a message of this direction, empty if they are
    unknown. `unread` counts the messages that were dropped, by reason.
    """

    def __init__(
        self, *, from_client: bool, first_bytes: Collection[int], opcode_width: int
    ) -> None:
        self.unread: Counter[str] = Counter()
        self._from_client = from_client
        self._first_bytes = frozenset(first_bytes) if from_client else SERVER_FLAGS
        self._width = opcode_width
        self._key: bytes | None = None
        self._stream: KeyStream | None = None
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._wanted = messages_needed(self._first_bytes)
        self._problem = ""
        self._gap = True
        self._inflater = LateInflater()

    def set_key(self, key: bytes) -> None:
        """Set the session's key K; only the first call counts."""
        if self._key is None:
            self._key = key

    def receive(self, message: bytes) -> list[LateMessage]:
        """Add one encrypted message; return the messages that can be read now, oldest first."""
        if self._stream is not None:
            return self._decode([message])
        if self._problem:
            self.unread[self._problem] += 1
            return []
        self._held.append(message)
        self._held_bytes += len(message)
        if self._key is not None and len(self._held) == self._wanted:
            self._locate(self._key)
        elif len(self._held) > MAX_MESSAGES or self._held_bytes > MAX_HELD:
            self._give_up(self._why_held())
        if self._stream is None:
            return []
        held, self._held = self._held, []
        return self._decode(held)

    def close(self) -> None:
        """Drop the messages that still wait."""
        if self._held:
            self._give_up(self._why_held())

    def _locate(self, key: bytes) -> None:
        assert self._wanted is not None  # noqa: S101
        stream = KeyStream(key, from_client=self._from_client)
        position, only = find_positions(stream, self._held, self._first_bytes)
        if position < 0:
            self._give_up(NO_PLACE)
        elif only:
            self._stream = KeyStream(key, from_client=self._from_client, position=position)
        else:
            # More than one position fits: wait for twice as many messages and search again.
            self._wanted *= 2

    def _why_held(self) -> str:
        if self._key is None:
            return NO_KEY
        return TOO_FEW if self._first_bytes else NO_VERSION

    def _give_up(self, problem: str) -> None:
        self._problem = problem
        self.unread[problem] += len(self._held)
        self._held.clear()
        self._held_bytes = 0

    def _decode(self, messages: list[bytes]) -> list[LateMessage]:
        found: list[LateMessage] = []
        for message in messages:
            plain = self._plain(message)
            if not plain:
                self.unread[BEFORE] += 1
                self._gap = True
                continue
            opcode, body = plain[0], plain[1:]
            if opcode == _WIDE and self._width != 1:
                if len(body) < 2:
                    continue
                opcode, body = int.from_bytes(body[:2], "little"), body[2:]
            # Only the first message after a gap is marked; the follower then drops the baselines.
            found.append(LateMessage(opcode, body, after_gap=self._gap))
            self._gap = False
        return found

    def _plain(self, message: bytes) -> bytes | None:
        """Return a decompressed message, None if it refers to missing data."""
        assert self._stream is not None  # noqa: S101
        plain = self._stream.apply(message)
        if self._from_client:
            return plain
        # Only servers send compressed messages, behind a byte that says so.
        flag, plain = plain[0], plain[1:]
        return self._inflater.inflate(plain) if flag == _COMPRESSED else plain


class LateInflater:
    """Decompresses a stream whose beginning is missing, where it does not refer to that.

    Two inflaters with different made-up histories run side by side. Where their output is equal, it
    does not depend on the missing data; where it differs, the text is unknown.
    """

    LIMIT: Final = 500_000
    """Bytes of one decompressed message, the limit of clients."""

    def __init__(self) -> None:
        self._pair = [
            zlib.decompressobj(-zlib.MAX_WBITS, zdict=bytes((filler,)) * _WINDOW)
            for filler in (0x00, 0xFF)
        ]
        self._begun = False

    def inflate(self, data: bytes) -> bytes | None:
        """Return a decompressed message, None if it is damaged or refers to missing data."""
        if not self._begun:
            self._begun = True
            data = _without_header(data)
        try:
            one, other = (inflater.decompress(data, self.LIMIT) for inflater in self._pair)
        except zlib.error:
            return None
        return one if one == other else None


def _without_header(data: bytes) -> bytes:
    """Return the first piece without the two bytes of a zlib header, if they are there.

    A raw piece with the same first bytes would have to be a stored block of an impossible length.
    """
    whole = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return data[2:] if whole else data
