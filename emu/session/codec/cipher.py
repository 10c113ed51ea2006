"""The RC4 pair of a session and where its key comes from (docs/protocol/transport.md#keys).

Owns the key block, the key request and the two keystreams. Does not know packets or order: its
caller must decrypt every byte exactly once and in order.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

from emu.errors import MalformedMessage
from emu.session.configuration import Role

KEY_SIZE: Final = 8
KEY_BLOCK_SIZE: Final = 60
KEY_BLOCK_MESSAGE_MINIMUM: Final = 67  # what the peer takes; real clients send 68
KEY_REQUEST_OPCODE: Final = 2
_FLIPPED: Final = bytes(range(255, -1, -1))  # for `bytes.translate`: every bit the other way
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
    key = message[: -KEY_SIZE - 1 : -1]
    if len(key) < KEY_SIZE or not any(key):
        raise MalformedMessage("zero key")
    return key


def make_key_block(random_bytes: Callable[[int], bytes]) -> bytes:
    """Return a client's key block of 60 bytes by chance: one that `key_from_block` takes."""
    while not any((block := random_bytes(KEY_BLOCK_SIZE))[-KEY_SIZE:]):
        pass  # a key of zeros would mean "not encrypted"
    return block


def key_block_message(block: bytes) -> bytes:
    """Return what a client answers to the key request, from its 60-byte block."""
    return KEY_BLOCK_HEADER + block


def check_key_request(message: bytes) -> None:
    """Refuse a key request that asks for more than the identity.

    Raises `MalformedMessage`.
    """
    if message != KEY_REQUEST:
        raise MalformedMessage("unknown key request")


class CipherPair:
    """Both keystreams of one session: `encrypt` for what our role sends, `decrypt` for the rest."""

    __slots__ = ("decrypt", "encrypt")

    def __init__(self, key: bytes, role: Role) -> None:
        """Start both streams from the 8-byte key, 20 bytes in."""
        # No modes for a stream cipher; encryptor and decryptor are the same operation.
        from_server = Cipher(ARC4(key), mode=None).encryptor()
        from_client = Cipher(ARC4(key.translate(_FLIPPED)), mode=None).encryptor()
        from_server.update(_DROPPED)
        from_client.update(_DROPPED)
        ours, theirs = (
            (from_server, from_client) if role is Role.SERVER else (from_client, from_server)
        )
        self.encrypt = ours.update
        self.decrypt = theirs.update
