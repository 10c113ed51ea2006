"""From application messages to cipher text and back: header, deflate stream, RC4 pair.

It also has the messages of the key exchange. Every message must pass exactly once and in order,
because both the deflate stream and the keystreams continue from one message to the next.

Sources: docs/protocol/transport.md#keys, docs/protocol/transport.md#payloads,
docs/protocol/transport.md#messages, docs/protocol/transport.md#compression.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from operator import xor
from typing import Final

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

from emu.errors import (
    LimitExceeded,
    LocalProtocolError,
    MalformedDatagram,
    MalformedMessage,
    PeerError,
)
from emu.session.configuration import Role, SessionConfig

KEY_SIZE: Final = 8
KEY_BLOCK_SIZE: Final = 60
KEY_BLOCK_MESSAGE_MINIMUM: Final = 67  # what the peer takes; real clients send 68
KEY_REQUEST_OPCODE: Final = 2
_FLIPPED: Final = bytes(range(255, -1, -1))  # for `bytes.translate`: inverts every bit
_DROPPED: Final = bytes(20)  # keystream bytes thrown away at the start of each direction
KEY_BLOCK_HEADER: Final = b"\xff\xff\xff\xff" + struct.pack("<I", KEY_BLOCK_SIZE)

KEY_REQUEST: Final = (
    bytes((KEY_REQUEST_OPCODE,))
    + struct.pack("<I", KEY_BLOCK_SIZE)
    + b"\xff" * KEY_BLOCK_SIZE
    + struct.pack("<IB", 1, 1)
)
"""The server's key request, opcode included: exponent 1 makes the client's RSA the identity."""


def key_from_block(message: bytes) -> bytes:
    """Return the RC4 key of a key block or of the message that carries it: last 8 bytes reversed.

    Raises `MalformedMessage` for a key of zeros, which would mean "not encrypted".
    """
    # From the last byte back to the eighth from the end: the last eight bytes reversed.
    key = message[: -KEY_SIZE - 1 : -1]
    if len(key) < KEY_SIZE or not any(key):
        raise MalformedMessage("zero key")
    return key


def make_key_block(random_bytes: Callable[[int], bytes]) -> bytes:
    """Return a random key block of 60 bytes that `key_from_block` accepts."""
    while not any((block := random_bytes(KEY_BLOCK_SIZE))[-KEY_SIZE:]):
        pass  # a key of zeros would mean "not encrypted"
    return block


def key_block_message(block: bytes) -> bytes:
    """Return a client's reply to the key request, from its 60-byte block."""
    return KEY_BLOCK_HEADER + block


def check_key_request(message: bytes) -> None:
    """Raise `MalformedMessage` for a key request with an exponent other than 1."""
    # With another exponent the key block would need real RSA.
    if message != KEY_REQUEST:
        raise MalformedMessage("unknown key request")


class KeyExchange:
    """One side of the key exchange. A server requests the key, a client replies with its block.

    `key_block` is a client's (60 bytes), `was_requested` whether a server has sent its request.
    """

    __slots__ = ("_key_block", "_role", "was_requested")

    def __init__(self, role: Role, key_block: bytes) -> None:
        """Raise `LocalProtocolError` for a client's block of another length or without a key."""
        is_usable = len(key_block) == KEY_BLOCK_SIZE and any(key_block[-KEY_SIZE:])
        if role is Role.CLIENT and not is_usable:
            raise LocalProtocolError(f"a key block has {KEY_BLOCK_SIZE} bytes, not zero at the end")
        self._role = role
        self._key_block = key_block
        self.was_requested = False

    def receive(self, message: bytes) -> bytes:
        """Return the key (8 bytes) that the peer's message settles.

        Raises `PeerError` for another message, or for a key that means "not encrypted".
        """
        if self._role is Role.CLIENT:
            check_key_request(message)
            return key_from_block(self._key_block)
        # A shorter message is no key block, and nothing else is allowed before the key.
        if len(message) < KEY_BLOCK_MESSAGE_MINIMUM:
            raise MalformedDatagram("message before the key")
        return key_from_block(message)

    def reply(self) -> bytes:
        """Return the message with a client's key block."""
        return key_block_message(self._key_block)


class _PeekedStream:
    """A keystream some bytes of which were read before their turn; called like `decrypt`."""

    __slots__ = ("_update", "ahead")

    def __init__(self, update: Callable[[bytes], bytes]) -> None:
        self._update = update
        self.ahead = b""

    def peek(self, size: int) -> bytes:
        """Return the next bytes of the keystream; they remain the next ones."""
        missing = size - len(self.ahead)
        if missing > 0:
            self.ahead += self._update(bytes(missing))
        return self.ahead[:size]

    def __call__(self, data: bytes) -> bytes:
        """Decrypt with the bytes that were read before, then with the following ones."""
        ahead = self.ahead
        if not ahead:
            return self._update(data)
        self.ahead = ahead[len(data) :]
        used = len(ahead) - len(self.ahead)
        plain = bytes(map(xor, data[:used], ahead))
        return plain + self._update(data[used:])


class CipherPair:
    """Both keystreams of a session: `encrypt` for our role's messages, `decrypt` for the peer's."""

    __slots__ = ("_peeked", "decrypt", "encrypt")

    def __init__(self, key: bytes, role: Role) -> None:
        """Start both streams from the 8-byte key, 20 bytes in."""
        # A stream cipher has no mode, and encryptor and decryptor are the same operation.
        from_server = Cipher(ARC4(key), mode=None).encryptor()
        from_client = Cipher(ARC4(key.translate(_FLIPPED)), mode=None).encryptor()
        # Both sides discard these bytes; a side that does not cannot read a single message.
        from_server.update(_DROPPED)
        from_client.update(_DROPPED)
        ours, theirs = (
            (from_server, from_client) if role is Role.SERVER else (from_client, from_server)
        )
        self.encrypt = ours.update
        self.decrypt: Callable[[bytes], bytes] = theirs.update
        self._peeked: _PeekedStream | None = None

    def try_decrypt(self, data: bytes) -> bytes:
        """Decrypt without going forward: the next message is decrypted as if this never was."""
        # Only sessions that were ever asked pay for it: the usual `decrypt` has no Python code.
        peeked = self._peeked
        if peeked is None:
            peeked = self._peeked = _PeekedStream(self.decrypt)
            self.decrypt = peeked
        return bytes(map(xor, data, peeked.peek(len(data))))


class Deflater:
    """Compresses message after message into one stream, with a sync flush behind each.

    `compressor` is made at first use and may be dropped (None) behind any message. The next one
    starts a raw stream that refers to nothing before it, and every inflater continues with that. A
    session drops it whenever it returns datagrams: it takes 30 kB for each player, and for
    movement, which is most of the traffic, its history saves only one byte in ten.
    """

    __slots__ = ("_config", "_started", "compressor")

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self.compressor: zlib._Compress | None = None
        self._started = False

    def deflate(self, data: bytes) -> bytes:
        """Return the next piece of the stream, complete up to the end of `data`."""
        compressor = self.compressor
        if compressor is None:
            config = self._config
            bits = config.deflate_window_bits
            compressor = self.compressor = zlib.compressobj(
                config.deflate_level,
                zlib.DEFLATED,
                # Only the first block has a zlib header; a negative number makes zlib omit it.
                -bits if self._started else bits,
                config.deflate_memory_level,
            )
            self._started = True
        return compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)


class Inflater:
    """Reads the stream of a `Deflater`, with a limit on the size of one inflated message."""

    __slots__ = ("_inflater", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # One inflater for the session: later messages refer to bytes of earlier ones.
        self._inflater = zlib.decompressobj()

    def inflate(self, data: bytes) -> bytes:
        """Return the plain bytes of one piece.

        Raises `MalformedMessage` for a damaged stream, `LimitExceeded` beyond the limit; the stream
        cannot be used after either.
        """
        try:
            # One byte more than allowed shows an excess without inflating all of it.
            plain = self._inflater.decompress(data, self._limit + 1)
        except zlib.error:
            raise MalformedMessage("damaged compressed message") from None
        if len(plain) > self._limit:
            raise LimitExceeded("inflated message too long")
        # The sender only flushes its stream and never ends it, so an end mark shows damage.
        if self._inflater.eof:
            raise MalformedMessage("damaged compressed message")
        return plain


OPCODE_SIZE_LIMIT = 3
"""The most bytes that an opcode takes."""
_WIDE = 0xFF
_COMPRESSED = 1
_SEQUENCE_SIZE = 2  # the compression threshold counts the sequence number in front
_PLAIN_FLAG = b"\x00"
_COMPRESSED_FLAG = b"\x01"


def opcode_bytes(opcode: int, width: int) -> bytes:
    """Return the bytes of an opcode in front of a message.

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
    # With width 1 the byte FF is an ordinary opcode.
    if first != _WIDE or width == 1:
        return first, message[1:]
    if len(message) < 3:
        raise MalformedMessage("message without opcode")
    return message[1] | message[2] << 8, message[3:]


class MessageCodec:
    """Encodes and decodes the messages of one session whose key is known.

    `holds_memory` is whether `release` frees memory. `broken` becomes true when the peer's deflate
    stream is damaged: nothing behind can be read.
    """

    __slots__ = ("_cipher", "_deflater", "_inflater", "_role", "_threshold", "_width", "broken",
                 "holds_memory")  # fmt: skip

    def __init__(self, config: SessionConfig, role: Role, key: bytes) -> None:
        self._role = role
        self._width = config.stream_type.opcode_width
        self._threshold = config.compression_threshold
        self._cipher = CipherPair(key, role)
        # Only server messages are compressed, so each side needs only one of the two.
        self._deflater = Deflater(config) if role is Role.SERVER else None
        self._inflater = Inflater(config.message_size_limit) if role is Role.CLIENT else None
        self.broken = False
        self.holds_memory = False

    def encode(self, opcode: int, body: bytes) -> bytes:
        """Return a message as one reliable payload or AppCombined part, escape byte included.

        Raises `LocalProtocolError` for an opcode that does not fit.
        """
        plain = opcode_bytes(opcode, self._width) + body
        if self._deflater is not None:
            if _SEQUENCE_SIZE + 1 + len(plain) > self._threshold:
                plain = _COMPRESSED_FLAG + self._deflater.deflate(plain)
                self.holds_memory = True
            else:
                plain = _PLAIN_FLAG + plain
        cipher_text = self._cipher.encrypt(plain)
        # A first byte 00 would be read as a marker, so one more 00 escapes it.
        return cipher_text if cipher_text[0] else b"\x00" + cipher_text

    def decode(self, cipher_text: bytes) -> tuple[int, bytes]:
        """Return opcode and body of a message without its escape byte.

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

    def can_decode(self, cipher_text: bytes) -> bool:
        """Return whether a client's message, without its escape byte, decrypts to an opcode.

        Changes nothing.
        """
        head = self._cipher.try_decrypt(cipher_text[:OPCODE_SIZE_LIMIT])
        try:
            opcode, _ = split_opcode(head, self._width)
        except MalformedMessage:
            return False
        # Clients write the long form only for opcodes that have no short one.
        return self._width == 1 or head[0] != _WIDE or opcode >= _WIDE

    def release(self) -> None:
        """Free memory that is not needed between datagrams."""
        self.holds_memory = False
        if self._deflater is not None:
            self._deflater.compressor = None
