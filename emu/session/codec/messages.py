"""Application messages in and out of cipher text.

Sources: docs/protocol/transport.md#keys, docs/protocol/transport.md#payloads,
docs/protocol/transport.md#messages.

Owns the header of each direction, the deflate stream and the cipher pair, in the right order. Does
not know packets: it must be given every message exactly once and in order.
"""

from __future__ import annotations

from emu.errors import LocalProtocolError, MalformedMessage, PeerError
from emu.session.codec.cipher import CipherPair
from emu.session.codec.deflater import Deflater, Inflater
from emu.session.configuration import Role, SessionConfig

OPCODE_SIZE_LIMIT = 3
"""Bytes that an opcode has at most."""
_WIDE = 0xFF
_COMPRESSED = 1
_SEQUENCE_SIZE = 2  # the compression threshold counts the sequence number in front
_PLAIN_FLAG = b"\x00"
_COMPRESSED_FLAG = b"\x01"


def opcode_bytes(opcode: int, width: int) -> bytes:
    """Return an opcode as it goes in front of a message.

    Width 1 is one byte. Width 2 is one byte below FF, else FF and a u16, little-endian. Raises
    `LocalProtocolError` when the number does not fit.
    """
    if width == 1:
        if 0 <= opcode <= 0xFF:
            return opcode.to_bytes(1, "little")
    elif 0 <= opcode < _WIDE:
        return opcode.to_bytes(1, "little")
    elif 0 <= opcode <= 0xFFFF:
        return b"\xff" + opcode.to_bytes(2, "little")
    raise LocalProtocolError(f"opcode {opcode} does not fit this stream type")


def split_opcode(message: bytes, width: int) -> tuple[int, bytes]:
    """Return opcode and body, the inverse of `opcode_bytes`; raises `MalformedMessage`."""
    if not message:
        raise MalformedMessage("message without opcode")
    first = message[0]
    if first != _WIDE or width == 1:
        return first, message[1:]
    if len(message) < 3:
        raise MalformedMessage("message without opcode")
    return message[1] | message[2] << 8, message[3:]


class MessageCodec:
    """Encodes and decodes the messages of one session whose key is known.

    `broken` turns true when the deflate stream from the peer is damaged: nothing after can be read.
    """

    __slots__ = ("_cipher", "_deflater", "_inflater", "_role", "_threshold", "_width", "broken")

    def __init__(self, config: SessionConfig, role: Role, key: bytes) -> None:
        self._role = role
        self._width = config.stream_type.opcode_width
        self._threshold = config.compression_threshold
        self._cipher = CipherPair(key, role)
        self._deflater = Deflater(config) if role is Role.SERVER else None
        self._inflater = Inflater(config.message_size_limit) if role is Role.CLIENT else None
        self.broken = False

    def encode(self, opcode: int, body: bytes) -> bytes:
        """Return a message as one reliable payload or AppCombined part, escape byte included.

        Raises `LocalProtocolError` for an opcode that does not fit.
        """
        plain = opcode_bytes(opcode, self._width) + body
        if self._deflater is not None:
            if _SEQUENCE_SIZE + 1 + len(plain) > self._threshold:
                plain = _COMPRESSED_FLAG + self._deflater.deflate(plain)
            else:
                plain = _PLAIN_FLAG + plain
        cipher_text = self._cipher.encrypt(plain)
        return cipher_text if cipher_text[0] else b"\x00" + cipher_text

    def decode(self, cipher_text: bytes) -> tuple[int, bytes]:
        """Return opcode and body of a message whose escape byte is off.

        Raises `MalformedMessage` or `LimitExceeded`.
        """
        plain = self._cipher.decrypt(cipher_text)
        if self._inflater is None:
            first = plain[0]
            if first != _WIDE:  # nearly every message a client sends
                return first, plain[1:]
            return split_opcode(plain, self._width)
        flag = plain[0]
        plain = plain[1:]
        if flag == _COMPRESSED:
            try:
                plain = self._inflater.inflate(plain)
            except PeerError:
                self.broken = True
                raise
        elif flag:
            raise MalformedMessage("unknown message flag")
        return split_opcode(plain, self._width)

    def release(self) -> None:
        """Give back memory that is not needed between messages."""
        if self._deflater is not None:
            self._deflater.compressor = None
