"""Hand-off keys of one process: what a client shows at the world's door.

A key is given out when a play request is granted, works once, for one account, and for a minute
on the clock (EQ2Emulator forgets old keys only when the next player comes;
docs/protocol/world/entering.md#admission).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from emu.errors import LimitExceeded
from emu.model import Handoff
from emu.times import Clock, Monotonic

LIFETIME = 60.0
"""Seconds a key may be used."""
MOST_KEYS = 10_000
"""Keys that may be outstanding at once."""


@dataclass(frozen=True, slots=True)
class _Issued:
    handoff: Handoff
    expires: Monotonic


@dataclass(slots=True, eq=False, repr=False)
class LocalHandoffKeys:
    """`HandoffKeys` in memory."""

    draw: Callable[[], int]
    """Returns a random u32, unpredictable to players."""
    clock: Clock
    _: KW_ONLY
    lifetime: float = LIFETIME
    most: int = MOST_KEYS
    _by_key: OrderedDict[int, _Issued] = field(default_factory=OrderedDict)
    _by_account: dict[int, dict[int, int]] = field(default_factory=dict)
    """The keys of an account, by character."""

    def __len__(self) -> int:
        return len(self._by_key)

    async def issue(self, account_id: int, char_id: int, name: str) -> int:
        """Return a new key, never 0; it replaces an unused one of the same character.

        Raises `LimitExceeded` when too many keys are outstanding.
        """
        now = self._expire()
        self._drop(self._by_account.get(account_id, {}).get(char_id, 0))
        if len(self._by_key) >= self.most:
            raise LimitExceeded("too many hand-off keys")
        key = 0
        while not key or key in self._by_key:
            key = self.draw() & 0xFFFFFFFF
        handoff = Handoff(account_id, char_id, name)
        self._by_key[key] = _Issued(handoff, Monotonic(now + self.lifetime))
        self._by_account.setdefault(account_id, {})[char_id] = key
        return key

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Take a key back; None when it is unknown, used, too old or another account's."""
        self._expire()
        found = self._by_key.get(key)
        if found is None or found.handoff.account_id != account_id:
            return None
        self._drop(key)
        return found.handoff

    async def withdraw(self, char_id: int) -> None:
        """Forget every key of a character that may not be played any more."""
        for key in [key for key, one in self._by_key.items() if one.handoff.char_id == char_id]:
            self._drop(key)

    async def withdraw_account(self, account_id: int) -> None:
        """Forget every key of an account that is to come in with another character."""
        for key in list(self._by_account.get(account_id, {}).values()):
            self._drop(key)

    async def held_by_others(self, account_id: int) -> int:
        """Return how many keys are outstanding that are not this account's."""
        self._expire()
        return len(self._by_key) - len(self._by_account.get(account_id, ()))

    def _expire(self) -> Monotonic:
        """Forget keys that are too old; return what time it is."""
        now = self.clock.now()
        while self._by_key:
            key, oldest = next(iter(self._by_key.items()))
            if oldest.expires > now:
                break
            self._drop(key)
        return now

    def _drop(self, key: int) -> None:
        found = self._by_key.pop(key, None)
        if found is not None:
            keys = self._by_account[found.handoff.account_id]
            del keys[found.handoff.char_id]
            if not keys:
                del self._by_account[found.handoff.account_id]
