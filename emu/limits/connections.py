"""How many connections one TCP port takes, and how slow their other ends may be.

Connections of which nobody knows who they are make room for new ones: silent ones first, then those
that are being answered. The oldest connection of the address that has most of them goes. So a crowd
keeps nobody out, and an address with many connections does not close those of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from emu.limits.addresses import address_key

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Connections at once; addresses of IPv6 count by their /64 network."""

    most: int
    per_address: int
    silent_per_address: int


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How slow a peer may be."""

    write_buffer: int = 1024 * 1024
    """Bytes that may wait until a peer reads; one more and it is cut off."""
    stall_timeout: float = 30.0
    """Seconds a peer may leave bytes waiting without reading any."""
    close_linger: float = 2.0
    """Seconds from closing to cutting off a peer that does not take the last bytes.

    A server that stops waits for them all, at once, and has five seconds in all.
    """


class Connections(Generic[C]):
    """The open connections of a port."""

    def __init__(self, evict: Callable[[C], None]) -> None:
        """`evict` closes one that has to make room."""
        self._evict = evict
        self._sources: dict[C, str] = {}
        self._silent: dict[C, None] = {}
        self._answered: dict[C, None] = {}
        self._by_source: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[C]:
        """Go through those that are open now; some may end meanwhile."""
        return iter(list(self._sources))

    def make_room(self, host: str, limits: ConnectionLimits) -> str | None:
        """Make room for one more of an address; returns the reason when there is none."""
        source = address_key(host)
        own = [one for one in self._silent if self._sources[one] == source]
        if len(own) >= limits.silent_per_address:
            self._let_go(own.pop(0))
        if self._by_source[source] >= limits.per_address:
            own += [one for one in self._answered if self._sources[one] == source]
            if not own:
                return "too many connections of one address"
            self._let_go(own[0])
        if len(self._sources) >= limits.most:
            leaving = self._silent or self._answered
            if not leaving:
                return "too many connections"
            self._let_go(max(leaving, key=lambda one: self._by_source[self._sources[one]]))
        return None

    def add(self, connection: C, host: str) -> None:
        """Take a connection in; it is silent at first."""
        source = address_key(host)
        self._sources[connection] = source
        self._silent[connection] = None
        self._by_source[source] += 1

    def introduced(self, connection: C) -> None:
        """Learn that somebody is known who speaks on a connection: it makes no room any more."""
        self._silent.pop(connection, None)
        self._answered.pop(connection, None)

    def answering(self, connection: C) -> None:
        """Learn that a connection is being answered: silent ones make room before it."""
        if connection in self._silent:
            del self._silent[connection]
            self._answered[connection] = None

    def waiting(self, connection: C) -> None:
        """Learn that a connection was answered, and is silent again."""
        if connection in self._answered:
            del self._answered[connection]
            self._silent[connection] = None

    def remove(self, connection: C) -> bool:
        """Forget a connection; False, and nothing happens, a second time."""
        source = self._sources.pop(connection, None)
        if source is None:
            return False
        self._silent.pop(connection, None)
        self._answered.pop(connection, None)
        self._by_source[source] -= 1
        if not self._by_source[source]:
            del self._by_source[source]
        return True

    def _let_go(self, connection: C) -> None:
        self._evict(connection)
        self.remove(connection)  # its end may be reported a turn later
