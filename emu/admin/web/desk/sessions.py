"""Who is signed in: sessions that a random token in a cookie stands for.

Only a hash of the token is kept, so that nobody who sees this memory can use it. A session ends
when it is not used for a while, some hours after it began at the latest, when its owner signs out,
and when there are too many: of the account the oldest goes, of all the one not used for longest.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from emu.model import Account
from emu.times import Monotonic

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
