"""Rows that every login needs, cached: players do not wait for a disk when others log in.

Each write states which cached rows it makes invalid, and a commit of another program clears the
cache.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from emu.mailbox import PendingAnswer
from emu.model import Account, Character, WorldCharacter
from emu.store.accounts import BannedAddress

V = TypeVar("V")


@dataclass(slots=True, eq=False)
class _Reading:
    """A read in progress, and the requests that wait for its result."""

    waiting: list[PendingAnswer] = field(default_factory=list)


EXPECTED: Final = 5.0
"""Seconds for which an offered value serves requests if it cannot be kept."""
MOST_EXPECTED: Final = 1000


class RowCache(Generic[V]):
    """Values of one kind by key; the least recently used ones are dropped."""

    def __init__(
        self,
        epoch: Callable[[], int],
        answer: Callable[[], PendingAnswer],
        most: int,
        weigh: Callable[[V], int] = lambda _value: 1,
        *,
        now: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Keep values with a total weight of at most `most`.

        `epoch` returns a number that changes when another program has changed the database; where
        that cannot be detected, it changes with each call. `answer` creates an awaitable for a
        request that waits for the read of another one. `now` is the clock for `offer`.
        """
        self._epoch = epoch
        self._answer = answer
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._of = -1
        """The epoch of the values."""
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._readings: dict[Hashable, _Reading] = {}
        self._now = now
        self._forgets = 0
        """How often values were removed by this process."""
        self._expected: OrderedDict[Hashable, tuple[V, float]] = OrderedDict()
        """Values for a moment, with the times until which they serve; see `offer`."""

    def __len__(self) -> int:
        return len(self._values)

    def known(self, key: Hashable) -> V | None:
        """Return a cached value, or None."""
        self._check_epoch()
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    async def get(self, key: Hashable, read: Callable[[], Awaitable[V]]) -> V:
        """Return a cached value, or read it; simultaneous requests for a key share one read.

        None is returned, but not cached.
        """
        value = self.known(key)
        if value is not None:
            return value
        expected, until = self._expected.get(key, (None, 0.0))
        if expected is not None and self._now() < until:
            return expected
        self._expected.pop(key, None)
        reading = self._readings.get(key)
        if reading is not None:
            # One answer for each request: a canceled request must not end the wait of the others.
            done = self._answer()
            reading.waiting.append(done)
            shared: V = await done
            return shared
        return await self._read(key, read)

    def put(self, key: Hashable, value: V) -> None:
        """Add a value as it is in the database."""
        # The old value goes first: its weight is subtracted, and a read in progress cannot replace
        # the new value.
        self.forget(key)
        weight = self._weigh(value)
        # A single list that is larger than the cache would otherwise evict everything, and then
        # itself.
        if weight > self._most:
            return
        self._values[key] = value
        self._weight += weight
        while self._weight > self._most:
            _, oldest = self._values.popitem(last=False)
            self._weight -= self._weigh(oldest)

    def mark(self) -> tuple[int, int]:
        """Return what `offer` takes for a value that is read from now on."""
        return self._forgets, self._epoch()

    def offer(self, key: Hashable, value: V, mark: tuple[int, int]) -> None:
        """Add a value that was read together with another one, unless it may be old by now.

        If changes of other programs cannot be detected, it serves requests of the next moment only:
        those for the list of a login, which was read with the account, and for the character that
        a quick client then plays.
        """
        forgets, epoch = mark
        if forgets != self._forgets:
            return
        now = self._epoch()
        if now == epoch:
            self._check_epoch()
            self.put(key, value)
        elif now != self._epoch():
            self._expected[key] = (value, self._now() + EXPECTED)
            if len(self._expected) > MOST_EXPECTED:
                self._expected.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        """Remove a value.

        A read in progress may return the old value. Its waiting requests get it, but it is not
        cached, and later requests read again.
        """
        self._forgets += 1
        self._expected.pop(key, None)
        # The read goes on, but `_read` sees that it is no longer registered.
        self._readings.pop(key, None)
        value = self._values.pop(key, None)
        if value is not None:
            self._weight -= self._weigh(value)

    def forget_all(self) -> None:
        """Remove all values, and do not cache the results of reads in progress."""
        self._forgets += 1
        self._expected.clear()
        self._clear()

    def _clear(self) -> None:
        self._readings.clear()
        self._values.clear()
        self._weight = 0

    def _check_epoch(self) -> None:
        epoch = self._epoch()
        if epoch != self._of:
            self._clear()
            self._of = epoch

    async def _read(self, key: Hashable, read: Callable[[], Awaitable[V]]) -> V:
        reading = self._readings[key] = _Reading()
        # `known` has compared the epoch just before, so this read belongs to the present one.
        try:
            value = await read()
        except BaseException as error:
            if self._readings.get(key) is reading:
                del self._readings[key]
            for one in reading.waiting:
                # All of them waited for the same read, so all get its error; the next request tries
                # again.
                one.errback(error)
            raise
        # Another program or a write may have changed the row since the read began: then `reading`
        # is no longer registered, and its value is not cached.
        self._check_epoch()
        if self._readings.get(key) is reading:
            del self._readings[key]
            if value is not None:
                self.put(key, value)
        for one in reading.waiting:
            one.callback(value)
        return value


class StoreCache:
    """The cached rows of one database."""

    def __init__(
        self,
        epoch: Callable[[], int],
        answer: Callable[[], PendingAnswer],
        most: int,
        ban_epoch: Callable[[], int] | None = None,
        *,
        now: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Cache `most` rows of accounts, of the login server's characters, and of the world's.

        `ban_epoch` replaces `epoch` for the bans of addresses, which each login needs all. `now` is
        a monotonic clock in seconds.
        """
        self.accounts: RowCache[Account | None] = RowCache(epoch, answer, most)
        """By `emu.store.repository.name_key`."""
        self.characters: RowCache[Sequence[Character]] = RowCache(
            epoch, answer, most, _weight, now=now
        )
        """By account id."""
        self.world_characters: RowCache[Sequence[WorldCharacter]] = RowCache(
            epoch, answer, most, _weight
        )
        """By account id."""
        self.bans: RowCache[Sequence[BannedAddress]] = RowCache(ban_epoch or epoch, answer, 1)

    def forget_all(self) -> None:
        """Remove all values."""
        for kind in (self.accounts, self.characters, self.world_characters, self.bans):
            kind.forget_all()


def _weight(rows: Sequence[object]) -> int:
    # An empty list is an entry, too, so it must not be free.
    return 1 + len(rows)
