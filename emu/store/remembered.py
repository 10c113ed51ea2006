"""What was read of the database for whoever comes in, kept in memory while it is still true.

Nobody who plays waits for a disk because somebody else logs in. A value is forgotten when a write
of this process that concerns it is answered, and everything is forgotten when another program has
committed (`emu.database.commits`). Knows no thread and no reactor.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from emu.mailbox import PendingAnswer
from emu.model import Account, Character, WorldCharacter
from emu.store.accounts import BannedAddress

V = TypeVar("V")


@dataclass(slots=True, eq=False)
class _Reading:
    """A value that is being read, and who waits for the same."""

    waiting: list[PendingAnswer] = field(default_factory=list)


class Remembered(Generic[V]):
    """Values of one kind by key, the ones used last."""

    def __init__(
        self,
        epoch: Callable[[], int],
        answer: Callable[[], PendingAnswer],
        most: int,
        weigh: Callable[[V], int] = lambda _value: 1,
    ) -> None:
        """Remember values that together weigh `most`.

        `epoch` returns another number once another program has changed the database; `answer` makes
        something to wait for.
        """
        self._epoch = epoch
        self._answer = answer
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._of = -1
        """The epoch that the values are of."""
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._readings: dict[Hashable, _Reading] = {}

    def __len__(self) -> int:
        return len(self._values)

    def known(self, key: Hashable) -> V | None:
        """Return a value that is in memory."""
        self._look()
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    async def get(self, key: Hashable, read: Callable[[], Awaitable[V]]) -> V:
        """Return a value, from memory or by `read`; who asks for the same shares one reading.

        None is returned and not remembered.
        """
        value = self.known(key)
        if value is not None:
            return value
        reading = self._readings.get(key)
        if reading is not None:
            done = self._answer()
            reading.waiting.append(done)
            shared: V = await done
            return shared
        return await self._read(key, read)

    def put(self, key: Hashable, value: V) -> None:
        """Remember a value as the database has it."""
        self.forget(key)
        weight = self._weigh(value)
        if weight > self._most:
            return
        self._values[key] = value
        self._weight += weight
        while self._weight > self._most:
            _, oldest = self._values.popitem(last=False)
            self._weight -= self._weigh(oldest)

    def forget(self, key: Hashable) -> None:
        """Forget a value; one that is being read is read again by who asks from now on."""
        self._readings.pop(key, None)
        value = self._values.pop(key, None)
        if value is not None:
            self._weight -= self._weigh(value)

    def forget_all(self) -> None:
        """Forget everything."""
        self._readings.clear()
        self._values.clear()
        self._weight = 0

    def _look(self) -> None:
        epoch = self._epoch()
        if epoch != self._of:
            self.forget_all()
            self._of = epoch

    async def _read(self, key: Hashable, read: Callable[[], Awaitable[V]]) -> V:
        reading = self._readings[key] = _Reading()
        try:
            value = await read()
        except BaseException as error:
            if self._readings.get(key) is reading:
                del self._readings[key]
            for one in reading.waiting:
                one.errback(error)
            raise
        self._look()
        if self._readings.get(key) is reading:
            del self._readings[key]
            if value is not None:
                self.put(key, value)
        for one in reading.waiting:
            one.callback(value)
        return value


class Memory:
    """All that is remembered of one database."""

    def __init__(
        self, epoch: Callable[[], int], answer: Callable[[], PendingAnswer], most: int
    ) -> None:
        """Remember `most` rows of accounts, of the login server's characters and of the world's."""
        self.accounts: Remembered[Account | None] = Remembered(epoch, answer, most)
        """By name, as `emu.store.repository.name_key` has it."""
        self.characters: Remembered[Sequence[Character]] = Remembered(epoch, answer, most, _weight)
        """By account id."""
        self.world_characters: Remembered[Sequence[WorldCharacter]] = Remembered(
            epoch, answer, most, _weight
        )
        """By account id."""
        self.bans: Remembered[Sequence[BannedAddress]] = Remembered(epoch, answer, 1)

    def forget_all(self) -> None:
        """Forget everything."""
        for kind in (self.accounts, self.characters, self.world_characters, self.bans):
            kind.forget_all()


def _weight(rows: Sequence[object]) -> int:
    return 1 + len(rows)
