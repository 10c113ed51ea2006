"""One session, either role, without input or output (docs/protocol/transport.md).

Datagrams and time go in; datagrams, events and one timer come out. Owns the way of a datagram
through the rooms of this package. Knows no socket, no clock and no meaning of a message; the
address it speaks to is an opaque value that it only keeps. How a session opens and ends is in
`life`.
"""

from __future__ import annotations

from typing import Final
from zlib import crc32

from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram, PeerError
from emu.session.channel import BrokenChannel
from emu.session.cipher import (
    KEY_BLOCK_MESSAGE_MINIMUM,
    KEY_REQUEST,
    check_key_request,
    key_block_message,
    key_from_block,
)
from emu.session.combining import join_packets
from emu.session.configuration import Role
from emu.session.events import (
    CloseReason,
    KeyEstablished,
    Message,
    StatisticsReceived,
)
from emu.session.life import SessionLife
from emu.session.messages import OPCODE_SIZE_LIMIT, MessageCodec, opcode_bytes
from emu.session.states import ConnectionState
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, ServerKeyRequest, SessionStatResponse, packets
from emu.wire.packets import OPCODE_SIZE, OTHER_CHANNELS, UNSEALED, marker_of
from emu.wire.parts import pull_parts

_PACKET: Final = marker_of(ProtocolOpcode.PACKET)
_KEEP_ALIVE: Final = marker_of(ProtocolOpcode.KEEP_ALIVE)
_APP_COMBINED: Final = int(ProtocolOpcode.APP_COMBINED)
_U32: Final = 0xFFFFFFFF
_QUESTIONS: Final = 16  # statistics requests whose answers are waited for at once

_HANDLERS: Final[dict[int, str]] = {
    ProtocolOpcode.SESSION_REQUEST: "_handle_session_request",
    ProtocolOpcode.SESSION_RESPONSE: "_handle_session_response",
    ProtocolOpcode.SESSION_DISCONNECT: "_handle_session_disconnect",
    ProtocolOpcode.KEEP_ALIVE: "_handle_keep_alive",
    ProtocolOpcode.SERVER_KEY_REQUEST: "_handle_server_key_request",
    ProtocolOpcode.SESSION_STAT_RESPONSE: "_handle_session_stat_response",
    ProtocolOpcode.PACKET: "_handle_sequenced",
    ProtocolOpcode.FRAGMENT: "_handle_sequenced",
    ProtocolOpcode.OUT_OF_ORDER_ACK: "_handle_out_of_order_ack",
    ProtocolOpcode.ACK: "_handle_ack",
    ProtocolOpcode.OUT_OF_SESSION: "_handle_out_of_session",
}


class Session(SessionLife):
    """A session with one peer. Three things drive it:

    * its owner calls `send`, `close` and, as a client, `connect`;
    * the network: `receive_datagram`;
    * time: `handle_timer` when `get_timer` says so.

    After any of them the owner takes all events with `next_event`, all datagrams with
    `datagrams_to_send`, and asks `get_timer` again. Once `ended` is true (a `SessionClosed` event
    tells) it takes the last datagrams and forgets the session.

    Args (see `SessionBase`): `config`, `role`; a client gives `session_id` (u32) and
    `key_block` (60 random bytes), a server `check_key` (u32). `client` makes up what is by chance.
    """  # noqa: D400  # the list is the sentence

    __slots__ = ()

    # -- datagrams in ---------------------------------------------------------------------------

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Take one datagram of the peer. Never raises for what is in it: drops are counted."""
        self.datagrams_received += 1
        self.bytes_received += len(data)
        try:
            # The one that matters for speed: a Packet whose body is not transformed.
            start = self._plain_start
            if start is not None and data[:2] == _PACKET and 6 < len(data) <= self._size_limit:
                if crc32(data[:-2], start) & 0xFFFF != data[-2] << 8 | data[-1]:
                    self._drop("bad check")
                    return
                self._last_received = now
                if not self.proven:
                    self._prove()
                channel = self._channel
                sequence = data[2] << 8 | data[3]
                if channel.takes_next(sequence):
                    self._receive_payload(data[4:-2])
                else:
                    self._receive_sequenced(0x09, sequence, data[4:-2])
            else:
                self._receive_general(data, now)
        except BrokenChannel as error:
            self._abort(error.reason)
        except PeerError as error:
            self._drop(error.reason)

    def _receive_general(self, data: bytes, now: Monotonic) -> None:
        if len(data) > self._size_limit:
            raise LimitExceeded("datagram too long")
        if len(data) < 2:
            raise MalformedDatagram("short datagram")
        if data[0]:
            raise MalformedDatagram("not a protocol packet")
        if self.ended:
            raise MalformedDatagram("session is over")
        if data[1] in UNSEALED:
            self._handle(data, now)
            return
        if self._seal is None:
            raise MalformedDatagram("not allowed now")
        packet = self._seal.unseal(data)
        self._last_received = now
        if not self.proven:
            self._prove()
        if packet[1] == ProtocolOpcode.COMBINED:
            self._receive_combined(packet, now)
        else:
            self._handle(packet, now)

    def _receive_combined(self, packet: bytes, now: Monotonic) -> None:
        """Open a Combined, and those inside it, without recursion; one bad part spoils itself.

        Bad parts are counted without an exception for each, and the number of parts is bounded for
        the datagram as a whole: a datagram must not cost more than its bytes are worth.
        """
        stack = [(packet, 0)]
        parts_left = self.config.combined_count_limit
        while stack and not self.ended:
            packet, depth = stack.pop()
            reason = self._refusal(packet, inside=depth > 0)
            if reason is not None:
                self._drop(reason)
            elif packet[1] != ProtocolOpcode.COMBINED:
                self._handle_part(packet, now)
            elif depth >= self.config.combine_depth_limit:
                self._drop("combined packets too deep")
            else:
                parts = self._parts_of(packet, parts_left)
                parts_left -= len(parts)
                stack += [(part, depth + 1) for part in reversed(parts)]

    def _parts_of(self, packet: bytes, limit: int) -> tuple[bytes, ...]:
        try:
            return pull_parts(packet, limit, OPCODE_SIZE)
        except PeerError as error:
            self._drop(error.reason)
            return ()

    def _handle_part(self, packet: bytes, now: Monotonic) -> None:
        try:
            getattr(self, _HANDLERS[packet[1]])(packet, now)
        except BrokenChannel:
            raise
        except PeerError as error:
            self._drop(error.reason)

    def _handle(self, packet: bytes, now: Monotonic) -> None:
        reason = self._refusal(packet)
        if reason is not None:
            raise MalformedDatagram(reason)
        getattr(self, _HANDLERS[packet[1]])(packet, now)

    def _refusal(self, packet: bytes, *, inside: bool = False) -> str | None:
        """Say why a packet may not come now, None when it may; `inside` a Combined or alone."""
        if len(packet) < 2 or packet[0]:
            return "not a protocol packet"
        opcode = packet[1]
        if inside and opcode in UNSEALED:
            return "not allowed inside a combined packet"
        if opcode in self._allowed:
            return None
        if opcode in _HANDLERS or opcode == _APP_COMBINED:
            return "not allowed now"
        return "unused channel" if opcode in OTHER_CHANNELS else "unknown protocol opcode"

    def _handle_keep_alive(self, packet: bytes, _now: Monotonic) -> None:
        packets.KEEP_ALIVE.pull(packet)
        if self.role is Role.SERVER:
            self._keep_alive_due = self._control_due = True
            self._note_idle()

    def _handle_server_key_request(self, packet: bytes, now: Monotonic) -> None:
        request = packets.SERVER_KEY_REQUEST.pull(packet)
        self._stat_request = request
        self._control_due = True
        channel = self._channel
        channel.queue.round_trip.hint(request.average / 1000)
        self._events.append(
            StatisticsReceived(
                request.last / 1000,
                request.average / 1000,
                request.low / 1000,
                request.high / 1000,
                request.packets_sent,
                request.packets_received,
            )
        )
        if self._codec is None:
            self._request_key(now)

    def _request_key(self, now: Monotonic) -> None:
        """Ask for the key once: a second request could reach a client that has begun to encrypt.

        A client that asks again misses the first one, so that is repeated without waiting.
        """
        if self._key_requested:
            self._channel.queue.hurry(now)
        else:
            self._key_requested = True
            self._channel.add(KEY_REQUEST)

    def _handle_session_stat_response(self, packet: bytes, now: Monotonic) -> None:
        response = packets.SESSION_STAT_RESPONSE.pull(packet)
        asked = self._statistics_asked.get(response.request_id)
        if asked is None:
            raise MalformedDatagram("unasked statistics")
        self._statistics_asked.clear()
        round_trip = self._channel.queue.round_trip
        took = max(now - asked, 0.0)
        round_trip.measure(took)
        self._events.append(
            StatisticsReceived(
                took,
                round_trip.smoothed,
                round_trip.low,
                round_trip.high,
                response.server_sent,
                response.server_received,
            )
        )

    def _handle_sequenced(self, packet: bytes, _now: Monotonic) -> None:
        sequence, data = packets.pull_sequenced(packet)
        self._receive_sequenced(packet[1], sequence, data)

    def _handle_ack(self, packet: bytes, now: Monotonic) -> None:
        queue = self._channel.queue
        under_way = queue.under_way
        queue.acknowledge_up_to(packets.pull_acknowledged(packet), now)
        self.acknowledged = self.acknowledged or queue.under_way < under_way

    def _handle_out_of_order_ack(self, packet: bytes, now: Monotonic) -> None:
        queue = self._channel.queue
        under_way = queue.under_way
        queue.acknowledge_one(packets.pull_acknowledged(packet), now)
        self.acknowledged = self.acknowledged or queue.under_way < under_way

    # -- payloads and messages in ---------------------------------------------------------------

    def _receive_sequenced(self, opcode: int, sequence: int, data: bytes) -> None:
        for payload in self._channel.receive(opcode, sequence, data):
            self._receive_payload(payload)
            if self.ended:
                return

    def _receive_payload(self, payload: bytes) -> None:
        """Take a message, or what begins with 00: an escape byte, or several messages."""
        if payload[0]:
            self._receive_message(payload)
            return
        marker = payload[1] if len(payload) > 1 else None
        if marker == 0:
            self._receive_message(payload[1:])
        elif marker == _APP_COMBINED:
            self._receive_app_combined(payload)
        else:
            self._drop("unknown payload marker")

    def _receive_app_combined(self, payload: bytes) -> None:
        try:
            messages = pull_parts(payload, self.config.app_combined_count_limit, OPCODE_SIZE)
        except LimitExceeded:
            raise BrokenChannel("too many messages in an AppCombined") from None
        except MalformedDatagram:
            if self._codec is not None:  # nobody knows how far the cipher stream went on
                raise BrokenChannel("malformed AppCombined") from None
            self._drop("malformed AppCombined")
            return
        for message in messages:
            if message[0]:
                self._receive_message(message)
            elif len(message) > 1 and message[1] == 0:
                self._receive_message(message[1:])
            else:
                self._drop("AppCombined inside an AppCombined")
            if self.ended:
                return

    def _receive_message(self, message: bytes) -> None:
        """Take one message, escape byte off: the next bytes of the cipher stream."""
        codec = self._codec
        if codec is None:
            self._receive_before_key(message)
            return
        try:
            opcode, body = codec.decode(message)
        except PeerError as error:
            if codec.broken:
                self._abort(error.reason)
            else:
                self._drop(error.reason)
            return
        self.messages_received += 1
        if not self.trusted and self._is_flood():
            self._abort(CloseReason.FLOOD)
            return
        if self.state is ConnectionState.ESTABLISHED:
            self._events.append(Message(opcode, body))

    def _receive_before_key(self, message: bytes) -> None:
        try:
            if self.role is Role.SERVER:
                if len(message) < KEY_BLOCK_MESSAGE_MINIMUM:
                    raise MalformedDatagram("message before the key")
                key = key_from_block(message)
                # It answers the key request, whatever became of the acknowledgment of that.
                self._channel.queue.acknowledge_all(Monotonic(self._last_received))
                self.set_cipher_key(key)
            else:
                check_key_request(message)
                self._answer_key_request()
        except PeerError as error:
            self._drop(error.reason)

    def _answer_key_request(self) -> None:
        self._channel.lead = key_block_message(self._key_block)
        self.set_cipher_key(key_from_block(self._key_block))

    def set_cipher_key(self, key: bytes) -> None:
        """Start both cipher streams from an RC4 key of 8 bytes, and send what waited for it.

        The key exchange calls it; a follower of a capture may, with a key it got elsewhere. Raises
        `LocalProtocolError` before the session is established.
        """
        if self._seal is None:
            raise LocalProtocolError("a key needs an established session")
        self._codec = MessageCodec(self.config, self.role, key)
        self.key = key
        self._channel.lift_limits(trusted=self.trusted)
        self._events.append(KeyEstablished(key))
        early = self._early
        self._early = None
        self._early_bytes = 0
        for opcode, payload in early or ():
            self._channel.add(self._codec.encode(opcode, payload))

    # -- messages and datagrams out ---------------------------------------------------------------

    def send(self, opcode: int, payload: bytes) -> None:
        """Queue one application message; header, compression, cipher and cutting are done here.

        Before the key is known it waits. After the session began to close it is counted and
        dropped, since a peer may go at any time. More than `send_queue_limit` waiting ends the
        session. Raises `LocalProtocolError` for an opcode or a size that cannot be sent: whatever
        is accepted, a session of the same configuration takes, once it trusts us.
        """
        config = self.config
        if len(payload) > config.message_size_limit - OPCODE_SIZE_LIMIT:
            most = config.message_size_limit - OPCODE_SIZE_LIMIT
            raise LocalProtocolError(f"a message may have {most} bytes behind its opcode")
        if self.ended or self.state is ConnectionState.CLOSING:
            self._drop("sent after close")
            return
        codec = self._codec
        if codec is None:
            opcode_bytes(opcode, config.stream_type.opcode_width)
            if self._early is None:
                self._early = []
            self._early.append((opcode, payload))
            self._early_bytes += len(payload)
            waiting = self._early_bytes
        else:
            self._channel.add(codec.encode(opcode, payload))
            waiting = self._channel.queued_bytes
        self.messages_sent += 1
        if waiting > config.send_queue_limit:
            self._abort(CloseReason.SEND_QUEUE_FULL)

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams that may leave now, as few as possible, each up to MaxLength."""
        seal = self._seal
        channel = self._channel
        if (
            seal is not None
            and not self._control_due
            and not self._ready
            and channel.owes_only_ack
            and self.state is ConnectionState.ESTABLISHED
        ):
            datagram = seal.seal(channel.take_ack())  # the commonest answer of all
            self.datagrams_sent += 1
            self.bytes_sent += len(datagram)
            self._last_sent = now
            return [datagram]
        datagrams = self._ready
        self._ready = []
        if seal is not None and not self.ended and self.proven:
            outgoing = self._control_packets(now)
            outgoing += self._channel.packets_to_send(now)
            if self.state is ConnectionState.CLOSING:
                outgoing += self._closing_packets(now)
            if len(outgoing) > 1:
                outgoing = join_packets(
                    outgoing,
                    self._channel.room,
                    self.config.combined_part_limit,
                    self.config.combined_count_limit,
                )
            datagrams += [seal.seal(packet) for packet in outgoing]
        if not datagrams:
            return datagrams
        return self._count_sent(datagrams, now)

    def _control_packets(self, now: Monotonic) -> list[bytes]:
        outgoing = self._channel.ack_packets()
        if not self._control_due:
            return outgoing
        self._control_due = False
        if self._stat_request is not None:
            outgoing.append(self._stat_answer(self._stat_request, now))
            self._stat_request = None
        if self._statistics_due:
            outgoing.append(self._stat_question(now))
            self._statistics_due = False
        if self._keep_alive_due:
            outgoing.append(_KEEP_ALIVE)
            self._keep_alive_due = False
        return outgoing

    def _stat_answer(self, request: ServerKeyRequest, now: Monotonic) -> bytes:
        return packets.SESSION_STAT_RESPONSE.push(
            SessionStatResponse(
                request.request_id,
                int(now * 1000) & _U32,
                request.packets_sent,
                request.packets_received,
                self.datagrams_sent + 1,
                self.datagrams_received,
            )
        )

    def _stat_question(self, now: Monotonic) -> bytes:
        request_id = int(now * 1000) & 0xFFFF
        if len(self._statistics_asked) >= _QUESTIONS:
            self._statistics_asked.clear()
        self._statistics_asked[request_id] = now
        round_trip = self._channel.queue.round_trip
        # Whole milliseconds, and 0 says nothing: the server sets its own timeout by it.
        average = max(int(round_trip.smoothed * 1000), 1) if round_trip.measured else 0
        return packets.SERVER_KEY_REQUEST.push(
            ServerKeyRequest(
                request_id,
                int(round_trip.latest * 1000),
                average,
                int(round_trip.low * 1000),
                int(round_trip.high * 1000),
                int(round_trip.latest * 1000),
                self.datagrams_sent + 1,
                self.datagrams_received,
            )
        )
