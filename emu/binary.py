"""Fixed binary records: one declaration of a record's fields reads and writes it.

A `RecordLayout` names the fields of a record in wire order, each with its type:

    HEADER = RecordLayout("RconHeader", LITTLE, size=I32, id=I32, type=I32)
    HEADER.pack(10, 1, 3)
    size, number, kind = HEADER.unpack(data)

A class whose fields stand in wire order declares the types at its fields instead
(`status: I32`, `name: Annotated[str, TextField(64)]`); `layout_of` returns its layout.

Records are packed: no field is aligned. The variable rest of a message (texts that end with a zero
byte, counted lists) is the business of each protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Annotated, Any, Final, get_type_hints

from emu.errors import MalformedMessage, StructValueError
from emu.texts import read_text

LITTLE: Final = "<"
BIG: Final = ">"
HOST: Final = "="
"""The byte order of this machine, for records of the kernel."""


class FixedField:
    """One type of field, by its code in `struct`."""

    __slots__ = ("code", "limits")

    def __init__(self, code: str) -> None:
        self.code = code
        self.limits: tuple[int, int] | None = None
        """The least and the greatest number of an integer type."""
        if code in "BHIQ":
            # The limits follow from the size, so they cannot disagree with the codec.
            self.limits = 0, (1 << 8 * struct.calcsize("<" + code)) - 1
        elif code in "bhiq":
            half = 1 << 8 * struct.calcsize("<" + code) - 1
            self.limits = -half, half - 1


U8 = Annotated[int, FixedField("B")]
U16 = Annotated[int, FixedField("H")]
U32 = Annotated[int, FixedField("I")]
U64 = Annotated[int, FixedField("Q")]
I8 = Annotated[int, FixedField("b")]
I16 = Annotated[int, FixedField("h")]
I32 = Annotated[int, FixedField("i")]
I64 = Annotated[int, FixedField("q")]
F32 = Annotated[float, FixedField("f")]
F64 = Annotated[float, FixedField("d")]


class BytesField(FixedField):
    """`size` bytes. A shorter value is filled up with zeros."""

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        super().__init__(f"{size}s")
        self.size = size

    def to_wire(self, value: Any, name: str) -> Any:
        """Return the bytes; raises `StructValueError` for too many, which `struct` would cut."""
        # struct would cut the value without an error.
        if len(value) > self.size:
            raise StructValueError(f"{name}: {len(value)} bytes do not fit, {self.size} do")
        return value

    def from_wire(self, value: Any) -> Any:
        """Return the bytes."""
        return value


class TextField(BytesField):
    """A text in UTF-8 in `size` bytes, filled up with zeros; at least one zero byte ends it.

    Bytes that are not UTF-8 are read as latin-1.
    """

    __slots__ = ()

    def to_wire(self, value: Any, name: str) -> Any:
        """Return the bytes of a text; raises `StructValueError` when it does not fit."""
        return text_bytes(value, self.size - 1, name)

    def from_wire(self, value: Any) -> Any:
        """Return the text."""
        return zero_ended(value)


class RecordLayout:
    """The fields of one record in wire order. `name` is for error messages."""

    __slots__ = ("_fields", "_has_bytes", "_limits", "codec", "name", "names", "size")

    def __init__(self, name: str, order: str, /, **fields: Any) -> None:
        """Each field is a type of this module: `U32`, `TextField(64)`, `BytesField(4)`."""
        self.name = name
        self._fields = {field: _field_type(declared) for field, declared in fields.items()}
        # Most records have numbers only; they skip the conversion of texts.
        self._has_bytes = any(isinstance(one, BytesField) for one in self._fields.values())
        self._limits = tuple(one.limits for one in self._fields.values())
        self.names: Sequence[str] = tuple(fields)
        self.codec = struct.Struct(order + "".join(one.code for one in self._fields.values()))
        """For hot paths: raises `struct.error`, and texts are bytes. Saves a call in Python."""
        self.size = self.codec.size
        """Bytes of the record."""

    def pack(self, *values: Any) -> bytes:
        """Return the record of these values; raises `StructValueError` when one does not fit."""
        try:
            return self.codec.pack(*(self._to_wire(values) if self._has_bytes else values))
        except struct.error as error:
            raise StructValueError(f"{self.name}: {error}") from None

    def pack_nearest(self, *values: Any) -> bytes:
        """Return the record; an integer that does not fit becomes the nearest that does."""
        return self.pack(*map(_nearest, values, self._limits))

    def pack_from(self, record: object) -> bytes:
        """Return the record with the attributes of `record` as values; raises as `pack` does."""
        return self.pack(*[getattr(record, name) for name in self.names])

    def unpack(self, data: bytes | bytearray, at: int = 0) -> Sequence[Any]:
        """Return the values from `at` on; raises `MalformedMessage` when bytes are missing."""
        if len(data) - at < self.size:
            raise MalformedMessage(f"wrong size of {self.name}")
        values = self.codec.unpack_from(data, at)
        return self._from_wire(values) if self._has_bytes else values

    def unpack_whole(self, data: bytes) -> Sequence[Any]:
        """Return the values of `data`; raises `MalformedMessage` unless its size is exact."""
        if len(data) != self.size:
            raise MalformedMessage(f"wrong size of {self.name}")
        return self.unpack(data)

    def _to_wire(self, values: Sequence[Any]) -> list[Any]:
        return [
            kind.to_wire(value, f"{self.name}.{field}") if isinstance(kind, BytesField) else value
            for value, (field, kind) in zip(values, self._fields.items(), strict=True)
        ]

    def _from_wire(self, values: Sequence[Any]) -> list[Any]:
        return [
            kind.from_wire(value) if isinstance(kind, BytesField) else value
            for value, kind in zip(values, self._fields.values(), strict=True)
        ]


def layout_of(cls: type, name: str, order: str) -> RecordLayout:
    """Return the layout of a class whose annotations are types of this module, in wire order."""
    hints = get_type_hints(cls, include_extras=True).items()
    fields = {field: hint for field, hint in hints if hasattr(hint, "__metadata__")}
    return RecordLayout(name, order, **fields)


def text_bytes(value: str, most: int, field: str) -> bytes:
    """Return text as UTF-8 bytes; raises `StructValueError` above `most` bytes."""
    # Half of a surrogate pair cannot be encoded.
    try:
        data = value.encode()
    except UnicodeEncodeError:
        raise StructValueError(f"{field}: no text") from None
    if len(data) > most:
        raise StructValueError(f"{field}: {len(data)} bytes do not fit, {most} do")
    return data


def zero_ended(data: bytes) -> str:
    """Return the text before the first zero byte."""
    return read_text(data.partition(b"\0")[0])


def _field_type(declared: Any) -> FixedField:
    """Return the type of a field; `U32` and its like carry it as their annotation."""
    kind = getattr(declared, "__metadata__", (declared,))[0]
    if not isinstance(kind, FixedField):
        raise TypeError(f"{declared!r} is not a type of a record's field")
    return kind


def _nearest(value: Any, limits: tuple[int, int] | None) -> Any:
    return value if limits is None else max(limits[0], min(value, limits[1]))
