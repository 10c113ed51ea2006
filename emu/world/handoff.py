"""Hand-off keys: what a client shows at the world's door to prove that the login server sent it.

A key is given out when a play request is granted, works once, for one account, and for a minute
on the clock (EQ2Emulator forgets old keys only when the next player comes; eq2-world.md 1.1).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from emu.errors import LimitExceeded
from emu.times import Monotonic

LIFETIME = 60.0
"""Seconds a key may be used."""
MOST_KEYS = 10_000
"""Keys that may be outstanding at once."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """Whom a key lets in."""

    account_id: int
    char_id: int
    name: str
    expires: Monotonic


class HandoffKeys:
    """Gives out keys and takes them back. `draw` returns a random u32, unpredictable to players."""

    __slots__ = ("_by_account", "_by_key", "_draw", "_lifetime", "_most")

    def __init__(
        self, draw: Callable[[], int], *, lifetime: float = LIFETIME, most: int = MOST_KEYS
    ) -> None:
        self._draw = draw
        self._lifetime = lifetime
        self._most = most
        self._by_key: OrderedDict[int, Handoff] = OrderedDict()
        self._by_account: dict[int, dict[int, int]] = {}
        """The keys of an account, by character."""

    def __len__(self) -> int:
        return len(self._by_key)

    def issue(self, account_id: int, char_id: int, name: str, now: Monotonic) -> int:
        """Return a new key, never 0; it replaces an unused one of the same character.

        Raises `LimitExceeded` when too many keys are outstanding.
        """
        self.expire(now)
        self._drop(self._by_account.get(account_id, {}).get(char_id, 0))
        if len(self._by_key) >= self._most:
            raise LimitExceeded("too many hand-off keys")
        key = 0
        while not key or key in self._by_key:
            key = self._draw() & 0xFFFFFFFF
        self._by_key[key] = Handoff(account_id, char_id, name, Monotonic(now + self._lifetime))
        self._by_account.setdefault(account_id, {})[char_id] = key
        return key

    def redeem(self, account_id: int, key: int, now: Monotonic) -> Handoff | None:
        """Take a key back; None when it is unknown, used, too old or another account's.

        A wrong account leaves the key as it is, so that guessing cannot lock a player out.
        """
        self.expire(now)
        found = self._by_key.get(key)
        if found is None or found.account_id != account_id:
            return None
        self._drop(key)
        return found

    def withdraw(self, char_id: int) -> None:
        """Forget every key of a character that may not be played any more."""
        for key in [key for key, one in self._by_key.items() if one.char_id == char_id]:
            self._drop(key)

    def withdraw_account(self, account_id: int) -> None:
        """Forget every key of an account that is to come in with another character."""
        for key in list(self._by_account.get(account_id, {}).values()):
            self._drop(key)

    def held_by_others(self, account_id: int, now: Monotonic) -> int:
        """Return how many keys are outstanding that are not this account's."""
        self.expire(now)
        return len(self._by_key) - len(self._by_account.get(account_id, ()))

    def expire(self, now: Monotonic) -> None:
        """Forget keys that are too old."""
        while self._by_key:
            key, oldest = next(iter(self._by_key.items()))
            if oldest.expires > now:
                return
            self._drop(key)

    def get_timer(self) -> Monotonic | None:
        """Return when `expire` has something to do, None when no key is outstanding."""
        return next(iter(self._by_key.values())).expires if self._by_key else None

    def _drop(self, key: int) -> None:
        found = self._by_key.pop(key, None)
        if found is not None:
            keys = self._by_account[found.account_id]
            del keys[found.char_id]
            if not keys:
                del self._by_account[found.account_id]
