"""How often an endpoint without sessions answers: each address, and all of them together.

Whoever asks by UDP may have forged its address, so an answer may reach somebody who never asked.
A bucket for each address bounds what one victim gets, one for all bounds what a flood of invented
addresses draws from us. Memory is bounded; time is an argument.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.limits.addresses import address_key
from emu.limits.rate import RateLimit
from emu.limits.throttle import Allowance, Throttle
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """How many datagrams are answered, at once (burst) and a second (rate)."""

    address_burst: int = 20
    address_rate: float = 10.0
    all_burst: float = 2000.0
    all_rate: float = 2000.0
    most_addresses: int = 20_000
    """Addresses remembered at once; those not heard of for longest are forgotten first."""


class AnswerLimits:
    """Says whether a datagram of an address may be answered."""

    __slots__ = ("_all", "_each")

    def __init__(self, rules: AnswerRules, now: Monotonic) -> None:
        self._all = RateLimit(rules.all_rate, rules.all_burst, now)
        allowance = Allowance(rules.address_burst, 1 / rules.address_rate)
        self._each = Throttle(allowance, most_keys=rules.most_addresses)

    def take(self, host: str, now: Monotonic) -> bool:
        """Count one datagram; False when it is one too many.

        The address comes first: one that floods takes nothing of what the others have.
        """
        return self._each.take(address_key(host), now) and self._all.take(1, now)
