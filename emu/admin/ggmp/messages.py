"""The messages of GGMP, one per datagram, and the typed values of ArbData, in both byte orders.

Both sides must use the same byte order: no field of a message shows it.

Source: docs/protocol/administration/ggmp.md#decisions,
docs/protocol/administration/ggmp.md#messages.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from emu.binary import BIG as BIG_ENDIAN
from emu.binary import F64, I32, I64, U8, U16, U32, U64, RecordLayout
from emu.binary import LITTLE as LITTLE_ENDIAN
from emu.errors import LocalProtocolError, MalformedMessage


class ValueType(enum.IntEnum):
    """The types of values."""

    __hash__ = int.__hash__  # Enum's own is not in C, and these are hashed for every datagram

    UINT32 = 0
    INT32 = 1
    UINT64 = 2
    INT64 = 3
    DOUBLE = 4
    ASCII = 5
    UTF8 = 6


_NUMBERS: Final = {
    ValueType.UINT32: U32,
    ValueType.INT32: I32,
    ValueType.UINT64: U64,
    ValueType.INT64: I64,
    ValueType.DOUBLE: F64,
}


class ByteOrder:
    """The byte order of numbers, in heads, values and data alike."""

    __slots__ = ("_is_big", "name", "numbers", "place", "point", "short", "starts")

    def __init__(self, name: Literal["big", "little"]) -> None:
        self.name = name
        self._is_big = name == "big"
        order = BIG_ENDIAN if self._is_big else LITTLE_ENDIAN
        act = {"actor": U32, "action": U32, "condition1": U32, "condition2": U32}
        self.starts: Mapping[int, RecordLayout] = {
            len(more): RecordLayout("GgmpMessage", order, head_and_client=U32, id=U32, **more)
            for more in ({}, {"parent": U32}, act)
        }
        """The layouts of a message's beginning, by the count of numbers after its id."""
        self.short = RecordLayout(
            "ACTION_SHORT", order,
            head=U8, client=U8, id=U16, actor=U8, action=U8, condition1=U8, condition2=U8,
        )  # fmt: skip
        self.point = RecordLayout("point", order, x=F64, y=F64, z=F64)
        self.place = RecordLayout("place", order, x=F64, y=F64, z=F64, heading=F64)
        self.numbers = tuple(
            RecordLayout(f"GGMP value {kind.name}", order, size=U8, type=U8, number=number)
            for kind, number in _NUMBERS.items()
        )
        """The layouts of numbers, by type of value."""

    def join_head(self, head: int, client: int) -> int:
        """Return head and client as the first number of a message; the head is its first byte."""
        # The head is always the first byte on the wire, whatever the byte order of the number.
        return head << 24 | client if self._is_big else client << 8 | head

    def client_of(self, number: int) -> int:
        """Return the client of a message's first number."""
        return number & 0xFFFFFF if self._is_big else number >> 8

    def push_actors(self, actors: Sequence[int]) -> bytes:
        """Return a list of actors as data."""
        return b"".join(actor.to_bytes(4, self.name) for actor in actors)

    def pull_actors(self, data: bytes) -> list[int]:
        """Return the actors of a list; incomplete bytes at the end are ignored."""
        # Three bytes at the end are no number.
        at = range(0, len(data) - 3, 4)
        return [int.from_bytes(data[start : start + 4], self.name) for start in at]


BIG: Final = ByteOrder("big")
LITTLE: Final = ByteOrder("little")
ORDERS: Final[Mapping[str, ByteOrder]] = {order.name: order for order in (BIG, LITTLE)}


MOST_VALUES: Final = 8
MOST_BYTES: Final = 255
FIRST_CUSTOM: Final = 0x80
"""From this type on, a value is bytes whose meaning both sides have agreed on."""


class Value(NamedTuple):
    """One value; `type` is a `ValueType`, or a number from `FIRST_CUSTOM` to 255 for raw bytes."""

    type: int
    value: int | float | str | bytes


_UINT32: Final = ValueType.UINT32
_DOUBLE: Final = ValueType.DOUBLE
_TYPES: Final = tuple(ValueType)
_TEXTS: Final[Mapping[int, str]] = {ValueType.ASCII: "ascii", ValueType.UTF8: "utf-8"}


def uint32(value: int) -> Value:
    """Return a number as a value; out of range it becomes the nearest limit."""
    return Value(_UINT32, value if 0 <= value <= 0xFFFFFFFF else max(0, min(value, 0xFFFFFFFF)))


def double(value: float) -> Value:
    """Return a number as a value."""
    return Value(_DOUBLE, value)


def utf8(text: str) -> Value:
    """Return a text as a value, cut to the maximum length."""
    # Cut in bytes; the letter that is cut in half is dropped.
    cut = text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
    return Value(ValueType.UTF8, cut)


def push_values(values: Sequence[Value], order: ByteOrder = BIG) -> bytes:
    """Return values as bytes. Raises `LocalProtocolError` for values that cannot be encoded."""
    if not 1 <= len(values) <= MOST_VALUES:
        raise LocalProtocolError(f"{len(values)} values in one message")
    return bytes((len(values),)) + b"".join([_push(value, order) for value in values])


def pull_values(data: bytes, order: ByteOrder = BIG) -> tuple[Value, ...]:
    """Return the values of `data`, which must contain nothing else. Raises `MalformedMessage`."""
    # The count comes from the wire, so it is checked before the loop.
    count = data[0] if data else 0
    if not 1 <= count <= MOST_VALUES:
        raise MalformedMessage("wrong number of values")
    values: list[Value] = []
    at = 1
    for _ in range(count):
        # A missing length counts as too long, so that one check is enough.
        end = at + 2 + data[at] if at < len(data) else len(data) + 1
        if end > len(data):
            raise MalformedMessage("message too short")
        values.append(_pull(data[at:end], order))
        at = end
    # Bytes after the last value would be a message that the peer means differently.
    if at != len(data):
        raise MalformedMessage("message too long")
    return tuple(values)


def _push(value: Value, order: ByteOrder) -> bytes:
    kind, content = value
    try:
        if _UINT32 <= kind <= _DOUBLE:
            form = order.numbers[kind]
            # Every value and message passes here: `codec` saves a call in Python for each.
            return form.codec.pack(form.size - 2, kind, content)
        data = _push_text(kind, content)
    except (struct.error, UnicodeEncodeError):
        raise LocalProtocolError(f"value is not a {ValueType(kind).name}") from None
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
        # The type fixes the size, so the size on the wire must agree.
        if len(entry) != order.numbers[kind].size:
            raise MalformedMessage("number of another size")
        return Value(_TYPES[kind], order.numbers[kind].codec.unpack(entry)[2])
    data = entry[2:]
    if kind in _TEXTS:
        try:
            return Value(_TYPES[kind], data.decode(_TEXTS[kind]))
        except UnicodeDecodeError:
            raise MalformedMessage("text that is none") from None
    # Types between the known ones and the agreed ones have no meaning yet.
    if kind < FIRST_CUSTOM:
        raise MalformedMessage("unknown type of value")
    return Value(kind, data)


SERVER: Final = 0
"""The server's client number; a client without a number sends it, too."""
MOST_CLIENTS: Final = 0xFFFFFF
MOST_DATA: Final = 255
"""Maximum bytes of data in one message."""


class GgmpMessageType(enum.IntEnum):
    """The kinds of messages by their head. Below `CLIENT_ASSIGN`, head + 1 requests no Ack."""

    __hash__ = int.__hash__  # Enum's own is not in C, and these are hashed for every datagram

    ACTION = 0x00
    ACTION_SHORT = 0x02
    ACTION_EXTENDED = 0x04
    DATA = 0x0E
    RAW_DATA = 0x10
    DATA_END = 0x12
    ACTION_DATA = 0x14
    ACTION_DATA_END = 0x16
    ARB_DATA = 0x18
    CLIENT_ASSIGN = 0xFE
    ACK = 0xFF


class GgmpAct(NamedTuple):
    """An action on an actor. The conditions depend on the action. All numbers have 32 bits."""

    actor: int
    action: int
    condition1: int = 0
    condition2: int = 0


class GgmpMessage(NamedTuple):
    """One message.

    `client` is the sender, or in CLIENT_ASSIGN the assigned number. `id` counts the sender's
    messages; in ACK and CLIENT_ASSIGN it is the id of the answered message.
    """

    kind: GgmpMessageType
    client: int
    id: int
    wants_ack: bool = True
    act: GgmpAct | None = None
    parent: int = 0
    """For DATA and DATA_END: the id of the message that they belong to."""
    data: bytes = b""
    """For sending ARB_DATA: the encoded values, in place of `values`. Parsing leaves it empty."""
    values: tuple[Value, ...] = ()
    """For ARB_DATA."""


class _Form(NamedTuple):
    """The layout of a message after head, client and id."""

    numbers: int = 0
    """How many numbers of 32 bits: the four of an act, or the parent."""
    data: bool = False
    values: bool = False


_ACT: Final = 4
_PARENT: Final = 1
_FORMS: Final[Mapping[GgmpMessageType, _Form]] = {
    GgmpMessageType.ACTION: _Form(_ACT),
    GgmpMessageType.ACTION_SHORT: _Form(_ACT),
    GgmpMessageType.ACTION_EXTENDED: _Form(_ACT),
    GgmpMessageType.DATA: _Form(_PARENT, data=True),
    GgmpMessageType.RAW_DATA: _Form(data=True),
    GgmpMessageType.DATA_END: _Form(_PARENT, data=True),
    GgmpMessageType.ACTION_DATA: _Form(_ACT, data=True),
    GgmpMessageType.ACTION_DATA_END: _Form(_ACT, data=True),
    GgmpMessageType.ARB_DATA: _Form(values=True),
    GgmpMessageType.CLIENT_ASSIGN: _Form(),
    GgmpMessageType.ACK: _Form(),
}
_ASSIGN: Final = GgmpMessageType.CLIENT_ASSIGN
_SHORT: Final = GgmpMessageType.ACTION_SHORT
_HEADS: Final[Mapping[int, tuple[GgmpMessageType, bool, _Form]]] = {
    head: (kind, wants_ack, form)
    for kind, form in _FORMS.items()
    for head, wants_ack in (
        ((kind, False),) if kind >= _ASSIGN else ((kind, True), (kind + 1, False))
    )
}
"""By head: the kind, whether it requests an Ack, and the layout."""


def push_message(message: GgmpMessage, order: ByteOrder = BIG) -> bytes:
    """Return a message as a datagram. Raises `LocalProtocolError` if it cannot be encoded."""
    kind, client, number, wants_ack, _, parent, data, values = message
    # An even head requests an Ack, the next odd one does not.
    head = kind if wants_ack or kind >= _ASSIGN else kind + 1
    numbers, has_data, has_values = _FORMS[kind]
    more = _act(message) if numbers == _ACT else (parent,) if numbers else ()
    try:
        if kind is _SHORT:
            return order.short.codec.pack(head, client, number, *more)
        # The client has 24 bits; the head occupies the other eight.
        if not 0 <= client <= MOST_CLIENTS:
            raise LocalProtocolError(f"client {client} is out of range")
        written = order.starts[numbers].codec.pack(order.join_head(head, client), number, *more)
    except struct.error as error:
        raise LocalProtocolError(f"a {kind.name} with a number too large: {error}") from None
    if has_data:
        if len(data) > MOST_DATA:
            raise LocalProtocolError(f"{len(data)} bytes of data in one message")
        return written + bytes((len(data),)) + data
    return written + (data or push_values(values, order)) if has_values else written


def push_ack(client: int, number: int, order: ByteOrder = BIG) -> bytes:
    """Return the Ack of `client` for the peer's message `number`."""
    return order.starts[0].codec.pack(order.join_head(GgmpMessageType.ACK, client), number)


def pull_message(datagram: bytes, order: ByteOrder = BIG) -> GgmpMessage:
    """Return the message of a datagram. Raises `MalformedMessage`."""
    # By the first byte alone, so that junk costs one search in a table.
    known = _HEADS.get(datagram[0]) if datagram else None
    if known is None:
        raise MalformedMessage("unknown message")
    kind, wants_ack, (numbers, has_data, has_values) = known
    if kind is _SHORT:
        return _pull_short(datagram, order, wants_ack=wants_ack)
    start = order.starts[numbers]
    if len(datagram) < start.size:
        raise MalformedMessage("message too short")
    first, number, *more = start.codec.unpack_from(datagram)
    act = GgmpAct(*more) if numbers == _ACT else None
    parent = more[0] if numbers == _PARENT else 0
    data = datagram[start.size :]
    values: tuple[Value, ...] = ()
    if has_values:
        data, values = b"", pull_values(data, order)
    elif has_data:
        # The length byte must be exact: a longer datagram could hide other data.
        if not data or len(data) - 1 != data[0]:
            raise MalformedMessage("data of another size")
        data = data[1:]
    elif data:
        raise MalformedMessage("message too long")
    client = order.client_of(first)
    return GgmpMessage(kind, client, number, wants_ack, act, parent, data, values)


def _pull_short(datagram: bytes, order: ByteOrder, *, wants_ack: bool) -> GgmpMessage:
    if len(datagram) != order.short.size:
        raise MalformedMessage("message too long")
    _, client, number, *act = order.short.codec.unpack(datagram)
    return GgmpMessage(_SHORT, client, number, wants_ack, GgmpAct(*act))


def _act(message: GgmpMessage) -> GgmpAct:
    if message.act is None:
        raise LocalProtocolError(f"a {message.kind.name} without an actor")
    return message.act
