"""How fast anybody may try passwords at the page.

Wrong ones of an address are counted as everywhere (`emu.limits.failures`): each takes longer to be
told, and after some the address stays out for a while. Wrong ones for a name take longer, too, and
keep nobody out. What is tried at once is bounded, for each address and for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from emu.admin.web.desk.refusals import BUSY, TOO_MANY, RequestRefused
from emu.limits.addresses import address_key
from emu.limits.failures import FailureRules, Failures
from emu.times import Monotonic

SOON: Final = 5.0


@dataclass(frozen=True, slots=True)
class SignInRules:
    """What sign-ins cost; times in seconds."""

    failures: FailureRules = field(default_factory=FailureRules)
    longest_delay: float = 10.0
    at_once: int = 64
    at_once_per_address: int = 2


class SignIns:
    """Who tries now, and who has tried wrongly."""

    def __init__(self, rules: SignInRules) -> None:
        self._rules = rules
        self._addresses = Failures(rules.failures)
        self._names = Failures(rules.failures)
        self._trying: Counter[str] = Counter()

    def __len__(self) -> int:
        """How many try now."""
        return self._trying.total()

    @contextmanager
    def trying(self, address: str, now: Monotonic) -> Iterator[None]:
        """Count one who tries, until it is answered. Raises `RequestRefused`."""
        if self._addresses.is_banned(address, now):
            text = "too many wrong passwords; try again later"
            raise RequestRefused(TOO_MANY, "banned", text, wait=self._rules.failures.banned_for)
        source = address_key(address)
        if self._trying[source] >= self._rules.at_once_per_address:
            text = "wait for the answer to the last try"
            raise RequestRefused(TOO_MANY, "too many at once", text, wait=SOON)
        if len(self) >= self._rules.at_once:
            text = "too many people sign in just now"
            raise RequestRefused(BUSY, "too many at once", text, wait=SOON)
        self._trying[source] += 1
        try:
            yield
        finally:
            self._trying[source] -= 1
            if not self._trying[source]:
                del self._trying[source]

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
