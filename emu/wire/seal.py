"""From a protocol packet to a datagram and back: compression or encoding, then the check.

Only the two opcode bytes of a packet are read here.

Sources: docs/protocol/transport.md#check, docs/protocol/transport.md#stream-types.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntFlag
from typing import Final
from zlib import crc32

from emu.errors import BadChecksum, LimitExceeded, MalformedDatagram

CHECK_SIZE = 2  # bytes, big-endian


def check_start(key: int) -> int:
    """Return the start value of the CRC for a check key (u32 of the SessionResponse).

    It depends only on the key, so a session computes it once.
    """
    # Little-endian, unlike the other numbers of this layer: verified with recorded datagrams.
    return crc32(key.to_bytes(4, "little"))


def check_of(data: bytes, start: int) -> int:
    """Return the check (u16) of a datagram's bytes before the check."""
    return crc32(data, start) & 0xFFFF


_COMPRESSED = 0x5A
_AS_IT_IS = 0xA5
_HEADER = 2  # the two opcode bytes stay readable in every format
_WORD = 4
THRESHOLD: Final = 128
"""The default size in bytes above which a packet's body is compressed."""
INFLATE_LIMIT: Final = 8192
"""The default limit in bytes of one inflated datagram."""


class Format(IntFlag):
    """The Format byte of SessionResponse: the transformation of the bytes behind the opcode."""

    NONE = 0
    COMPRESSED = 1
    ENCODED = 4


def encode_words(data: bytes, key: int) -> bytes:
    """Encode with the chained XOR of ChatStream.

    Each 32-bit little-endian word is XORed with the previous encoded word, the first with `key`
    (the session's check key). The remaining 0 to 3 bytes are XORed with the low byte of the last.
    """
    count = len(data) // _WORD
    shape = f"<{count}I"
    words = list(struct.unpack_from(shape, data))
    for index, word in enumerate(words):
        key ^= word
        words[index] = key
    # `key` is now the last encoded word, which the format uses for the remaining bytes.
    low = key & 0xFF
    return struct.pack(shape, *words) + bytes(byte ^ low for byte in data[count * _WORD :])


def decode_words(data: bytes, key: int) -> bytes:
    """Undo `encode_words` with the same key."""
    count = len(data) // _WORD
    shape = f"<{count}I"
    words = list(struct.unpack_from(shape, data))
    for index, word in enumerate(words):
        words[index] = word ^ key
        key = word
    low = key & 0xFF
    return struct.pack(shape, *words) + bytes(byte ^ low for byte in data[count * _WORD :])


def compress(data: bytes, threshold: int) -> bytes:
    """Return marker and data: 5A and zlib if that is shorter beyond `threshold` bytes, else A5."""
    if len(data) > threshold:
        packed = zlib.compress(data)
        # Incompressible bytes would grow, and the datagram might exceed MaxLength.
        if len(packed) < len(data):
            return bytes((_COMPRESSED,)) + packed
    return bytes((_AS_IT_IS,)) + data


def decompress(data: bytes, limit: int) -> bytes:
    """Undo `compress`, with at most `limit` bytes of output.

    Raises `MalformedDatagram` for a missing marker or a damaged stream, `LimitExceeded` beyond the
    limit.
    """
    if not data:
        raise MalformedDatagram("missing compression marker")
    if data[0] == _AS_IT_IS:
        return data[1:]
    if data[0] != _COMPRESSED:
        raise MalformedDatagram("missing compression marker")
    inflater = zlib.decompressobj()
    try:
        # One byte more than allowed shows an excess without inflating a bomb to its full size.
        plain = inflater.decompress(data[1:], limit + 1)
    except zlib.error:
        raise MalformedDatagram("damaged compressed datagram") from None
    if len(plain) > limit:
        raise LimitExceeded("inflated datagram too long")
    if not inflater.eof or inflater.unused_data:
        raise MalformedDatagram("damaged compressed datagram")
    return plain


class Seal:
    """Seals the protocol packets of one session into datagrams, and opens them.

    `key` is the check key (u32) of SessionResponse, `threshold` the size in bytes above which a
    packet's body is compressed, `inflate_limit` the most bytes of an inflated datagram. `overhead`
    is the most bytes that sealing adds. `plain` is whether a packet stays unchanged except for the
    check. SessionRequest, SessionResponse and OutOfSession are never sealed; callers check that.
    """

    __slots__ = ("_format", "_inflate_limit", "_key", "_threshold", "overhead", "plain", "start")

    def __init__(
        self,
        key: int,
        form: Format = Format.NONE,
        *,
        threshold: int = THRESHOLD,
        inflate_limit: int = INFLATE_LIMIT,
    ) -> None:
        self._key = key
        self._format = form
        self.plain = form == Format.NONE  # read for every datagram, and IntFlag is slow
        self._threshold = threshold
        self._inflate_limit = inflate_limit
        self.start = check_start(key)
        # The marker of a compressed body takes one byte even if the body stays as it is.
        self.overhead = CHECK_SIZE + (1 if form & Format.COMPRESSED else 0)

    def is_valid(self, datagram: bytes) -> bool:
        """Return whether a datagram ends with the right check."""
        # `check_of` is inlined here and in `seal`: the call would cost as much as the CRC.
        return (
            len(datagram) >= _HEADER + CHECK_SIZE
            and crc32(datagram[:-CHECK_SIZE], self.start) & 0xFFFF
            == datagram[-2] << 8 | datagram[-1]
        )

    def seal(self, packet: bytes) -> bytes:
        """Return the datagram for one protocol packet (`00 op` and body)."""
        if not self.plain:
            body = packet[_HEADER:]
            if self._format & Format.COMPRESSED:
                # Compress first: encoded bytes look random and would not shrink.
                body = compress(body, self._threshold)
            if self._format & Format.ENCODED:
                body = encode_words(body, self._key)
            packet = packet[:_HEADER] + body
        return packet + (crc32(packet, self.start) & 0xFFFF).to_bytes(CHECK_SIZE, "big")

    def unseal(self, datagram: bytes) -> bytes:
        """Return the protocol packet of a datagram.

        Raises `BadChecksum`, or what `decompress` raises.
        """
        # The check is first: bytes of an unknown sender must not reach zlib.
        if not self.is_valid(datagram):
            raise BadChecksum("bad check")
        packet = datagram[:-CHECK_SIZE]
        if not self.plain:
            body = packet[_HEADER:]
            if self._format & Format.ENCODED:
                body = decode_words(body, self._key)
            if self._format & Format.COMPRESSED:
                body = decompress(body, self._inflate_limit)
            packet = packet[:_HEADER] + body
        return packet
