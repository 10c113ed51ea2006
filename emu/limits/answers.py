"""How often an endpoint without sessions answers: each address, and all of them together.

Whoever asks by UDP may have forged its address, so an answer may reach somebody who never asked.
A bucket for each address bounds what one victim gets. What all strangers draw together is bounded
as well, and a flood of invented addresses uses that up; so whoever has a validated address, by a
challenge or a token, has another share, which nobody who invents addresses can touch. Memory is
bounded; time is an argument.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.limits.addresses import address_key
from emu.limits.throttle import Allowance, RateLimit, Throttle
from emu.times import Monotonic

KNOWN_FOR: Final = 900.0
"""Seconds for which a validated address is known."""
VALIDATED_AGAIN_AFTER: Final = 30.0
"""Seconds after which a proof is looked at again, so that who asks now and then stays known."""

Proof = Callable[[bytes, tuple[str, int], Monotonic], bool]
"""Says whether a datagram shows that what is sent to its address is received there."""


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """How many datagrams are answered, at once (burst) and a second (rate)."""

    address_burst: int = 20
    address_rate: float = 10.0
    share_burst: float = 2000.0
    """Of all strangers together, and as many again of all who are known."""
    share_rate: float = 2000.0
    most_addresses: int = 20_000
    """Strangers remembered at once, and known addresses; the oldest are forgotten first."""


@dataclass(slots=True)
class _Known:
    """A validated address."""

    validated: Monotonic
    bucket: RateLimit


class AnswerLimits:
    """Says whether a datagram of an address may be answered."""

    __slots__ = ("_each", "_known", "_known_share", "_rules", "_strangers_share", "_validates")

    def __init__(
        self, rules: AnswerRules, now: Monotonic, validates: Proof = lambda *_datagram: False
    ) -> None:
        self._rules = rules
        self._validates = validates
        self._each = Throttle(
            Allowance(rules.address_burst, 1 / rules.address_rate), most_keys=rules.most_addresses
        )
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._strangers_share = RateLimit(rules.share_rate, rules.share_burst, now)
        self._known_share = RateLimit(rules.share_rate, rules.share_burst, now)

    def take(self, datagram: bytes, address: tuple[str, int], now: Monotonic) -> bool:
        """Count one datagram; False when it is one too many.

        An address's own bucket comes first: one that floods takes nothing of what others have.
        """
        key = address_key(address[0])
        known = self._known.get(key)
        if known is None or now - known.validated > VALIDATED_AGAIN_AFTER:
            known = self._look(known, key, datagram, address, now)
        if known is not None:
            return known.bucket.take(1, now) and self._known_share.take(1, now)
        return (
            self._strangers_share.left(now) >= 1
            and self._each.take(key, now)
            and self._strangers_share.take(1, now)
        )

    def _look(
        self, known: _Known | None, key: str, datagram: bytes, address: tuple[str, int],
        now: Monotonic,
    ) -> _Known | None:  # fmt: skip
        """Look for a proof; returns the address when it is known then."""
        if self._validates(datagram, address, now):
            if known is None:
                rules = self._rules
                bucket = RateLimit(rules.address_rate, rules.address_burst, now)
                known = self._known[key] = _Known(now, bucket)
                if len(self._known) > rules.most_addresses:
                    self._known.popitem(last=False)
            known.validated = now
            self._known.move_to_end(key)
        elif known is not None and now - known.validated > KNOWN_FOR:
            del self._known[key]
            return None
        return known
