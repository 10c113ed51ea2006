"""Limits on the connections of one TCP port, and on slow peers.

At a limit an unauthenticated connection is closed for a new one: first one without a request, then
one that is being answered. It is the oldest one of the address with the most connections. So a
crowd of connections does not block others, and an address with many closes its own first.
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
    """The most connections at once; IPv6 addresses count by their /64 network.

    A connection is silent until a request arrives.
    """

    most: int
    per_address: int
    silent_per_address: int


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Limits on slow peers."""

    write_buffer: int = 1024 * 1024
    """Bytes that may wait until a peer reads; one more aborts the connection."""
    stall_timeout: float = 30.0
    """Seconds that a peer may take without reading anything while bytes wait."""
    close_linger: float = 2.0
    """Seconds from closing to aborting a connection whose peer does not read the last bytes.

    A server that stops has five seconds in total and waits for all connections at once.
    """


class Connections(Generic[C]):
    """The open connections of a port."""

    def __init__(self, evict: Callable[[C], None]) -> None:
        """`evict` closes a connection for a new one."""
        self._evict = evict
        self._sources: dict[C, str] = {}
        self._silent: dict[C, None] = {}
        self._answered: dict[C, None] = {}
        self._by_source: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[C]:
        """Iterate over the connections that are open now; some may end meanwhile."""
        return iter(list(self._sources))

    def admit(self, host: str, limits: ConnectionLimits) -> str | None:
        """Return None if an address may open a connection, else the reason; may evict others."""
        # Each limit is enforced by an eviction if possible. An attacker who opens connections and
        # sends nothing loses its own oldest ones; a new one is refused only if all others are
        # authenticated.
        source = address_key(host)
        # Dicts keep the order of insertion, so the first is the oldest.
        own = [one for one in self._silent if self._sources[one] == source]
        # The oldest silent one: a slow but honest client was accepted later than a connection that
        # never spoke.
        if len(own) >= limits.silent_per_address:
            self._remove(own.pop(0))
        if self._by_source[source] >= limits.per_address:
            # Behind the silent ones, so an answered connection is closed only if no silent one is
            # left.
            own += [one for one in self._answered if self._sources[one] == source]
            if not own:
                return "too many connections of one address"
            self._remove(own[0])
        if len(self._sources) >= limits.most:
            # Silent ones first: a connection that is being answered has at least sent a request.
            leaving = self._silent or self._answered
            if not leaving:
                return "too many connections"
            # The first of equals is the oldest: `max` returns the first largest item.
            self._remove(max(leaving, key=lambda one: self._by_source[self._sources[one]]))
        return None

    def add_connection(self, connection: C, host: str) -> None:
        """Add a connection; it is silent at first."""
        source = address_key(host)
        self._sources[connection] = source
        self._silent[connection] = None
        self._by_source[source] += 1

    def introduced(self, connection: C) -> None:
        """Note that the peer is authenticated: the connection is never evicted."""
        # It is in neither table from now on, and only connections in these tables are evicted.
        self._silent.pop(connection, None)
        self._answered.pop(connection, None)

    def answering(self, connection: C) -> None:
        """Note that a connection is being answered: silent ones are evicted before it."""
        if connection in self._silent:
            del self._silent[connection]
            self._answered[connection] = None

    def waiting(self, connection: C) -> None:
        """Note that a connection was answered and is silent again."""
        if connection in self._answered:
            del self._answered[connection]
            # It becomes the newest silent one: a peer that was served stays longer than one that
            # never spoke.
            self._silent[connection] = None

    def remove(self, connection: C) -> bool:
        """Remove a connection; return False if it is not present."""
        source = self._sources.pop(connection, None)
        if source is None:
            return False
        self._silent.pop(connection, None)
        self._answered.pop(connection, None)
        self._by_source[source] -= 1
        # A Counter keeps keys with 0, which would grow with every address seen.
        if not self._by_source[source]:
            del self._by_source[source]
        return True

    def _remove(self, connection: C) -> None:
        self._evict(connection)
        self.remove(connection)  # its end may be reported a turn later
