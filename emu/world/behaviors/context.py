"""The context of the actors of a world: its components, its limits, and deferred acts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable

from emu.times import Monotonic
from emu.world.behaviors.hooks import Hook
from emu.world.behaviors.memory import Memories
from emu.world.behaviors.running import Limits, RunningBehavior
from emu.world.entry.leaving import Departures
from emu.world.items.gifts import Gifts
from emu.world.minds.guard import Budget
from emu.world.minds.pacing import Pacing
from emu.world.minds.shared import Minds
from emu.world.reports import BehaviorPaced
from emu.world.social.chat import Chat
from emu.world.world import World


class BehaviorContext:
    """What all actors of a world share. Behaviors have no access to it."""

    def __init__(
        self,
        world: World,
        chat: Chat,
        departures: Departures,
        limits: Limits,
        *,
        budget: Budget,
        memories: Memories,
        minds: Minds,
        gifts: Gifts,
        call: Callable[[RunningBehavior, Hook, str], object],
        attempt: Callable[[RunningBehavior, Callable[[], object]], object],
    ) -> None:
        """`budget` limits each call of a behavior.

        `call` calls a behavior, with a value or "". `attempt` does something for one: it switches
        the behavior off if the server fails.
        """
        self.call, self.attempt = call, attempt
        self.memories = memories
        self.world = world
        self.departures = departures
        self.chat = chat
        self.limits = limits
        self.budget = budget
        self.minds = minds
        self.gifts = gifts
        self.counters: Counter[str] = Counter()
        self.pacing = Pacing(now=self.world.clock.now, rules=self._rules, dropped=self._dropped)
        self._afterwards: list[Callable[[], object]] = []

    def _rules(self) -> Limits:
        return self.limits

    @property
    def now(self) -> Monotonic:
        """The time of the world's clock."""
        return self.world.clock.now()

    def afterwards(self, act: Callable[[], object]) -> None:
        """Do something when the running call of a behavior has returned; at once if none runs."""
        # A list, although it is often run at once: the order of what a behavior asks for stays.
        self._afterwards.append(act)
        if not self.budget.is_spent_on:
            self.do_afterwards()

    def do_afterwards(self) -> None:
        """Do everything that was deferred during a call."""
        # An action can cause calls of other behaviors, and those can defer actions again.
        while self._afterwards and not self.budget.is_spent_on:
            acts, self._afterwards = self._afterwards, []
            for act in acts:
                self.world.faults.attempt("what a behavior asked for", None, act)

    def _dropped(self, behavior: Hashable | None) -> None:
        """Count something that is dropped; report the first one of a behavior to operators."""
        self.counters["dropped"] += 1
        if isinstance(behavior, RunningBehavior) and not behavior.is_paced:
            behavior.is_paced = True
            # The report is written after the call, because the log is the server's code and the
            # call's time runs.
            event = BehaviorPaced(behavior.name, behavior.whose, self.limits.say_rate)
            self.afterwards(lambda: self.world.faults.report(event))
