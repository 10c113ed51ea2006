"""Tokens: what somebody is given for the password, and shows to be told what is private."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from emu.limits.throttle import Allowance, Throttle
from emu.times import Monotonic

TOKEN_BYTES: Final = 16
IDLE: Final = 900.0
"""Seconds for which a token lasts that is not used."""
LONGEST: Final = 3600.0
"""Seconds for which any token lasts."""
MOST_TOKENS: Final = 1024
GUESSES: Final = Allowance(burst=5, refill=12.0)
"""Wrong passwords of one address: five a minute."""


class _Holder(NamedTuple):
    host: str
    given: Monotonic
    used: Monotonic


class Tokens:
    """Gives tokens and takes them; each is good for the address that asked for it."""

    def __init__(self, password: str, random: Callable[[int], bytes]) -> None:
        """Without a password nobody gets one; `random` returns so many bytes nobody can foresee."""
        self._password = password.encode()
        self._random = random
        self._holders: OrderedDict[str, _Holder] = OrderedDict()
        self._guesses = Throttle(GUESSES, most_keys=10_000)

    def give(self, password: str, host: str, now: Monotonic) -> str | None:
        """Return a new token; empty for a wrong password, None for one guess too many."""
        if not self._guesses.allows(host, now):
            return None
        if not self.is_password(password):
            self._guesses.take(host, now)
            return ""
        token = self._random(TOKEN_BYTES).hex()
        self._holders[token] = _Holder(host, now, now)
        if len(self._holders) > MOST_TOKENS:
            self._holders.popitem(last=False)
        return token

    def is_password(self, password: str) -> bool:
        """Say whether this is the password; nothing is when there is none."""
        given = password.encode("utf-8", "surrogatepass")
        return hmac.compare_digest(given, self._password) and bool(self._password)

    def accepts(self, token: str, host: str, now: Monotonic) -> bool:
        """Say whether an address holds this token; using it keeps it."""
        holder = self._holders.get(token)
        if holder is None or holder.host != host:
            return False
        if now - holder.used > IDLE or now - holder.given > LONGEST:
            del self._holders[token]
            return False
        self._holders[token] = holder._replace(used=now)
        self._holders.move_to_end(token)
        return True
