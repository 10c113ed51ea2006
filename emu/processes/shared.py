"""World keys and zone servers that the processes of a world share.

A world key is issued when a play request is granted. It works once, for one account, within a
minute (EQ2Emulator removes old keys only when the next player comes;
docs/protocol/world/entering.md#admission).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from emu.errors import LimitExceeded
from emu.model import EntryOrigin, Handoff
from emu.times import Clock, Monotonic

LIFETIME = 60.0
"""Seconds for which a key is valid."""
MOST_KEYS = 10_000
"""Unused keys at once."""


@dataclass(frozen=True, slots=True)
class _Issued:
    handoff: Handoff
    expires: Monotonic


@dataclass(slots=True, eq=False, repr=False)
class LocalHandoffKeys:
    """`HandoffKeys` in memory."""

    draw: Callable[[], int]
    """Returns a random u32 that players cannot predict."""
    clock: Clock
    _: KW_ONLY
    lifetime: float = LIFETIME
    most: int = MOST_KEYS
    _by_key: OrderedDict[int, _Issued] = field(default_factory=OrderedDict)
    _by_account: dict[int, dict[int, int]] = field(default_factory=dict)
    """The keys of an account, by character."""

    def __len__(self) -> int:
        return len(self._by_key)

    async def issue(
        self,
        account_id: int,
        char_id: int,
        name: str,
        rank: int = 0,
        entry: int = EntryOrigin.LOGIN,
        *,
        is_only: bool = False,
    ) -> int:
        """Return a new key, never 0; it replaces an unused one of the same character.

        With `is_only`, it replaces all of the account. Raises `LimitExceeded` when too many keys
        are unused.
        """
        now = self._expire()
        # One key for each character: a player who asks again and again holds no more than one.
        # 0 is never a key, so it stands for a character without one.
        self._drop(self._by_account.get(account_id, {}).get(char_id, 0))
        if is_only:
            await self.withdraw_account(account_id)
        if len(self._by_key) >= self.most:
            raise LimitExceeded("too many hand-off keys")
        key = 0
        # 0 means "no key" in the messages, so it is never drawn.
        while not key or key in self._by_key:
            key = self.draw() & 0xFFFFFFFF
        handoff = Handoff(account_id, char_id, name, rank, entry)
        self._by_key[key] = _Issued(handoff, Monotonic(now + self.lifetime))
        self._by_account.setdefault(account_id, {})[char_id] = key
        return key

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Use a key; return None if it is unknown, used, too old or another account's."""
        self._expire()
        found = self._by_key.get(key)
        # Another account's key stays valid: guessing it must not take it away from its owner.
        if found is None or found.handoff.account_id != account_id:
            return None
        self._drop(key)
        return found.handoff

    async def withdraw(self, char_id: int) -> None:
        """Remove the keys of a character that may no longer be played."""
        # A list, because dropping a key changes the dict.
        for key in [key for key, one in self._by_key.items() if one.handoff.char_id == char_id]:
            self._drop(key)

    async def withdraw_account(self, account_id: int) -> None:
        """Remove the keys of an account that is about to enter with another character."""
        for key in list(self._by_account.get(account_id, {}).values()):
            self._drop(key)

    async def withdraw_entries(self, below: int) -> None:
        """Remove the keys of characters of lower ranks that are not in the world yet."""
        for key, one in list(self._by_key.items()):
            # A character that changes its zone is in the world already; its key must stay valid.
            if one.handoff.rank < below and not one.handoff.is_zoning:
                self._drop(key)

    async def held_by_others(self, account_id: int) -> int:
        """Return how many unused keys belong to other accounts."""
        self._expire()
        return len(self._by_key) - len(self._by_account.get(account_id, ()))

    def _expire(self) -> Monotonic:
        """Remove keys that are too old; return the current time."""
        now = self.clock.now()
        while self._by_key:
            # All keys live equally long, so the first one issued is the first to expire.
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


class ServedHere:
    """`ZoneServers` of a world that is one process."""

    __slots__ = ()

    def serves(self, _zone_id: int) -> bool:
        """Return whether this process runs a zone: always."""
        return True

    @property
    def may_run(self) -> bool:
        """Whether this process runs zones: the only one runs all."""
        return True

    def instances(self, _zone_id: int) -> None:
        """Return that this process runs all instances."""

    async def servers(self) -> Mapping[int, Sequence[str]]:
        """Return no names, because there is one process only."""
        return {}

    async def elsewhere(self, _zone_id: int, _instance: int | None = None) -> None:
        """Return that no other process runs a zone."""
