"""What one end of a conversation keeps of the other: acknowledges, repeats, delivers once.

The same for server and client. Sans-IO: messages in, datagrams and deliveries out.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from emu.admin.ggmp.messages import MOST_DATA, Act, Kind, Message, push_ack, push_message
from emu.admin.ggmp.orders import BIG, ByteOrder
from emu.admin.ggmp.outbox import WAIT, Outbox
from emu.admin.ggmp.transfers import Transfers, Whole
from emu.admin.ggmp.values import Value, push_values
from emu.admin.ggmp.window import Window
from emu.times import Monotonic

_IDS: Final = 0xFFFFFFFF
_WHOLE: Final = frozenset((Kind.ACTION, Kind.ACTION_SHORT, Kind.ACTION_DATA_END))
"""Messages that are acts by themselves."""

Delivery = Whole | tuple[Value, ...] | bytes
"""An act with its data, the values of an ArbData, or raw data."""


class Peer:
    """The other end; `own` is this end's number as client, 0 for the server."""

    __slots__ = ("_next_id", "_outbox", "_outgoing", "_short", "_transfers", "_window", "counters",
                 "order", "own")  # fmt: skip

    def __init__(self, own: int, wait: float = WAIT, order: ByteOrder = BIG) -> None:
        self.own = own
        self.order = order
        self.counters: Counter[str] = Counter()
        self._next_id = 0
        self._outgoing: list[bytes] = []
        self._outbox = Outbox(wait)
        self._window = Window(32)
        self._short = Window(16)
        self._transfers = Transfers()

    # -- sending --------------------------------------------------------------------------------

    @property
    def lost(self) -> int:
        """How many messages nobody acknowledged."""
        return self._outbox.lost

    def data_to_send(self) -> list[bytes]:
        """Return and forget the datagrams that are to be sent."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def send_values(self, *values: Value, now: Monotonic, wants_ack: bool = True) -> None:
        """Send an ArbData."""
        self.send_encoded(push_values(values, self.order), now=now, wants_ack=wants_ack)

    def send_encoded(self, values: bytes, *, now: Monotonic, wants_ack: bool = True) -> None:
        """Send an ArbData whose values are written already."""
        message = Message(Kind.ARB_DATA, self.own, self._new_id(), wants_ack, data=values)
        self._send(message, now)

    def send_act(self, act: Act, data: bytes = b"", *, now: Monotonic) -> None:
        """Send an act with its data: in one message, or in as many as it takes."""
        if not data:
            self._send(Message(Kind.ACTION, self.own, self._new_id(), act=act), now)
            return
        if len(data) <= MOST_DATA:
            whole = Message(Kind.ACTION_DATA_END, self.own, self._new_id(), act=act, data=data)
            self._send(whole, now)
            return
        parent = self._new_id()
        self._send(Message(Kind.ACTION_EXTENDED, self.own, parent, act=act), now)
        for at in range(0, len(data), MOST_DATA):
            kind = Kind.DATA if at + MOST_DATA < len(data) else Kind.DATA_END
            part = data[at : at + MOST_DATA]
            self._send(Message(kind, self.own, self._new_id(), parent=parent, data=part), now)

    def _new_id(self) -> int:
        number = self._next_id
        self._next_id = (number + 1) & _IDS
        return number

    def _send(self, message: Message, now: Monotonic) -> None:
        if message.wants_ack and self._outbox.is_full:
            self.counters["outbox full"] += 1
            return
        datagram = push_message(message, self.order)
        if message.wants_ack:
            self._outbox.put(message.id, datagram, now)
        self._outgoing.append(datagram)

    # -- receiving ------------------------------------------------------------------------------

    def receive(self, message: Message, now: Monotonic) -> list[Delivery]:
        """Take a message, and return what it completes."""
        if message.kind is Kind.ACK:
            if not self._outbox.acknowledged(message.id):
                self.counters["ack for nothing"] += 1
            return []
        if message.kind is Kind.CLIENT_ASSIGN:
            return []
        if message.wants_ack:
            self._outgoing.append(push_ack(self.own, message.id, self.order))
        is_short = message.kind is Kind.ACTION_SHORT
        window = self._short if is_short else self._window
        if not window.take(message.id):
            self.counters["duplicate"] += 1
            return []
        found = self._delivered(message, now)
        if is_short or not self._transfers:
            return found
        return [*found, *self._transfers.finished(self._window)]

    def _delivered(self, message: Message, now: Monotonic) -> list[Delivery]:
        """Return what a message is by itself; what needs others is put aside."""
        kind = message.kind
        if kind in _WHOLE and message.act is not None:
            return [Whole(message.act, message.data)]
        if kind is Kind.ARB_DATA:
            return [message.values]
        if kind is Kind.RAW_DATA:
            return [message.data]
        self._transfers.take(message, now)
        return []

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return self._outbox.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Send again what was not acknowledged."""
        self._outgoing += self._outbox.handle_timer(now)
        self._transfers.forget_idle(now)
