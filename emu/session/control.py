"""What each packet outside the reliable channel does to a session.

Sources: docs/protocol/transport.md#setup, docs/protocol/transport.md#keys,
docs/protocol/transport.md#reliability. Whether a packet may come now is the state table's business,
and has been looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from emu.errors import MalformedDatagram
from emu.session.codec import (
    KEY_BLOCK_MESSAGE_MINIMUM,
    check_key_request,
    key_block_message,
    key_from_block,
)
from emu.session.configuration import Role
from emu.session.core import Core, PendingControl
from emu.session.duties import keep_alive
from emu.session.events import CloseReason
from emu.session.states import SessionPhase
from emu.session.statistics import as_event
from emu.times import Monotonic
from emu.wire import Format, ProtocolOpcode, SessionResponse, packets

_CHECK_BYTES: Final = 2
_FORMATS: Final = frozenset(
    (Format.NONE, Format.COMPRESSED, Format.ENCODED, Format.COMPRESSED | Format.ENCODED)
)


def _session_request(core: Core, packet: bytes, now: Monotonic) -> None:
    request = packets.SESSION_REQUEST.pull(packet)
    stage = core.standing.stage
    if stage is SessionPhase.NEW:
        core.answer(request.session, core.config.clamp_max_length(request.max_length), now)
    elif request.session != core.session_id:
        raise MalformedDatagram("another session id")
    elif stage is not SessionPhase.ANSWERED:
        raise MalformedDatagram("repeated session request")
    form = core.config.stream_type.format
    answer = SessionResponse(core.session_id, core.check_key, core.max_length, form)
    if not core.sent.ready:
        core.sent.ready.append(packets.SESSION_RESPONSE.push(answer))


def _session_response(core: Core, packet: bytes, now: Monotonic) -> None:
    response = packets.SESSION_RESPONSE.pull(packet)
    if core.standing.stage is not SessionPhase.ASKED or response.session != core.session_id:
        raise MalformedDatagram("unasked session response")
    if response.unknown_a != _CHECK_BYTES or response.format not in _FORMATS:
        raise MalformedDatagram("session response with unknown check or format")
    max_length = core.config.clamp_max_length(response.max_length)
    core.agree(response.key, max_length, Format(response.format), now)


def _session_disconnect(core: Core, packet: bytes, _now: Monotonic) -> None:
    disconnect = packets.SESSION_DISCONNECT.pull(packet)
    if core.session_id and disconnect.session != core.session_id:
        raise MalformedDatagram("disconnect of another session")
    core.session_id = disconnect.session
    if core.standing.stage >= SessionPhase.PARTING:
        core.end(CloseReason.LOCAL)  # the answer to ours
    else:
        core.end_with_farewell(CloseReason.PEER)


def _out_of_session(core: Core, packet: bytes, now: Monotonic) -> None:
    """Believe it only after a long silence: anybody could have sent it."""
    packets.OUT_OF_SESSION.pull(packet)
    if not core.life.is_silent(now):
        raise MalformedDatagram("unproven OutOfSession")
    core.end(CloseReason.OUT_OF_SESSION)


def _keep_alive(core: Core, packet: bytes, now: Monotonic) -> None:
    packets.KEEP_ALIVE.pull(packet)
    if core.role is Role.SERVER or _is_probe(core, now):
        keep_alive(core, now)


def _is_probe(core: Core, now: Monotonic) -> bool:
    """Whether a server asks if its client is still there, and does not echo that one's KeepAlive.

    An echo comes within the timeout of what the client sent last. A probe is answered: the server
    may hear nothing of a client that hears everything.
    """
    patience = max(core.channel.queue.round_trip.timeout, core.config.retry_interval / 2)
    return now - core.standing.last_sent >= patience


def _server_key_request(core: Core, packet: bytes, now: Monotonic) -> None:
    request = packets.SERVER_KEY_REQUEST.pull(packet)
    core.stat_request = request
    core.owed |= PendingControl.ANSWER
    core.channel.queue.round_trip.hint(request.average / 1000)
    if len(core.journal.events) < core.config.waiting_message_limit:
        core.journal.events.append(as_event(request))
    if core.codec is None:
        core.request_key(now)


def _session_stat_response(core: Core, packet: bytes, now: Monotonic) -> None:
    answer = packets.SESSION_STAT_RESPONSE.pull(packet)
    round_trip = core.channel.queue.round_trip
    told = core.inquiry.take_answer(answer, round_trip, now)
    if len(core.journal.events) < core.config.waiting_message_limit:
        core.journal.events.append(told)


def _ack(core: Core, packet: bytes, now: Monotonic) -> None:
    if core.channel.queue.acknowledge_up_to(packets.pull_acknowledged(packet), now):
        core.note_acknowledged(now)


def _out_of_order_ack(core: Core, packet: bytes, now: Monotonic) -> None:
    if core.channel.queue.acknowledge_one(packets.pull_acknowledged(packet), now):
        core.note_acknowledged(now)


HANDLERS: Final[Mapping[int, Callable[[Core, bytes, Monotonic], None]]] = {
    ProtocolOpcode.SESSION_REQUEST: _session_request,
    ProtocolOpcode.SESSION_RESPONSE: _session_response,
    ProtocolOpcode.SESSION_DISCONNECT: _session_disconnect,
    ProtocolOpcode.KEEP_ALIVE: _keep_alive,
    ProtocolOpcode.SERVER_KEY_REQUEST: _server_key_request,
    ProtocolOpcode.SESSION_STAT_RESPONSE: _session_stat_response,
    ProtocolOpcode.OUT_OF_ORDER_ACK: _out_of_order_ack,
    ProtocolOpcode.ACK: _ack,
    ProtocolOpcode.OUT_OF_SESSION: _out_of_session,
}
"""What to do with a packet, by protocol opcode; `MalformedDatagram` drops it."""


def receive_clear(core: Core, message: bytes) -> None:
    """Take a message that came before the key: it has to be one of the key exchange.

    Raises `PeerError` for any other, or for a key that means "not encrypted".
    """
    if core.role is Role.SERVER:
        if len(message) < KEY_BLOCK_MESSAGE_MINIMUM:
            raise MalformedDatagram("message before the key")
        key = key_from_block(message)
        # It answers the key request, whatever became of the acknowledgment of that.
        core.channel.queue.acknowledge_all(Monotonic(core.standing.last_received))
    else:
        check_key_request(message)
        key = key_from_block(core.key_block)
        core.channel.lead = key_block_message(core.key_block)
    core.start_cipher(key)
