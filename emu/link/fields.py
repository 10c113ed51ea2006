"""Messages of fixed size: the fields of a dataclass, with their types on the wire, are the layout.

Everything is little-endian and packed. A field's type has its `struct` code with it; ``65s`` is
text in UTF-8, zero-filled and ended by at least one zero byte. What is no UTF-8 is read as latin-1:
worlds store whatever bytes they were given.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self, get_type_hints

from emu.errors import MalformedMessage, StructValueError
from emu.link.opcodes import LinkOpcode
from emu.wire.text import read_text

U8 = Annotated[int, "B"]
U16 = Annotated[int, "H"]
U32 = Annotated[int, "I"]
I32 = Annotated[int, "i"]


def to_bytes(value: str, most: int, field: str) -> bytes:
    """Return text as UTF-8 bytes; raises `StructValueError` above `most` bytes."""
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise StructValueError(f"{field}: no text") from None
    if len(data) > most:
        raise StructValueError(f"{field}: {len(data)} bytes do not fit, {most} do")
    return data


def pack(name: str, form: str, *values: object) -> bytes:
    """Return values packed as `struct` says; raises `StructValueError` when one does not fit."""
    try:
        return struct.pack(form, *values)
    except struct.error as error:
        raise StructValueError(f"{name}: {error}") from None


def from_bytes(data: bytes) -> str:
    """Return the text before the first zero byte."""
    return read_text(data.partition(b"\0")[0])


class FixedLayout:
    """Field names with their `struct` codes, in wire order."""

    __slots__ = ("_fields", "_struct", "_texts", "name")

    def __init__(self, name: str, /, **codes: str) -> None:
        self.name = name
        self._struct = struct.Struct("<" + "".join(codes.values()))
        self._fields = tuple(codes)
        self._texts = tuple(int(code[:-1]) if code[-1] == "s" else 0 for code in codes.values())

    @property
    def size(self) -> int:
        """The payload's size in bytes."""
        return self._struct.size

    def encode(self, message: object) -> bytes:
        """Return the payload with the attributes of `message` as fields.

        Raises `StructValueError` when one does not fit.
        """
        values: list[Any] = []
        for field, size in zip(self._fields, self._texts, strict=True):
            value = getattr(message, field)
            values.append(to_bytes(value, size - 1, f"{self.name}.{field}") if size else value)
        return pack(self.name, self._struct.format, *values)

    def decode(self, payload: bytes) -> Sequence[Any]:
        """Return the field values in order; raises `MalformedMessage` unless the size is exact."""
        if len(payload) != self._struct.size:
            raise MalformedMessage(f"wrong size of {self.name}")
        values = self._struct.unpack(payload)
        return [
            from_bytes(value) if size else value
            for value, size in zip(values, self._texts, strict=True)
        ]


class FixedMessage:
    """Base of messages with a `FixedLayout`: dataclasses whose fields are in wire order."""

    __slots__ = ()

    OPCODE: ClassVar[LinkOpcode]
    LAYOUT: ClassVar[FixedLayout]

    def __init_subclass__(cls) -> None:
        hints = get_type_hints(cls, include_extras=True).items()
        codes = {
            name: hint.__metadata__[0] for name, hint in hints if hasattr(hint, "__metadata__")
        }
        cls.LAYOUT = FixedLayout(cls.OPCODE.name, **codes)

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        return self.LAYOUT.encode(self)

    @classmethod
    def decode(cls, payload: bytes) -> Self:
        """Read a payload; raises `MalformedMessage` unless its size is exact."""
        return cls(*cls.LAYOUT.decode(payload))
