"""Decoding one direction of a recorded session: a session that listens and never answers.

Feed a server-role follower with the client's datagrams, a client-role follower with the server's,
in the order they were recorded. Copies and early packets are put in order as in a live session.
What it would send is thrown away, and it has no timer.
"""

from __future__ import annotations

from emu.errors import LocalProtocolError, MalformedDatagram
from emu.session.cipher import KEY_BLOCK_HEADER, KEY_REQUEST
from emu.session.configuration import Role, SessionConfig
from emu.session.events import CloseReason, StatisticsReceived
from emu.session.session import Session
from emu.times import Monotonic
from emu.wire import Format, packets

_NO_KEY_BLOCK = b"\xff" * 60  # a follower answers no key request
_NO_TIME = Monotonic(0.0)


class FollowingSession(Session):
    """A `Session` that only listens.

    The client-role follower learns the check key and the format from the recorded SessionResponse;
    its `check_key` goes to the server-role follower with `set_check_key` before the client's next
    datagram. The server-role follower finds the RC4 key in the client's key block (event
    `KeyEstablished`, attribute `key`); that goes to the client-role follower with `set_cipher_key`
    before the server's next datagram. Keys known from elsewhere can be given at the start.
    """

    __slots__ = ("_known_key",)

    def __init__(
        self,
        role: Role,
        *,
        check_key: int | None = None,
        rc4_key: bytes | None = None,
        config: SessionConfig | None = None,
    ) -> None:
        """Make a follower; with `check_key` (u32) it takes sealed datagrams from the first on."""
        super().__init__(config or SessionConfig(), role=role, key_block=_NO_KEY_BLOCK)
        self.trusted = True  # what was recorded was taken by somebody
        self.proven = False  # so that the first sealed datagram tells that a session exists
        self._known_key = rc4_key
        if check_key is not None:
            self.set_check_key(check_key)

    def set_check_key(self, check_key: int, form: Format | None = None) -> None:
        """Say what the recorded SessionResponse carried: check key and format flags.

        Without `form` the config's stream type tells. Only the first call counts.
        """
        if self._seal is None:
            self.check_key = check_key
            self._agree(self.config.stream_type.format if form is None else form, _NO_TIME)
            if self._known_key is not None:
                self.set_cipher_key(self._known_key)

    def set_cipher_key(self, key: bytes) -> None:
        """Say which RC4 key (8 bytes) the session uses; only the first key counts."""
        if self._seal is None:
            self._known_key = key
        elif self._codec is None:
            super().set_cipher_key(key)

    def _handle_session_request(self, packet: bytes, _now: Monotonic) -> None:
        self.session_id = packets.SESSION_REQUEST.pull(packet).session

    def _handle_session_response(self, packet: bytes, _now: Monotonic) -> None:
        response = packets.SESSION_RESPONSE.pull(packet)
        self.session_id = response.session
        self.max_length = self.config.clamp_max_length(response.max_length)
        self.set_check_key(response.key, Format(response.format))

    def _handle_session_disconnect(self, packet: bytes, _now: Monotonic) -> None:
        disconnect = packets.SESSION_DISCONNECT.pull(packet)
        if self.session_id and disconnect.session != self.session_id:
            raise MalformedDatagram("disconnect of another session")
        self._end(CloseReason.PEER)

    def _handle_session_stat_response(self, packet: bytes, _now: Monotonic) -> None:
        response = packets.SESSION_STAT_RESPONSE.pull(packet)
        self._events.append(
            StatisticsReceived(0, 0, 0, 0, response.server_sent, response.server_received)
        )

    def _handle_ack(self, packet: bytes, _now: Monotonic) -> None:
        packets.pull_acknowledged(packet)

    def _handle_out_of_order_ack(self, packet: bytes, _now: Monotonic) -> None:
        packets.pull_acknowledged(packet)

    def _request_key(self, _now: Monotonic) -> None:
        """Ask for nothing."""

    def _answer_key_request(self) -> None:
        """Answer nothing; the answer is in the other direction of the recording."""

    def _receive_message(self, message: bytes) -> None:
        """Leave out the clear messages of a key exchange whose outcome was known before."""
        known = self._codec is not None and not self.messages_received
        if known and (message == KEY_REQUEST or message.startswith(KEY_BLOCK_HEADER)):
            return
        super()._receive_message(message)

    def send(self, opcode: int, payload: bytes) -> None:
        """Refuse: a recording cannot be spoken to. Raises `LocalProtocolError`."""
        raise LocalProtocolError(
            f"a follower sends nothing, not opcode {opcode}, {len(payload)} bytes"
        )

    def datagrams_to_send(self, _now: Monotonic) -> list[bytes]:
        """Throw away what a live session would send."""
        self._ready.clear()
        self._control_packets(_NO_TIME)
        return []

    def get_timer(self) -> None:
        """Return None: nothing happens by itself in a recording."""
        return None  # noqa: RET501  # the caller reads a value

    def handle_timer(self, now: Monotonic) -> None:
        """Do nothing."""

    def close(self, reason: int = 6) -> None:
        """End the follower; nobody is told."""
        self._close_code = reason
        self._end(CloseReason.LOCAL)
