"""One session of a capture: one follower for each direction, with shared keys.

The client version comes from the client's first message: OP_LoginRequestMsg for the login server
(docs/protocol/login.md#version), OP_LoginByNumRequestMsg for the world server
(docs/protocol/world/entering.md#login-by-num). Like the servers, this module reads the old field
first, and the new one if the old gives no version that has opcodes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from emu.capture.formats.records import Address, Datagram, show_address
from emu.capture.messages import SessionDecoder
from emu.capture.sessions.late import LateMessages
from emu.dialects.dialect import LOGIN_BY_NUMBER, LOGIN_REQUEST
from emu.session import (
    CloseReason,
    DropReason,
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

    `covers` returns whether an opcode table covers a version. If no field has a covered version,
    the last one read is returned, as a server would name it in its refusal.
    """
    if opcode == LOGIN_REQUEST:
        at = _after_strings(body, 4)
        if at is None:
            return None
        # A u16 field: every value in it may be a version.
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
    # The strings before the version have variable lengths, so its offset must be searched.
    at = 0
    for _ in range(count):
        at += 2 + int.from_bytes(body[at : at + 2], "little")
        if at > len(body):
            return None
    return at


SEALED = frozenset({*range(0x03, 0x04), *range(0x05, 0x19)})
"""Protocol opcodes of datagrams that end with a check."""
ENDINGS = frozenset({0x03, 0x05})
"""Opcodes of datagrams that may contain a SessionDisconnect: Combined and itself."""
USUAL_DROPS = frozenset((DropReason.DUPLICATE, DropReason.ENDED))
"""Drops of every session with packet loss; not reported."""
REPORTED_PER_REASON = 5
"""Drops for one reason that are reported individually; the rest is summed up at the end."""

_ONE_BYTE_OPCODES = SessionConfig(stream_type=StreamType.CHAT_STREAM)
_USUAL_OPCODES = SessionConfig(stream_type=StreamType.EQ2_STREAM)


def may_be_sealed(payload: bytes) -> bool:
    """Return whether a datagram may belong to a session whose start was not captured."""
    return len(payload) >= 4 and payload[0] == 0 and payload[1] in SEALED


class FollowedSession:
    """A session between two addresses.

    `version` is the client version once it is known. `decoder` is set by the owner for that
    version. `title` names the session in notices. `session_id` is None for a session that began
    before the capture; `first_bytes` are then the possible first bytes of its client's messages.
    """

    __slots__ = (
        "_by_client", "_by_server", "_check_key", "_late", "_messages", "_reported", "client",
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
        self._reported: dict[str, int] = {}
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

        # `by_client` reads what the client sends, so it plays the server, and the other way
        # around.
        self._by_client = follower(Role.SERVER)
        self._by_server = follower(Role.CLIENT)
        for one in (self._by_client, self._by_server):
            if session_id is not None:
                one.session_id = session_id
            one.set_check_key(check_key, Format(form))

    def is_same(self, session_id: int, check_key: int, *, asked_again: bool) -> bool:
        """Return whether a SessionResponse with these numbers repeats this session's own.

        `asked_again` is whether a SessionRequest preceded it.
        """
        # After an end, or with another key, the same numbers belong to a new session.
        if self._by_client.ended or self._by_server.ended or check_key != self._check_key:
            return False
        # A repeated answer shows the id of a session that began before the capture.
        if self.session_id is None and not asked_again:
            self.session_id = session_id
        return session_id == self.session_id and not (asked_again and self._messages)

    def fits(self, payload: bytes) -> bool:
        """Return whether a datagram is sealed with this session's key."""
        return self._by_client.has_valid_check(payload)

    def find_version(self, opcode: int, body: bytes, covers: Callable[[int], bool]) -> str | None:
        """Find the client version in a message of the client; return a complaint or None."""
        self.version = find_client_version(opcode, body, covers)
        if self.version is None or covers(self.version):
            return None
        return (
            f"{self.title}: no opcode table covers client version {self.version}, "
            "so its messages have no names (--version takes another one)"
        )

    def receive(self, datagram: Datagram) -> Iterator[Message | str]:
        """Handle one datagram; yield the messages that it completes, and faults as text."""
        from_client = datagram.source == self.client
        follower = self._by_client if from_client else self._by_server
        # Counters are compared before and after, because the follower has no event for a drop.
        before = dict(follower.drops)
        # The end of a session drops held packets, so count them before.
        waiting = follower.packets_held if datagram.payload[1] in ENDINGS else 0
        now = Monotonic(datagram.t)  # A recording has no other time.
        follower.receive_datagram(datagram.payload, now)
        while (event := follower.next_event()) is not None:
            if isinstance(event, Message):
                self._messages += 1
                yield event
            elif isinstance(event, KeyEstablished) and from_client:
                # Only the client's direction carries the key block; the server's direction needs
                # the key too.
                self._by_server.set_cipher_key(event.key)
            elif isinstance(event, SessionClosed):
                if event.reason != CloseReason.PEER:
                    yield f"{self._direction(datagram.source)}: cannot go on: {event.reason}"
                if waiting:
                    yield self._report_held(datagram.source, waiting)
        for reason, count in follower.drops.items():
            if count > before.get(reason, 0):
                yield from self._report_drop(datagram, reason)

    def left_over(self) -> Iterator[str]:
        """Yield the sums of faults, and the packets that wait for a missing one."""
        for follower, source in ((self._by_client, self.client), (self._by_server, self.server)):
            for reason, count in follower.drops.items():
                rest = count - REPORTED_PER_REASON
                if reason not in USUAL_DROPS and rest > 0:
                    yield f"{self._direction(source)}: {reason}: {rest} more"
            if follower.is_midway:
                yield from self._report_unread(source, self._late[follower.role])
            held = 0 if follower.ended else follower.packets_held
            if held:
                yield self._report_held(source, held)

    def _report_drop(self, datagram: Datagram, reason: str) -> Iterator[str]:
        if reason in USUAL_DROPS:
            return
        key = f"{datagram.source} {reason}"
        self._reported[key] = self._reported.get(key, 0) + 1
        if self._reported[key] <= REPORTED_PER_REASON:
            size = len(datagram.payload)
            yield f"{self._direction(datagram.source)}: datagram of {size} bytes: {reason}"

    def _report_held(self, source: Address, held: int) -> str:
        return (
            f"{self._direction(source)}: {held} packets cannot be decoded, because one before "
            "them is not in the capture"
        )

    def _report_unread(self, source: Address, late: LateMessages) -> Iterator[str]:
        late.close()
        for reason, count in late.unread.items():
            what = counted(count, "message")
            yield f"{self._direction(source)}: {what} cannot be decoded: {reason}"

    def _direction(self, source: Address) -> str:
        target = self.server if source == self.client else self.client
        return f"{show_address(source)} > {show_address(target)}"
