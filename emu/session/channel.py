"""The reliable channel: payloads in order one way, messages into packets the other.

Large payloads are cut into fragments; small messages share an AppCombined, packets a Combined.

Owns the choice of what is joined (docs/protocol/transport.md#payloads); the shapes are
`emu.wire.packets`'.

Source: docs/protocol/transport.md#fragments.

Knows chunks in order only; sequence numbers are the windows' business.

Joins receive window, assembler, send queue and the joining and cutting of payloads
(docs/protocol/transport.md#payloads, docs/protocol/transport.md#reliability). Knows no cipher, no
seal and no message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from emu.errors import LimitExceeded, MalformedDatagram
from emu.session.configuration import SessionConfig
from emu.session.receive_window import Placement, ReceiveWindow
from emu.session.send_queue import SendQueue
from emu.times import Monotonic
from emu.wire import AppCombined, ProtocolOpcode
from emu.wire.packets import APP_COMBINED, SEQUENCED_SIZE, marker_of, push_parts, push_sequenced

_COMBINED = marker_of(ProtocolOpcode.COMBINED)
_APP_COMBINED = marker_of(ProtocolOpcode.APP_COMBINED)


def _join(
    marker: bytes, parts: Sequence[bytes], room: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Join neighbors that fit `room` together; one alone, or longer than the limit, stays bare.

    No more parts are joined than a receiver with the same configuration takes.
    """
    if len(parts) < 2:
        return list(parts)
    # A part has one or three bytes of length in front. `room` bounds the joined whole only: a part
    # that alone is longer is cut into fragments later, by those who know how.
    groups: list[list[bytes]] = []
    size = room
    for part in parts:
        length = len(part)
        grown = size + (1 if length < 0xFF else 3) + length
        if grown > room or length > part_limit or len(groups[-1]) == count_limit:
            groups.append([part])
            # Behind a part that must stay bare there is no room for another one.
            size = room if length > part_limit else grown - size + len(marker)
        else:
            groups[-1].append(part)
            size = grown
    return [group[0] if len(group) == 1 else marker + push_parts(group) for group in groups]


def join_messages(
    messages: Sequence[bytes], room: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Return reliable payloads for messages in order; `room` is the longest worth joining up to."""
    return _join(_APP_COMBINED, messages, room, part_limit, count_limit)


def join_packets(
    packets: Sequence[bytes], room: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Return what goes into datagrams, unsealed, for protocol packets in order."""
    return _join(_COMBINED, packets, room, part_limit, count_limit)


_TOTAL_SIZE = 4


def cut(payload: bytes, room: int) -> Iterator[bytes]:
    """Yield the chunks of a payload; `room` is what one datagram holds without its seal.

    Every datagram but the last is filled. The first chunk begins with the u32 total length.
    """
    first = room - SEQUENCED_SIZE - _TOTAL_SIZE
    step = room - SEQUENCED_SIZE
    yield len(payload).to_bytes(_TOTAL_SIZE, "big") + payload[:first]
    for start in range(first, len(payload), step):
        yield payload[start : start + step]


class Assembler:
    """Joins one run of fragments at a time; holds no more than the run said and `size_limit`."""

    __slots__ = ("_count", "_count_limit", "_data", "_total")

    def __init__(self, count_limit: int) -> None:
        self._count_limit = count_limit
        self._data: bytearray | None = None
        self._total = 0
        self._count = 0

    @property
    def held_bytes(self) -> int:
        """How many bytes of an incomplete run are in memory."""
        return len(self._data) if self._data is not None else 0

    def add(self, chunk: bytes, size_limit: int) -> bytes | None:
        """Take the next chunk in order; return the payload when it is complete.

        Raises `MalformedDatagram` or `LimitExceeded`; the order is lost then, and with it the
        session.
        """
        data = self._data
        if data is None:
            # The total is a peer's word. It is held against the limit before a byte is kept, and
            # memory grows with what really comes.
            if len(chunk) <= _TOTAL_SIZE:
                raise MalformedDatagram("first fragment too short")
            self._total = int.from_bytes(chunk[:_TOTAL_SIZE], "big")
            if self._total > size_limit:
                raise LimitExceeded("fragmented message too long")
            chunk = chunk[_TOTAL_SIZE:]
            data = self._data = bytearray()
            self._count = 0
        self._count += 1
        if self._count > self._count_limit:
            raise LimitExceeded("too many fragments")
        data += chunk
        if len(data) > self._total:
            raise MalformedDatagram("fragments longer than announced")
        if len(data) < self._total:
            return None
        self._data = None
        return bytes(data)


_PACKET: Final = int(ProtocolOpcode.PACKET)
_FRAGMENT: Final = int(ProtocolOpcode.FRAGMENT)
_ACK: Final = int(ProtocolOpcode.ACK)
_OUT_OF_ORDER_ACK: Final = int(ProtocolOpcode.OUT_OF_ORDER_ACK)
_ANYWHERE: Final = -1  # no sequence number
_ENTRY_BYTES = 200  # what Python takes for a packet beside its bytes, about


class BrokenChannel(LimitExceeded):
    """The order of the channel is lost for good, so the session has to end; see `reason`."""


class ReliableChannel:
    """Channel 0 of one session.

    `room` is what a datagram holds without its seal, `size_limit` the longest payload to assemble,
    `ack_pending` whether an Ack should leave, `is_midway` whether it began with another packet
    than the first, `outgoing` the messages (cipher text) not yet given a place, `lead` a message
    that must share its payload with the first of them. While it `is_paused` no packet has its turn.
    """

    __slots__ = (
        "_assembler",
        "_config",
        "_early_acks",
        "ack_pending",
        "is_midway",
        "is_paused",
        "lead",
        "outgoing",
        "outgoing_bytes",
        "queue",
        "room",
        "size_limit",
        "window",
    )

    def __init__(self, config: SessionConfig, max_length: int, overhead: int) -> None:
        self._config = config
        self._assembler: Assembler | None = None
        self._early_acks: dict[int, None] | None = None  # a set that keeps the order
        self.ack_pending = False
        self.is_midway = False
        self.is_paused = False
        self.lead: bytes | None = None
        self.outgoing: list[bytes] = []
        self.outgoing_bytes = 0
        self.queue = SendQueue(config, max_length)
        self.room = max_length - overhead
        self.size_limit = config.message_size_limit_before_key
        self.window = ReceiveWindow(config)

    def lift_limits(self, *, trusted: bool) -> None:
        """Take longer payloads: there is a key, and the peer may be `trusted`, too."""
        config = self._config
        self.size_limit = (
            config.payload_size_limit if trusted else config.stranger_message_size_limit
        )
        if trusted:
            self.window.bytes_limit = config.held_bytes_limit

    @property
    def is_idle(self) -> bool:
        """Whether `packets_to_send` would have nothing, now and without new input."""
        return not self.outgoing and self.queue.empty and self.lead is None

    @property
    def queued_bytes(self) -> int:
        """How many bytes wait or are not yet acknowledged."""
        return self.outgoing_bytes + self.queue.queued_bytes

    @property
    def partial_bytes(self) -> int:
        """How many bytes of an incomplete run of fragments are in memory."""
        return self._assembler.held_bytes if self._assembler is not None else 0

    @property
    def held_bytes(self) -> int:
        """How much memory the peer costs us, with what the bookkeeping of each packet takes."""
        # Asked for after every turn in which a session was served: most hold nothing at all.
        window = self.window
        queue = self.queue
        held = self.outgoing_bytes + queue.queued_bytes
        if held:
            held += queue.entries * _ENTRY_BYTES
        if window.held is not None:
            held += window.held_bytes + len(window.held) * _ENTRY_BYTES
        if self._assembler is not None:
            held += self._assembler.held_bytes
        return held

    def takes_next(self, sequence: int) -> bool:
        """Take note of a whole Packet if it is the awaited one and completes nothing but itself.

        The short way for nearly every Packet; after False `receive` has to be called with it.
        """
        window = self.window
        if sequence != window.expected or window.held is not None or self._assembler is not None:
            return False
        window.expected = (sequence + 1) & 0xFFFF
        self.ack_pending = True
        return True

    def take_only_ack(self) -> bytes | None:
        """Return the Ack due if it is all that could leave and nothing is held; else None.

        The short way for nearly every answer; after None `ack_packets` and `packets_to_send` say
        what leaves.
        """
        if (
            not self.ack_pending
            or self.outgoing
            or self.queue.queued_bytes
            or self.lead is not None
            or self._early_acks is not None
            or self._assembler is not None
            or self.window.held is not None
        ):
            return None
        self.ack_pending = False
        return push_sequenced(_ACK, (self.window.expected - 1) & 0xFFFF)

    def begin_anywhere(self) -> None:
        """Take whichever payload comes first as the first: the ones before it were not recorded."""
        self.window.expected = _ANYWHERE

    def _begin(self, opcode: int, sequence: int) -> None:
        self.is_midway = sequence != self._config.first_sequence
        if self.is_midway and opcode == _FRAGMENT:
            raise MalformedDatagram("part of a message that began before the capture")
        self.window.expected = sequence

    def receive(self, opcode: int, sequence: int, data: bytes) -> Iterator[bytes]:
        """Take a Packet or Fragment; yield every payload it completes, in order.

        Raises `MalformedDatagram` or `LimitExceeded` when it is dropped, `BrokenChannel` when the
        session cannot go on.
        """
        window = self.window
        if window.expected == _ANYWHERE:
            self._begin(opcode, sequence)
        if self.is_paused and sequence == window.expected:
            placement = window.hold(sequence, opcode, data)  # not acknowledged until its turn
            if placement is Placement.FUTURE:
                return
        else:
            placement = window.place(sequence, opcode, data)
        if placement is Placement.NEXT:
            yield from self._payloads((opcode, data))
        elif placement is Placement.FUTURE:
            if self._early_acks is None:
                self._early_acks = {}
            self._early_acks[sequence] = None
        elif placement is Placement.DUPLICATE:
            self.ack_pending = True  # the peer sends it again because our Ack was lost
            raise MalformedDatagram("duplicate packet")
        elif placement is Placement.OUTSIDE:
            raise LimitExceeded("outside the window")
        else:
            raise LimitExceeded("too much held out of order")

    def pause(self) -> None:
        """Give no packet its turn any more: its owner has enough to do. `go_on` ends that."""
        self.is_paused = True
        if self.window.held is None:
            self.window.held = {}  # empty, but not None: that is what the short way looks for

    def go_on(self) -> Iterator[bytes]:
        """Yield the payloads that waited since `pause`, as far as nobody pauses again.

        Raises `BrokenChannel` when the session cannot go on.
        """
        self.is_paused = False
        window = self.window
        if not window.held:
            window.held = None
            return
        entry = window.take_next()
        if entry is not None:
            yield from self._payloads(entry)

    def _payloads(self, entry: tuple[int, bytes] | None) -> Iterator[bytes]:
        """Yield every payload that an entry completes, and those held behind it."""
        # One by one, not as a list: a payload may end the session, and then those behind it must
        # not be decrypted any more.
        window = self.window
        self.ack_pending = True
        while entry is not None:
            payload = self._assemble(*entry)
            if payload is not None:
                yield payload
            if window.held is None or self.is_paused:
                return
            entry = window.take_next()

    def _assemble(self, opcode: int, data: bytes) -> bytes | None:
        assembler = self._assembler
        if opcode == _PACKET:
            if assembler is not None:
                raise BrokenChannel("packet inside a run of fragments")
            return data
        if assembler is None:
            assembler = self._assembler = Assembler(self._config.fragment_count_limit)
        try:
            payload = assembler.add(data, self.size_limit)
        except (MalformedDatagram, LimitExceeded) as error:
            raise BrokenChannel(error.reason) from None
        if payload is not None:
            self._assembler = None
        return payload

    def add(self, message: bytes) -> None:
        """Queue one message (cipher text with its escape byte, or clear before there is a key)."""
        self.outgoing.append(message)
        self.outgoing_bytes += len(message)

    def ack_packets(self) -> list[bytes]:
        """Return the acks due: one Ack for everything contiguous, one for each early packet."""
        acks: list[bytes] = []
        if self.ack_pending:
            self.ack_pending = False
            acks.append(push_sequenced(_ACK, (self.window.expected - 1) & 0xFFFF))
        if self._early_acks is not None:
            # What has had its turn since is covered by the Ack in front.
            held = self.window.held
            if held is not None:
                acks += [
                    push_sequenced(_OUT_OF_ORDER_ACK, sequence)
                    for sequence in self._early_acks
                    if sequence in held
                ]
            self._early_acks = None
        return acks

    def packets_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the Packets and Fragments that may leave now, giving waiting messages a place."""
        # Messages get their sequence numbers as late as this, so that all of one turn of the owner
        # share their packets.
        if self.outgoing or self.lead is not None:
            self._place_messages()
        return self.queue.take(now)

    def _place_messages(self) -> None:
        messages = self.outgoing
        self.outgoing = []
        self.outgoing_bytes = 0
        if self.lead is not None:
            self._place_payload(self._take_lead(messages))
        payloads = join_messages(
            messages,
            self.room - SEQUENCED_SIZE,
            self._config.app_combined_part_limit,
            self._config.app_combined_count_limit,
        )
        for payload in payloads:
            self._place_payload(payload)

    def _take_lead(self, messages: list[bytes]) -> bytes:
        """Return the payload of the lead, and of the first message if the peer takes both at once.

        The peer has no key before it has read the lead, so its bound for payloads is a low one.
        """
        lead = self.lead
        assert lead is not None  # noqa: S101  # the caller has looked
        self.lead = None
        if not messages:
            return lead
        joined = APP_COMBINED.push(AppCombined((lead, messages[0])))
        if len(joined) > self._config.message_size_limit_before_key:
            return lead
        del messages[0]
        return joined

    def _place_payload(self, payload: bytes) -> None:
        if len(payload) + SEQUENCED_SIZE <= self.room:
            self.queue.add(_PACKET, payload)
        else:
            for chunk in cut(payload, self.room):
                self.queue.add(_FRAGMENT, chunk)

    def clear(self) -> None:
        """Let go of everything held and queued."""
        self._assembler = None
        self._early_acks = None
        self.is_paused = False
        self.outgoing.clear()
        self.outgoing_bytes = 0
        self.lead = None
        self.window.clear()
        self.queue.clear()
