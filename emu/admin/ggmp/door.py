"""Says who may come in, and as whom: by a token, by a known number and host, or as anybody.

Source: docs/protocol/administration/ggmp.md#joining.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from emu.admin.ggmp.acting import Seat
from emu.admin.ggmp.grants import Grant, StaticClient, grant_of
from emu.admin.ggmp.messages import Message
from emu.admin.ggmp.rules import GgmpRules
from emu.limits.addresses import address_key
from emu.limits.throttle import Allowance, Throttle
from emu.times import Monotonic

GUESSES: Final = Allowance(burst=5, refill=12.0)
"""Wrong tokens of one address: five a minute."""


class Door:
    """Knows the rules of joining, and who guesses at tokens."""

    def __init__(self, rules: GgmpRules) -> None:
        self.rules = rules
        self.logins: Counter[str] = Counter()
        """Tokens that were shown by newcomers, by result."""
        self._guesses = Throttle(GUESSES, most_keys=10_000)

    def shows_token(self, message: Message) -> bool:
        """Say whether a message has a token that lets its sender in."""
        return grant_of(self.rules.grants, _shown(message)) is not None

    def grant(self, message: Message, host: str, now: Monotonic) -> Grant | None:
        """Return what a newcomer may do: by the token that its first message has."""
        key = address_key(host)
        token = _shown(message)
        if not token:
            return self.rules.anonymous
        grant = None
        if self._guesses.allows(key, now):
            grant = grant_of(self.rules.grants, token)
            if grant is None:
                self._guesses.take(key, now)
        self.logins["refused" if grant is None else "accepted"] += 1
        return grant

    def grant_again(self, seat: Seat) -> Grant | None:
        """Return what a client that is here may do from now on; None when it may not be here."""
        if seat.grant.token:
            return grant_of(self.rules.grants, seat.grant.token)
        static = self.rules.clients.get(seat.id)
        if static is not None and static.host == seat.address[0]:
            return static.grant
        return self.rules.anonymous

    def known(self, number: int, host: str) -> StaticClient | None:
        """Return the known client of a number, when it asks from its host."""
        static = self.rules.clients.get(number)
        return static if static is not None and static.host == host else None


def _shown(message: Message) -> str:
    """Return the token of a message, empty when there is none."""
    return next((entry.value for entry in message.values if isinstance(entry.value, str)), "")
