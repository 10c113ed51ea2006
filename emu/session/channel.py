"""The reliable channel of a session: payloads in order one way, messages into packets the other.

Received packets pass the `ReceiveWindow`, which restores their order, and the `Assembler`, which
joins fragments. Small messages to send share an AppCombined, small packets a Combined, and long
messages are cut into fragments. Cipher, seal and the meaning of a message are elsewhere.

Sources: docs/protocol/transport.md#reliability, docs/protocol/transport.md#fragments,
docs/protocol/transport.md#payloads, RFC 1982.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final

from emu.errors import LimitExceeded, MalformedDatagram
from emu.session.configuration import SessionConfig
from emu.session.events import DropReason
from emu.session.send_queue import MASK, SendQueue, distance
from emu.times import Monotonic
from emu.wire import AppCombined, ProtocolOpcode
from emu.wire.packets import APP_COMBINED, SEQUENCED_SIZE, marker_of, push_parts, push_sequenced

_COMBINED = marker_of(ProtocolOpcode.COMBINED)
_APP_COMBINED = marker_of(ProtocolOpcode.APP_COMBINED)


def _join(
    marker: bytes, parts: Sequence[bytes], capacity: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Join neighbors as long as they fit `capacity`; a single or long part stays bare.

    A part longer than `part_limit` is long. At most `count_limit` parts are joined, as many as a
    receiver with the same configuration accepts.
    """
    if len(parts) < 2:
        return list(parts)
    # A part has one or three bytes of length in front. `capacity` bounds only joined parts: a
    # single part may be longer, and is cut into fragments later.
    groups: list[list[bytes]] = []
    # A full size makes the first part start a group, so `groups[-1]` always exists below.
    size = capacity
    for part in parts:
        length = len(part)
        grown = size + (1 if length < 0xFF else 3) + length
        if grown > capacity or length > part_limit or len(groups[-1]) == count_limit:
            groups.append([part])
            # A part that must stay bare fills its group: nothing may be joined to it.
            size = capacity if length > part_limit else grown - size + len(marker)
        else:
            groups[-1].append(part)
            size = grown
    return [group[0] if len(group) == 1 else marker + push_parts(group) for group in groups]


def join_messages(
    messages: Sequence[bytes], capacity: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Return reliable payloads for messages in order; joined ones have `capacity` bytes at most."""
    return _join(_APP_COMBINED, messages, capacity, part_limit, count_limit)


def join_packets(
    packets: Sequence[bytes], capacity: int, part_limit: int, count_limit: int
) -> list[bytes]:
    """Return the contents of datagrams, not sealed yet, for protocol packets in order."""
    return _join(_COMBINED, packets, capacity, part_limit, count_limit)


# The u32 (big-endian) with the length of the whole payload.
_TOTAL_SIZE = 4


def cut(payload: bytes, capacity: int) -> Iterator[bytes]:
    """Yield the chunks of a payload; `capacity` is that of one datagram without its seal.

    Every datagram but the last is filled. The first chunk begins with the u32 total length.
    """
    first = capacity - SEQUENCED_SIZE - _TOTAL_SIZE
    step = capacity - SEQUENCED_SIZE
    yield len(payload).to_bytes(_TOTAL_SIZE, "big") + payload[:first]
    for start in range(first, len(payload), step):
        yield payload[start : start + step]


class Assembler:
    """Joins one run of fragments at a time, within the announced total and `size_limit`."""

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

    def add_chunk(self, chunk: bytes, size_limit: int) -> bytes | None:
        """Take the next chunk in order; return the payload when it is complete.

        Raises `MalformedDatagram` or `LimitExceeded`; the order is lost then, so the session must
        end.
        """
        data = self._data
        if data is None:
            # The peer may announce any total. It is checked before a byte is kept, and memory
            # grows only with the bytes that really arrive.
            # A shorter one has no total, or a total without content.
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


class SequencePlacement(Enum):
    """The place of a sequence number."""

    NEXT = "the expected one"
    FUTURE = "inside the window, held"
    DUPLICATE = "received before"
    OUTSIDE = "outside the window"
    FULL = "inside the window, but nothing more can be held"


class ReceiveWindow:
    """The sequence number that is expected next, and the packets that came before their turn.

    `expected` is that number. `held` has the early packets by number: (protocol opcode, bytes
    behind the sequence number); None if there are none. `bytes_limit` bounds them, to little until
    the peer is authenticated.
    """

    __slots__ = ("_count_limit", "_window", "bytes_limit", "expected", "held", "held_bytes")

    def __init__(self, config: SessionConfig) -> None:
        self.expected = config.first_sequence
        self.held: dict[int, tuple[int, bytes]] | None = None
        self.held_bytes = 0
        self._window = config.window
        self._count_limit = config.held_packet_limit
        self.bytes_limit = min(config.held_bytes_limit, config.unauthenticated_message_size_limit)

    def place(self, sequence: int, opcode: int, data: bytes) -> SequencePlacement:
        """Return the place of a packet; hold an early one. NEXT moves the window."""
        if sequence == self.expected:
            self.expected = (sequence + 1) & MASK
            return SequencePlacement.NEXT
        ahead = distance(self.expected, sequence)
        # Numbers wrap at 65,536. Far outside the window a number may belong to the round before or
        # to the next one, so such a packet must not be acknowledged as a duplicate.
        if ahead < 0:
            return (
                SequencePlacement.DUPLICATE if ahead >= -self._window else SequencePlacement.OUTSIDE
            )
        if ahead >= self._window:
            return SequencePlacement.OUTSIDE
        return self.hold(sequence, opcode, data)

    def hold(self, sequence: int, opcode: int, data: bytes) -> SequencePlacement:
        """Hold an early packet; return FUTURE, or FULL if a limit forbids it."""
        held = self.held
        if held is None:
            held = self.held = {}
        # A second copy must not be counted against the limits again.
        if sequence in held:
            return SequencePlacement.FUTURE
        if len(held) >= self._count_limit or self.held_bytes + len(data) > self.bytes_limit:
            return SequencePlacement.FULL
        held[sequence] = (opcode, data)
        self.held_bytes += len(data)
        return SequencePlacement.FUTURE

    def take_next(self) -> tuple[int, bytes] | None:
        """Return the held entry with the expected number and move the window, or return None."""
        held = self.held
        if held is None:
            return None
        entry = held.pop(self.expected, None)
        if entry is None:
            return None
        self.held_bytes -= len(entry[1])
        self.expected = (self.expected + 1) & MASK
        if not held:
            self.held = None  # the short path checks for None
        return entry

    def clear(self) -> None:
        """Drop everything held."""
        self.held = None
        self.held_bytes = 0


_PACKET: Final = int(ProtocolOpcode.PACKET)
_FRAGMENT: Final = int(ProtocolOpcode.FRAGMENT)
_ACK: Final = int(ProtocolOpcode.ACK)
_OUT_OF_ORDER_ACK: Final = int(ProtocolOpcode.OUT_OF_ORDER_ACK)
_ANYWHERE: Final = -1  # no sequence number
_ENTRY_BYTES = 200  # about what Python needs for a packet besides its bytes


class BrokenChannel(LimitExceeded):
    """The order of the channel is lost, so the session has to end; see `reason`."""


class ReliableChannel:
    """Channel 0 of one session.

    `capacity` is the bytes of a datagram without its seal, `size_limit` those of the longest
    payload to assemble. `ack_pending` is whether an Ack should leave, `is_midway` whether the
    channel began with another packet than the first. `outgoing` has the messages (cipher text)
    without a sequence number, `lead` a message that shares its payload with the first of them.
    While the channel `is_paused`, it holds every packet.
    """

    __slots__ = (
        "_assembler",
        "_config",
        "_early_acks",
        "ack_pending",
        "capacity",
        "is_midway",
        "is_paused",
        "lead",
        "outgoing",
        "outgoing_bytes",
        "queue",
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
        self.capacity = max_length - overhead
        self.size_limit = config.message_size_limit_before_key
        self.window = ReceiveWindow(config)

    def lift_limits(self, *, trusted: bool) -> None:
        """Accept longer payloads: there is a key, and the peer may be `trusted`."""
        config = self._config
        self.size_limit = (
            config.payload_size_limit if trusted else config.unauthenticated_message_size_limit
        )
        # An unauthenticated peer must not choose how much memory its early packets occupy.
        if trusted:
            self.window.bytes_limit = config.held_bytes_limit

    @property
    def is_idle(self) -> bool:
        """Whether everything was sent and acknowledged."""
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
        """How many bytes of memory the peer occupies, with an estimate for each packet."""
        # Read after every turn in which the session was served; nearly always nothing is held.
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
        """Accept a Packet if it is the expected one and no others wait for it.

        The short path for nearly every Packet. After False, call `receive` with it.
        """
        window = self.window
        # A held packet or an open run of fragments needs the steps of `receive`.
        if sequence != window.expected or window.held is not None or self._assembler is not None:
            return False
        window.expected = (sequence + 1) & 0xFFFF
        self.ack_pending = True
        return True

    def take_only_ack(self) -> bytes | None:
        """Return the Ack if nothing else may leave and nothing is held; None otherwise.

        The short path for most datagrams. After None, call `ack_packets` and `packets_to_send`.
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
        # The Ack names the last packet in order, not the expected one.
        return push_sequenced(_ACK, (self.window.expected - 1) & 0xFFFF)

    def begin_anywhere(self) -> None:
        """Accept any sequence number as the first: earlier packets were not recorded."""
        self.window.expected = _ANYWHERE

    def _begin(self, opcode: int, sequence: int) -> None:
        self.is_midway = sequence != self._config.first_sequence
        # It may be in the middle of a run, and only the first fragment has the total length.
        if self.is_midway and opcode == _FRAGMENT:
            raise MalformedDatagram("fragment of a message that began before the capture")
        self.window.expected = sequence

    def receive(self, opcode: int, sequence: int, data: bytes) -> Iterator[bytes]:
        """Take a Packet or Fragment; yield every payload it completes, in order.

        Raises `MalformedDatagram` or `LimitExceeded` when it is dropped, `BrokenChannel` when the
        session cannot continue.
        """
        window = self.window
        if window.expected == _ANYWHERE:
            self._begin(opcode, sequence)
        if self.is_paused and sequence == window.expected:
            placement = window.hold(sequence, opcode, data)  # not acknowledged until its turn
            if placement is SequencePlacement.FUTURE:
                return
        else:
            placement = window.place(sequence, opcode, data)
        if placement is SequencePlacement.NEXT:
            yield from self._payloads((opcode, data))
        elif placement is SequencePlacement.FUTURE:
            if self._early_acks is None:
                self._early_acks = {}
            self._early_acks[sequence] = None
        elif placement is SequencePlacement.DUPLICATE:
            self.ack_pending = True  # the peer repeats it, so our Ack was lost
            raise MalformedDatagram(DropReason.DUPLICATE.value)
        elif placement is SequencePlacement.OUTSIDE:
            raise LimitExceeded("outside the window")
        else:
            raise LimitExceeded("too much held out of order")

    def pause(self) -> None:
        """Hold every packet from now on, because too many messages wait; `resume` ends that."""
        self.is_paused = True
        if self.window.held is None:
            self.window.held = {}  # not None: that disables the short path

    def resume(self) -> Iterator[bytes]:
        """Yield the payloads that waited since `pause`, until the next `pause`.

        Raises `BrokenChannel` when the session cannot continue.
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
        # A generator, not a list: a payload may end the session, and then the following ones must
        # not be decrypted.
        window = self.window
        self.ack_pending = True
        while entry is not None:
            payload = self._assemble(*entry)
            if payload is not None:
                yield payload
            # A pause may begin with the payload just yielded: its owner has too many messages then.
            if window.held is None or self.is_paused:
                return
            entry = window.take_next()

    def _assemble(self, opcode: int, data: bytes) -> bytes | None:
        assembler = self._assembler
        if opcode == _PACKET:
            # No sender mixes them: all fragments of a payload have consecutive numbers.
            if assembler is not None:
                raise BrokenChannel("packet inside a run of fragments")
            return data
        if assembler is None:
            assembler = self._assembler = Assembler(self._config.fragment_count_limit)
        try:
            payload = assembler.add_chunk(data, self.size_limit)
        except (MalformedDatagram, LimitExceeded) as error:
            raise BrokenChannel(error.reason) from None
        if payload is not None:
            self._assembler = None
        return payload

    def queue_message(self, message: bytes) -> int:
        """Queue one message: cipher text with its escape byte, or clear text before the key.

        Returns how many bytes wait or are not acknowledged now.
        """
        self.outgoing.append(message)
        self.outgoing_bytes += len(message)
        return self.outgoing_bytes + self.queue.queued_bytes

    def ack_packets(self) -> list[bytes]:
        """Return the pending acks: an Ack for all in order, and one for each early packet."""
        acks: list[bytes] = []
        if self.ack_pending:
            self.ack_pending = False
            acks.append(push_sequenced(_ACK, (self.window.expected - 1) & 0xFFFF))
        if self._early_acks is not None:
            # Early packets that are in order by now are covered by the Ack.
            held = self.window.held
            if held is not None:
                acks += [
                    push_sequenced(_OUT_OF_ORDER_ACK, sequence)
                    for sequence in self._early_acks
                    if sequence in held
                ]
            self._early_acks = None
        return acks

    def take_datagrams(self, now: Monotonic, others: Sequence[bytes]) -> list[bytes]:
        """Return the contents of the datagrams that may leave now, not sealed yet.

        `others` are packets outside the channel. Acks come first: the peer waits for them.
        """
        outgoing = self.ack_packets()
        outgoing += others
        outgoing += self.packets_to_send(now)
        if len(outgoing) < 2:
            return outgoing
        config = self._config
        return join_packets(
            outgoing, self.capacity, config.combined_part_limit, config.combined_count_limit
        )

    def packets_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the Packets and Fragments that may leave now, waiting messages included."""
        # Messages become packets only now, so that all messages of one turn of the owner can share
        # packets.
        if self.outgoing or self.lead is not None:
            self._place_messages()
        return self.queue.take_packets(now)

    def _place_messages(self) -> None:
        messages = self.outgoing
        self.outgoing = []
        self.outgoing_bytes = 0
        # The lead leaves first: without it the peer cannot decrypt the messages behind it.
        if self.lead is not None:
            self._place_payload(self._take_lead(messages))
        payloads = join_messages(
            messages,
            # A joined payload must fit one Packet; a longer one would be cut into fragments.
            self.capacity - SEQUENCED_SIZE,
            self._config.app_combined_part_limit,
            self._config.app_combined_count_limit,
        )
        for payload in payloads:
            self._place_payload(payload)

    def _take_lead(self, messages: list[bytes]) -> bytes:
        """Return the lead, joined with the first message if the peer accepts that length.

        The peer has no key until it has read the lead, so its limit for a payload is still low.
        """
        lead = self.lead
        assert lead is not None  # noqa: S101  # the caller has checked
        self.lead = None
        if not messages:
            return lead
        joined = APP_COMBINED.push(AppCombined((lead, messages[0])))
        if len(joined) > self._config.message_size_limit_before_key:
            return lead
        # The message is in the joined payload now and must not leave a second time.
        del messages[0]
        return joined

    def _place_payload(self, payload: bytes) -> None:
        if len(payload) + SEQUENCED_SIZE <= self.capacity:
            self.queue.queue_packet(_PACKET, payload)
        else:
            for chunk in cut(payload, self.capacity):
                self.queue.queue_packet(_FRAGMENT, chunk)

    def clear(self) -> None:
        """Drop everything held and queued."""
        self._assembler = None
        self._early_acks = None
        self.is_paused = False
        self.outgoing.clear()
        self.outgoing_bytes = 0
        self.lead = None
        self.window.clear()
        self.queue.clear()
