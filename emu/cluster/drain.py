"""Sends players of this node to others, a few at a time: in a drain, or after it was away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from emu.times import Monotonic

PER_SECOND: Final = 20.0
"""Players that a node sends away in a second: each makes two nodes save and load a character."""
RETRY: Final = 3.0
"""Seconds until a player that is still here is sent again."""
MOST_AT_ONCE: Final = 5
"""Players in one turn, after the process was busy with other work."""


class Drain:
    """Decides which player is sent to another node, and when.

    `players` returns the character ids of those that have to go now.
    """

    def __init__(
        self, players: Callable[[], Iterable[int]], *, per_second: float = PER_SECOND
    ) -> None:
        self._players = players
        self._pause = 1 / per_second
        self._next = Monotonic(0)
        self._sent: dict[int, Monotonic] = {}
        """When each player was sent, for the last `RETRY` seconds."""

    def due(self, now: Monotonic) -> list[int]:
        """Return the players to send now."""
        here = list(self._players())
        # By time and not by who is here: a player on its way is not here, and comes back if its
        # node cannot take it.
        self._sent = {one: sent for one, sent in self._sent.items() if now - sent < RETRY}
        # A node that could not send for a while does not send all of them in one turn.
        self._next = max(self._next, Monotonic(now - MOST_AT_ONCE * self._pause))
        chosen = []
        for one in here:
            if self._next > now:
                break
            if one in self._sent:
                continue
            self._sent[one] = now
            self._next = Monotonic(self._next + self._pause)
            chosen.append(one)
        return chosen

    def get_timer(self, now: Monotonic) -> Monotonic | None:
        """Return when to call `due` again, None while nobody has to go."""
        here = list(self._players())
        if not here:
            return None
        times = [Monotonic(self._sent[one] + RETRY) if one in self._sent else now for one in here]
        return max(self._next, min(times))
