"""Rate limits: token buckets, entries, answers without a session, wrong passwords, challenges.

A bucket is full at first. Every attempt takes a token, time returns tokens, and without one the
attempt fails. Two classes share the processor fairly: `WorkBudget` the work for one session,
`FairWork` the requests of many sources. Work is measured and charged afterwards, so a single
message may cost more than is left. A session with a debt is served later; nothing is refused there.
Time and costs are arguments, and the memory of every class is bounded.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final, Generic, TypeVar

from emu.limits.addresses import address_key
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class Allowance:
    """The size of a bucket: tokens at once, and the seconds until one is returned."""

    burst: int
    refill: float


def minutely(count: float, burst: int) -> Allowance:
    """Return the allowance of `count` per minute over time, and `burst` at once."""
    return Allowance(burst=burst, refill=60 / count)


def hourly(count: int) -> Allowance:
    """Return the allowance of `count` per hour, at once or spread."""
    return Allowance(burst=count, refill=3600 / count)


class RateLimit:
    """One bucket: `burst` units at once, and `rate` units per second over time."""

    __slots__ = ("_burst", "_left", "_rate", "_when")

    def __init__(self, rate: float, burst: float, now: Monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._when = now

    def left(self, now: Monotonic) -> float:
        """Return how many units are left; negative for a debt."""
        # Two callers may pass times that differ slightly; an earlier one must not move the bucket
        # back.
        if now > self._when:
            self._left = min(self._burst, self._left + (now - self._when) * self._rate)
            self._when = now
        return self._left

    def take(self, units: float, now: Monotonic) -> bool:
        """Spend units; return False if there are not enough."""
        if units > self.left(now):
            return False
        self._left -= units
        return True

    def charge(self, units: float, now: Monotonic) -> None:
        """Spend units even if there are none; the debt is at most one full bucket."""
        # Bounded: after a single huge message a session must not wait for hours.
        self._left = max(self.left(now) - units, -self._burst)

    def give_back(self, units: float, now: Monotonic) -> bool:
        """Put spent units back; return True if the bucket is full."""
        # Time may have refilled the bucket since; it never holds more than its size.
        self._left = min(self._burst, self.left(now) + units)
        return self._left >= self._burst


class Throttle:
    """A bucket for each key; the least recently used keys are forgotten first."""

    __slots__ = ("_buckets", "_burst", "_most_keys", "_rate")

    def __init__(self, allowance: Allowance, *, most_keys: int = 100_000) -> None:
        self._burst = allowance.burst
        self._rate = 1 / allowance.refill
        self._most_keys = most_keys
        self._buckets: OrderedDict[Hashable, RateLimit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, key: Hashable, now: Monotonic) -> bool:
        """Return whether a token is left."""
        return self._bucket(key, now).left(now) >= 1

    def take(self, key: Hashable, now: Monotonic) -> bool:
        """Take a token; return False if none is left."""
        bucket = self._bucket(key, now)
        if not bucket.take(1, now):
            return False
        # Stored only after success: a refused attempt of a new key occupies no memory.
        self._keep(key, bucket)
        return True

    def charge(self, key: Hashable, now: Monotonic) -> None:
        """Take a token even if none is left; the debt is at most one full bucket."""
        bucket = self._bucket(key, now)
        bucket.charge(1, now)
        self._keep(key, bucket)

    def give_back(self, key: Hashable, now: Monotonic) -> None:
        """Put a token back whose attempt turned out to be right."""
        if self._bucket(key, now).give_back(1, now):
            # A full bucket equals a new one, so its memory is freed.
            self._buckets.pop(key, None)

    def _bucket(self, key: Hashable, now: Monotonic) -> RateLimit:
        """Return the bucket of a key, or a new full one that is not stored yet."""
        known = self._buckets.get(key)
        # A full bucket need not be remembered, so only keys that spend tokens use memory.
        return RateLimit(self._rate, self._burst, now) if known is None else known

    def _keep(self, key: Hashable, bucket: RateLimit) -> None:
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        # The least recently used key has most likely earned its tokens back.
        if len(self._buckets) > self._most_keys:
            self._buckets.popitem(last=False)


FIRST_AGAIN = Allowance(burst=1, refill=600.0)
"""After this time without an entry, the next one of an account counts as its first."""


class EntryLimits:
    """Limits on the entries of one account, and on repeated entries from one address.

    IPv6 addresses count by their /64 network.
    """

    # The first entry of an account is not charged to its address: after a start of the server many
    # players behind one address enter at the same time.

    __slots__ = ("_accounts", "_addresses", "_firsts", "account", "address")

    def __init__(self, account: Allowance, address: Allowance) -> None:
        self.account = account
        self.address = address
        self._accounts = Throttle(account)
        self._addresses = Throttle(address)
        self._firsts = Throttle(FIRST_AGAIN)

    def reason_against(self, account: Hashable, host: str, now: Monotonic) -> str | None:
        """Return why an account may not enter now, or None. Counts nothing."""
        if not self._accounts.allows(account, now):
            return "too often for one account"
        # An account that enters for the first time in a while is a player; one that enters again
        # and again may be a script.
        is_first = self._firsts.allows(account, now)
        if not is_first and not self._addresses.allows(address_key(host), now):
            return "too often for one address"
        return None

    def take(self, account: Hashable, host: str, now: Monotonic) -> None:
        """Count an entry of an account."""
        # Charged although it may exceed the limit: the caller has decided already, and the debt
        # delays the next entry.
        self._accounts.charge(account, now)
        # The token of `_firsts` shows a first entry. Only further entries are charged to the
        # address.
        if not self._firsts.take(account, now):
            self._addresses.charge(address_key(host), now)


KNOWN_FOR: Final = 900.0
"""Seconds for which an address stays known after a proof."""
VALIDATED_AGAIN_AFTER: Final = 30.0
"""Seconds after which a proof is checked again."""
BURST_SECONDS: Final = 2
"""A full bucket has the tokens of so many seconds."""

Proof = Callable[[bytes, tuple[str, int], Monotonic], bool]
"""Returns whether a datagram proves that its sender receives what is sent to its address."""


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """How many datagrams are answered: at once (burst) and per second (rate)."""

    address_burst: int = 20
    address_rate: float = 10.0
    """For one address with a proof; without a proof, for one port of an address."""
    share_burst: float = 2000.0
    """For all unknown addresses together; the same for all known ones, and for all with a proof."""
    share_rate: float = 2000.0
    most_addresses: int = 20_000
    """The most unknown and the most known addresses remembered; the oldest are forgotten first."""
    unproven_rate: float = 200.0
    """For all ports of one address without a proof; at least `address_rate`.

    `BURST_SECONDS` times as many at once.
    """


@dataclass(slots=True)
class _Known:
    """An address that has sent a proof."""

    validated: Monotonic
    proven: RateLimit
    """The bucket of its datagrams with a proof."""


class AnswerLimits:
    """Decides whether a datagram of an address may be answered."""

    # The source address of a datagram may be forged, so an answer may reach a host that never asked
    # (a reflection attack). A bucket for each address bounds what one victim receives; a share
    # bounds what all addresses receive together. But forged datagrams use up both, and they may
    # carry the address of a real monitor. Therefore:
    # - a datagram with a proof (a challenge or token that was sent to its address) has a bucket and
    #   a share that only such datagrams use;
    # - without one, an address that has sent a proof lately has a share of its own, and each of its
    #   ports has a bucket: a forger does not know the port of the monitor.

    __slots__ = ("_addresses", "_known", "_known_share", "_plenty", "_ports", "_proven_share",
                 "_rules", "_unknown_share", "_validates")  # fmt: skip

    def __init__(
        self, rules: AnswerRules, now: Monotonic, validates: Proof = lambda *_datagram: False
    ) -> None:
        self._rules = rules
        self._validates = validates
        self._plenty = max(
            rules.address_burst / 2, 2.0
        )  # at least one is left for a datagram with a proof
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
        """Count one datagram; return False if it exceeds a limit."""
        # The buckets of the address come first: a flood from one address uses up no share.
        key = address_key(address[0])
        known = self._known.get(key)
        if known is not None and self._has_plenty(known, now):
            return True
        # The order matters: a proof is checked before any share is touched, so a flood of forged
        # datagrams never uses what proven senders need.
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

    def has_proved(self, host: str, now: Monotonic) -> bool:
        """Return whether an address has sent a proof lately."""
        return self._is_known(address_key(host), now)

    def _has_plenty(self, known: _Known, now: Monotonic) -> bool:
        """Take a token from the upper half of a known address's bucket, without a proof."""
        # Checking a proof costs time; so those of an honest sender are checked twice a minute only.
        # Forged datagrams can use up this half, but the lower one needs a proof.
        return (
            now - known.validated <= VALIDATED_AGAIN_AFTER
            and known.proven.left(now) > self._plenty
            and self._known_share.take(1, now)
            and known.proven.take(1, now)
        )

    def _prove(self, key: str, now: Monotonic) -> _Known:
        """Note that an address has sent a proof."""
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
    """The consequences of wrong passwords; times in seconds."""

    delay: float = 1.0
    """The delay of the answer, for each wrong password so far."""
    banned_after: int = 10
    banned_for: float = 600.0
    """Duration of a ban, and of the memory of failures after the last one."""
    trusted_every: float = 10.0
    """While banned, a trusted address has one attempt in so many seconds."""
    most_addresses: int = 10_000


@dataclass(slots=True)
class _Failed:
    count: int
    until: Monotonic


class Failures:
    """Wrong passwords at endpoints for operators, by address: first delays, then a ban.

    An address that has sent the right password before is trusted. While it is banned it still has
    an attempt from time to time, so that an attacker at the same address cannot lock the operator
    out. IPv6 addresses count by their /64 network.
    """

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
        """Count a wrong password; return the delay of its answer in seconds."""
        key = address_key(host)
        known = self._known(key, now)
        count = known.count + 1 if known is not None else 1
        # Each failure starts the time anew, so a slow attacker stays banned while it goes on.
        self._found[key] = _Failed(count, Monotonic(now + self.rules.banned_for))
        self._found.move_to_end(key)
        if len(self._found) > self.rules.most_addresses:
            self._found.popitem(last=False)
        return self.rules.delay * count

    def succeeded(self, host: str) -> None:
        """Forget the failures of an address after the right password, and trust it from now on."""
        key = address_key(host)
        self._found.pop(key, None)
        # Trust has no end: it only means that a banned address may try from time to time.
        self._trusted[key] = None
        self._trusted.move_to_end(key)
        if len(self._trusted) > self.rules.most_addresses:
            self._trusted.popitem(last=False)

    def is_trusted(self, host: str) -> bool:
        """Return whether the right password came from an address before."""
        return address_key(host) in self._trusted

    def has_failed(self, host: str, now: Monotonic) -> bool:
        """Return whether an address has sent wrong passwords lately."""
        return self._known(address_key(host), now) is not None

    def keeps_out(self, host: str, now: Monotonic) -> bool:
        """Return whether an address has no attempt at all now; takes none."""
        return self.is_banned(host, now) and not self.is_trusted(host)

    def may_try(self, host: str, now: Monotonic) -> bool:
        """Return whether a password of an address is checked; takes an attempt of a banned one."""
        if not self.is_banned(host, now):
            return True
        return self.is_trusted(host) and self._tries.take(address_key(host), now)

    def is_banned(self, host: str, now: Monotonic) -> bool:
        """Return whether an address has sent too many wrong passwords lately."""
        known = self._known(address_key(host), now)
        return known is not None and known.count >= self.rules.banned_after

    def _known(self, key: str, now: Monotonic) -> _Failed | None:
        found = self._found.get(key)
        if found is not None and now >= found.until:
            del self._found[key]
            return None
        return found


PERIOD: Final = 30.0
"""Seconds for which one number is issued; it is accepted in this period and the next."""
ANY_PORT: Final = 0
"""The port of challenges that are valid for all ports of an address."""
_BITS: Final = 0x7FFFFFFF
"""Numbers have 31 bits: some clients read them as signed and take a negative one as an error."""


class Challenges:
    """Numbers that prove an address: a peer gets one, and sends it back with its next request.

    Numbers have 31 bits and are never 0. Only a request with a valid number may get an answer that
    is larger than itself.
    """

    # Nothing is stored for a peer: the number is a keyed hash of its address and the time, so a
    # flood of forged addresses occupies no memory.

    __slots__ = ("_begun",)

    def __init__(self, secret: bytes) -> None:
        """Use a secret of 16 to 64 random bytes."""
        # The digest of the period is shared by all its numbers.
        self._begun = lru_cache(maxsize=4)(
            lambda period: blake2b(b"%d " % period, key=secret, digest_size=4)
        )

    def issue(self, host: str, port: int, now: Monotonic) -> int:
        """Return the number for an address, from 1 to 0x7FFFFFFF."""
        return self._number(host, port, int(now // PERIOD))

    def accepts(self, number: int, host: str, port: int, now: Monotonic) -> bool:
        """Return whether a number was issued to this address lately."""
        # The previous period counts too: a number may be issued just before the change.
        period = int(now // PERIOD)
        return number == self._number(host, port, period) or number == self._number(
            host, port, period - 1
        )

    def _number(self, host: str, port: int, period: int) -> int:
        # A copy, because `update` changes the shared digest.
        digest = self._begun(period).copy()
        digest.update(f"{host} {port}".encode())
        # Never 0, so that callers can use 0 for a peer without a number.
        return int.from_bytes(digest.digest(), "little") & _BITS or 1


DEBT: Final = 5
"""The largest debt of a session, in slices of work."""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """Limits on the work for one session, all above 0. Times are seconds."""

    share: float = 0.02
    """Share of one core that a session may use over time; walking takes less than 0.005."""
    reserve: float = 0.1
    """Seconds of work that a session may use at once, after it has used little."""
    address_reserve: float = 0.25
    """The same for all sessions of an address whose account is not known yet."""
    slice: float = 0.002
    """Seconds of work after which a session's further messages wait until others were served."""


class WorkBudget:
    """The budget of one session in seconds of work: full at first, refilled by `share` per second.

    The debt is at most `DEBT` slices. Without this bound a session would wait long after a single
    expensive message, such as the first one of its kind since the server started.
    """

    __slots__ = ("_left", "_rules", "_when")

    def __init__(self, rules: TurnRules, now: Monotonic) -> None:
        self._rules = rules
        self._left = rules.reserve
        self._when = now

    def charge(self, seconds: float, now: Monotonic) -> None:
        """Subtract seconds of work."""
        rules = self._rules
        left = min(rules.reserve, self._left + (now - self._when) * rules.share)
        self._left = max(left - seconds, -DEBT * rules.slice)
        self._when = now

    def spent(self, now: Monotonic) -> float:
        """Return how many seconds of work are missing until the budget is full."""
        rules = self._rules
        left = min(rules.reserve, self._left + (now - self._when) * rules.share)
        return rules.reserve - left

    def resumes_at(self) -> Monotonic | None:
        """Return when the session may be served again; None if it may be now."""
        if self._left > 0:
            return None
        rules = self._rules
        # The session resumes with one slice of budget; at exactly 0 it would stop again at once.
        return Monotonic(self._when + (min(rules.slice, rules.reserve) - self._left) / rules.share)

    def reads_at(self) -> Monotonic | None:
        """Return until when its datagrams are dropped unread; None if they are read.

        This applies to a session that is not served and whose datagrams alone cost too much.
        """
        rules = self._rules
        if self._left > -DEBT * rules.slice:
            return None
        return Monotonic(self._when + min(rules.slice, rules.reserve) / rules.share)


T = TypeVar("T")

GRACE: Final = 0.04
"""The seconds of rest that may accumulate before anything has to wait."""


class FairWork(Generic[T]):
    """Items that wait in one queue for each source; the sources take turns.

    The cost of an item is charged when it is done. While several items wait, they get at most
    `share` of the time; an item that waits alone starts at once. The owner bounds their number.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        """The share of the time for items while several wait; above 0, at most 1."""
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()
        self._first: deque[T] = deque()
        self._waiting = 0
        self._rested = Monotonic(0.0)
        """When the rest after all charged work is over."""

    def __len__(self) -> int:
        return self._waiting

    def put(self, source: str, item: T, *, is_first: bool = False) -> None:
        """Add an item of a source; one that `is_first` goes ahead of all sources."""
        self._waiting += 1
        if is_first:
            self._first.append(item)
        else:
            self._lines.setdefault(source, deque()).append(item)

    def take(self, now: Monotonic, *, in_turn: bool = True) -> T | None:
        """Return the next item; None if nothing waits or a rest is due.

        `in_turn` is whether all other work had its turn since the last item: then an item that
        waits alone needs no rest.
        """
        # An item that waits alone delays nobody, so it runs at once, however much was charged
        # before. In a crowd the rest keeps the share of the time: each item's cost is known only
        # after it has run, and the following ones pay for it.
        needs_rest = self._waiting > 1 or not in_turn
        if not self._waiting or (needs_rest and self._rested - now > GRACE):
            return None
        self._waiting -= 1
        if self._first:
            return self._first.popleft()
        source, line = next(iter(self._lines.items()))
        item = line.popleft()
        if line:
            self._lines.move_to_end(source)
        # An empty line is removed, so sources that wait for nothing occupy no memory.
        else:
            del self._lines[source]
        return item

    def charge(self, seconds: float, now: Monotonic) -> None:
        """Charge the cost of an item."""
        # Idle time is not saved up: only `GRACE` seconds of rest may be skipped.
        self._rested = Monotonic(max(self._rested, now) + seconds / self.share)

    def get_timer(self) -> Monotonic | None:
        """Return when `take` returns something again; None while nothing waits."""
        if not self._waiting:
            return None
        return Monotonic(self._rested - GRACE if self._waiting > 1 else 0.0)
