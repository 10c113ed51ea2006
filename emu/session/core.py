"""What a session is made of, and how it gets from one stage to the next.

Opening, key and end change several parts at once: clock, way in, way out, channel. That is done
here and nowhere else. Sources: docs/protocol/transport.md#setup, docs/protocol/transport.md#keys.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from emu.session.channel import ReliableChannel
from emu.session.codec import KEY_REQUEST, MessageCodec
from emu.session.configuration import Role, SessionConfig
from emu.session.events import KeyEstablished, SessionEstablished, SessionJournal
from emu.session.life import Life
from emu.session.receive_path import NO_CHANNEL, ReceivePath
from emu.session.send_path import SendPath
from emu.session.states import SessionPhase, SessionStep, Standing
from emu.session.statistics import Inquiry
from emu.times import Monotonic
from emu.wire import (
    Format,
    OutOfSession,
    Seal,
    ServerKeyRequest,
    SessionDisconnect,
    SessionRequest,
    packets,
)
from emu.wire.packets import BY_APPLICATION


class PendingControl:
    """What a session owes its peer beside the reliable channel, as bits of `Core.owed`."""

    ANSWER: Final = 1
    QUESTION: Final = 2
    KEEP_ALIVE: Final = 4
    GOODBYE: Final = 8


class Core:
    """The parts of one session. Attributes that `Session` shows are described there."""

    __slots__ = (
        "acknowledged", "address", "channel", "check_is_public", "check_key", "close_code", "codec",
        "config", "inquiry", "journal", "key", "key_block", "key_requested", "life", "max_length",
        "owed", "received", "role", "sent", "session_id", "standing",
        "stat_request",
    )  # fmt: skip

    def __init__(
        self,
        config: SessionConfig,
        role: Role,
        *,
        session_id: int,
        key_block: bytes,
        check_key: int,
        check_is_public: bool,
        address: Hashable,
    ) -> None:
        self.config = config
        self.role = role
        self.session_id = session_id
        self.check_key = check_key
        self.check_is_public = check_is_public
        self.address = address
        self.max_length = config.max_length
        self.acknowledged = False
        self.key: bytes | None = None
        self.key_block = key_block
        self.key_requested = False
        self.close_code = BY_APPLICATION
        self.owed = 0
        self.stat_request: ServerKeyRequest | None = None
        self.channel: ReliableChannel = NO_CHANNEL
        self.codec: MessageCodec | None = None
        self.journal = SessionJournal()
        self.standing = Standing(role)
        self.inquiry = Inquiry(config)
        self.life = Life(config, role, self.standing, self.inquiry)
        self.received = ReceivePath(config, self.standing, self.journal, is_paced=True)
        self.sent = SendPath(
            config, self.standing, self.journal, self.received, is_bounded=role is Role.SERVER
        )
        if role is Role.CLIENT:
            self.received.trust()

    # -- opening ----------------------------------------------------------------------------------

    def ask(self, now: Monotonic) -> None:
        """Send a SessionRequest."""
        self.life.ask(now)
        request = SessionRequest(self.session_id, self.config.max_length)
        self.sent.ready.append(packets.SESSION_REQUEST.push(request))

    def answer(self, session_id: int, max_length: int, now: Monotonic) -> None:
        """Take a SessionRequest as answered: id of the client's, MaxLength of the answer."""
        self.session_id = session_id
        self.max_length = max_length
        self._agree(self.config.stream_type.format)
        self.life.begin(SessionStep.ANSWER, now)

    def agree(self, check_key: int, max_length: int, form: Format, now: Monotonic) -> None:
        """Take what a SessionResponse says as agreed: check key, MaxLength, format."""
        self.check_key = check_key
        self.max_length = max_length
        self._agree(form)
        self.life.begin(SessionStep.AGREE, now)
        self.received.hasten()
        self.journal.events.append(SessionEstablished(self.session_id))
        self.ask_statistics(now)

    def _agree(self, form: Format) -> None:
        """Make the ways in and out of what both sides now know."""
        config = self.config
        seal = Seal(
            self.check_key,
            form,
            threshold=config.datagram_compression_threshold,
            inflate_limit=config.datagram_inflate_limit,
        )
        self.channel = ReliableChannel(config, self.max_length, seal.overhead)
        self.received.open(seal, self.channel)
        self.sent.open(seal, self.channel)

    def validate_address(self) -> None:
        """The peer showed that it got our SessionResponse: its address is real."""
        self.standing.step(SessionStep.VALIDATE)
        if not self.check_is_public:
            self.sent.is_bounded = False
        self.received.hasten()
        self.journal.events.append(SessionEstablished(self.session_id))

    def note_acknowledged(self, now: Monotonic) -> None:
        """Something of ours has arrived: whoever knows its number reads what we send."""
        self.acknowledged = True
        self.sent.is_bounded = False
        self.sent.tell_room(now)

    def ask_statistics(self, now: Monotonic) -> None:
        """Owe the server a question for its statistics, and plan the next one."""
        self.owed |= PendingControl.QUESTION
        measured = self.channel.queue.round_trip.measured
        self.inquiry.plan(now, is_complete=self.codec is not None and measured)

    # -- the key ----------------------------------------------------------------------------------

    def request_key(self, now: Monotonic) -> None:
        """Ask for the key once: a second request could reach a client that has begun to encrypt.

        A client that asks again misses the first one, so that is repeated without waiting.
        """
        if self.key_requested:
            self.channel.queue.hurry(now)
        else:
            self.key_requested = True
            self.channel.add(KEY_REQUEST)

    def start_cipher(self, key: bytes) -> None:
        """Start both cipher streams from an RC4 key of 8 bytes, and send what waited for it."""
        self.standing.step(SessionStep.KEY)
        codec = MessageCodec(self.config, self.role, key)
        self.codec = codec
        self.key = key
        self.journal.events.append(KeyEstablished(key))
        self.received.start_cipher(codec)
        self.sent.start_cipher(codec)

    # -- the end ----------------------------------------------------------------------------------

    def close(self, reason: int) -> None:
        """Begin to close; the goodbye is owed until everything before it has arrived."""
        self.close_code = reason
        self.sent.forget_early()
        self.owed |= PendingControl.GOODBYE
        self.life.close()

    def disconnect_packet(self) -> bytes:
        """Return our SessionDisconnect."""
        return packets.SESSION_DISCONNECT.push(SessionDisconnect(self.session_id, self.close_code))

    def farewell(self) -> bytes:
        """Return the datagram that tells the peer that the session is over.

        A SessionDisconnect counts only with the right session id. A client of which we have none
        (0) is told that it is unknown here.
        """
        seal = self.received.seal
        if not self.session_id or seal is None:
            return packets.OUT_OF_SESSION.push(OutOfSession())
        return seal.seal(self.disconnect_packet())

    def abort(self, reason: str) -> None:
        """End the session because of something that cannot be repaired; it is counted as a drop."""
        self.journal.drop(reason)
        self.end_with_farewell(reason)

    def end_with_farewell(self, reason: str) -> None:
        """End the session at once, and tell the peer."""
        if SessionPhase.VALIDATED <= self.standing.stage < SessionPhase.ENDED:
            self.sent.ready.append(self.farewell())
        self.end(reason)

    def end(self, reason: str) -> None:
        """End the session at once; nothing is kept but what is ready to leave."""
        if self.standing.stage is SessionPhase.ENDED:
            return
        self.standing.step(SessionStep.END)
        self.received.close()
        self.sent.close()
        self.channel.clear()
        self.codec = None
        self.journal.close(str(reason))
