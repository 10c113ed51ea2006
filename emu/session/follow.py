"""Decoding one direction of a recorded session.

A server-role follower takes the client's datagrams, a client-role follower the server's, in the
order of the recording. It uses the `ReceivePath` of a live session, so copies and early packets are
handled alike. It sends nothing and has no timer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from emu.errors import MalformedDatagram, PeerError
from emu.session.channel import BrokenChannel, ReliableChannel
from emu.session.codec import (
    KEY_BLOCK_HEADER,
    KEY_BLOCK_MESSAGE_MINIMUM,
    KEY_REQUEST,
    MessageCodec,
    check_key_request,
    key_from_block,
)
from emu.session.configuration import Role, SessionConfig
from emu.session.events import (
    CloseReason,
    Event,
    KeyEstablished,
    Message,
    SessionEstablished,
    SessionJournal,
    StatisticsReceived,
)
from emu.session.lifecycle import Lifecycle, SessionPhase, SessionStep, statistics_of
from emu.session.paths import NO_CHANNEL, ReceivePath
from emu.times import Monotonic
from emu.wire import Format, ProtocolOpcode, Seal, packets


class Midway(Protocol):
    """A reader of a session whose beginning was not recorded."""

    def set_key(self, key: bytes) -> None:
        """Set the session's RC4 key; only the first call counts."""

    def receive(self, message: bytes) -> Iterable[Message]:
        """Take the next cipher text without its escape byte; return the messages readable now."""


class FollowingSession:
    """One direction of a recorded session.

    The client-role follower reads the check key and the format from the SessionResponse. Pass its
    `check_key` to the server-role follower with `set_check_key` before the client's next datagram.
    The server-role follower reads the RC4 key from the client's key block (event `KeyEstablished`,
    attribute `key`). Pass that to the client-role follower with `set_cipher_key` before the
    server's next datagram. Keys from another source can be set at the start; they replace those of
    the recording.
    """

    __slots__ = (
        "_channel",
        "_midway",
        "_path",
        "check_key",
        "config",
        "journal",
        "key",
        "lifecycle",
        "max_length",
        "role",
        "session_id",
    )

    def __init__(
        self,
        role: Role,
        *,
        check_key: int | None = None,
        rc4_key: bytes | None = None,
        config: SessionConfig | None = None,
        midway: Midway | None = None,
    ) -> None:
        """Make a follower; with `check_key` (u32) it accepts sealed datagrams from the first on.

        With `midway` the session may have begun before the recording: its messages go there, unless
        its first packet was recorded.
        """
        self.role = role
        self.config = config or SessionConfig()
        self.session_id = 0
        self.check_key = 0
        self.max_length = self.config.max_length
        self.key: bytes | None = None
        self._channel: ReliableChannel = NO_CHANNEL
        self._midway = midway
        self.journal = SessionJournal()
        self.lifecycle = Lifecycle(role)
        self._path = ReceivePath(self.config, self.lifecycle, self.journal)
        self._path.trust()  # the recorded side has accepted all of it
        if rc4_key is not None:
            self.set_cipher_key(rc4_key)
        if check_key is not None:
            self.set_check_key(check_key)

    # -- reading --------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether the session is over."""
        return self.lifecycle.phase is SessionPhase.ENDED

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return self.journal.drops

    @property
    def packets_held(self) -> int:
        """How many packets wait for an earlier one."""
        return len(self._channel.window.held or ())

    @property
    def is_midway(self) -> bool:
        """Whether the messages go to the `Midway` reader."""
        return self._midway is not None

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        return self.journal.next_event()

    def has_valid_check(self, datagram: bytes) -> bool:
        """Return whether a datagram is sealed with this session's key; changes nothing."""
        seal = self._path.seal
        return seal is not None and seal.is_valid(datagram)

    # -- what an owner does -----------------------------------------------------------------------

    def set_check_key(self, check_key: int, form: Format | None = None) -> None:
        """Set check key and format flags of the recorded SessionResponse.

        The default format is that of the config's stream type. Only the first call counts.
        """
        # A repeated SessionResponse in the recording must not replace the channel with its packets.
        if self.lifecycle.phase is not SessionPhase.NEW:
            return
        self.check_key = check_key
        seal = Seal(
            check_key,
            self.config.stream_type.format if form is None else form,
            inflate_limit=self.config.datagram_inflate_limit,
        )
        self._channel = ReliableChannel(self.config, self.max_length, seal.overhead)
        self._channel.lift_limits(trusted=True)
        if self._midway is not None:
            self._channel.begin_anywhere()
        self._path.open(seal, self._channel)
        # Both roles take this step: a recording needs no wait for the peer.
        self.lifecycle.advance(SessionStep.RESPOND)

    def set_cipher_key(self, key: bytes) -> None:
        """Set the session's RC4 key (8 bytes); only the first call counts."""
        if self.key is None:
            self.key = key
            if self._midway is not None:
                self._midway.set_key(key)
            self.journal.events.append(KeyEstablished(key))

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Take one recorded datagram. Never raises for what is in it: drops are counted."""
        try:
            self._path.receive(data, now, self)
        except BrokenChannel as broken:
            self.journal.drop(broken.reason)
            self.end(broken.reason)
        except PeerError as error:
            self.journal.drop(error.reason)
        self._channel.ack_packets()  # there is no peer to get them

    def close(self) -> None:
        """End the follower."""
        self.end(CloseReason.LOCAL)

    def end(self, reason: str) -> None:
        """End the follower for this reason."""
        if self.ended:
            return
        self.lifecycle.advance(SessionStep.END)
        self._path.close()
        self._channel.clear()
        self.journal.close(str(reason))

    # -- `Receiver` --------------------------------------------------------------------------------

    def validate_address(self) -> None:
        """Note the first sealed datagram: both sides have agreed on the session."""
        self.lifecycle.advance(SessionStep.VALIDATE)
        self._path.use_short_path()
        self.journal.events.append(SessionEstablished(self.session_id))

    def handle(self, packet: bytes, now: Monotonic) -> None:
        """Take a packet outside the reliable channel."""
        _HANDLERS[packet[1]](self, packet, now)

    def acknowledge(self, opcode: int, sequence: int, now: Monotonic) -> None:
        """Ignore an acknowledgment: the recorded peer had it."""

    def receive_clear(self, message: bytes) -> None:
        """Take a message that came before the cipher started.

        With a key from another source, the cipher starts with the first message outside the key
        exchange.
        """
        if self._midway is not None and self._channel.is_midway:
            self.journal.events.extend(self._midway.receive(message))
            return
        # The first packet was recorded, so the ordinary reader can follow from the key exchange on.
        self._midway = None
        if self.key is None:
            self._read_key(message)
        # These two are in clear even if the key is known from another source.
        elif message != KEY_REQUEST and not message.startswith(KEY_BLOCK_HEADER):
            self.lifecycle.advance(SessionStep.KEY)
            self._path.start_cipher(MessageCodec(self.config, self.role, self.key))
            self._path.receive_message(message, self)

    def _read_key(self, message: bytes) -> None:
        if self.role is Role.CLIENT:
            check_key_request(message)
        elif len(message) < KEY_BLOCK_MESSAGE_MINIMUM:
            raise MalformedDatagram("message before the key")
        else:
            self.set_cipher_key(key_from_block(message))


def _session_request(follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    follower.session_id = packets.SESSION_REQUEST.pull(packet).session


def _session_response(follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    response = packets.SESSION_RESPONSE.pull(packet)
    follower.session_id = response.session
    follower.max_length = follower.config.clamp_max_length(response.max_length)
    follower.set_check_key(response.key, Format(response.format))


def _session_disconnect(follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    disconnect = packets.SESSION_DISCONNECT.pull(packet)
    # The id is 0 while the recording has shown no SessionRequest or SessionResponse.
    if follower.session_id and disconnect.session != follower.session_id:
        raise MalformedDatagram("disconnect of another session")
    follower.end(CloseReason.PEER)


def _keep_alive(_follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    packets.KEEP_ALIVE.pull(packet)


def _server_key_request(follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    follower.journal.events.append(statistics_of(packets.SERVER_KEY_REQUEST.pull(packet)))


def _session_stat_response(follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    response = packets.SESSION_STAT_RESPONSE.pull(packet)
    follower.journal.events.append(
        # The recording has the server's counts, but not the round trips the client measured.
        StatisticsReceived(0, 0, 0, 0, response.server_sent, response.server_received)
    )


def _acknowledgment(_follower: FollowingSession, packet: bytes, _now: Monotonic) -> None:
    packets.pull_acknowledged(packet)


def _out_of_session(follower: FollowingSession, packet: bytes, now: Monotonic) -> None:
    packets.OUT_OF_SESSION.pull(packet)
    # The packet has no check. A live client ignores it as well while the server is heard.
    if now - follower.lifecycle.last_received < follower.config.out_of_session_silence:
        raise MalformedDatagram("unproven OutOfSession")
    follower.end(CloseReason.OUT_OF_SESSION)


_HANDLERS: Final[Mapping[int, Callable[[FollowingSession, bytes, Monotonic], None]]] = {
    ProtocolOpcode.SESSION_REQUEST: _session_request,
    ProtocolOpcode.SESSION_RESPONSE: _session_response,
    ProtocolOpcode.SESSION_DISCONNECT: _session_disconnect,
    ProtocolOpcode.KEEP_ALIVE: _keep_alive,
    ProtocolOpcode.SERVER_KEY_REQUEST: _server_key_request,
    ProtocolOpcode.SESSION_STAT_RESPONSE: _session_stat_response,
    ProtocolOpcode.OUT_OF_ORDER_ACK: _acknowledgment,
    ProtocolOpcode.ACK: _acknowledgment,
    ProtocolOpcode.OUT_OF_SESSION: _out_of_session,
}
"""The handler of each packet outside the reliable channel."""
