"""Sessions whose client has a new address: the proof of it, and limits on the search.

A router may give a client another port, and a change of network another host. Datagrams name no
session, so the session is searched by the check. Its client proves the new address in two steps
(docs/protocol/transport.md#moves):

1. A datagram has a valid check, and it has the next packet in order, which can be decrypted. The
   session is not changed by it.
2. The server sends a copy of a packet that the client has acknowledged. The client acknowledges
   copies, so the new address proves that it receives datagrams and reads the check.

The session stays where it is if its earlier address sends anything in between.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar
from zlib import crc32

from emu.errors import PeerError
from emu.session.channel import ReliableChannel
from emu.session.codec import MessageCodec
from emu.session.configuration import AddressChanges, EndpointConfig
from emu.session.send_queue import MASK
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, Seal
from emu.wire.packets import (
    OPCODE_SIZE,
    SEQUENCED_SIZE,
    pull_acknowledged,
    pull_parts,
    pull_sequenced,
    push_sequenced,
)

_COMBINED: Final = int(ProtocolOpcode.COMBINED)
_PACKET: Final = int(ProtocolOpcode.PACKET)
_FRAGMENT: Final = int(ProtocolOpcode.FRAGMENT)
_APP_COMBINED: Final = int(ProtocolOpcode.APP_COMBINED)
_SEQUENCED: Final = frozenset((_PACKET, _FRAGMENT))
_ACKS: Final = frozenset((int(ProtocolOpcode.ACK), int(ProtocolOpcode.OUT_OF_ORDER_ACK)))
_FIRST: Final = frozenset((_COMBINED, _PACKET, _FRAGMENT))
_SMALLEST: Final = 7
"""Bytes of the shortest Packet: two each of opcode, sequence and check, and one of payload."""
MOST_PARTS: Final = 300
"""Packets of a Combined, or messages of an AppCombined, that are looked at."""
_EMPTY_MESSAGE: Final = b"\x00\x00"
"""The payload of the copy: an escape byte and no message. A client does not read a copy."""


class StreamPlace:
    """What a session would accept next, without changing it.

    Each session with a key has one. `check_start` is the start value of its check.
    """

    __slots__ = ("_channel", "_codec", "_seal", "check_start")

    def __init__(self, seal: Seal | None, channel: ReliableChannel, codec: MessageCodec) -> None:
        assert seal is not None  # noqa: S101  # a session without a seal gets no key
        self._seal = seal
        self.check_start = seal.start
        self._channel = channel
        self._codec = codec

    def is_next(self, datagram: bytes) -> bool:
        """Return whether a datagram is sealed and has the next packet, which can be decrypted."""
        channel = self._channel
        # While the channel is paused, messages wait that are not decrypted yet, so the next bytes
        # of the keystream belong to them.
        if channel.is_paused:
            return False
        for packet in self._packets(datagram):
            if packet[1] in _SEQUENCED:
                try:
                    sequence, payload = pull_sequenced(packet)
                except PeerError:
                    return False
                if sequence == channel.window.expected:
                    # A fragment is decrypted with the whole message only.
                    return packet[1] == _FRAGMENT or self._can_decrypt(payload)
        return False

    def _can_decrypt(self, payload: bytes) -> bool:
        message = payload
        if not payload:
            return False
        if not payload[0]:
            if len(payload) < OPCODE_SIZE or payload[1] not in (0, _APP_COMBINED):
                return False
            if payload[1] == _APP_COMBINED:
                try:
                    message = pull_parts(payload, MOST_PARTS, OPCODE_SIZE)[0]
                except (PeerError, IndexError):
                    return False
            if not message[0]:
                message = message[1:]
        return self._codec.can_decode(message)

    def question(self) -> bytes | None:
        """Return a datagram that a client acknowledges: a copy of a packet that it has.

        It is shorter than any datagram that leads to it. None if nothing was acknowledged yet.
        """
        sequence = self._channel.queue.last_acknowledged
        if sequence is None:
            return None
        return self._seal.seal(push_sequenced(_PACKET, sequence) + _EMPTY_MESSAGE)

    def is_answer(self, datagram: bytes) -> bool:
        """Return whether a sealed datagram acknowledges the copy or a packet sent since."""
        queue = self._channel.queue
        return any(
            packet[1] in _ACKS
            and len(packet) == SEQUENCED_SIZE
            and queue.has_sent(pull_acknowledged(packet))
            for packet in self._packets(datagram)
        )

    def is_sealed(self, datagram: bytes) -> bool:
        """Return whether a datagram has a valid check."""
        return self._seal.is_valid(datagram)

    def _packets(self, datagram: bytes) -> Sequence[bytes]:
        """Return the packets of a datagram; none if it is not sealed with this session's key."""
        try:
            packet = self._seal.unseal(datagram)
            if packet[1] != _COMBINED:
                return (packet,)
            parts = pull_parts(packet, MOST_PARTS, OPCODE_SIZE)
        except PeerError:
            return ()
        return [part for part in parts if len(part) >= OPCODE_SIZE and not part[0]]


class Movable(Protocol):
    """A session as the search for it reads it; see `emu.session.session.Session`."""

    address: Hashable
    place: StreamPlace | None

    @property
    def last_received(self) -> float:
        """When the last datagram with a valid check came from its address."""


Moved = TypeVar("Moved", bound=Movable)


@dataclass(slots=True)
class Claim(Generic[Moved]):
    """An address that has taken the first step for a session.

    `datagram` is that of the step, kept until the second one. `guesses` counts datagrams with a
    valid check that were not the answer.
    """

    session: Moved
    datagram: bytes
    began: Monotonic
    expires: float
    guesses: int = 0


@dataclass(frozen=True, slots=True)
class Proven(Generic[Moved]):
    """An address that has taken both steps, and the datagram of the first one."""

    session: Moved
    datagram: bytes


MOST_CLAIMS: Final = 256
"""Addresses that have taken the first step at the same time; a further one displaces the oldest."""
MOST_GUESSES: Final = 16
"""Datagrams with a valid check that an address may send until the answer is among them."""
CHECKS_PER_SECOND: Final = 100_000
"""Checks of all searches in a second, about 20 ms of work."""
HOST_SHARE: Final = 4
"""One host may use a fourth of them."""
SEARCH_COST: Final = 100
"""What a search costs besides its checks, in checks."""


class SessionMoves(Generic[Moved]):
    """Finds the session whose client sends from an unknown address.

    `host_key` is that of the endpoint's limits for each host.
    """

    def __init__(
        self, config: EndpointConfig, host_key: Callable[[Hashable], Hashable | None]
    ) -> None:
        # A check key that everybody knows shows neither the sender nor the session.
        self._rule = (
            AddressChanges.NEVER if config.check_key is not None else config.address_changes
        )
        self._lifetime = config.session.unvalidated_lifetime
        self._longest = config.session.datagram_size_limit
        self._host_key = host_key
        self._claims: OrderedDict[Hashable, Claim[Moved]] = OrderedDict()
        self._second = 0
        self._spent = 0
        self._spent_by_host: dict[Hashable | None, int] = {}

    def receive(
        self, data: bytes, address: Hashable, sessions: Iterable[Moved], count: int,
        now: Monotonic,
    ) -> Proven[Moved] | bytes | None:  # fmt: skip
        """Take a datagram of an address without a session; there are `count` of `sessions`.

        Returns a datagram to send to the address after its first step, `Proven` after its second,
        None for any other datagram.
        """
        if self._rule is AddressChanges.NEVER:
            return None
        claim = self._claims.get(address)
        if claim is not None:
            place = self._place_of(claim, now)
            if place is not None:
                return self._continue(claim, place, data, address)
            del self._claims[address]
        return self._begin(data, address, sessions, count, now)

    def _place_of(self, claim: Claim[Moved], now: Monotonic) -> StreamPlace | None:
        """Return the place of a claim's session, None if the claim is void."""
        # A client sends from one address at a time. If the earlier one sends, too, then a second
        # sender has copied a datagram, or datagrams have overtaken each other.
        if now >= claim.expires or claim.session.last_received > claim.began:
            return None
        return claim.session.place

    def _continue(
        self, claim: Claim[Moved], place: StreamPlace, data: bytes, address: Hashable
    ) -> Proven[Moved] | bytes | None:
        if place.is_answer(data):
            del self._claims[address]
            return Proven(claim.session, claim.datagram)
        # One wrong check ends the claim: a sender that guesses has to begin again.
        if not place.is_sealed(data) or claim.guesses >= MOST_GUESSES:
            del self._claims[address]
            return None
        claim.guesses += 1
        # The client repeats its packet, so the question or the answer was lost.
        return place.question() if place.is_next(data) else None

    def _begin(
        self, data: bytes, address: Hashable, sessions: Iterable[Moved], count: int,
        now: Monotonic,
    ) -> bytes | None:  # fmt: skip
        # The cheap tests first: most datagrams of unknown addresses are noise.
        if (
            not _SMALLEST <= len(data) <= self._longest
            or data[0]
            or data[1] not in _FIRST
            or not self._may_search(self._host_key(address), count, now)
        ):
            return None
        found = self._search(data, address, sessions)
        if found is None:
            return None
        session, question = found
        if len(self._claims) >= MOST_CLAIMS:
            self._claims.popitem(last=False)
        self._claims[address] = Claim(session, data, now, now + self._lifetime)
        return question

    def _may_search(self, host: Hashable | None, count: int, now: Monotonic) -> bool:
        """Count a search; return False when too much was searched in this second."""
        if int(now) != self._second:
            self._second = int(now)
            self._spent = 0
            self._spent_by_host = {}
        spent = self._spent_by_host.get(host, 0)
        # The first search of a host is allowed in any case, whatever the number of sessions.
        if self._spent >= CHECKS_PER_SECOND or spent >= CHECKS_PER_SECOND // HOST_SHARE:
            return False
        cost = count + SEARCH_COST
        self._spent += cost
        self._spent_by_host[host] = spent + cost
        return True

    def _search(
        self, data: bytes, address: Hashable, sessions: Iterable[Moved]
    ) -> tuple[Moved, bytes] | None:
        """Return the only session that takes a datagram as its next one, and the question."""
        body, check = data[:-2], data[-2] << 8 | data[-1]
        # A check has 16 bits, so of many sessions some have it by chance.
        found: list[tuple[Moved, bytes]] = []
        for session in sessions:
            place = session.place
            if (
                place is not None
                and crc32(body, place.check_start) & MASK == check
                and self._is_allowed(session.address, address)
            ):
                question = place.question()
                if question is not None and place.is_next(data):
                    found.append((session, question))
        return found[0] if len(found) == 1 else None

    def _is_allowed(self, before: Hashable, address: Hashable) -> bool:
        return self._rule is AddressChanges.ANY or self._host_key(before) == self._host_key(address)
