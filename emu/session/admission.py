"""Which address gets a session: check keys, half-open records, limits per host and in all.

Sources: docs/protocol/transport.md#check, docs/protocol/transport.md#setup.

`KeyedCheckKeys` makes them of the address and a secret, as SYN cookies are made: whoever shows one
has received what was sent to that address, and the endpoint need not have kept a word about it.
`FixedCheckKey` gives everybody the same, as EQ2Emulator does.

The room is bounded and whoever fills it pushes out his own: a new record takes the place of the
oldest one of the same host, and only else of the oldest of all.

Where strangers know the check key, a session counts only once its client has acknowledged
something: until then it is one of a bounded number that make room for each other, the oldest first.
Knows no datagrams and no keys. Source: docs/protocol/transport.md#strangers.
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

_KEY_SIZE: Final = 4
_SECRET_SIZE: Final = 16


class CheckKeys(Protocol):
    """What an endpoint asks for check keys."""

    @property
    def are_public(self) -> bool:
        """Whether strangers know them, so that a valid check proves nothing about the sender."""

    def current(self, address: Hashable, max_length: int, before: int, now: Monotonic) -> int:
        """Return the key (u32) for a SessionRequest of an address.

        `max_length` is the one that is answered, `before` the key of the session that the address
        has, 0 for none: the two never have the same.
        """

    def accepted(
        self, address: Hashable, max_length: int, before: int, now: Monotonic
    ) -> Iterator[int]:
        """Yield every key that `current` may have returned for the same lately."""


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

    The secret before the current one is still accepted. `random_bytes(count)` must be
    unpredictable.
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
            self._change_secret(now)
        return _keyed(self._secret, address, max_length, before)

    def accepted(
        self, address: Hashable, max_length: int, before: int, now: Monotonic
    ) -> Iterator[int]:
        """Yield the key under the current secret and the one before."""
        yield self.current(address, max_length, before, now)
        yield _keyed(self._earlier, address, max_length, before)

    def _change_secret(self, now: Monotonic) -> None:
        fresh = self._random_bytes(_SECRET_SIZE)
        is_recent = self._secret and now < self._changes_at + self._lifetime
        self._earlier = self._secret if is_recent else fresh
        self._secret = fresh
        self._changes_at = now + self._lifetime


def _keyed(secret: bytes, address: Hashable, max_length: int, before: int) -> int:
    text = f"{address!r} {max_length} {before}".encode()
    return int.from_bytes(blake2b(text, key=secret, digest_size=_KEY_SIZE).digest(), "big")


UNKNOWN_SESSION: Final = 0
"""The session id of a client of which two ids were heard, or none."""


@dataclass(slots=True)
class HalfOpen:
    """What was answered to the SessionRequests of one address.

    `check_key` and `max_length` are those of the last SessionResponse, `answers` is how many were
    sent. `host` is what limits count the address by, `expires` when the record means nothing any
    more. `misses` counts datagrams that were valid neither for this nor for the session that the
    address has.
    """

    session_id: int
    max_length: int
    check_key: int
    host: Hashable
    expires: float
    answers: int = 0
    misses: int = 0

    def answer(self, session_id: int, max_length: int, check_key: int) -> None:
        """Take note of what is answered now; of two ids either may be a forgery."""
        if session_id != self.session_id:
            self.session_id = UNKNOWN_SESSION
        self.max_length = max_length
        self.check_key = check_key
        self.answers += 1


class HalfOpenTable:
    """The records by address, at most `limit`; all of them live equally long.

    `records` is to be looked at only.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # Ordered, because a plain dict looks through all that was deleted to find its first.
        self.records: OrderedDict[Hashable, HalfOpen] = OrderedDict()
        self._by_host: dict[Hashable, OrderedDict[Hashable, None]] = {}

    def get(self, address: Hashable, now: Monotonic) -> HalfOpen | None:
        """Return the record of an address if it still counts."""
        record = self.records.get(address)
        return record if record is not None and now < record.expires else None

    def add(self, address: Hashable, record: HalfOpen, now: Monotonic) -> None:
        """Keep a record, and make room for it; one of the same address is replaced."""
        self.remove(address)
        self._expire(now)
        if len(self.records) >= self._limit:
            self.remove(next(iter(self._by_host.get(record.host) or self.records)))
        self.records[address] = record
        addresses = self._by_host.get(record.host)
        if addresses is None:
            addresses = self._by_host[record.host] = OrderedDict()
        addresses[address] = None

    def remove(self, address: Hashable) -> None:
        """Let go of the record of an address, if there is one."""
        record = self.records.pop(address, None)
        if record is None:
            return
        addresses = self._by_host[record.host]
        del addresses[address]
        if not addresses:
            del self._by_host[record.host]

    def _expire(self, now: Monotonic) -> None:
        """Drop those whose time is over: they stand in front."""
        while self.records:
            address, record = next(iter(self.records.items()))
            if now < record.expires:
                return
            self.remove(address)


def host_of(address: Hashable) -> Hashable | None:
    """Return what the limit per host counts by, for a (host, port, ...) address; None: no limit.

    An IPv6 host is counted by its /64 network. A loopback host is not limited: it is this machine.
    """
    host: Hashable = next(iter(address), None) if isinstance(address, tuple) else address
    if not isinstance(host, str):
        return host
    return None if is_loopback(host) else address_key(host)


class SessionAdmission:
    """The limits of one endpoint on whom it serves.

    `unacknowledged` holds the sessions whose address nothing validates yet, oldest first; it is to
    be looked at only. `host_key` names the host of an address, or None for one without a limit.
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
        """Return why a host gets no session more now, else None."""
        if host is not None and self._hosts.get(host, 0) >= self._config.sessions_per_host_limit:
            return "too many sessions of one host"
        if self._counted >= self._config.session_limit:
            return "too many sessions"
        return None

    def bar(self, address: Hashable, now: Monotonic) -> None:
        """Let nobody take over the session of an address for a while."""
        self._barred[address] = now + self._config.takeover_pause

    def is_barred(self, address: Hashable, now: Monotonic) -> bool:
        """Whether nobody may take over the session of an address now."""
        return now < self._barred.get(address, now)

    def count(self, session: Session) -> None:
        """Count a session whose address is validated."""
        self.unacknowledged.pop(session, None)
        self._counted += 1
        host = self.host_key(session.address)
        if host is not None:
            self._hosts[host] = self._hosts.get(host, 0) + 1

    def keep(self, session: Session) -> Session | None:
        """Keep a session that is not to be counted yet; return which one has to go for it."""
        is_full = len(self.unacknowledged) >= self._config.half_open_limit
        oldest = next(iter(self.unacknowledged)) if is_full else None
        self.unacknowledged[session] = None
        return oldest

    def remove(self, session: Session) -> None:
        """Let go of a session that was counted or kept."""
        self._barred.pop(session.address, None)
        if session in self.unacknowledged:
            del self.unacknowledged[session]
            return
        self._counted -= 1
        host = self.host_key(session.address)
        if host is not None:
            left = self._hosts[host] - 1
            if left:
                self._hosts[host] = left
            else:
                del self._hosts[host]
