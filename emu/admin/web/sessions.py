"""Web sessions, and the limits on password attempts.

Wrong passwords of an address are limited as everywhere (`emu.limits.rates`): each is answered
later, and after some the address is banned for a while. Wrong passwords for a name delay the answer
but never lock the name out. Attempts in progress are limited for each address, and password checks
for each of three groups, so that a flood from one group does not block the others: addresses with
recent wrong passwords; addresses without; and addresses that signed in before, with this machine.

Only a hash of a token is kept, so that a leak of this memory gives nobody a session. A session ends
when it is unused for a while, some hours after its start, when its user signs out, and when there
are too many: the account's oldest one ends, or the one of all that is unused for longest.
"""

from __future__ import annotations

import enum
import math
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from emu.errors import PeerError
from emu.limits.addresses import address_key
from emu.limits.rates import FailureRules, Failures
from emu.model import Account
from emu.times import Clock, Monotonic

BAD_REQUEST: Final = 400
NOT_SIGNED_IN: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
UNSUPPORTED: Final = 415
IMPOSSIBLE: Final = 422
TOO_MANY: Final = 429
BUSY: Final = 503


class RequestRefused(PeerError):
    """A refused request.

    `code` is HTTP's, `text` the message for the user, `wait` the seconds after which a retry can
    work (0 for unknown).
    """

    def __init__(self, code: int, reason: str, text: str, *, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.code = code
        self.text = text
        self.wait = wait


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user has signed in."""

    name: str
    address: str
    rank: int

    @property
    def text(self) -> str:
        """Return the line for the log."""
        return f"{self.name} signed in from {self.address} with rank {self.rank}"


@dataclass(frozen=True, slots=True)
class SignInRefused:
    """A refused sign-in, without the name: users sometimes type the password into that field."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class SignedOut:
    """A session has ended early."""

    name: str
    reason: str

    @property
    def text(self) -> str:
        """Return the line for the log."""
        return f"{self.name} was signed out: {self.reason}"


SOON: Final = 5.0
HERE: Final = frozenset(("127.0.0.1", "::1"))
"""The addresses of the machine itself."""


class SenderGroup(enum.Enum):
    """The groups whose password checks are limited separately."""

    TRUSTED = enum.auto()
    NEW = enum.auto()
    FAILED = enum.auto()


@dataclass(frozen=True, slots=True)
class SignInRules:
    """The limits on sign-ins; times in seconds."""

    failures: FailureRules = field(default_factory=FailureRules)
    longest_delay: float = 10.0
    at_once: int = 64
    """Password checks in progress, of each group."""
    at_once_per_address: int = 2


class SignIns:
    """Sign-ins in progress, and recent wrong passwords."""

    def __init__(self, rules: SignInRules) -> None:
        self._rules = rules
        self._addresses = Failures(rules.failures)
        self._names = Failures(rules.failures)
        self._trying: Counter[str] = Counter()
        self._looked_at: Counter[SenderGroup] = Counter()

    def __len__(self) -> int:
        """Return the number of sign-ins in progress."""
        return self._trying.total()

    @contextmanager
    def trying(self, address: str, now: Monotonic) -> Iterator[None]:
        """Count a sign-in while it is in progress. Raises `RequestRefused`."""
        # First, so that a banned address costs nothing more.
        if not self._addresses.may_try(address, now):
            text = "too many wrong passwords; try again later"
            raise RequestRefused(TOO_MANY, "banned", text, wait=self._rules.failures.banned_for)
        source = address_key(address)
        if self._trying[source] >= self._rules.at_once_per_address:
            text = "wait for the answer to your last attempt"
            raise RequestRefused(TOO_MANY, "too many at once", text, wait=SOON)
        # By /64 network in IPv6, like all limits.
        self._trying[source] += 1
        try:
            yield
        finally:
            self._trying[source] -= 1
            # Addresses that are done with leave no entry behind.
            if not self._trying[source]:
                del self._trying[source]

    @contextmanager
    def looked_at(self, address: str, now: Monotonic) -> Iterator[None]:
        """Count a password check while it is in progress. Raises `RequestRefused`."""
        group = self._group(address, now)
        if self._looked_at[group] >= self._rules.at_once:
            text = "too many sign-ins at the moment"
            raise RequestRefused(BUSY, "too many at once", text, wait=SOON)
        self._looked_at[group] += 1
        try:
            yield
        finally:
            self._looked_at[group] -= 1

    def _group(self, address: str, now: Monotonic) -> SenderGroup:
        # An address that signed in before stays trusted, also after a wrong password.
        if self._addresses.is_trusted(address):
            return SenderGroup.TRUSTED
        if self._addresses.has_failed(address, now):
            return SenderGroup.FAILED
        # The machine itself counts as trusted until it fails.
        return SenderGroup.TRUSTED if address in HERE else SenderGroup.NEW

    def failed(self, address: str, name: str, now: Monotonic) -> float:
        """Count a wrong password; return after how many seconds it is answered."""
        delays = (
            self._addresses.failed(address, now),
            # The prefix keeps names and addresses apart.
            self._names.failed(f"account {name.casefold()}", now),
        )
        return min(max(delays), self._rules.longest_delay)

    def succeeded(self, address: str, name: str) -> None:
        """Forget the wrong passwords, because the right one followed."""
        self._addresses.succeeded(address)
        self._names.succeeded(f"account {name.casefold()}")


TOKEN_SIZE: Final = 32
"""Random bytes of a token."""
LONGEST_TOKEN: Final = 64
"""Maximum length of a token, in letters."""


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How long sessions last, in seconds, and their maximum numbers."""

    idle: float = 1800.0
    longest: float = 43_200.0
    most: int = 100
    most_per_account: int = 5


@dataclass(slots=True, eq=False)
class WebSession:
    """One session."""

    account_id: int
    name: str
    """The account's name."""
    password: str
    """The account's password hash. When it changes, the session is over."""
    csrf: str
    """The secret that each request of the page sends besides the cookie."""
    begun: Monotonic
    used: Monotonic


class Sessions:
    """All sessions; `random_bytes` must be cryptographically secure."""

    def __init__(self, rules: SessionRules, random_bytes: Callable[[int], bytes]) -> None:
        self.rules = rules
        self._random_bytes = random_bytes
        self._by_hash: dict[bytes, WebSession] = {}

    def __len__(self) -> int:
        return len(self._by_hash)

    def begin(self, account: Account, now: Monotonic) -> tuple[str, WebSession]:
        """Begin a session; return its token, which only its user may get."""
        # Before the new session is added, so that the limits hold with it.
        self._evict(account.id, now)
        token = self._token()
        session = WebSession(account.id, account.name, account.password, self._token(), now, now)
        self._by_hash[_hash(token)] = session
        return token, session

    def find(self, token: str, now: Monotonic) -> WebSession | None:
        """Return the session of a token, or None if it is over."""
        # Before the hash, so that a long cookie costs nothing.
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
        """End a session; do nothing if it has ended."""
        self._by_hash = {key: one for key, one in self._by_hash.items() if one is not session}

    def _evict(self, account_id: int, now: Monotonic) -> None:
        # Sessions that are over go first, so that they do not evict a living one.
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


def rest_of(delay: float, elapsed: float) -> float:
    """Return how long to wait until a refusal is sent, `elapsed` seconds after the request.

    It is sent after `delay` seconds, or after a whole number of seconds if the check took longer:
    the time does not reveal which work was done.
    """
    return max(delay, float(math.ceil(elapsed))) - elapsed


class PasswordPage:
    """A page on which passwords are given, with the limits on wrong ones."""

    def __init__(
        self,
        sign_ins: SignIns,
        *,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]],
        report: Callable[[object], None],
    ) -> None:
        """`pause` waits for some seconds; `report` is called with events."""
        self._sign_ins = sign_ins
        self._clock = clock
        self._pause = pause
        self._report = report
        self.counters: Counter[str] = Counter()
        """The requests by their outcome."""

    async def _note_failure(self, address: str, name: str, begun: Monotonic) -> None:
        """Count a wrong password, and wait until its refusal may be sent.

        The attempt must count as in progress meanwhile.
        """
        now = self._clock.now()
        delay = self._sign_ins.failed(address, name, now)
        # Without the time of the check, so that the delay does not depend on the work.
        await self._pause(rest_of(delay, now - begun))
