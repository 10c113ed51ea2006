"""Wrong passwords by address: each takes longer to be told, and after some the address stays out.

For doors that only those come to who run the server: whoever guesses there is slowed down and then
banned for a while. Time is an argument, memory is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from emu.limits.addresses import address_key
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class FailureRules:
    """What wrong passwords cost; times in seconds."""

    delay: float = 1.0
    """Before a wrong one is answered, times the number of wrong ones so far."""
    banned_after: int = 10
    banned_for: float = 600.0
    """How long; so long, too, are failures remembered after the last one."""
    most_addresses: int = 10_000


@dataclass(slots=True)
class _Failed:
    count: int
    until: Monotonic


class Failures:
    """Counts wrong passwords; IPv6 addresses count by their /64 network."""

    __slots__ = ("_found", "rules")

    def __init__(self, rules: FailureRules) -> None:
        self.rules = rules
        self._found: OrderedDict[str, _Failed] = OrderedDict()

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
        """Forget the wrong ones: the right one followed."""
        self._found.pop(address_key(host), None)

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
