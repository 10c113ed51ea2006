"""The pace of what behaviors and scripts send players.

What a behavior says, and what a player is sent, has a rate over time; what one call of a script
sends has a number. The rest is dropped and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

from emu.limits.rates import RateLimit
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.rules import BehaviorRules

MOST_MESSAGES: Final = 200
"""Messages that one call of a script from outside may send players."""
ALOUD: Final = 0
"""The key of what an owner says aloud; all others are character ids."""


class Pacing:
    """The rates of owners and of players."""

    def __init__(
        self,
        *,
        now: Callable[[], Monotonic],
        rules: Callable[[], BehaviorRules],
        dropped: Callable[[Hashable | None], object],
    ) -> None:
        """`dropped` is called with the owner of each message that is dropped, if it has one."""
        self._now = now
        self._rules = rules
        self._dropped = dropped
        self._of_owner: dict[Hashable, dict[int, RateLimit]] = {}
        self._heard: dict[int, RateLimit] = {}

    def may_speak(self, owner: Hashable) -> bool:
        """Count something that an owner says aloud; return False if it must be dropped."""
        return self._take(owner, ALOUD)

    def may_send(self, owner: Hashable | None, player: Player) -> bool:
        """Count something that an owner sends one player; return False if it must be dropped."""
        # The owner's own limit first: what it sends too much must not use up what the player may
        # get from others.
        if owner is not None and not self._take(owner, player.id):
            return False
        return self.may_hear(owner, player)

    def may_hear(self, owner: Hashable | None, player: Player) -> bool:
        """Count something that a player gets from any owner; return False if it is too much."""
        rules = self._rules()
        pace = self._heard.get(player.id)
        if pace is None:
            pace = RateLimit(rules.hear_rate, rules.hear_burst, self._now())
            self._heard[player.id] = pace
        # A limit for each player: a crowd around a speaker must not make it silent.
        return self._is_within(pace, owner)

    def forget_player(self, player: Player) -> None:
        """Remove the rates of a player who has left its zone, and those of all owners to it."""
        # Otherwise every player who was ever here would leave a rate behind.
        self._heard.pop(player.id, None)
        for paces in self._of_owner.values():
            paces.pop(player.id, None)

    def forget_owner(self, owner: Hashable) -> None:
        """Remove the rates of an owner that ends."""
        self._of_owner.pop(owner, None)

    def _take(self, owner: Hashable, hearer: int) -> bool:
        paces = self._of_owner.setdefault(owner, {})
        pace = paces.get(hearer)
        if pace is None:
            rules = self._rules()
            pace = paces[hearer] = RateLimit(rules.say_rate, rules.say_burst, self._now())
        return self._is_within(pace, owner)

    def _is_within(self, pace: RateLimit, owner: Hashable | None) -> bool:
        if pace.take(1, self._now()):
            return True
        self._dropped(owner)
        return False


class CallPace:
    """The messages that one call from outside may send, with all calls that it causes."""

    def __init__(self, counters: Counter[str]) -> None:
        """`counters` counts what is dropped."""
        self._counters = counters
        self._left = 0

    def begin(self) -> None:
        """Begin a call."""
        self._left = MOST_MESSAGES

    def may_send(self) -> bool:
        """Count a message of the running call; return False if it must be dropped."""
        self._left -= 1
        if self._left < 0:
            self._counters["messages dropped"] += 1
        return self._left >= 0
