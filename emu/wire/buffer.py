"""Bounded big-endian reading and writing. Knows numbers and byte strings, no packet."""

from __future__ import annotations

from emu.errors import LocalProtocolError, MalformedDatagram

_U16_MAXIMUM = 0xFFFF
_U32_MAXIMUM = 0xFFFFFFFF
_LENGTH_ESCAPE = 0xFF


class Reader:
    """Takes values off the front of some bytes; never reads past the end.

    Every `pull_` raises `MalformedDatagram` ("truncated packet") when there are too few bytes left.
    """

    __slots__ = ("_data", "_end", "_position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self._position = position
        self._end = len(data)

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self._end - self._position

    def pull_bytes(self, count: int) -> bytes:
        """Take exactly `count` bytes."""
        start = self._position
        end = start + count
        if count < 0 or end > self._end:
            raise MalformedDatagram("truncated packet")
        self._position = end
        return self._data[start:end]

    def pull_rest(self) -> bytes:
        """Take everything that is left, which may be nothing."""
        start = self._position
        self._position = self._end
        return self._data[start:]

    def pull_uint(self, size: int) -> int:
        """Take an unsigned big-endian integer of `size` bytes."""
        return int.from_bytes(self.pull_bytes(size), "big")

    def pull_u8(self) -> int:
        """Take one byte."""
        return self.pull_uint(1)

    def pull_u16(self) -> int:
        """Take two bytes, big-endian."""
        return self.pull_uint(2)

    def pull_u32(self) -> int:
        """Take four bytes, big-endian."""
        return self.pull_uint(4)

    def pull_u64(self) -> int:
        """Take eight bytes, big-endian."""
        return self.pull_uint(8)

    def pull_length(self) -> int:
        """Take a length: u8, or FF and u16, or FF FF FF and u32.

        Sources: docs/protocol/transport.md#datagrams, docs/protocol/transport.md#payloads.
        """
        length = self.pull_u8()
        if length < _LENGTH_ESCAPE:
            return length
        length = self.pull_u16()
        return length if length < _U16_MAXIMUM else self.pull_u32()


class Writer:
    """Puts values behind one another, up to `limit` bytes.

    Every `push_` raises `LocalProtocolError` when the value does not fit its width or the limit.
    """

    __slots__ = ("_data", "_limit")

    def __init__(self, limit: int = 65536) -> None:
        self._data = bytearray()
        self._limit = limit

    def __len__(self) -> int:
        return len(self._data)

    def getvalue(self) -> bytes:
        """Return everything pushed so far."""
        return bytes(self._data)

    def push_bytes(self, data: bytes) -> None:
        """Put `data` as it is."""
        if len(self._data) + len(data) > self._limit:
            raise LocalProtocolError(f"a packet may not be longer than {self._limit} bytes")
        self._data += data

    def push_uint(self, value: int, size: int) -> None:
        """Put an unsigned big-endian integer of `size` bytes."""
        try:
            self.push_bytes(value.to_bytes(size, "big"))
        except OverflowError as error:
            raise LocalProtocolError(f"{value} does not fit {size} bytes") from error

    def push_u8(self, value: int) -> None:
        """Put one byte."""
        self.push_uint(value, 1)

    def push_u16(self, value: int) -> None:
        """Put two bytes, big-endian."""
        self.push_uint(value, 2)

    def push_u32(self, value: int) -> None:
        """Put four bytes, big-endian."""
        self.push_uint(value, 4)

    def push_u64(self, value: int) -> None:
        """Put eight bytes, big-endian."""
        self.push_uint(value, 8)

    def push_length(self, length: int) -> None:
        """Put a length in its shortest form: u8, or FF and u16, or FF FF FF and u32."""
        self.push_bytes(length_bytes(length))


def length_bytes(length: int) -> bytes:
    """Return a length in its shortest form, the inverse of `Reader.pull_length`."""
    if 0 <= length < _LENGTH_ESCAPE:
        return length.to_bytes(1, "big")
    if 0 <= length < _U16_MAXIMUM:
        return b"\xff" + length.to_bytes(2, "big")
    if 0 <= length <= _U32_MAXIMUM:
        return b"\xff\xff\xff" + length.to_bytes(4, "big")
    raise LocalProtocolError(f"{length} is not a length")
