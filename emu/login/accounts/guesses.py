"""How often anybody may guess: what one try of a name and password costs, and whom.

A guess is paid for before the password is looked at, and a right one gets its price back. Every
guess costs its address. For the account it costs the address's own budget for that account, which
is large where the account logged in from last and small anywhere else, and when a small one is
spent, one that all strangers share. So whoever guesses from one address, or from many, keeps
nobody out who knows the password. Names nobody has are treated like any other.
"""

from __future__ import annotations

from collections.abc import Hashable

from emu.limits.throttle import Throttle
from emu.login.accounts.settings import GuessConfig
from emu.times import Monotonic


class Guess:
    """A guess that is paid for."""

    __slots__ = ("_paid",)

    def __init__(self, paid: list[tuple[Throttle, Hashable]]) -> None:
        self._paid = paid

    def give_back(self, now: Monotonic) -> None:
        """Return the price: the password was right, or could not be checked."""
        for throttle, key in self._paid:
            throttle.give_back(key, now)


class GuessLimits:
    """Every budget there is. Names are compared without regard to case."""

    __slots__ = ("_addresses", "_known", "_new", "_strangers")

    def __init__(self, config: GuessConfig) -> None:
        self._addresses = Throttle(config.from_address)
        self._known = Throttle(config.from_known)
        self._new = Throttle(config.from_new)
        self._strangers = Throttle(config.from_strangers)

    def allows(self, name: str, source: str, now: Monotonic, *, known: bool) -> bool:
        """Say whether `take` would succeed; nothing is taken."""
        return self._addresses.allows(source, now) and any(
            throttle.allows(key, now) for throttle, key in self._budgets(name, source, known)
        )

    def take(self, name: str, source: str, now: Monotonic, *, known: bool) -> Guess | None:
        """Pay for a guess; None, with nothing taken, when the address or the account has no more.

        `known` is whether the account logged in from this source last.
        """
        if not self._addresses.take(source, now):
            return None
        for throttle, key in self._budgets(name, source, known):
            if throttle.take(key, now):
                return Guess([(self._addresses, source), (throttle, key)])
        self._addresses.give_back(source, now)
        return None

    def allows_address(self, source: str, now: Monotonic) -> bool:
        """Say whether an address has a guess left, for whatever name."""
        return self._addresses.allows(source, now)

    def charge_address(self, source: str, now: Monotonic) -> None:
        """Have an address pay for what could not even be looked up."""
        self._addresses.charge(source, now)

    def _budgets(
        self, name: str, source: str, known: bool
    ) -> tuple[tuple[Throttle, Hashable], ...]:
        folded = name.casefold()
        if known:
            return ((self._known, (folded, source)),)
        return ((self._new, (folded, source)), (self._strangers, folded))
