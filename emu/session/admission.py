"""Session admission: check keys, half-open records, and limits per host and in total.

`KeyedCheckKeys` derives the check key of an address from a secret, as SYN cookies do: a peer that
shows it has received a datagram at that address, and the endpoint need not remember it.
`FixedCheckKey` is the same number for every address, as in EQ2Emulator. Then a valid check proves
nothing, and a session counts for the limits only once its client has acknowledged a packet.

Every table is bounded, and a host that fills one pushes out its own entries first.

Sources: docs/protocol/transport.md#check, docs/protocol/transport.md#setup,
docs/protocol/transport.md#unauthenticated.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Protocol

from emu.limits.addresses import address_key, is_loopback
from emu.session.configuration import EndpointConfig
from emu.session.session import Session
from emu.times import Monotonic

# The key field of SessionResponse has four bytes.
_KEY_SIZE: Final = 4
_SECRET_SIZE: Final = 16


class CheckKeys(Protocol):
    """The source of an endpoint's check keys."""

    @property
    def are_public(self) -> bool:
        """Whether anybody knows them, so that a valid check proves nothing about the sender."""

    def current(self, address: Hashable, max_length: int, before: int, now: Monotonic) -> int:
        """Return the key (u32) for a SessionRequest of an address.

        `max_length` is that of the SessionResponse. `before` is the key of the session that the
        address has now, 0 for none; a new session never gets the same key.
        """

    def accepted(
        self, address: Hashable, max_length: int, before: int, now: Monotonic
    ) -> Iterator[int]:
        """Yield every valid key that `current` may have returned for the same arguments."""


class FixedCheckKey:
    """One key for all."""

    are_public = True

    def __init__(self, key: int) -> None:
        self._key = key

    def current(self, _address: Hashable, _max_length: int, _before: int, _now: Monotonic) -> int:
        """Return the key."""
        return self._key

    def accepted(
        self, _address: Hashable, _max_length: int, _before: int, _now: Monotonic
    ) -> Iterator[int]:
        """Yield the key."""
        yield self._key


class KeyedCheckKeys:
    """A keyed hash of the address; the secret changes every `lifetime` seconds.

    Keys of the previous secret stay valid. `random_bytes(count)` must be unpredictable.
    """

    are_public = False

    def __init__(self, random_bytes: Callable[[int], bytes], lifetime: float) -> None:
        self._random_bytes = random_bytes
        self._lifetime = lifetime
        self._secret = self._earlier = b""
        self._changes_at = 0.0

    def current(self, address: Hashable, max_length: int, before: int, now: Monotonic) -> int:
        """Return the key under the current secret."""
        if not self._secret or now >= self._changes_at:
            # Changed at use, not by a timer: an idle endpoint needs no secret.
            self._change_secret(now)
        return _keyed(self._secret, address, max_length, before)

    def accepted(
        self, address: Hashable, max_length: int, before: int, now: Monotonic
    ) -> Iterator[int]:
        """Yield the key under the current secret, then under the previous one."""
        yield self.current(address, max_length, before, now)
        yield _keyed(self._earlier, address, max_length, before)

    def _change_secret(self, now: Monotonic) -> None:
        # After an idle time the previous secret has expired as well. Keys made with it must not
        # become valid again.
        fresh = self._random_bytes(_SECRET_SIZE)
        is_recent = self._secret and now < self._changes_at + self._lifetime
        self._earlier = self._secret if is_recent else fresh
        self._secret = fresh
        self._changes_at = now + self._lifetime


def _keyed(secret: bytes, address: Hashable, max_length: int, before: int) -> int:
    text = f"{address!r} {max_length} {before}".encode()
    return int.from_bytes(blake2b(text, key=secret, digest_size=_KEY_SIZE).digest(), "big")


UNKNOWN_SESSION: Final = 0
"""The session id of a client that has sent two ids, or none."""


@dataclass(slots=True)
class HalfOpen:
    """The SessionResponses sent to one address that is not validated yet.

    `check_key` and `max_length` are those of the last one, `responses` is how many were sent.
    `host` is the key of the limits per host, `expires` when the record becomes void, `begun` when
    the first response was sent. `misses` counts datagrams valid neither for this record nor for the
    session that the address has.
    """

    session_id: int
    max_length: int
    check_key: int
    host: Hashable
    expires: float
    begun: float
    responses: int = 0
    misses: int = 0

    def note_response(self, session_id: int, max_length: int, check_key: int) -> None:
        """Note a SessionResponse. After two different session ids neither is known to be real."""
        if session_id != self.session_id:
            self.session_id = UNKNOWN_SESSION
        self.max_length = max_length
        self.check_key = check_key
        self.responses += 1


class HalfOpenTable:
    """The records by address, at most `limit`, all with the same lifetime.

    `records` is read-only for callers. Forged requests can fill the table. A new record pushes out
    the oldest one of its own host first, so one network cannot displace the others.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # An OrderedDict finds its first key at once; a plain dict scans deleted entries before it.
        self.records: OrderedDict[Hashable, HalfOpen] = OrderedDict()
        self._by_host: dict[Hashable, OrderedDict[Hashable, None]] = {}

    def get(self, address: Hashable, now: Monotonic) -> HalfOpen | None:
        """Return the record of an address unless it has expired."""
        record = self.records.get(address)
        return record if record is not None and now < record.expires else None

    def add_record(self, address: Hashable, record: HalfOpen, now: Monotonic) -> None:
        """Add a record, replacing that of the same address; push out another at the limit."""
        # A replaced key would keep its place, but `_expire` needs the records in the order of
        # expiry.
        self.remove(address)
        self._expire(now)
        if len(self.records) >= self._limit:
            # A host without records of its own displaces the oldest of all.
            self.remove(next(iter(self._by_host.get(record.host) or self.records)))
        self.records[address] = record
        addresses = self._by_host.get(record.host)
        if addresses is None:
            addresses = self._by_host[record.host] = OrderedDict()
        addresses[address] = None

    def remove(self, address: Hashable) -> None:
        """Remove the record of an address, if there is one."""
        record = self.records.pop(address, None)
        if record is None:
            return
        addresses = self._by_host[record.host]
        del addresses[address]
        if not addresses:
            del self._by_host[record.host]

    def _expire(self, now: Monotonic) -> None:
        """Remove expired records: they are the first ones."""
        while self.records:
            address, record = next(iter(self.records.items()))
            if now < record.expires:
                return
            self.remove(address)


def host_of(address: Hashable) -> Hashable | None:
    """Return the key of the limit per host for a (host, port, ...) address; None means no limit.

    An IPv6 host is counted by its /64 network. A loopback host is not limited: it is this machine.
    """
    host: Hashable = next(iter(address), None) if isinstance(address, tuple) else address
    if not isinstance(host, str):
        return host
    return None if is_loopback(host) else address_key(host)


class SessionAdmission:
    """The limits of one endpoint on its sessions.

    `unacknowledged` has the sessions whose address is not validated yet, oldest first; it is
    read-only for callers. `host_key` returns the host of an address, or None for one without limit.
    """

    __slots__ = ("_barred", "_config", "_counted", "_hosts", "host_key", "unacknowledged")

    def __init__(
        self, config: EndpointConfig, host_key: Callable[[Hashable], Hashable | None]
    ) -> None:
        self._config = config
        self._counted = 0
        self._hosts: dict[Hashable, int] = {}
        self._barred: dict[Hashable, float] = {}
        self.host_key = host_key
        self.unacknowledged: OrderedDict[Session, None] = OrderedDict()

    def reason_against(self, host: Hashable | None) -> str | None:
        """Return why a host gets no further session now, or None."""
        if host is not None and self._hosts.get(host, 0) >= self._config.sessions_per_host_limit:
            return "too many sessions of one host"
        if self._counted >= self._config.session_limit:
            return "too many sessions"
        return None

    def bar(self, address: Hashable, now: Monotonic) -> None:
        """Forbid new sessions to take over an address for `takeover_pause`."""
        # An attacker may cause this on purpose. It only keeps the player from restarting its client
        # within the pause: the running session is not affected.
        self._barred[address] = now + self._config.takeover_pause

    def is_barred(self, address: Hashable, now: Monotonic) -> bool:
        """Return whether no session may take over an address now."""
        # The default is `now` itself, so an address without an entry is never barred.
        return now < self._barred.get(address, now)

    def count(self, session: Session) -> None:
        """Count a session with a validated address for the limits."""
        self.unacknowledged.pop(session, None)
        self._counted += 1
        self._count_host(self.host_key(session.address), 1)

    def keep(self, session: Session) -> Session | None:
        """Keep a session that does not count yet; return the one to end for it, or None."""
        # A forger can make any number of these sessions. Refusing new ones at the limit would lock
        # real clients out. Evicting the oldest does not: a real client acknowledges within a round
        # trip and is counted by then.
        is_full = len(self.unacknowledged) >= self._config.half_open_limit
        oldest = next(iter(self.unacknowledged)) if is_full else None
        self.unacknowledged[session] = None
        return oldest

    def reason_against_move(self, before: Hashable, address: Hashable) -> str | None:
        """Return why a session may not move from one address to another, or None."""
        host = self.host_key(address)
        if host is None or host == self.host_key(before):
            return None
        is_full = self._hosts.get(host, 0) >= self._config.sessions_per_host_limit
        return "too many sessions of one host" if is_full else None

    def move(self, before: Hashable, address: Hashable) -> None:
        """Count a session at another address."""
        self._barred.pop(before, None)
        self._count_host(self.host_key(before), -1)
        self._count_host(self.host_key(address), 1)

    def _count_host(self, host: Hashable | None, change: int) -> None:
        if host is None:
            return
        count = self._hosts.get(host, 0) + change
        if count:
            self._hosts[host] = count
        else:
            del self._hosts[host]

    def remove(self, session: Session) -> None:
        """Remove a session that was counted or kept."""
        # The table would grow with every attacked address. With the session the pause has no use.
        self._barred.pop(session.address, None)
        if session in self.unacknowledged:
            del self.unacknowledged[session]
            return
        self._counted -= 1
        self._count_host(self.host_key(session.address), -1)
