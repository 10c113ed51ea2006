"""Parts of a layout that hold text: prefixed strings, fixed characters, opaque items.

Text is ``str`` with one character a byte (latin-1), so that any byte makes the way and back.
Source: docs/protocol/structs.md#types.
"""

from __future__ import annotations

from typing import Final

from emu.errors import MalformedStruct
from emu.structs.base import TOO_SHORT, Context, Scopes, Values, bad_value, raw_text
from emu.structs.definitions import FieldType

PREFIXES: Final = {FieldType.STRING8: 1, FieldType.STRING16: 2, FieldType.STRING32: 4}
"""Bytes of the length before a string, little-endian."""


class Text:
    """A string with a length prefix of 1, 2 or 4 bytes."""

    __slots__ = ("_key", "_prefix", "_where")

    def __init__(self, where: str, key: str, prefix: int) -> None:
        self._where, self._key, self._prefix = where, key, prefix

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read one string; every byte becomes the character of that number."""
        start = at + self._prefix
        stop = start + int.from_bytes(data[at:start], "little")
        if stop > context.limit or start > context.limit:
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at)
            out[self._key] = ""
            return context.limit
        out[self._key] = data[start:stop].decode("latin-1")
        return stop

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write one string with its length."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        try:
            parts.append(len(raw).to_bytes(self._prefix, "little") + raw)
        except OverflowError:
            most = 256**self._prefix - 1
            bad_value(self._where, self._key, f"is longer than {most} bytes")


class Characters:
    """Text of fixed size, zero padded; decoding leaves out the zeros at its end."""

    __slots__ = ("_key", "_size", "_where")

    def __init__(self, where: str, key: str, size: int) -> None:
        self._where, self._key, self._size = where, key, size

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Read the text without the zeros at its end."""
        stop = at + self._size
        if stop > context.limit:
            if not context.lenient:
                raise MalformedStruct(TOO_SHORT, self._key, at)
            stop = context.limit
        out[self._key] = data[at:stop].rstrip(b"\0").decode("latin-1")
        return stop

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the text with zeros behind it."""
        raw = raw_text(self._where, self._key, fields.get(self._key, ""))
        if len(raw) > self._size:
            bad_value(self._where, self._key, f"must have at most {self._size} bytes")
        parts.append(raw.ljust(self._size, b"\0"))


class Item:
    """An EQ2_Item: bytes that code has prepared; only their writer knows how many.

    Reading takes all that is left, so fields behind an item that is not empty cannot be read back.
    """

    __slots__ = ("_key", "_where")

    def __init__(self, where: str, key: str) -> None:
        self._where, self._key = where, key

    def decode(self, data: bytes, at: int, out: Values, _scopes: Scopes, context: Context) -> int:
        """Take the rest."""
        out[self._key] = data[at : context.limit].decode("latin-1")
        return max(at, context.limit)

    def encode(
        self, fields: Values, parts: list[bytes], _scopes: Scopes, _context: Context
    ) -> None:
        """Write the bytes as they are."""
        parts.append(raw_text(self._where, self._key, fields.get(self._key, "")))
