"""The typed values of ArbData. Source: docs/protocol/administration/ggmp.md#messages."""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from emu.admin.ggmp.orders import BIG, ByteOrder
from emu.errors import LocalProtocolError, MalformedMessage

MOST_VALUES: Final = 8
MOST_BYTES: Final = 255
FIRST_CUSTOM: Final = 0x80
"""From this type on, bytes mean what two ends have agreed upon."""


class ValueType(enum.IntEnum):
    """What a value is."""

    __hash__ = int.__hash__  # Enum's own is not in C, and these are looked up for every datagram

    UINT32 = 0
    INT32 = 1
    UINT64 = 2
    INT64 = 3
    DOUBLE = 4
    ASCII = 5
    UTF8 = 6


class Value(NamedTuple):
    """One value; `type` is a `ValueType`, or a number from `FIRST_CUSTOM` to 255 for raw bytes."""

    type: int
    value: int | float | str | bytes


_UINT32: Final = ValueType.UINT32
_DOUBLE: Final = ValueType.DOUBLE
_TYPES: Final = tuple(ValueType)
_TEXTS: Final[Mapping[int, str]] = {ValueType.ASCII: "ascii", ValueType.UTF8: "utf-8"}


def uint32(value: int) -> Value:
    """Return a number as a value; what does not fit is the nearest that does."""
    return Value(_UINT32, value if 0 <= value <= 0xFFFFFFFF else max(0, min(value, 0xFFFFFFFF)))


def double(value: float) -> Value:
    """Return a number as a value."""
    return Value(_DOUBLE, value)


def utf8(text: str) -> Value:
    """Return a text as a value, cut to what fits."""
    cut = text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
    return Value(ValueType.UTF8, cut)


def push_values(values: Sequence[Value], order: ByteOrder = BIG) -> bytes:
    """Return values as they are sent. Raises `LocalProtocolError` for what cannot be sent."""
    if not 1 <= len(values) <= MOST_VALUES:
        raise LocalProtocolError(f"{len(values)} values in one message")
    return bytes((len(values),)) + b"".join([_push(value, order) for value in values])


def pull_values(data: bytes, order: ByteOrder = BIG) -> tuple[Value, ...]:
    """Return the values that are all of `data`. Raises `MalformedMessage`."""
    count = data[0] if data else 0
    if not 1 <= count <= MOST_VALUES:
        raise MalformedMessage("wrong number of values")
    values: list[Value] = []
    at = 1
    for _ in range(count):
        end = at + 2 + data[at] if at < len(data) else len(data) + 1
        if end > len(data):
            raise MalformedMessage("message too short")
        values.append(_pull(data[at:end], order))
        at = end
    if at != len(data):
        raise MalformedMessage("message too long")
    return tuple(values)


def _push(value: Value, order: ByteOrder) -> bytes:
    kind, content = value
    try:
        if _UINT32 <= kind <= _DOUBLE:
            form = order.numbers[kind]
            return form.pack(form.size - 2, kind, content)
        data = _push_text(kind, content)
    except (struct.error, UnicodeEncodeError):
        raise LocalProtocolError(f"a value that is no {ValueType(kind).name}") from None
    if len(data) > MOST_BYTES:
        raise LocalProtocolError("a value of more than 255 bytes")
    return bytes((len(data), kind)) + data


def _push_text(kind: int, content: float | str | bytes) -> bytes:
    if kind in _TEXTS and isinstance(content, str):
        return content.encode(_TEXTS[kind])
    if FIRST_CUSTOM <= kind <= 0xFF and isinstance(content, bytes):
        return content
    raise LocalProtocolError(f"a value of type {kind} cannot be sent")


def _pull(entry: bytes, order: ByteOrder) -> Value:
    kind = entry[1]
    if kind <= _DOUBLE:
        if len(entry) != order.numbers[kind].size:
            raise MalformedMessage("number of another size")
        return Value(_TYPES[kind], order.numbers[kind].unpack(entry)[2])
    data = entry[2:]
    if kind in _TEXTS:
        try:
            return Value(_TYPES[kind], data.decode(_TEXTS[kind]))
        except UnicodeDecodeError:
            raise MalformedMessage("text that is none") from None
    if kind < FIRST_CUSTOM:
        raise MalformedMessage("unknown type of value")
    return Value(kind, data)
