"""The reliable channel of a session: payloads in order one way, messages into packets the other.

Joins receive window, assembler, send queue and the joining and cutting of payloads
(docs/protocol/transport.md#payloads, docs/protocol/transport.md#reliability). Knows no cipher, no
seal and no message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emu.errors import LimitExceeded, MalformedDatagram
from emu.session.configuration import SessionConfig
from emu.session.reliable.combining import join_messages
from emu.session.reliable.fragments import Assembler, cut
from emu.session.reliable.receive_window import Placement, ReceiveWindow
from emu.session.reliable.send_queue import SendQueue
from emu.times import Monotonic
from emu.wire import AppCombined, ProtocolOpcode
from emu.wire.packets import APP_COMBINED, SEQUENCED_SIZE, push_sequenced

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
    that must share its payload with the first of them.
    """

    __slots__ = (
        "_assembler",
        "_config",
        "_early_acks",
        "ack_pending",
        "is_midway",
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
        placement = window.place(sequence, opcode, data)
        if placement is Placement.NEXT:
            # One by one, not as a list: a payload may end the session, and then those behind it
            # must not be decrypted any more.
            self.ack_pending = True
            entry: tuple[int, bytes] | None = (opcode, data)
            while entry is not None:
                payload = self._assemble(*entry)
                if payload is not None:
                    yield payload
                entry = window.take_next() if window.held is not None else None
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
        self.outgoing.clear()
        self.outgoing_bytes = 0
        self.lead = None
        self.window.clear()
        self.queue.clear()
