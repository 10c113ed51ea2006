"""The two elementary types of OGP that need more than a line: bit arrays and numbers of any size.

A bit array is an int here, in which bit n.x of the text is bit 7n + x (`bit`). Source:
docs/protocol/administration/ogp.md#elements. Raises `MalformedMessage`.
"""

from __future__ import annotations

from typing import Final, Protocol

from emu.admin.reader import Reader
from emu.errors import MalformedMessage

LONGEST_BITS: Final = 16
"""Bytes of a bit array; the longest that means anything has four."""
_U16: Final = 0xFFFF
_U32: Final = 0xFFFFFFFF
_I32: Final = 0x7FFFFFFF


def bit(byte: int, number: int) -> int:
    """Return the flag that the text calls ``byte.number``."""
    return 1 << (7 * byte + number)


def push_bits(bits: int) -> bytes:
    """Return a bit array, as short as it can be: one byte at least."""
    if bits < 0x80:
        return bits.to_bytes(1, "little")
    out = bytearray()
    while bits >= 0x80:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    out.append(bits)
    return bytes(out)


def pull_bits(reader: Reader) -> int:
    """Read a bit array."""
    bits = shift = 0
    for _ in range(LONGEST_BITS):
        byte = reader.unsigned(1)
        bits |= (byte & 0x7F) << shift
        if byte < 0x80:
            return bits
        shift += 7
    raise MalformedMessage("bit array too long")


class Numbers(Protocol):
    """How a version of the protocol writes numbers that are mostly small.

    What does not fit into 32 bits is written as the nearest that does.
    """

    def push_uint(self, number: int) -> bytes:
        """Return a VarUINT8-32."""

    def pull_uint(self, reader: Reader) -> int:
        """Read a VarUINT8-32."""

    def push_sint(self, number: int) -> bytes:
        """Return a VarSINT8-32."""

    def pull_sint(self, reader: Reader) -> int:
        """Read a VarSINT8-32."""


class Numbers91:
    """0.91: the largest number of each size says that the next size follows."""

    def push_uint(self, number: int) -> bytes:
        """Return a VarUINT8-32."""
        number = max(0, min(number, _U32))
        if number < 0xFF:
            return number.to_bytes(1, "little")
        if number < _U16:
            return b"\xff" + number.to_bytes(2, "little")
        return b"\xff\xff\xff" + number.to_bytes(4, "little")

    def pull_uint(self, reader: Reader) -> int:
        """Read a VarUINT8-32."""
        number = reader.unsigned(1)
        if number == 0xFF:
            number = reader.unsigned(2)
            if number == _U16:
                number = reader.unsigned(4)
        return number

    def push_sint(self, number: int) -> bytes:
        """Return a VarSINT8-32."""
        number = max(-_I32 - 1, min(number, _I32))
        if -0x80 < number < 0x80:
            return number.to_bytes(1, "little", signed=True)
        if -0x8000 < number < 0x8000:
            return b"\x80" + number.to_bytes(2, "little", signed=True)
        return b"\x80\x00\x80" + number.to_bytes(4, "little", signed=True)

    def pull_sint(self, reader: Reader) -> int:
        """Read a VarSINT8-32."""
        number = reader.signed(1)
        if number == -0x80:
            number = reader.signed(2)
            if number == -0x8000:
                number = reader.signed(4)
        return number


class Numbers94:
    """0.94: one byte value of its own for each larger size."""

    def push_uint(self, number: int) -> bytes:
        """Return a VarUINT8-32."""
        number = max(0, min(number, _U32))
        if number < 0xFE:
            return number.to_bytes(1, "little")
        if number <= _U16:
            return b"\xfe" + number.to_bytes(2, "little")
        return b"\xff" + number.to_bytes(4, "little")

    def pull_uint(self, reader: Reader) -> int:
        """Read a VarUINT8-32."""
        number = reader.unsigned(1)
        return number if number < 0xFE else reader.unsigned(2 if number == 0xFE else 4)

    def push_sint(self, number: int) -> bytes:
        """Return a VarSINT8-32."""
        number = max(-_I32 - 1, min(number, _I32))
        if -0x7F < number < 0x80:
            return number.to_bytes(1, "little", signed=True)
        if -0x8000 <= number < 0x8000:
            return b"\x80" + number.to_bytes(2, "little", signed=True)
        return b"\x81" + number.to_bytes(4, "little", signed=True)

    def pull_sint(self, reader: Reader) -> int:
        """Read a VarSINT8-32."""
        number = reader.signed(1)
        return number if number > -0x7F else reader.signed(2 if number == -0x80 else 4)
