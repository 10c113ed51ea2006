"""The messages, one a datagram, as bytes and as values.

Source: docs/protocol/administration/ggmp.md#messages.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Message:
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
    values: tuple[Value, ...] = ()
    """Of ARB_DATA."""


class _Form(NamedTuple):
    """What stands behind head, client and id."""

    act: bool = False
    parent: bool = False
    data: bool = False
    values: bool = False


_FORMS: Final[Mapping[Kind, _Form]] = {
    Kind.ACTION: _Form(act=True),
    Kind.ACTION_EXTENDED: _Form(act=True),
    Kind.DATA: _Form(parent=True, data=True),
    Kind.RAW_DATA: _Form(data=True),
    Kind.DATA_END: _Form(parent=True, data=True),
    Kind.ACTION_DATA: _Form(act=True, data=True),
    Kind.ACTION_DATA_END: _Form(act=True, data=True),
    Kind.ARB_DATA: _Form(values=True),
    Kind.CLIENT_ASSIGN: _Form(),
    Kind.ACK: _Form(),
}


def push_message(message: Message, order: ByteOrder = BIG) -> bytes:
    """Return a message as a datagram. Raises `LocalProtocolError` for what cannot be sent."""
    head = message.kind + (not message.wants_ack and message.kind < Kind.CLIENT_ASSIGN)
    try:
        if message.kind is Kind.ACTION_SHORT:
            return order.short.pack(head, message.client, message.id, *_act(message))
        if not 0 <= message.client <= MOST_CLIENTS:
            raise LocalProtocolError(f"client {message.client} cannot be told")
        form = _FORMS[message.kind]
        parts = [order.start.pack(order.join_head(head, message.client), message.id)]
        if form.act:
            parts.append(order.act.pack(*_act(message)))
        if form.parent:
            parts.append(order.parent.pack(message.parent))
    except struct.error as error:
        raise LocalProtocolError(
            f"a {message.kind.name} with a number too large: {error}"
        ) from None
    if form.data:
        if len(message.data) > MOST_DATA:
            raise LocalProtocolError(f"{len(message.data)} bytes of data in one message")
        parts.append(bytes((len(message.data),)) + message.data)
    if form.values:
        parts.append(push_values(message.values, order))
    return b"".join(parts)


def pull_message(datagram: bytes, order: ByteOrder = BIG) -> Message:
    """Return the message of a datagram. Raises `MalformedMessage`."""
    if len(datagram) < order.start.size:
        raise MalformedMessage("message too short")
    first, number = order.start.unpack_from(datagram)
    head, client = order.split_head(first)
    wants_ack = head < Kind.CLIENT_ASSIGN and head & 1 == 0
    try:
        kind = Kind(head if head >= Kind.CLIENT_ASSIGN else head & 0xFE)
    except ValueError:
        raise MalformedMessage("unknown message") from None
    if kind is Kind.ACTION_SHORT:
        return _pull_short(datagram, order, wants_ack=wants_ack)
    form = _FORMS[kind]
    at = order.start.size
    act, parent, data = None, 0, b""
    values: tuple[Value, ...] = ()
    try:
        if form.act:
            act = Act(*order.act.unpack_from(datagram, at))
            at += order.act.size
        if form.parent:
            (parent,) = order.parent.unpack_from(datagram, at)
            at += order.parent.size
    except struct.error:
        raise MalformedMessage("message too short") from None
    rest = datagram[at:]
    if form.values:
        values = pull_values(rest, order)
    elif form.data:
        data = rest[1:]
        if not rest or len(data) != rest[0]:
            raise MalformedMessage("data of another size")
    elif rest:
        raise MalformedMessage("message too long")
    return Message(kind, client, number, wants_ack, act, parent, data, values)


def _pull_short(datagram: bytes, order: ByteOrder, *, wants_ack: bool) -> Message:
    if len(datagram) != order.short.size:
        raise MalformedMessage("message too long")
    _, client, number, *act = order.short.unpack(datagram)
    return Message(Kind.ACTION_SHORT, client, number, wants_ack, Act(*act))


def _act(message: Message) -> Act:
    if message.act is None:
        raise LocalProtocolError(f"a {message.kind.name} without an actor")
    return message.act
