"""Runs behaviors: calls them when something happens, and keeps them from harming anybody.

Every call has a budget of time. What raises, or does not return in time, is told of with file and
line and switched off. Everything that may run code of a behavior does so inside the guard: finding
its handlers, calling them, and letting go of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from emu.limits.rates import RateLimit
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.behaviors import plain
from emu.world.behaviors.api import Actor, BehaviorContext, Visitor, ZoneActor
from emu.world.behaviors.guard import (
    STEP,
    TICK,
    TIMER,
    Budget,
    Guard,
    Limits,
    RunningBehavior,
    unguarded,
)
from emu.world.behaviors.library import HANDLERS, Library
from emu.world.events import BehaviorFailed, BehaviorSlowed
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone

_SEEING: Final = frozenset(("on_tick", "on_enter", "on_leave"))
"""Handlers for which a behavior is looked at each tick."""


class Behaviors:
    """All behaviors of a world."""

    def __init__(
        self,
        world: World,
        chat: Chat,
        library: Library,
        *,
        limits: Limits | None = None,
        guard: Guard = unguarded,
        clock: Callable[[], float],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Join behaviors to a world.

        `clock` measures what calls take, in seconds; `wake` asks for the timer again.
        """
        self.library = library
        self.limits = limits or Limits()
        self._world = world
        self._budget = Budget(self.limits.budget, guard, clock)
        self.stage = BehaviorContext(world, chat, self.limits, self._budget, wake)
        self.counters = self.stage.counters
        self._deadlines = self.stage.deadlines
        self._dialogs = self.stage.dialogs
        self._of_spawn: dict[int, RunningBehavior] = {}
        self._in_zone: dict[Zone, list[RunningBehavior]] = {}
        world.on_say.append(self.heard)
        world.on_stand.append(self.entered)
        world.on_out_of_zone.append(self.left)

    def configure(self, limits: Limits) -> None:
        """Go on with other limits; what is paced already keeps its pace until it comes anew."""
        self.limits = self.stage.limits = limits
        self._budget.seconds = limits.budget

    # -- beginning and ending -------------------------------------------------------------------

    def add(
        self, name: str, options: Mapping[str, Any], zone: Zone, spawn: Spawn | None, now: Monotonic
    ) -> bool:
        """Give a spawn, or with None the zone itself, a behavior; returns whether it works.

        A name that nobody has, and a class that cannot be made, are told of.
        """
        part = RunningBehavior(name, options, zone, spawn)
        made = self.library.find(name)
        if made is None:
            self._world.report(BehaviorFailed(name, part.whose, "there is no such behavior"))
            return False
        self.stage.now = now
        self._in_zone.setdefault(zone, []).append(part)
        actor: Actor | ZoneActor = ZoneActor(part, self.stage)
        if spawn is not None:
            actor = Actor(part, spawn, self.stage)
            self._of_spawn[spawn.id] = part

        def make() -> None:
            owner = part.owner = made(actor, dict(options))
            part.handles = frozenset(name for name in HANDLERS if hasattr(owner, name))
            near = getattr(owner, "near", part.near)
            part.near = plain.number(near, "near", 0.0, math.inf)
            longest = self.limits.longest_timer
            tick = plain.number(getattr(owner, "tick", 1.0), "tick", -longest, longest)
            part.tick = max(self.limits.shortest_timer, tick)

        self._run(part, make)
        self._call(part, "on_start")
        self._arm_tick(part)
        return not part.failed

    def forget_zone(self, zone: Zone) -> None:
        """Let go of everything in a zone that ends."""
        for part in self._in_zone.pop(zone, []):
            self._forget(part)

    def reload(self, now: Monotonic) -> str:
        """Read all behaviors anew and begin those at work again. Returns what to tell."""
        self.library.reload()
        restarted = self.restart(now)
        problems = self.library.problems
        for line in problems:
            self._world.report(BehaviorFailed("", "the behaviors' folder", line))
        return f"{len(list(self.library))} behaviors, {restarted} at work, {len(problems)} problems"

    def restart(self, now: Monotonic) -> int:
        """Make every behavior at work anew from its class; returns how many work."""
        parts = self._parts()
        for part in parts:
            self._forget(part)
        self._in_zone.clear()
        return sum(self.add(part.name, part.options, part.zone, part.spawn, now) for part in parts)

    def switched_off(self) -> list[str]:
        """Return which behaviors failed, and why, a line each."""
        return [
            f"behavior {part.name} of {part.whose} is switched off: {part.reason}"
            for part in self._parts()
            if part.failed
        ]

    # -- what happens in the world --------------------------------------------------------------

    def heard(self, speaker: Player, text: str, now: Monotonic) -> None:
        """Take what a player said aloud: a hail to whom it looks at, else words to all near."""
        self.stage.now = now
        target = speaker.target
        hailed = self._of_spawn.get(target.id) if target is not None else None
        if hailed is not None and text.casefold().startswith("hail"):
            if self._is_near(hailed, speaker, self._world.rules.hear):
                self._call(hailed, "on_hail", self._visitor(hailed, speaker))
            return
        for part in list(self._in_zone.get(speaker.zone, ())):
            if part.spawn is None or self._is_near(part, speaker, self._world.rules.hear):
                self._call(part, "on_say", self._visitor(part, speaker), text)

    def select_message(self, _world: World, player: Player, body: bytes, now: Monotonic) -> None:
        """Take the answer that a player chose in a dialog: OP_DialogSelectMsg.

        Raises `MalformedMessage`, and `CommandError` for a dialog that is not open.
        """
        fields = player.client.dialect.layout("WS_DialogSelect").decode(body)
        part = self._dialogs.answered(player, fields["conversation_id"])
        self.stage.now = now
        if self._is_near(part, player, 2 * self._world.rules.hear):
            self._call(part, "on_choice", self._visitor(part, player), fields["response"])

    def close_message(self, _world: World, player: Player, body: bytes, _now: Monotonic) -> None:
        """Take OP_DialogCloseMsg. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_DialogClose").decode(body)
        self._dialogs.close(player, fields["conversation_id"])

    def entered(self, player: Player, now: Monotonic) -> None:
        """Learn that a player stands in a zone: behaviors there wake up."""
        self.stage.now = now
        for part in list(self._in_zone.get(player.zone, ())):
            self._attempt(part, self._wake_up, part)

    def left(self, player: Player) -> None:
        """Learn that a player is out of the world, or out of its zone."""
        self.stage.forget_player(player)
        for part in self._parts():
            part.paces.pop(player.id, None)
            if part.seen.pop(player.id, None) is not None:
                self._call(part, "on_leave", self._visitor(part, player))

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return self._deadlines.next()

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due: ticks, steps of those who walk, timers."""
        self.stage.now = now
        while (due := self._deadlines.pop_due(now)) is not None:
            part, what = due
            if not part.failed:
                self._attempt(part, self._due, part, what)

    # -- how ------------------------------------------------------------------------------------

    def _parts(self) -> list[RunningBehavior]:
        return [part for parts in self._in_zone.values() for part in parts]

    def _attempt(self, part: RunningBehavior, act: Callable[..., None], *values: Any) -> None:
        """Do something for one behavior; when our own part of it fails that one is switched off."""
        try:
            act(*values)
        except Exception as error:  # noqa: BLE001  # the others are due as well
            self._world.fault("the timer of a behavior", part.whose, error)
            self._switch_off(part, f"the server failed: {type(error).__name__}")

    def _due(self, part: RunningBehavior, what: str) -> None:
        if what == TICK:
            self._tick(part)
        elif what == STEP:
            self._step(part)
        else:
            part.timers.discard(what)
            self._call(part, "on_timer", what.removeprefix(TIMER))

    def _wake_up(self, part: RunningBehavior) -> None:
        self._arm_tick(part)
        if part.spawn is None:
            self._see(part)  # who stands in the zone is no matter of distance

    def _visitor(self, part: RunningBehavior, player: Player) -> Visitor:
        return Visitor(player, self.stage, part)

    def _tick(self, part: RunningBehavior) -> None:
        if not self._world.players.standing_in(part.zone):
            return  # nobody is there; `entered` arms it again
        self._see(part)
        self._call(part, "on_tick", part.tick)
        self._arm_tick(part)

    def _arm_tick(self, part: RunningBehavior) -> None:
        wants = not part.handles.isdisjoint(_SEEING)
        if wants and not part.failed and self._deadlines.get(part, TICK) is None:
            self.stage.arm(part, TICK, part.tick)

    def _see(self, part: RunningBehavior) -> None:
        """Tell a behavior who came and who went."""
        here = {
            player.id: player
            for player in self._world.players.standing_in(part.zone)
            if not player.spawn.hidden and self._is_near(part, player, part.near)
        }
        gone = [player for number, player in part.seen.items() if number not in here]
        new = [player for number, player in here.items() if number not in part.seen]
        part.seen = here
        for player in gone:
            self._call(part, "on_leave", self._visitor(part, player))
        for player in new:
            self._call(part, "on_enter", self._visitor(part, player))

    def _step(self, part: RunningBehavior) -> None:
        spawn, way = part.spawn, part.way
        if spawn is None or way is None:
            return
        if not self._world.players.standing_in(part.zone):
            # Nobody looks: it is where it would be when somebody does.
            spawn.move(way.goals[-1])
            part.way = None
        elif way.step(spawn, self.limits.step):
            part.way = None
        if part.way is not None:
            self._deadlines.set(part, STEP, Monotonic(self.stage.now + self.limits.step))
        else:
            self._call(part, "on_arrive")

    def _is_near(self, part: RunningBehavior, player: Player, distance: float) -> bool:
        if player.zone is not part.zone or player.state not in IN_ZONE:
            return False
        return part.spawn is None or (part.spawn.position.distance_to(player.position) <= distance)

    def _call(self, part: RunningBehavior, name: str, *values: object) -> None:
        if name in part.handles and not part.failed and self._has_time(part):
            self._run(part, lambda: getattr(part.owner, name)(*values))

    def _run(self, part: RunningBehavior, call: Callable[[], object]) -> None:
        self.counters["calls"] += 1
        reason = self._budget.spend(call)
        if part.work is None:
            part.work = RateLimit(self.limits.share, self.limits.reserve, self.stage.now)
        part.work.charge(self._budget.spent, self.stage.now)
        if reason:
            self._switch_off(part, reason)
        self.stage.do_afterwards()

    def _has_time(self, part: RunningBehavior) -> bool:
        """Say whether a behavior may be called now; a call that it may not have is left out.

        A behavior whose calls each return in time could still take most of a core from everybody
        else. Its share over time is what bounds that.
        """
        if part.work is None or part.work.left(self.stage.now) > 0.0:
            return True
        self.counters["left out"] += 1
        if not part.is_slowed:
            part.is_slowed = True
            self._world.report(BehaviorSlowed(part.name, part.whose, self.limits.share))
        return False

    def _switch_off(self, part: RunningBehavior, reason: str) -> None:
        part.failed = True
        part.reason = reason
        part.way = None
        self.counters["failed"] += 1
        self._world.report(BehaviorFailed(part.name, part.whose, reason))

    def _forget(self, part: RunningBehavior) -> None:
        part.failed = True

        def let_go() -> None:
            part.owner = None

        self._budget.spend(let_go)  # its own `__del__` may run now
        if part.spawn is not None:
            self._of_spawn.pop(part.spawn.id, None)
        self._deadlines.forget(part, (TICK, STEP, *part.timers))
        self._dialogs.forget_part(part)
