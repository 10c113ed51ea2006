"""Follows every session of a capture: datagrams in, application messages and notices out.

This module assigns each datagram to a session and finds the session's keys. `emu.session` restores
the order, decrypts and decompresses, with the same code that serves players. A session object is
created only when the server's answer is seen, so a flood of requests costs little.

Each session keeps ghosts, sheets and books, because later messages contain deltas. A capture may be
hostile, so this memory is bounded: the sessions that were silent for longest lose their baselines,
and their next deltas are reported as having no known baseline.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from emu.capture.formats.records import (
    EQ2_SECRETS,
    Address,
    Datagram,
    Record,
    Secrets,
    show_address,
)
from emu.capture.keys import KeyRing
from emu.capture.messages import CapturedMessage, MessageDecoder, SessionDecoder
from emu.capture.sessions.session import FollowedSession, may_be_sealed
from emu.errors import FileFormatError, PeerError
from emu.session import LateMessage, Message
from emu.wire import Format, Seal, packets
from emu.world_stream.stream import WorldStream

MOST_KEPT: Final = 256 * 1024 * 1024
"""Bytes; some 200,000 ghosts."""


class KeptStates:
    """Counts the memory of the sessions' baselines. `limit` is in bytes."""

    def __init__(self, limit: int = MOST_KEPT) -> None:
        self._limit = limit
        self._sizes: OrderedDict[WorldStream, int] = OrderedDict()
        self.total = 0
        """Bytes in use, approximately."""

    def note(self, stream: WorldStream) -> None:
        """Count a session's memory after a message; drop baselines of others if it is too much.

        A session that alone uses too much loses its own.
        """
        # Counted anew after each message; the latest session moves to the end of the order.
        self.total -= self._sizes.pop(stream, 0)
        size = stream.size
        if size:
            self._sizes[stream] = size
            self.total += size
        while self.total > self._limit:
            oldest, freed = self._sizes.popitem(last=False)
            self.total -= freed
            # The baselines are wrong from now on, so their next deltas are reported and not
            # guessed.
            for to_server in (True, False):
                oldest.miss(to_server=to_server)


MAX_CONVERSATIONS = 4096
"""Address pairs followed at one time; the one silent for longest is dropped."""
SERVER_PORTS = frozenset({9100, 9001})
"""The server's port, if a capture begins in the middle of a session."""
USUAL_CHECK_KEY = 0x33624702
"""The key of every EQ2Emulator server; tried if none was captured.

Source: docs/protocol/transport.md#check.
"""


@dataclass(frozen=True, slots=True)
class Notice:
    """One line of text about a fault of the capture."""

    t: float
    text: str


class CaptureFollower:
    """Follows all sessions of one capture.

    `decoder` names messages, `keys` has keys from outside, and `version` overrides the client
    version of the sessions. `messages` counts the decoded messages, `sessions` the sessions found.
    """

    __slots__ = (
        "_conversations",
        "_decoder",
        "_given_up",
        "_kept",
        "_keys",
        "_t",
        "_version",
        "messages",
        "sessions",
    )

    def __init__(
        self, decoder: MessageDecoder, *, keys: KeyRing | None = None, version: int | None = None
    ) -> None:
        self._decoder = decoder
        self._keys = keys if keys is not None else KeyRing()
        self._version = version
        self._conversations: OrderedDict[tuple[Address, Address], _Conversation] = OrderedDict()
        self._given_up = 0
        self._kept = KeptStates()
        self._t = 0.0
        self.messages = 0
        self.sessions = 0

    def receive(self, record: Record) -> Iterator[CapturedMessage | Notice]:
        """Handle one record of the capture; yield what it completes.

        Use the iterator to its end.
        """
        if isinstance(record, Secrets):
            yield from self._receive_secrets(record)
            return
        self._t = record.t
        # Protocol packets begin with a zero byte; everything else is other traffic on the same
        # ports.
        if len(record.payload) < 2 or record.payload[0]:
            return
        conversation = self._conversation(record)
        if conversation is None:
            return
        yield from self._receive_datagram(conversation, record)

    def close(self) -> Iterator[Notice]:
        """Yield notices about what stayed undecoded, at the end of the capture."""
        for conversation in self._conversations.values():
            for session in conversation.sessions:
                for text in session.left_over():
                    yield Notice(self._t, text)
            if conversation.cannot_be_followed:
                yield Notice(self._t, _unfollowed(conversation))
        self._conversations.clear()
        if self._given_up:
            yield Notice(
                self._t, f"{self._given_up} sessions were given up to follow newer ones instead"
            )

    def _receive_secrets(self, secrets: Secrets) -> Iterator[Notice]:
        if secrets.kind != EQ2_SECRETS:
            return
        try:
            self._keys.add_text(secrets.data.decode("ascii", "replace"), name="keys in the capture")
        except FileFormatError as error:
            yield Notice(self._t, str(error))

    def _conversation(self, datagram: Datagram) -> _Conversation | None:
        """Return the conversation of a datagram; create one only if it begins like a session."""
        ends = datagram.source, datagram.destination
        # Both directions must find the same conversation.
        key = ends if ends[0] <= ends[1] else ends[::-1]
        conversation = self._conversations.get(key)
        if conversation is not None:
            self._conversations.move_to_end(key)
            return conversation
        opcode = datagram.payload[1]
        # Anything could begin a conversation; without this test other traffic would fill the
        # table.
        if opcode not in (_REQUEST, _RESPONSE) and not may_be_sealed(datagram.payload):
            return None
        conversation = self._conversations[key] = _Conversation(ends)
        if len(self._conversations) > MAX_CONVERSATIONS:
            _, oldest = self._conversations.popitem(last=False)
            self._given_up += bool(oldest.sessions)
        return conversation

    def _receive_datagram(
        self, conversation: _Conversation, datagram: Datagram
    ) -> Iterator[CapturedMessage | Notice]:
        opcode = datagram.payload[1]
        if opcode == _REQUEST:
            conversation.requested = datagram.source
        elif opcode == _RESPONSE:
            yield from self._receive_response(conversation, datagram)
        else:
            session = conversation.session_of(datagram)
            if session is None:
                yield from self._join_in_the_middle(conversation, datagram)
                return
            yield from self._feed(session, datagram)

    def _receive_response(
        self, conversation: _Conversation, datagram: Datagram
    ) -> Iterator[Notice]:
        try:
            response = packets.SESSION_RESPONSE.pull(datagram.payload)
        except PeerError as error:
            yield Notice(datagram.t, f"SessionResponse left out: {error}")
            return
        client, server = datagram.destination, datagram.source
        # The requester is the client, so a response from that side opens nothing. Without a request
        # the response is a repetition, which EQ2Emulator sends in answer to statistics
        # (docs/protocol/transport.md#keys).
        asked, conversation.requested = conversation.requested, None
        if asked not in (None, client):
            return
        latest = conversation.sessions[-1] if conversation.sessions else None
        if latest is not None and latest.is_same(
            response.session, response.key, asked_again=asked is not None
        ):
            return
        session = FollowedSession(
            client,
            server,
            session_id=response.session,
            check_key=response.key,
            form=response.format,
            rc4_key=self._keys.rc4_key(response.session, client),
        )
        yield from self._add(conversation, session, datagram.t)

    def _join_in_the_middle(
        self, conversation: _Conversation, datagram: Datagram
    ) -> Iterator[CapturedMessage | Notice]:
        """Begin with a session whose start was not captured, if a known key fits."""
        conversation.unfollowed += 1
        # Other programs may use the same ports, so only datagrams that look sealed count, and keys
        # are tried on a few of them only.
        conversation.sealed += may_be_sealed(datagram.payload)
        if conversation.sealed > _KEY_TRIES or not may_be_sealed(datagram.payload):
            return
        session = self._late_session(conversation, datagram)
        if session is None:
            conversation.missed = datagram
            return
        self.sessions += 1
        conversation.sessions.append(session)
        conversation.unfollowed -= 1
        yield Notice(datagram.t, f"{session.title}: the capture begins after this session did")
        # The datagram before was kept, because a key must fit two; now it can be read as well.
        if conversation.missed is not None and session.fits(conversation.missed.payload):
            conversation.unfollowed -= 1
            yield from self._feed(session, conversation.missed)
        yield from self._feed(session, datagram)

    def _late_session(
        self, conversation: _Conversation, datagram: Datagram
    ) -> FollowedSession | None:
        """Return a session with the key that fits: the client's own, the usual, any session's."""
        client, server = _guess_roles(datagram)
        own = self._keys.check_key(None, client)
        keys = [(USUAL_CHECK_KEY if own is None else own, self._keys.rc4_key(None, client))]
        missed = conversation.missed
        if missed is not None:
            # A check has 16 bits: of many keys some fit one datagram by chance, so a key must fit
            # two.
            keys += self._keys.candidates()
        for check_key, rc4_key in keys:
            seal = Seal(check_key, Format.NONE)
            if not seal.is_valid(datagram.payload):
                continue
            if missed is not None and not seal.is_valid(missed.payload):
                continue
            return FollowedSession(
                client, server, session_id=None, check_key=check_key, form=Format.NONE,
                rc4_key=rc4_key, first_bytes=self._decoder.first_bytes(self._version),
            )  # fmt: skip
        return None

    def _add(
        self, conversation: _Conversation, session: FollowedSession, t: float
    ) -> Iterator[Notice]:
        """Add a session to those of the same addresses.

        Keep the previous one for its last datagrams.
        """
        self.sessions += 1
        conversation.sessions.append(session)
        while len(conversation.sessions) > _KEPT:
            for text in conversation.sessions.pop(0).left_over():
                yield Notice(t, text)

    def _feed(
        self, session: FollowedSession, datagram: Datagram
    ) -> Iterator[CapturedMessage | Notice]:
        for happening in session.receive(datagram):
            if isinstance(happening, str):
                yield Notice(datagram.t, happening)
                continue
            yield from self._message(session, datagram, happening)

    def _message(
        self, session: FollowedSession, datagram: Datagram, message: Message
    ) -> Iterator[CapturedMessage | Notice]:
        self.messages += 1
        if self._version is not None:
            session.version = self._version
        # Only the client's messages state the version, and the first of them does.
        elif session.version is None and datagram.source == session.client:
            text = session.find_version(message.opcode, message.payload, self._decoder.covers)
            if text is not None:
                yield Notice(datagram.t, text)
        to_server = datagram.source == session.client
        decoder = self._decoder_of(session)
        # A message was lost here, so the baselines of later deltas may be wrong.
        if isinstance(message, LateMessage) and message.after_gap:
            decoder.world.miss(to_server=to_server)
        name, fields, commands, undecoded = decoder.decode(
            message.opcode, message.payload, to_server=to_server
        )
        self._kept.note(decoder.world)
        yield CapturedMessage(
            datagram.t, datagram.source, datagram.destination, session.version, message.opcode,
            name, message.payload, fields, commands, session.session_id, to_server, undecoded,
        )  # fmt: skip

    def _decoder_of(self, session: FollowedSession) -> SessionDecoder:
        """Return the decoder for a session's client version."""
        known = session.decoder
        # The version may become known late; the decoder before that had no names or layouts.
        if known is not None and known.version == session.version:
            return known
        decoder = session.decoder = self._decoder.session(session.version)
        if known is not None:  # The baselines from before the version was known are lost.
            for to_server in (True, False):
                decoder.world.miss(to_server=to_server)
        return decoder


_REQUEST, _RESPONSE = 1, 2
_KEPT = 2
"""Sessions of one address pair that may own a datagram."""
_KEY_TRIES = 16
"""Datagrams of an address pair on which known keys are tried."""
_SEALED_LEAST = 3
"""Datagrams that must look sealed before a session is reported missing: a few do so by chance."""


@dataclass(slots=True)
class _Conversation:
    """The sessions between two addresses, oldest first, and the requester of the latest."""

    ends: tuple[Address, Address]
    """From and to of the first datagram."""
    sessions: list[FollowedSession] = field(default_factory=list)
    requested: Address | None = None
    missed: Datagram | None = None
    """The latest datagram that no key fits."""
    unfollowed: int = 0
    sealed: int = 0
    """Datagrams without a session: all, and those that may be sealed."""

    @property
    def cannot_be_followed(self) -> bool:
        """Whether this is probably a session whose key is unknown."""
        if self.sessions or self.sealed < _SEALED_LEAST:
            return False
        # Nine of ten datagrams must look sealed: other programs' traffic does so only by chance.
        return self.sealed * 10 >= self.unfollowed * 9

    def session_of(self, datagram: Datagram) -> FollowedSession | None:
        """Return the newest session whose check fits, else the newest: it counts the fault."""
        if len(self.sessions) > 1:
            for session in reversed(self.sessions):
                if session.fits(datagram.payload):
                    return session
        return self.sessions[-1] if self.sessions else None


def _unfollowed(conversation: _Conversation) -> str:
    """Return a notice of what is missing to follow a session."""
    client, server = map(show_address, _guess_roles_of(*conversation.ends))
    return (
        f"session {client} > {server}: {conversation.unfollowed} datagrams cannot be followed: the "
        "capture begins after this session did and no known check key fits (give it with "
        f"--key 'check {client} HEX', or the server's trace with --keys)"
    )


def _guess_roles(datagram: Datagram) -> tuple[Address, Address]:
    """Return (client, server): by one-sided messages, by known ports, or by the lower port."""
    source, destination = datagram.source, datagram.destination
    opcode = datagram.payload[1]
    # Only one side sends these two opcodes, so they are certain; ports are a guess.
    if opcode == 0x07:
        return source, destination
    if opcode == 0x08:
        return destination, source
    return _guess_roles_of(source, destination)


def _guess_roles_of(source: Address, destination: Address) -> tuple[Address, Address]:
    for server, client in ((source, destination), (destination, source)):
        if server[1] in SERVER_PORTS:
            return client, server
    # Servers usually have the lower port, clients one that the system has chosen.
    return (source, destination) if destination[1] < source[1] else (destination, source)
