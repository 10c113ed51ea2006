"""One side of a GGMP conversation: acknowledges, retransmits, joins transfers, delivers once.

With the usual wait of 30 ms a message is sent at 0, 30, 90 and 180 ms, and given up at 300 ms. A
transfer is complete when its end and every message since its parent have arrived, of whatever kind:
ids rise by one, so that a gap shows. Data that arrive before their parent are kept for the same
time as others. Server and client use the same code. Sans-IO: messages in, datagrams and deliveries
out.

Source: docs/protocol/administration/ggmp.md#decisions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from emu.admin.ggmp.messages import (
    BIG,
    MOST_DATA,
    ByteOrder,
    GgmpAct,
    GgmpMessage,
    GgmpMessageType,
    Value,
    push_ack,
    push_message,
    push_values,
)
from emu.times import Monotonic

WIDTH: Final = 1024
"""Messages remembered. An older message counts as received."""


class GgmpWindow:
    """The received ids of one counter, which wraps around."""

    __slots__ = ("_half", "_highest", "_mask", "_seen")

    def __init__(self, bits: int) -> None:
        """Watch a counter of `bits` bits."""
        # Two masks: ids wrap at their width, and half of the circle counts as ahead.
        self._mask = (1 << bits) - 1
        self._half = 1 << bits - 1
        self._highest: int | None = None
        self._seen = 0
        """Bit n: the message n before the highest was received."""

    def mark_received(self, number: int) -> bool:
        """Mark a message as received; return False if it was received before."""
        if self._highest is None:
            self._highest, self._seen = number, 1
            return True
        ahead = (number - self._highest) & self._mask
        # The counter wraps around, so "ahead" is the shorter way, as for TCP's sequence numbers.
        if 0 < ahead < self._half:
            # A jump beyond the memory leaves nothing to remember.
            moved = self._seen << ahead if ahead < WIDTH else 0
            self._seen = (moved | 1) & (1 << WIDTH) - 1
            self._highest = number
            return True
        back = (self._highest - number) & self._mask
        # Older than the memory counts as received: delivering an act twice is worse than losing a
        # late copy.
        if back >= WIDTH or self._seen >> back & 1:
            return False
        self._seen |= 1 << back
        return True

    def has_all(self, first: int, last: int) -> bool:
        """Return whether all ids from `first` to `last` were received and are still remembered."""
        count = ((last - first) & self._mask) + 1
        # More than the memory cannot be known to be complete.
        if self._highest is None or count > WIDTH:
            return False
        back = (self._highest - last) & self._mask
        if back + count > WIDTH:
            return False
        wanted = (1 << count) - 1
        return self._seen >> back & wanted == wanted


WAIT: Final = 0.03
"""Seconds to the first retransmission."""
SENDINGS: Final = 4
MOST_WAITING: Final = 256


@dataclass(slots=True)
class _Waiting:
    datagram: bytes
    sent: int
    due: Monotonic


class Retransmissions:
    """The unacknowledged messages of one side; `lost` counts those that were given up."""

    __slots__ = ("_wait", "_waiting", "lost")

    def __init__(self, wait: float = WAIT) -> None:
        self._wait = wait
        self._waiting: dict[int, _Waiting] = {}
        self.lost = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether no more messages can wait."""
        return len(self._waiting) >= MOST_WAITING

    def add_sent(self, number: int, datagram: bytes, now: Monotonic) -> None:
        """Add a message that is sent now."""
        self._waiting[number] = _Waiting(datagram, 1, Monotonic(now + self._wait))

    def acknowledged(self, number: int) -> bool:
        """Remove an acknowledged message; return False if it is not waiting."""
        return self._waiting.pop(number, None) is not None

    def get_timer(self) -> Monotonic | None:
        """Return the time of the next retransmission, or None."""
        return min((waiting.due for waiting in self._waiting.values()), default=None)

    def handle_timer(self, now: Monotonic) -> list[bytes]:
        """Return the messages to retransmit now, and give up lost ones."""
        again: list[bytes] = []
        for number, waiting in list(self._waiting.items()):
            if waiting.due > now:
                continue
            # The last sending has had its wait as well.
            if waiting.sent == SENDINGS:
                del self._waiting[number]
                self.lost += 1
                continue
            waiting.sent += 1
            # The pauses grow, so that a slow link is not filled with copies.
            waiting.due = Monotonic(now + waiting.sent * self._wait)
            again.append(waiting.datagram)
        return again


MOST_BYTES: Final = 64 * 1024
MOST_PARTS: Final = 256
MOST_OPEN: Final = 8
IDLE: Final = 2.0
"""Seconds without new data after which a transfer is dropped."""
_TRANSFER_IDS: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Whole:
    """An act with all of its data."""

    act: GgmpAct
    data: bytes = b""


@dataclass(slots=True)
class _Open:
    parent: int
    touched: Monotonic
    act: GgmpAct | None = None
    end: int | None = None
    size: int = 0
    messages: dict[int, bytes] = field(default_factory=dict)

    def add_part(self, message: GgmpMessage) -> None:
        self.messages[message.id] = message.data
        self.size += len(message.data)
        if message.kind is GgmpMessageType.DATA_END:
            self.end = message.id

    @property
    def is_too_large(self) -> bool:
        # Both are limits on what a peer can make this side remember.
        return self.size > MOST_BYTES or len(self.messages) > MOST_PARTS

    def whole(self, window: GgmpWindow) -> Whole | None:
        """Return the act with its data in the order of their ids; None while any are missing."""
        if self.act is None or self.end is None or not window.has_all(self.parent, self.end):
            return None
        # From the parent on, because ids may wrap around within a transfer.
        ids = sorted(self.messages, key=lambda number: (number - self.parent) & _TRANSFER_IDS)
        return Whole(self.act, b"".join(self.messages[number] for number in ids))


class Transfers:
    """The unfinished transfers of one peer; `dropped` counts those that never completed."""

    __slots__ = ("_open", "dropped")

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._open)

    def handle_message(self, message: GgmpMessage, now: Monotonic) -> None:
        """Handle a message that opens a transfer or belongs to one."""
        # Before the new message, so that an old transfer does not get data of a new one with its
        # id.
        self.forget_idle(now)
        is_parent = message.act is not None
        parent = message.id if is_parent else message.parent
        # Data may come before their parent, which then joins what is here.
        transfer = self._open.get(parent) or self._begin(parent, now)
        transfer.touched = now
        if is_parent:
            transfer.act = message.act
        # An act that opens a transfer may have no data of its own.
        if not is_parent or message.data:
            transfer.add_part(message)
        if transfer.is_too_large:
            self._drop(parent)

    def finished(self, window: GgmpWindow) -> list[Whole]:
        """Return and remove the complete transfers."""
        found: list[Whole] = []
        for parent, transfer in list(self._open.items()):
            whole = transfer.whole(window)
            if whole is not None:
                del self._open[parent]
                found.append(whole)
        return found

    def forget_idle(self, now: Monotonic) -> None:
        """Drop idle transfers."""
        for parent, transfer in list(self._open.items()):
            if now - transfer.touched > IDLE:
                self._drop(parent)

    def _begin(self, parent: int, now: Monotonic) -> _Open:
        # The oldest goes: a peer that begins transfers and never ends them harms only itself.
        if len(self._open) >= MOST_OPEN:
            self._drop(next(iter(self._open)))
        transfer = self._open[parent] = _Open(parent, now)
        return transfer

    def _drop(self, parent: int) -> None:
        del self._open[parent]
        self.dropped += 1


_IDS: Final = 0xFFFFFFFF
_WHOLE: Final = frozenset(
    (GgmpMessageType.ACTION, GgmpMessageType.ACTION_SHORT, GgmpMessageType.ACTION_DATA_END)
)
"""Messages that are complete acts."""

Delivery = Whole | tuple[Value, ...] | bytes
"""An act with its data, the values of an ArbData, or raw data."""


class GgmpPeer:
    """The peer of a conversation; `own` is this side's client number, 0 for the server."""

    __slots__ = ("_next_id", "_outbox", "_outgoing", "_short", "_transfers", "_window", "counters",
                 "order", "own")  # fmt: skip

    def __init__(self, own: int, wait: float = WAIT, order: ByteOrder = BIG) -> None:
        self.own = own
        self.order = order
        self.counters: Counter[str] = Counter()
        self._next_id = 0
        self._outgoing: list[bytes] = []
        self._outbox = Retransmissions(wait)
        self._window = GgmpWindow(32)
        self._short = GgmpWindow(16)
        self._transfers = Transfers()

    # -- sending --------------------------------------------------------------------------------

    @property
    def lost(self) -> int:
        """Messages that were never acknowledged."""
        return self._outbox.lost

    def data_to_send(self) -> list[bytes]:
        """Return and clear the datagrams to send."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def send_values(self, *values: Value, now: Monotonic, wants_ack: bool = True) -> None:
        """Send an ArbData."""
        self.send_encoded(push_values(values, self.order), now=now, wants_ack=wants_ack)

    def send_encoded(self, values: bytes, *, now: Monotonic, wants_ack: bool = True) -> None:
        """Send an ArbData with encoded values."""
        message = GgmpMessage(
            GgmpMessageType.ARB_DATA, self.own, self._new_id(), wants_ack, data=values
        )
        self._send(message, now)

    def send_act(self, act: GgmpAct, data: bytes = b"", *, now: Monotonic) -> None:
        """Send an act with its data, in as many messages as it needs."""
        if not data:
            self._send(GgmpMessage(GgmpMessageType.ACTION, self.own, self._new_id(), act=act), now)
            return
        if len(data) <= MOST_DATA:
            whole = GgmpMessage(
                GgmpMessageType.ACTION_DATA_END, self.own, self._new_id(), act=act, data=data
            )
            self._send(whole, now)
            return
        parent = self._new_id()
        self._send(GgmpMessage(GgmpMessageType.ACTION_EXTENDED, self.own, parent, act=act), now)
        for at in range(0, len(data), MOST_DATA):
            kind = GgmpMessageType.DATA if at + MOST_DATA < len(data) else GgmpMessageType.DATA_END
            chunk = data[at : at + MOST_DATA]
            self._send(GgmpMessage(kind, self.own, self._new_id(), parent=parent, data=chunk), now)

    def _new_id(self) -> int:
        number = self._next_id
        self._next_id = (number + 1) & _IDS
        return number

    def _send(self, message: GgmpMessage, now: Monotonic) -> None:
        # The peer acknowledges nothing any more. Waiting would only fill the memory until it is
        # removed.
        if message.wants_ack and self._outbox.is_full:
            self.counters["outbox full"] += 1
            return
        datagram = push_message(message, self.order)
        if message.wants_ack:
            self._outbox.add_sent(message.id, datagram, now)
        self._outgoing.append(datagram)

    # -- receiving ------------------------------------------------------------------------------

    def receive(self, message: GgmpMessage, now: Monotonic) -> list[Delivery]:
        """Handle a message; return the deliveries that it completes."""
        if message.kind is GgmpMessageType.ACK:
            if not self._outbox.acknowledged(message.id):
                self.counters["ack for nothing"] += 1
            return []
        if message.kind is GgmpMessageType.CLIENT_ASSIGN:
            return []
        if message.wants_ack:
            # Duplicates are acknowledged, too: the first Ack may have been lost.
            self._outgoing.append(push_ack(self.own, message.id, self.order))
        is_short = message.kind is GgmpMessageType.ACTION_SHORT
        # Short actions count separately, because their id has only 16 bits.
        window = self._short if is_short else self._window
        if not window.mark_received(message.id):
            self.counters["duplicate"] += 1
            # The Ack was sent above; a duplicate must not be performed again.
            return []
        found = self._delivered(message, now)
        # Short actions have ids of their own, so they complete no transfer.
        if is_short or not self._transfers:
            return found
        # Any message can be the missing one of a transfer, because the ids of all kinds rise
        # together.
        return [*found, *self._transfers.finished(self._window)]

    def _delivered(self, message: GgmpMessage, now: Monotonic) -> list[Delivery]:
        """Return a message's own delivery; messages of a transfer are stored."""
        kind = message.kind
        if kind in _WHOLE and message.act is not None:
            return [Whole(message.act, message.data)]
        if kind is GgmpMessageType.ARB_DATA:
            return [message.values]
        if kind is GgmpMessageType.RAW_DATA:
            return [message.data]
        self._transfers.handle_message(message, now)
        return []

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return the time at which `handle_timer` must be called, or None."""
        return self._outbox.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Retransmit what was not acknowledged."""
        self._outgoing += self._outbox.handle_timer(now)
        self._transfers.forget_idle(now)
