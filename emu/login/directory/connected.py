"""A world that is connected: the link by which it is, and what it has not answered yet."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from emu.link.messages import LinkMessage
from emu.model import RegisteredWorld, WorldEntry
from emu.times import Monotonic

Key = TypeVar("Key", bound=Hashable)


class PendingAnswers(Generic[Key]):
    """Who asked what and until when an answer counts; the same key may be asked several times."""

    __slots__ = ("_asked", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._asked: OrderedDict[Key, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._asked)

    def add(self, key: Key, expires: float, now: Monotonic) -> bool:
        """Remember a request; False when too many keys are unanswered."""
        self._expire(now)
        times, _ = self._asked.pop(key, (0, 0.0))
        if not times and len(self._asked) >= self._limit:
            return False
        self._asked[key] = (times + 1, expires)
        return True

    def take(self, key: Key, now: Monotonic) -> bool:
        """Take an answer; False when nobody waits for it."""
        self._expire(now)
        times, expires = self._asked.get(key, (0, 0.0))
        if times > 1:
            self._asked[key] = (times - 1, expires)
        elif times:
            del self._asked[key]
        return times > 0

    def waiting(self, now: Monotonic) -> bool:
        """Say whether any request is unanswered."""
        self._expire(now)
        return bool(self._asked)

    def _expire(self, now: Monotonic) -> None:
        while self._asked:
            key, (_, expires) = next(iter(self._asked.items()))
            if expires > now:
                return
            del self._asked[key]


class WorldLink(Protocol):
    """One link to a world, as the directory uses it; what it sends leaves by itself."""

    @property
    def address(self) -> str:
        """The world's IP address."""

    @property
    def closed(self) -> bool:
        """True once the link is over."""

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; does nothing on a closed link."""

    def accept(self, now: Monotonic) -> None:
        """Let the world in."""

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        """Send a fatal error and end the link."""

    def close(self, reason: str, now: Monotonic) -> None:
        """End the link without a word."""


class ConnectedWorld:
    """A world that is registered and connected."""

    __slots__ = ("creates", "entry", "link", "plays", "recorded_at", "status", "world")

    def __init__(
        self, link: WorldLink, world: RegisteredWorld, entry: WorldEntry, limit: int
    ) -> None:
        self.link = link
        self.world = world
        self.entry = entry
        self.status = 0
        self.recorded_at = float("-inf")
        self.plays: PendingAnswers[tuple[int, int]] = PendingAnswers(limit)
        self.creates: PendingAnswers[int] = PendingAnswers(limit)
