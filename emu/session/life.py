"""How a session opens, stays alive and ends.

Sources: docs/protocol/transport.md#setup, docs/protocol/transport.md#reliability.

Owns the ways between the states and the timers: `Session` builds on it. Does not look into
payloads.
"""

from __future__ import annotations

from typing import Final

from emu.errors import LocalProtocolError, MalformedDatagram
from emu.session.base import SessionBase
from emu.session.channel import ReliableChannel
from emu.session.configuration import Role
from emu.session.events import (
    CloseReason,
    Message,
    SessionClosed,
    SessionEstablished,
)
from emu.session.states import ConnectionState, Step
from emu.times import Monotonic
from emu.wire import (
    Format,
    OutOfSession,
    Seal,
    SessionDisconnect,
    SessionRequest,
    SessionResponse,
    packets,
)

_CHECK_BYTES: Final = 2
_FORMATS: Final = frozenset(
    (Format.NONE, Format.COMPRESSED, Format.ENCODED, Format.COMPRESSED | Format.ENCODED)
)
_DISCONNECTS: Final = 2  # the farewell is sent again once when it gets no answer


class SessionLife(SessionBase):
    """Opening, ending and time of one session; attributes are `SessionBase`'s."""

    __slots__ = ()

    # -- opening --------------------------------------------------------------------------------

    def connect(self, now: Monotonic) -> None:
        """Begin as a client: ask for the session. Raises `LocalProtocolError` at any other time."""
        if self.role is not Role.CLIENT or self._requests or self.ended:
            raise LocalProtocolError("only a new client session can connect")
        self._ask_for_session(now)

    def _ask_for_session(self, now: Monotonic) -> None:
        self._request_deadline = now + self._pause(self._requests)
        self._requests += 1
        request = SessionRequest(self.session_id, self.config.max_length)
        self._ready.append(packets.SESSION_REQUEST.push(request))

    def _pause(self, tries: int) -> float:
        """Return how long to wait for an answer before asking again, the first time at 0 tries.

        Nothing is known of the path yet. Short pauses at first cost a server next to nothing and
        outlast a bad link; growing ones do not crowd a long path or a server that is busy.
        """
        config = self.config
        return config.session_request_pause * config.session_request_pause_growth**tries

    def accept(self, session_id: int, max_length: int, now: Monotonic) -> None:
        """Begin as a server: the SessionRequest is, or is being, answered with our check key.

        `session_id` is the client's, 0 when it is not known; `max_length` what the answer says.
        Raises `LocalProtocolError` for a session that is not a new server's.
        """
        if self.role is not Role.SERVER or self._seal is not None or self.ended:
            raise LocalProtocolError("only a new server session can accept")
        self.session_id = session_id
        self.max_length = max_length
        self._agree(self.config.stream_type.format, now)

    def _handle_session_request(self, packet: bytes, now: Monotonic) -> None:
        request = packets.SESSION_REQUEST.pull(packet)
        if self.state is ConnectionState.CLOSED:
            max_length = self.config.clamp_max_length(request.max_length)
            self.accept(request.session, max_length, now)
        elif request.session != self.session_id:
            raise MalformedDatagram("another session id")
        elif self.proven:
            raise MalformedDatagram("repeated session request")
        answer = SessionResponse(
            self.session_id, self.check_key, self.max_length, self.config.stream_type.format
        )
        if not self._ready:
            self._ready.append(packets.SESSION_RESPONSE.push(answer))

    def _handle_session_response(self, packet: bytes, now: Monotonic) -> None:
        response = packets.SESSION_RESPONSE.pull(packet)
        if self._request_deadline is None or response.session != self.session_id:
            raise MalformedDatagram("unasked session response")
        if response.unknown_a != _CHECK_BYTES or response.format not in _FORMATS:
            raise MalformedDatagram("session response with unknown check or format")
        self.check_key = response.key
        self.max_length = self.config.clamp_max_length(response.max_length)
        self._request_deadline = None
        self._agree(Format(response.format), now)
        self._events.append(SessionEstablished(self.session_id))
        self._statistics_due = self._control_due = True
        self._plan_statistics(now)

    def _agree(self, form: Format, now: Monotonic) -> None:
        """Enter the established state with what both sides now know."""
        config = self.config
        self._seal = Seal(
            self.check_key,
            form,
            threshold=config.datagram_compression_threshold,
            inflate_limit=config.datagram_inflate_limit,
        )
        self._plain_start = self._seal.start if self._seal.plain else None
        self._channel = ReliableChannel(config, self.max_length, self._seal.overhead)
        self._last_received = self._last_sent = now
        self._step(Step.AGREED)

    def _prove(self) -> None:
        """The peer showed that it got our SessionResponse: its address is real."""
        self.proven = True
        self._events.append(SessionEstablished(self.session_id))

    def trust(self) -> None:
        """Lift the limits of a stranger: the owner of the session knows who the peer is.

        Until then a server ends a session whose client sends more or longer messages than it takes
        to say who one is (`stranger_...` of the configuration). A client trusts its server.
        """
        if not self.trusted:
            self.trusted = True
            if self._codec is not None:
                self._channel.lift_limits(trusted=True)

    def _is_flood(self) -> bool:
        """Tell whether one more message of a stranger is too many, at all or at once."""
        config = self.config
        waiting = sum(type(event) is Message for event in self._events)
        return (
            waiting >= config.stranger_waiting_limit
            or self.messages_received > config.stranger_message_count_limit
        )

    # -- ending ---------------------------------------------------------------------------------

    def close(self, reason: int = 6) -> None:
        """End the session in order: what is queued still arrives, then SessionDisconnect.

        `reason` is the u16 the peer gets. `SessionClosed` comes when the peer has answered, or has
        not for `close_timeout` plus twice `disconnect_timeout`.
        """
        if self.ended or self.state is ConnectionState.CLOSING:
            return
        if self.state is ConnectionState.CLOSED or not self.proven:
            self._end(CloseReason.LOCAL)
            return
        self._close_code = reason
        self._early = None
        self._early_bytes = 0
        self._step(Step.CLOSE)

    def replace(self, reason: str) -> None:
        """End the session at once and in silence, because its endpoint has no more place for it."""
        if not self.ended:
            self._ready.clear()
            self._end(reason)

    def _closing_packets(self, now: Monotonic) -> list[bytes]:
        """Return the farewell when everything before it has arrived."""
        if self._close_deadline is None:
            self._close_deadline = now + self.config.close_timeout
        if self._disconnects or not self._channel.is_idle:
            return []
        if not self.session_id:
            self._close_deadline = (
                now  # an OutOfSession cannot share a datagram; the timer sends it
            )
            return []
        self._note_farewell(now)
        return [self._disconnect_packet()]

    def _note_farewell(self, now: Monotonic) -> None:
        self._disconnects += 1
        self._close_deadline = now + self.config.disconnect_timeout

    def _disconnect_packet(self) -> bytes:
        return packets.SESSION_DISCONNECT.push(SessionDisconnect(self.session_id, self._close_code))

    def _farewell(self, seal: Seal) -> bytes:
        """Return the datagram that tells the peer that the session is over.

        A SessionDisconnect counts only with the right session id. A client of which we have none
        (0) is told that it is unknown here.
        """
        if not self.session_id:
            return packets.OUT_OF_SESSION.push(OutOfSession())
        return seal.seal(self._disconnect_packet())

    def _handle_session_disconnect(self, packet: bytes, _now: Monotonic) -> None:
        disconnect = packets.SESSION_DISCONNECT.pull(packet)
        if self.session_id and disconnect.session != self.session_id:
            raise MalformedDatagram("disconnect of another session")
        self.session_id = disconnect.session
        if self.state is ConnectionState.CLOSING and self._disconnects:
            self._end(CloseReason.LOCAL)
        else:
            self._end_with_farewell(CloseReason.PEER)

    def _handle_out_of_session(self, packet: bytes, now: Monotonic) -> None:
        """Believe it only after a long silence: anybody could have sent it."""
        packets.OUT_OF_SESSION.pull(packet)
        silent = now - self._last_received >= self.config.keep_alive_interval
        if not silent:
            raise MalformedDatagram("unproven OutOfSession")
        self._end(CloseReason.OUT_OF_SESSION)

    def _abort(self, reason: str) -> None:
        """End the session because of something that cannot be repaired; it is counted as a drop."""
        self._drop(reason)
        self._end_with_farewell(reason)

    def _end_with_farewell(self, reason: str) -> None:
        if self._seal is not None and self.proven and not self.ended:
            self._ready.append(self._farewell(self._seal))
        self._end(reason)

    def _end(self, reason: str) -> None:
        if self.ended:
            return
        self._step(Step.ENDED)
        self.ended = True
        self._plain_start = None
        self._channel.clear()
        self._codec = None
        self._early = None
        self._early_bytes = 0
        self._request_deadline = None
        self._events.append(SessionClosed(str(reason)))

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` should be called (same clock as `now`), or None for never.

        It moves with nearly every datagram, nearly always to later. An owner saves work by letting
        an earlier timer run out: `handle_timer` before its time does nothing.
        """
        if self.ended:
            return None
        if self.state is ConnectionState.CLOSED:
            due = self._request_deadline
            return None if due is None else Monotonic(due)
        config = self.config
        if not self.proven:
            return Monotonic(
                self._last_received + config.unproven_lifetime
            )  # since its SessionRequest
        deadline = self._last_received + config.idle_timeout
        if self.state is ConnectionState.CLOSING:
            if self._close_deadline is not None:
                deadline = min(deadline, self._close_deadline)
        else:
            deadline = min(deadline, self._last_sent + self._keep_alive_interval)
            if self.role is Role.CLIENT:
                deadline = min(deadline, self._next_statistics)
        retransmission = self._channel.queue.timer()
        if retransmission is not None and retransmission < deadline:
            return retransmission
        return Monotonic(deadline)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due at `now`; take events and datagrams afterwards."""
        if self.ended:
            return
        if self.state is ConnectionState.CLOSED:
            self._handle_request_timer(now)
        elif not self.proven:
            if now >= self._last_received + self.config.unproven_lifetime:
                self._end(CloseReason.UNPROVEN)
        elif now >= self._last_received + self.config.idle_timeout:
            self._end_with_farewell(CloseReason.SILENCE)
        else:
            if self.state is ConnectionState.CLOSING:
                self._handle_close_timer(now)
            else:
                self._handle_idle_timers(now)
            queue = self._channel.queue
            queue.handle_timer(now)
            if queue.exhausted:
                self._abort(CloseReason.GAVE_UP)

    def _handle_request_timer(self, now: Monotonic) -> None:
        if self._request_deadline is None or now < self._request_deadline:
            return
        if self._requests >= self.config.session_request_attempts:
            self._end(CloseReason.NO_ANSWER)
        else:
            self._ask_for_session(now)

    def _handle_close_timer(self, now: Monotonic) -> None:
        if self._close_deadline is None or now < self._close_deadline:
            return
        if self._disconnects >= _DISCONNECTS or self._seal is None:
            self._end(CloseReason.LOCAL)
        else:
            self._note_farewell(now)
            self._ready.append(self._farewell(self._seal))

    def _handle_idle_timers(self, now: Monotonic) -> None:
        if now >= self._last_sent + self._keep_alive_interval:
            self._keep_alive_due = self._control_due = True
            self._note_idle()
        if self.role is Role.CLIENT and now >= self._next_statistics:
            self._statistics_due = self._control_due = True
            self._plan_statistics(now)

    def _note_idle(self) -> None:
        """Give memory back when no message was sent since the last sign of idleness."""
        if self._codec is not None and self._messages_when_idle == self.messages_sent:
            self._codec.release()
        self._messages_when_idle = self.messages_sent

    def _plan_statistics(self, now: Monotonic) -> None:
        """Ask again soon while something is missing, with growing pauses; rarely afterwards.

        What may be missing is the key request, or a measured round trip, which the statistics also
        tell the server: without it both sides wait far too long before they repeat what was lost.
        """
        interval = self.config.statistics_interval
        if self._codec is None or not self._channel.queue.round_trip.measured:
            pause = min(self._pause(self._statistics_tries), self.config.timeout_maximum)
            interval = min(pause, interval)
            self._statistics_tries += 1
        self._next_statistics = now + interval
