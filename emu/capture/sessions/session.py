"""One session of a capture: one listener for each direction, with shared keys.

The login server reads OP_LoginRequestMsg (docs/protocol/login.md#version), the world server
OP_LoginByNumRequestMsg (docs/protocol/world/entering.md#login-by-num); both look at the old place
first, and at the new one when the old gives no version that has opcodes. Must not know tables: it
asks whether one covers a number.

Owns that pair and the words for what went wrong in it. Must not know which session a datagram
belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from emu.capture.formats.records import Address, Datagram, show_address
from emu.capture.messages import SessionDecoder
from emu.capture.sessions.late import LateMessages
from emu.dialects.dialect import LOGIN_BY_NUMBER, LOGIN_REQUEST
from emu.session import (
    CloseReason,
    FollowingSession,
    KeyEstablished,
    Message,
    Role,
    SessionClosed,
    SessionConfig,
    StreamType,
)
from emu.texts import counted
from emu.times import Monotonic
from emu.wire import Format

NEW_LOGIN_BY_NUMBER = 1208
"""From here on a number at LoginByNum's old place is not believed."""
MIDDLE_LOGIN_BY_NUMBER_SIZE = 34
"""Only the layout of 562 to 1207 is that long; EQ2Emulator never asks for it, our world does."""


def find_client_version(opcode: int, body: bytes, covers: Callable[[int], bool]) -> int | None:
    """Return the version in a client's first message, or None when it is no login or has none.

    `covers` tells whether an opcode table covers a version. When no place gives a covered version,
    the last one read is returned, as a server would name it in its refusal.
    """
    if opcode == LOGIN_REQUEST:
        at = _after_strings(body, 4)
        if at is None:
            return None
        old, new, believed_below = at + 8, at + 10, 0x10000
    elif opcode == LOGIN_BY_NUMBER:
        old, new, believed_below = 8, 14, NEW_LOGIN_BY_NUMBER
        if len(body) == MIDDLE_LOGIN_BY_NUMBER_SIZE:
            old = new = 12
    else:
        return None
    version = int.from_bytes(body[old : old + 2], "little")
    if version != 0 and version < believed_below and covers(version):
        return version
    return int.from_bytes(body[new : new + 2], "little") or version or None


def _after_strings(body: bytes, count: int) -> int | None:
    """Return the offset behind `count` strings with u16 lengths, or None when they are cut."""
    at = 0
    for _ in range(count):
        at += 2 + int.from_bytes(body[at : at + 2], "little")
        if at > len(body):
            return None
    return at


SEALED = frozenset({*range(0x03, 0x04), *range(0x05, 0x19)})
"""Protocol opcodes of datagrams that end with a check."""
ENDINGS = frozenset({0x03, 0x05})
"""Opcodes of datagrams that may bring a SessionDisconnect: Combined and itself."""
USUAL_DROPS = frozenset({"duplicate packet", "session is over"})
"""What every lossy session has, and no reader needs to hear of."""
SAID_PER_REASON = 5
"""Drops for one reason that are told one by one; the rest is summed up at the end."""

_ONE_BYTE_OPCODES = SessionConfig(stream_type=StreamType.CHAT_STREAM)
_USUAL_OPCODES = SessionConfig(stream_type=StreamType.EQ2_STREAM)


def looks_sealed(payload: bytes) -> bool:
    """Tell whether a datagram could belong to a session whose beginning was not captured."""
    return len(payload) >= 4 and payload[0] == 0 and payload[1] in SEALED


class FollowedSession:
    """A session between two addresses.

    `version` is the client version once it is known, `decoder` what decodes the messages of that
    version, which its owner sets, `title` how notices call the session.
    `session_id` is None for a session that began before the capture; `first_bytes` are then those
    that a message of its client may begin with.
    """

    __slots__ = (
        "_by_client", "_by_server", "_check_key", "_late", "_messages", "_told", "client",
        "decoder", "server", "session_id", "title", "version",
    )  # fmt: skip

    def __init__(
        self, client: Address, server: Address, *, session_id: int | None, check_key: int,
        form: int, rc4_key: bytes | None, first_bytes: Collection[int] = (),
    ) -> None:  # fmt: skip
        self.client = client
        self.server = server
        self.session_id = session_id
        self.version: int | None = None
        self.decoder: SessionDecoder | None = None
        self.title = f"session {show_address(client)} > {show_address(server)}"
        self._check_key = check_key
        self._messages = 0
        self._told: dict[str, int] = {}
        config = _ONE_BYTE_OPCODES if form & Format.ENCODED else _USUAL_OPCODES

        self._late: dict[Role, LateMessages] = {}

        def follower(role: Role) -> FollowingSession:
            if session_id is not None:
                return FollowingSession(role, rc4_key=rc4_key, config=config)
            late = self._late[role] = LateMessages(
                from_client=role is Role.SERVER, first_bytes=first_bytes,
                opcode_width=config.stream_type.opcode_width,
            )  # fmt: skip
            return FollowingSession(role, rc4_key=rc4_key, config=config, midway=late)

        self._by_client = follower(Role.SERVER)
        self._by_server = follower(Role.CLIENT)
        for one in (self._by_client, self._by_server):
            if session_id is not None:
                one.session_id = session_id
            one.set_check_key(check_key, Format(form))

    def is_same(self, session_id: int, check_key: int, *, asked_again: bool) -> bool:
        """Tell whether a SessionResponse with these numbers repeats this session's own.

        `asked_again` says that a SessionRequest came before it.
        """
        if self._by_client.ended or self._by_server.ended or check_key != self._check_key:
            return False
        if self.session_id is None and not asked_again:
            self.session_id = session_id
        return session_id == self.session_id and not (asked_again and self._messages)

    def fits(self, payload: bytes) -> bool:
        """Tell whether a datagram is sealed with this session's key."""
        return self._by_client.has_valid_check(payload)

    def find_version(self, opcode: int, body: bytes, covers: Callable[[int], bool]) -> str | None:
        """Learn the client version from a message of the client; return a complaint or None."""
        self.version = find_client_version(opcode, body, covers)
        if self.version is None or covers(self.version):
            return None
        return (
            f"{self.title}: no opcode table covers client version {self.version}, "
            "so its messages have no names (--version takes another one)"
        )

    def receive(self, datagram: Datagram) -> Iterator[Message | str]:
        """Take one datagram; yield the messages it completes and what went wrong as text."""
        from_client = datagram.source == self.client
        follower = self._by_client if from_client else self._by_server
        before = dict(follower.drops)
        # The end of a session lets go of what it held, so look before it comes.
        waiting = follower.packets_held if datagram.payload[1] in ENDINGS else 0
        now = Monotonic(datagram.t)  # a recording has no other time
        follower.receive_datagram(datagram.payload, now)
        while (event := follower.next_event()) is not None:
            if isinstance(event, Message):
                self._messages += 1
                yield event
            elif isinstance(event, KeyEstablished) and from_client:
                self._by_server.set_cipher_key(event.key)
            elif isinstance(event, SessionClosed):
                if event.reason != CloseReason.PEER:
                    yield f"{self._direction(datagram.source)}: cannot go on: {event.reason}"
                if waiting:
                    yield self._tell_waiting(datagram.source, waiting)
        for reason, count in follower.drops.items():
            if count > before.get(reason, 0):
                yield from self._tell_drop(datagram, reason)

    def left_over(self) -> Iterator[str]:
        """Yield what was not told one by one, and which packets wait for one that never came."""
        for follower, source in ((self._by_client, self.client), (self._by_server, self.server)):
            for reason, count in follower.drops.items():
                rest = count - SAID_PER_REASON
                if reason not in USUAL_DROPS and rest > 0:
                    yield f"{self._direction(source)}: {reason}: {rest} more"
            if follower.is_midway:
                yield from self._tell_unread(source, self._late[follower.role])
            held = 0 if follower.ended else follower.packets_held
            if held:
                yield self._tell_waiting(source, held)

    def _tell_drop(self, datagram: Datagram, reason: str) -> Iterator[str]:
        if reason in USUAL_DROPS:
            return
        key = f"{datagram.source} {reason}"
        self._told[key] = self._told.get(key, 0) + 1
        if self._told[key] <= SAID_PER_REASON:
            size = len(datagram.payload)
            yield f"{self._direction(datagram.source)}: datagram of {size} bytes: {reason}"

    def _tell_waiting(self, source: Address, held: int) -> str:
        return (
            f"{self._direction(source)}: {held} packets cannot be decoded, because one before "
            "them is not in the capture"
        )

    def _tell_unread(self, source: Address, late: LateMessages) -> Iterator[str]:
        late.close()
        for reason, count in late.unread.items():
            what = counted(count, "message")
            yield f"{self._direction(source)}: {what} cannot be decoded: {reason}"

    def _direction(self, source: Address) -> str:
        target = self.server if source == self.client else self.client
        return f"{show_address(source)} > {show_address(target)}"
