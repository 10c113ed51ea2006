"""Rate limits: token buckets, answers of endpoints without sessions, and wrong passwords.

A challenge is a number that proves that a sender receives what is sent to its address.

A bucket is full at first; every try takes a token, time gives tokens back, and without one nothing
more is tried. Time is an argument, memory is bounded.

The source address of a UDP datagram may be forged, so an answer may reach somebody who never asked.
A bucket for each address bounds what one victim receives, and a share bounds what all addresses
draw together. Forged datagrams use both up, and they may carry the address of a monitor. So a
datagram that shows a proof (a challenge or a token that was sent to its address) has a bucket and
a share that only such datagrams use. A datagram without a proof has a share of its own once its
address has shown one lately, and its port has a bucket of its own: whoever forges an address does
not know the port that the monitor asks from. Memory is bounded; time is an argument.

For endpoints of those who run the server: whoever guesses there is slowed down and then banned for
a while. An address from which the right password came before is never kept out: while it is banned,
one try in some seconds is still looked at, so that somebody else at the same address cannot lock
its owner out. Time is an argument, memory is bounded.

Whoever asks is given a number, and asks again with it; only then may an answer be larger than its
question. Nothing is kept for those who ask: the number is made of a secret, the address and the
time, so a flood of invented addresses leaves nothing behind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from emu.limits.addresses import address_key
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many tries somebody has at once, and how many seconds each takes to come back."""

    burst: int
    refill: float


def minutely(count: float, burst: int) -> Allowance:
    """Return the allowance of so many a minute over time, and `burst` at once."""
    return Allowance(burst=burst, refill=60 / count)


def hourly(count: int) -> Allowance:
    """Return the allowance of so many an hour, all at once or spread."""
    return Allowance(burst=count, refill=3600 / count)


class RateLimit:
    """One bucket: lets `burst` units through at once and `rate` units a second over time."""

    __slots__ = ("_burst", "_left", "_rate", "_when")

    def __init__(self, rate: float, burst: float, now: Monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._when = now

    def left(self, now: Monotonic) -> float:
        """Return how many units there are; below 0 they are owed."""
        if now > self._when:
            self._left = min(self._burst, self._left + (now - self._when) * self._rate)
            self._when = now
        return self._left

    def take(self, units: float, now: Monotonic) -> bool:
        """Spend units; False when there are not that many left."""
        if units > self.left(now):
            return False
        self._left -= units
        return True

    def charge(self, units: float, now: Monotonic) -> None:
        """Spend units even when there are none; debt grows to one full bucket at most."""
        self._left = max(self.left(now) - units, -self._burst)

    def give_back(self, units: float, now: Monotonic) -> bool:
        """Return units that were spent; True when the bucket is full with them."""
        self._left = min(self._burst, self.left(now) + units)
        return self._left >= self._burst


class Throttle:
    """A bucket for each key; keys that were not touched for longest are forgotten first."""

    __slots__ = ("_buckets", "_burst", "_most_keys", "_rate")

    def __init__(self, allowance: Allowance, *, most_keys: int = 100_000) -> None:
        self._burst = allowance.burst
        self._rate = 1 / allowance.refill
        self._most_keys = most_keys
        self._buckets: OrderedDict[Hashable, RateLimit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, key: Hashable, now: Monotonic) -> bool:
        """Say whether a token is left."""
        return self._bucket(key, now).left(now) >= 1

    def take(self, key: Hashable, now: Monotonic) -> bool:
        """Take a token; False, with nothing taken, when none is left."""
        bucket = self._bucket(key, now)
        if not bucket.take(1, now):
            return False
        self._keep(key, bucket)
        return True

    def charge(self, key: Hashable, now: Monotonic) -> None:
        """Take a token even when none is left; debt grows to one full bucket at most."""
        bucket = self._bucket(key, now)
        bucket.charge(1, now)
        self._keep(key, bucket)

    def give_back(self, key: Hashable, now: Monotonic) -> None:
        """Return a token that was taken for something that turned out right."""
        if self._bucket(key, now).give_back(1, now):
            self._buckets.pop(key, None)

    def _bucket(self, key: Hashable, now: Monotonic) -> RateLimit:
        """Return a key's bucket; a full one, which is not kept, for a key that has none."""
        known = self._buckets.get(key)
        return RateLimit(self._rate, self._burst, now) if known is None else known

    def _keep(self, key: Hashable, bucket: RateLimit) -> None:
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._most_keys:
            self._buckets.popitem(last=False)


FIRST_AGAIN = Allowance(burst=1, refill=600.0)
"""After this time without an entry, the next one of an account counts as its first again."""


class EntryLimits:
    """How often an account may enter, and how often accounts may enter again from one address.

    An account's first entry is not charged to its address: many players behind one address enter at
    the same time when a server has started. Addresses of IPv6 count by their /64 network.
    """

    __slots__ = ("_accounts", "_addresses", "_firsts", "account", "address")

    def __init__(self, account: Allowance, address: Allowance) -> None:
        self.account = account
        self.address = address
        self._accounts = Throttle(account)
        self._addresses = Throttle(address)
        self._firsts = Throttle(FIRST_AGAIN)

    def reason_against(self, account: Hashable, host: str, now: Monotonic) -> str | None:
        """Return why an account may not enter now, None when it may. Counts nothing."""
        if not self._accounts.allows(account, now):
            return "too often for one account"
        is_first = self._firsts.allows(account, now)
        if not is_first and not self._addresses.allows(address_key(host), now):
            return "too often for one address"
        return None

    def take(self, account: Hashable, host: str, now: Monotonic) -> None:
        """Count an entry of an account."""
        self._accounts.charge(account, now)
        if not self._firsts.take(account, now):
            self._addresses.charge(address_key(host), now)


KNOWN_FOR: Final = 900.0
"""Seconds for which an address that has shown a proof is known."""
VALIDATED_AGAIN_AFTER: Final = 30.0
"""Seconds after which a proof is looked at again."""
BURST_SECONDS: Final = 2
"""A bucket that is full holds what comes back in so many seconds."""

Proof = Callable[[bytes, tuple[str, int], Monotonic], bool]
"""Says whether a datagram shows that what is sent to its address is received there."""


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """How many datagrams are answered, at once (burst) and a second (rate)."""

    address_burst: int = 20
    address_rate: float = 10.0
    """Of one address with a proof; without a proof, of one port of an address."""
    share_burst: float = 2000.0
    """Of all unknown addresses together; as many of the known ones; as many with a proof."""
    share_rate: float = 2000.0
    most_addresses: int = 20_000
    """Unknown addresses remembered at once, and known ones; the oldest are forgotten first."""
    unproven_rate: float = 200.0
    """Of all ports of one address without a proof, or `address_rate` when that is more.

    `BURST_SECONDS` times as many at once.
    """


@dataclass(slots=True)
class _Known:
    """An address that has shown a proof."""

    validated: Monotonic
    proven: RateLimit
    """What is left for its datagrams that show one."""


class AnswerLimits:
    """Says whether a datagram of an address may be answered."""

    __slots__ = ("_addresses", "_known", "_known_share", "_plenty", "_ports", "_proven_share",
                 "_rules", "_unknown_share", "_validates")  # fmt: skip

    def __init__(
        self, rules: AnswerRules, now: Monotonic, validates: Proof = lambda *_datagram: False
    ) -> None:
        self._rules = rules
        self._validates = validates
        self._plenty = max(rules.address_burst / 2, 2.0)  # one is left for who has a proof
        most = rules.most_addresses
        port = Allowance(rules.address_burst, 1 / rules.address_rate)
        self._ports = Throttle(port, most_keys=most)
        rate = max(rules.unproven_rate, rules.address_rate)
        address = Allowance(round(BURST_SECONDS * rate), 1 / rate)
        self._addresses = Throttle(address, most_keys=most)
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._unknown_share = RateLimit(rules.share_rate, rules.share_burst, now)
        self._known_share = RateLimit(rules.share_rate, rules.share_burst, now)
        self._proven_share = RateLimit(rules.share_rate, rules.share_burst, now)

    def take(self, datagram: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Count one datagram; False when it is one too many.

        The buckets of the address come first: an address that floods uses up no share.
        """
        key = address_key(address[0])
        known = self._known.get(key)
        if known is not None and self._has_plenty(known, now):
            return True
        if self._validates(datagram, address, now):
            known = self._prove(key, now)
            return known.proven.take(1, now) and self._proven_share.take(1, now)
        share = self._known_share if self._is_known(key, now) else self._unknown_share
        return (
            share.left(now) >= 1
            and self._addresses.allows(key, now)
            and self._ports.take((key, address[1]), now)
            and self._addresses.take(key, now)
            and share.take(1, now)
        )

    def _has_plenty(self, known: _Known, now: Monotonic) -> bool:
        """Take one of the upper half of what a known address has, whatever the datagram shows.

        So the proofs of an honest asker are looked at twice a minute. Forged datagrams that use
        that half up leave the lower one to those with a proof.
        """
        return (
            now - known.validated <= VALIDATED_AGAIN_AFTER
            and known.proven.left(now) > self._plenty
            and self._known_share.take(1, now)
            and known.proven.take(1, now)
        )

    def _prove(self, key: str, now: Monotonic) -> _Known:
        """Remember that an address has shown a proof."""
        known = self._known.get(key)
        if known is None:
            rules = self._rules
            known = _Known(now, RateLimit(rules.address_rate, rules.address_burst, now))
            self._known[key] = known
            if len(self._known) > rules.most_addresses:
                self._known.popitem(last=False)
        known.validated = now
        self._known.move_to_end(key)
        return known

    def _is_known(self, key: str, now: Monotonic) -> bool:
        known = self._known.get(key)
        if known is None:
            return False
        if now - known.validated > KNOWN_FOR:
            del self._known[key]
            return False
        return True


@dataclass(frozen=True, slots=True)
class FailureRules:
    """What wrong passwords cost; times in seconds."""

    delay: float = 1.0
    """Before a wrong one is answered, times the number of wrong ones so far."""
    banned_after: int = 10
    banned_for: float = 600.0
    """How long; so long, too, are failures remembered after the last one."""
    trusted_every: float = 10.0
    """While it is banned, an address that is trusted has one try in so many seconds."""
    most_addresses: int = 10_000


@dataclass(slots=True)
class _Failed:
    count: int
    until: Monotonic


class Failures:
    """Counts wrong passwords; IPv6 addresses count by their /64 network."""

    __slots__ = ("_found", "_tries", "_trusted", "rules")

    def __init__(self, rules: FailureRules) -> None:
        self.rules = rules
        self._found: OrderedDict[str, _Failed] = OrderedDict()
        self._trusted: OrderedDict[str, None] = OrderedDict()
        tries = Allowance(1, rules.trusted_every)
        self._tries = Throttle(tries, most_keys=rules.most_addresses)

    def __len__(self) -> int:
        return len(self._found)

    def failed(self, host: str, now: Monotonic) -> float:
        """Count a wrong password; returns after how many seconds it is answered."""
        key = address_key(host)
        known = self._known(key, now)
        count = known.count + 1 if known is not None else 1
        self._found[key] = _Failed(count, Monotonic(now + self.rules.banned_for))
        self._found.move_to_end(key)
        if len(self._found) > self.rules.most_addresses:
            self._found.popitem(last=False)
        return self.rules.delay * count

    def succeeded(self, host: str) -> None:
        """Forget the wrong ones: the right one followed. The address is trusted from now on."""
        key = address_key(host)
        self._found.pop(key, None)
        self._trusted[key] = None
        self._trusted.move_to_end(key)
        if len(self._trusted) > self.rules.most_addresses:
            self._trusted.popitem(last=False)

    def is_trusted(self, host: str) -> bool:
        """Say whether the right password came from an address before."""
        return address_key(host) in self._trusted

    def has_failed(self, host: str, now: Monotonic) -> bool:
        """Say whether an address has given wrong passwords lately."""
        return self._known(address_key(host), now) is not None

    def keeps_out(self, host: str, now: Monotonic) -> bool:
        """Say whether an address has no try at all now; nothing is taken."""
        return self.is_banned(host, now) and not self.is_trusted(host)

    def may_try(self, host: str, now: Monotonic) -> bool:
        """Say whether a password of an address is looked at; a banned one that is trusted pays."""
        if not self.is_banned(host, now):
            return True
        return self.is_trusted(host) and self._tries.take(address_key(host), now)

    def is_banned(self, host: str, now: Monotonic) -> bool:
        """Say whether an address has guessed too often lately."""
        known = self._known(address_key(host), now)
        return known is not None and known.count >= self.rules.banned_after

    def _known(self, key: str, now: Monotonic) -> _Failed | None:
        found = self._found.get(key)
        if found is not None and now >= found.until:
            del self._found[key]
            return None
        return found


PERIOD: Final = 30.0
"""Seconds for which one number is given; it is taken in this period and the next."""
ANY_PORT: Final = 0
"""For challenges that hold for an address, whatever port it asks from."""
_BITS: Final = 0x7FFFFFFF
"""Numbers have 31 bits: some clients read them signed, and take a negative one for a failure."""


class Challenges:
    """Gives and takes numbers of 31 bits, never 0."""

    __slots__ = ("_begun",)

    def __init__(self, secret: bytes) -> None:
        """`secret` are 16 to 64 random bytes that nobody else knows."""
        # What all numbers of one period have in common is digested once.
        self._begun = lru_cache(maxsize=4)(
            lambda period: blake2b(b"%d " % period, key=secret, digest_size=4)
        )

    def issue(self, host: str, port: int, now: Monotonic) -> int:
        """Return the number for an address, from 1 to 0x7FFFFFFF."""
        return self._number(host, port, int(now // PERIOD))

    def accepts(self, number: int, host: str, port: int, now: Monotonic) -> bool:
        """Say whether a number was given to this address lately."""
        period = int(now // PERIOD)
        return number == self._number(host, port, period) or number == self._number(
            host, port, period - 1
        )

    def _number(self, host: str, port: int, period: int) -> int:
        digest = self._begun(period).copy()
        digest.update(f"{host} {port}".encode())
        return int.from_bytes(digest.digest(), "little") & _BITS or 1
