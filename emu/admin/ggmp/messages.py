"""The messages, one a datagram, as bytes and as values.

Source: docs/protocol/administration/ggmp.md#messages.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from typing import Final, NamedTuple

from emu.admin.ggmp.orders import BIG, ByteOrder
from emu.admin.ggmp.values import Value, pull_values, push_values
from emu.errors import LocalProtocolError, MalformedMessage

SERVER: Final = 0
"""The server's number among the clients; in what a client sends, one that was given none."""
MOST_CLIENTS: Final = 0xFFFFFF
MOST_DATA: Final = 255
"""Bytes of data in one message."""


class Kind(enum.IntEnum):
    """What a message is, by its head; of those below `CLIENT_ASSIGN`, head + 1 wants no Ack."""

    __hash__ = int.__hash__  # Enum's own is not in C, and these are looked up for every datagram

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


class Act(NamedTuple):
    """Who does what; the conditions are the action's own business. Numbers of 32 bits."""

    actor: int
    action: int
    condition1: int = 0
    condition2: int = 0


class Message(NamedTuple):
    """One message.

    `client` sent it, or with CLIENT_ASSIGN is given the number; `id` counts the sender's messages,
    and in ACK and CLIENT_ASSIGN is that of the message which is answered.
    """

    kind: Kind
    client: int
    id: int
    wants_ack: bool = True
    act: Act | None = None
    parent: int = 0
    """Of DATA and DATA_END: the message that they belong to."""
    data: bytes = b""
    """Of ARB_DATA, which is never read into it: the values as they are sent, in their place."""
    values: tuple[Value, ...] = ()
    """Of ARB_DATA."""


class _Form(NamedTuple):
    """What stands behind head, client and id."""

    numbers: int = 0
    """Of 32 bits: the four of an act, or the parent."""
    data: bool = False
    values: bool = False


_ACT: Final = 4
_PARENT: Final = 1
_FORMS: Final[Mapping[Kind, _Form]] = {
    Kind.ACTION: _Form(_ACT),
    Kind.ACTION_SHORT: _Form(_ACT),
    Kind.ACTION_EXTENDED: _Form(_ACT),
    Kind.DATA: _Form(_PARENT, data=True),
    Kind.RAW_DATA: _Form(data=True),
    Kind.DATA_END: _Form(_PARENT, data=True),
    Kind.ACTION_DATA: _Form(_ACT, data=True),
    Kind.ACTION_DATA_END: _Form(_ACT, data=True),
    Kind.ARB_DATA: _Form(values=True),
    Kind.CLIENT_ASSIGN: _Form(),
    Kind.ACK: _Form(),
}
_ASSIGN: Final = Kind.CLIENT_ASSIGN
_SHORT: Final = Kind.ACTION_SHORT
_HEADS: Final[Mapping[int, tuple[Kind, bool, _Form]]] = {
    head: (kind, wants_ack, form)
    for kind, form in _FORMS.items()
    for head, wants_ack in (
        ((kind, False),) if kind >= _ASSIGN else ((kind, True), (kind + 1, False))
    )
}
"""By head: the kind, whether it wants an Ack, and what stands behind."""


def push_message(message: Message, order: ByteOrder = BIG) -> bytes:
    """Return a message as a datagram. Raises `LocalProtocolError` for what cannot be sent."""
    kind, client, number, wants_ack, _, parent, data, values = message
    head = kind if wants_ack or kind >= _ASSIGN else kind + 1
    numbers, has_data, has_values = _FORMS[kind]
    more = _act(message) if numbers == _ACT else (parent,) if numbers else ()
    try:
        if kind is _SHORT:
            return order.short.pack(head, client, number, *more)
        if not 0 <= client <= MOST_CLIENTS:
            raise LocalProtocolError(f"client {client} cannot be told")
        written = order.starts[numbers].pack(order.join_head(head, client), number, *more)
    except struct.error as error:
        raise LocalProtocolError(f"a {kind.name} with a number too large: {error}") from None
    if has_data:
        if len(data) > MOST_DATA:
            raise LocalProtocolError(f"{len(data)} bytes of data in one message")
        return written + bytes((len(data),)) + data
    return written + (data or push_values(values, order)) if has_values else written


def push_ack(client: int, number: int, order: ByteOrder = BIG) -> bytes:
    """Return the Ack of `client` for the message `number` of the other end."""
    return order.starts[0].pack(order.join_head(Kind.ACK, client), number)


def pull_message(datagram: bytes, order: ByteOrder = BIG) -> Message:
    """Return the message of a datagram. Raises `MalformedMessage`."""
    known = _HEADS.get(datagram[0]) if datagram else None
    if known is None:
        raise MalformedMessage("unknown message")
    kind, wants_ack, (numbers, has_data, has_values) = known
    if kind is _SHORT:
        return _pull_short(datagram, order, wants_ack=wants_ack)
    start = order.starts[numbers]
    if len(datagram) < start.size:
        raise MalformedMessage("message too short")
    first, number, *more = start.unpack_from(datagram)
    act = Act(*more) if numbers == _ACT else None
    parent = more[0] if numbers == _PARENT else 0
    data = datagram[start.size :]
    values: tuple[Value, ...] = ()
    if has_values:
        data, values = b"", pull_values(data, order)
    elif has_data:
        if not data or len(data) - 1 != data[0]:
            raise MalformedMessage("data of another size")
        data = data[1:]
    elif data:
        raise MalformedMessage("message too long")
    client = order.client_of(first)
    return Message(kind, client, number, wants_ack, act, parent, data, values)


def _pull_short(datagram: bytes, order: ByteOrder, *, wants_ack: bool) -> Message:
    if len(datagram) != order.short.size:
        raise MalformedMessage("message too long")
    _, client, number, *act = order.short.unpack(datagram)
    return Message(_SHORT, client, number, wants_ack, Act(*act))


def _act(message: Message) -> Act:
    if message.act is None:
        raise LocalProtocolError(f"a {message.kind.name} without an actor")
    return message.act
