"""Web sessions: who is signed in, and how often anybody may try a password.

Wrong ones of an address are counted as everywhere (`emu.limits.rates`): each takes longer to be
told, and after some the address stays out for a while. Wrong ones for a name take longer, too, and
keep nobody out. What is tried at once is bounded for each address. What is looked at at once is
bounded for each of three groups, so that no crowd of one group keeps out the others: addresses that
gave wrong passwords lately; those that did not; and those that signed in before, with the machine
itself.

Only a hash of the token is kept, so that nobody who sees this memory can use it. A session ends
when it is not used for a while, some hours after it began at the latest, when its owner signs out,
and when there are too many: of the account the oldest goes, of all the one not used for longest.
"""

from __future__ import annotations

import enum
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from emu.errors import PeerError
from emu.limits.addresses import address_key
from emu.limits.rates import FailureRules, Failures
from emu.model import Account
from emu.times import Monotonic

BAD_REQUEST: Final = 400
NOT_SIGNED_IN: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
UNSUPPORTED: Final = 415
IMPOSSIBLE: Final = 422
TOO_MANY: Final = 429
BUSY: Final = 503


class RequestRefused(PeerError):
    """A request is not carried out.

    `code` is HTTP's, `text` what the person is told, `wait` after how many seconds it is worth
    trying again (0: nobody knows).
    """

    def __init__(self, code: int, reason: str, text: str, *, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.code = code
        self.text = text
        self.wait = wait


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody has signed in."""

    name: str
    address: str
    rank: int

    @property
    def text(self) -> str:
        """Return the line of the log."""
        return f"{self.name} signed in from {self.address} with rank {self.rank}"


@dataclass(frozen=True, slots=True)
class SignInRefused:
    """Somebody was not let in. The name is left out: it may be a password in the wrong field."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class SignedOut:
    """A session is over before its time."""

    name: str
    reason: str

    @property
    def text(self) -> str:
        """Return the line of the log."""
        return f"{self.name} is signed out: {self.reason}"


SOON: Final = 5.0
HERE: Final = frozenset(("127.0.0.1", "::1"))
"""Addresses by which the machine itself comes."""


class Group(enum.Enum):
    """Who tries."""

    TRUSTED = enum.auto()
    NEW = enum.auto()
    FAILED = enum.auto()


@dataclass(frozen=True, slots=True)
class SignInRules:
    """What sign-ins cost; times in seconds."""

    failures: FailureRules = field(default_factory=FailureRules)
    longest_delay: float = 10.0
    at_once: int = 64
    """Passwords looked at, of each group."""
    at_once_per_address: int = 2


class SignIns:
    """Who tries now, and who has tried wrongly."""

    def __init__(self, rules: SignInRules) -> None:
        self._rules = rules
        self._addresses = Failures(rules.failures)
        self._names = Failures(rules.failures)
        self._trying: Counter[str] = Counter()
        self._looked_at: Counter[Group] = Counter()

    def __len__(self) -> int:
        """How many try now."""
        return self._trying.total()

    @contextmanager
    def trying(self, address: str, now: Monotonic) -> Iterator[None]:
        """Count one who tries, until it is answered. Raises `RequestRefused`."""
        if not self._addresses.may_try(address, now):
            text = "too many wrong passwords; try again later"
            raise RequestRefused(TOO_MANY, "banned", text, wait=self._rules.failures.banned_for)
        source = address_key(address)
        if self._trying[source] >= self._rules.at_once_per_address:
            text = "wait for the answer to the last try"
            raise RequestRefused(TOO_MANY, "too many at once", text, wait=SOON)
        self._trying[source] += 1
        try:
            yield
        finally:
            self._trying[source] -= 1
            if not self._trying[source]:
                del self._trying[source]

    @contextmanager
    def looked_at(self, address: str, now: Monotonic) -> Iterator[None]:
        """Count a password until it is known whether it is right. Raises `RequestRefused`."""
        group = self._group(address, now)
        if self._looked_at[group] >= self._rules.at_once:
            text = "too many people sign in just now"
            raise RequestRefused(BUSY, "too many at once", text, wait=SOON)
        self._looked_at[group] += 1
        try:
            yield
        finally:
            self._looked_at[group] -= 1

    def _group(self, address: str, now: Monotonic) -> Group:
        if self._addresses.is_trusted(address):
            return Group.TRUSTED
        if self._addresses.has_failed(address, now):
            return Group.FAILED
        return Group.TRUSTED if address in HERE else Group.NEW

    def failed(self, address: str, name: str, now: Monotonic) -> float:
        """Count a wrong password; returns after how many seconds it is answered."""
        delays = (
            self._addresses.failed(address, now),
            self._names.failed(f"account {name.casefold()}", now),
        )
        return min(max(delays), self._rules.longest_delay)

    def succeeded(self, address: str, name: str) -> None:
        """Forget the wrong ones: the right one followed."""
        self._addresses.succeeded(address)
        self._names.succeeded(f"account {name.casefold()}")


TOKEN_SIZE: Final = 32
"""Random bytes of a token."""
LONGEST_TOKEN: Final = 64
"""Letters of what may be a token at all."""


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How long sessions last, in seconds, and how many there are."""

    idle: float = 1800.0
    longest: float = 43_200.0
    most: int = 100
    most_per_account: int = 5


@dataclass(slots=True, eq=False)
class WebSession:
    """Somebody who is signed in."""

    account_id: int
    name: str
    """The account's."""
    password: str
    """The account's hash: with another one the session is over."""
    csrf: str
    """What every request of the page shows besides the cookie."""
    begun: Monotonic
    used: Monotonic


class Sessions:
    """All sessions; `random_bytes` must be fit for secrets."""

    def __init__(self, rules: SessionRules, random_bytes: Callable[[int], bytes]) -> None:
        self.rules = rules
        self._random_bytes = random_bytes
        self._by_hash: dict[bytes, WebSession] = {}

    def __len__(self) -> int:
        return len(self._by_hash)

    def begin(self, account: Account, now: Monotonic) -> tuple[str, WebSession]:
        """Begin a session; returns its token, which is told nobody but its owner."""
        self._make_room(account.id, now)
        token = self._token()
        session = WebSession(account.id, account.name, account.password, self._token(), now, now)
        self._by_hash[_hash(token)] = session
        return token, session

    def find(self, token: str, now: Monotonic) -> WebSession | None:
        """Return the session of a token, unless it is over."""
        if not 0 < len(token) <= LONGEST_TOKEN:
            return None
        session = self._by_hash.get(_hash(token))
        if session is not None and self._is_over(session, now):
            self.end(session)
            return None
        return session

    def every(self) -> list[WebSession]:
        """Return all sessions; some may be over."""
        return list(self._by_hash.values())

    def end(self, session: WebSession) -> None:
        """End a session; a second time does nothing."""
        self._by_hash = {key: one for key, one in self._by_hash.items() if one is not session}

    def _make_room(self, account_id: int, now: Monotonic) -> None:
        for session in [one for one in self._by_hash.values() if self._is_over(one, now)]:
            self.end(session)
        own = [one for one in self._by_hash.values() if one.account_id == account_id]
        if len(own) >= self.rules.most_per_account:
            self.end(min(own, key=lambda one: one.begun))
        elif len(self._by_hash) >= self.rules.most:
            self.end(min(self._by_hash.values(), key=lambda one: one.used))

    def _is_over(self, session: WebSession, now: Monotonic) -> bool:
        return now - session.used >= self.rules.idle or now - session.begun >= self.rules.longest

    def _token(self) -> str:
        return urlsafe_b64encode(self._random_bytes(TOKEN_SIZE)).rstrip(b"=").decode()


def _hash(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()
