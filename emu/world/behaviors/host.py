"""The host of behaviors: calls their hooks, limits their time, and switches off those that fail.

Every call has a time budget. If a call raises or does not return in time, the host reports the file
and line and switches the behavior off. Three steps can run a behavior's code, and all three happen
inside the guard: finding its hooks, calling them, and releasing its object.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from emu.errors import ScriptError
from emu.limits.rates import RateLimit
from emu.processes.ports import MemoryStore
from emu.schema import TableFaults, faulty
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.behaviors.api import Actor, Visitor, ZoneActor
from emu.world.behaviors.context import BehaviorContext
from emu.world.behaviors.faults import MAKING, making_fault, place_of_method
from emu.world.behaviors.hooks import VISITS, Hook
from emu.world.behaviors.library import Library
from emu.world.behaviors.memory import Memories
from emu.world.behaviors.options import read_options
from emu.world.behaviors.running import Limits, RunningBehavior
from emu.world.deadlines import Deadlines
from emu.world.entry.leaving import Departures
from emu.world.events import DialogAnswered, Entered, LeftZone, Order
from emu.world.item_events import ItemUsed, Looted, Traded
from emu.world.items.gifts import Gifts
from emu.world.items.items import Items
from emu.world.minds import plain
from emu.world.minds.guard import LONGEST_REASON, Budget, Guard, place_of, unguarded
from emu.world.minds.hearing import HearingReach
from emu.world.minds.nearness import NearActor
from emu.world.minds.shared import Minds
from emu.world.reports import BehaviorFailed, BehaviorSlowed, NotSaved
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world.zones.zone import Zone


class Behaviors:
    """The running behaviors of a world."""

    def __init__(
        self,
        world: World,
        chat: Chat,
        departures: Departures,
        library: Library,
        memories: MemoryStore,
        *,
        minds: Minds,
        items: Items,
        limits: Limits | None = None,
        guard: Guard = unguarded,
        clock: Callable[[], float],
    ) -> None:
        """Subscribe to a world's events.

        `clock` returns seconds and measures the calls.
        """
        self.counters: Counter[str] = Counter()
        self.seconds = 0.0
        """CPU seconds of all calls so far."""
        self.library = library
        self.limits = limits or Limits()
        self._world = world
        self._budget = Budget(self.limits.budget, guard, clock)
        self.memories = Memories(
            memories, world.start, world.clock, world.timetable,
            failed=lambda error: world.faults.report(
                NotSaved("the memory of behaviors", str(error))
            ),
            check=self._budget.check, counters=self.counters,
        )  # fmt: skip
        self.memories.limits = self.limits
        self.context = BehaviorContext(
            world, chat, departures, self.limits, budget=self._budget, memories=self.memories,
            minds=minds, gifts=Gifts(items, self.counters), call=self._call_back,
            attempt=self._attempt,
        )  # fmt: skip
        self.context.counters = self.counters
        self.conversations = minds.conversations
        self._minds = minds
        self._ticks: Deadlines[RunningBehavior, str] = world.timetable.deadlines(
            "the ticks of behaviors", self._tick_is_due
        )
        self._of_spawn: dict[int, RunningBehavior] = {}
        self._in_zone: dict[Zone, list[RunningBehavior]] = {}
        minds.hearing.add_engine(self)
        world.events.subscribe(DialogAnswered, self.answered, Order.MINDS)
        world.events.subscribe(Looted, self.looted, Order.MINDS)
        world.events.subscribe(Traded, self.traded, Order.MINDS)
        world.events.subscribe(ItemUsed, self.used, Order.MINDS)
        world.events.subscribe(Entered, lambda event: self.entered(event.player), Order.MINDS)
        world.events.subscribe(LeftZone, lambda event: self.left(event.player), Order.MINDS)

    def configure(self, limits: Limits) -> None:
        """Apply other limits. Rate limits that exist already keep their rates until a reload."""
        self.limits = self.context.limits = self.memories.limits = limits
        self._budget.seconds = limits.budget

    # -- starting and ending --------------------------------------------------------------------

    def start_behavior(
        self,
        name: str,
        options: Mapping[str, Any],
        zone: Zone,
        spawn: Spawn | None,
        *,
        key: str = "",
    ) -> bool:
        """Start a behavior for a spawn, or for the zone if `spawn` is None; return whether it runs.

        `key` names the spawn's memory in its zone; without it, the name does.
        An unknown name, and a class that raises when it is made, are reported to operators.
        """
        if spawn is not None:
            key = key or spawn.name
        behavior = RunningBehavior(name, options, zone, spawn, key)
        made = self.library.find(name)
        if made is None:
            self._world.faults.report(
                BehaviorFailed(name, behavior.whose, "there is no such behavior")
            )
            return False
        # Listed before its code runs: if that fails, operators see it among those that are switched
        # off.
        self._in_zone.setdefault(zone, []).append(behavior)
        actor: Actor | ZoneActor = ZoneActor(behavior, self.context)
        if spawn is not None:
            actor = Actor(behavior, spawn, self.context)
            self._of_spawn[spawn.id] = behavior

        # Without its memory a behavior would begin as if it had none, and store that.
        self.memories.when_loaded(
            zone.zone_id, lambda: self._attempt(behavior, self._begin, behavior, made, actor)
        )
        return not behavior.failed

    def _begin(self, behavior: RunningBehavior, made: type, actor: Actor | ZoneActor) -> None:
        """Make a behavior's object and call it for the first time."""
        if behavior.failed:  # its zone has ended meanwhile
            return
        fault = ""

        def make() -> None:
            nonlocal fault
            try:
                values = read_options(made, behavior.options)
            except TableFaults as error:
                fault = plain.text(f"behavior_options: {error}", "a fault", LONGEST_REASON)
                return
            fault = making_fault(made)
            if fault:
                return
            owner = behavior.owner = made(actor, values)
            # Looked up once. A hook that is missing costs nothing for each event, and `__getattr__`
            # may run code.
            behavior.hooks = frozenset(hook for hook in Hook if hasattr(owner, hook.method))
            near = getattr(owner, "near", behavior.near)
            # The class sets these values, so they may be anything: NaN, text, or an object with
            # code.
            behavior.near = plain.number(near, "near", 0.0, math.inf)
            longest = self.limits.longest_timer
            tick = plain.number(getattr(owner, "tick", 1.0), "tick", -longest, longest)
            behavior.tick = max(self.limits.shortest_timer, tick)

        self._run(behavior, make, made)
        # `_run` has switched it off already if making it raised; the first reason stays.
        if fault and not behavior.failed:
            self._switch_off(behavior, _with_place(fault, made, MAKING))
        self._call(behavior, Hook.START)
        self._look_out(behavior)
        self._arm_tick(behavior)

    def names(self) -> list[str]:
        """Return the names of all behaviors."""
        return list(self.library)

    def of(self, spawn: Spawn) -> tuple[str, Mapping[str, Any]]:
        """Return the name and the options of a spawn's behavior; "" and none without one."""
        behavior = self._of_spawn.get(spawn.id)
        return (behavior.name, behavior.options) if behavior is not None else ("", {})

    def forget_spawn(self, spawn: Spawn) -> None:
        """End the behavior of a spawn that is removed from its zone."""
        behavior = self._of_spawn.get(spawn.id)
        if behavior is not None:
            self._in_zone[behavior.zone].remove(behavior)
            self._forget(behavior)

    def forget_own(self, zone: Zone) -> None:
        """End a zone's own behavior; those of its spawns go on."""
        kept = []
        for behavior in self._in_zone.pop(zone, []):
            if behavior.spawn is None:
                self._forget(behavior)
            else:
                kept.append(behavior)
        if kept:
            self._in_zone[zone] = kept

    def forget_zone(self, zone: Zone) -> None:
        """Remove all behaviors of a zone that ends."""
        for behavior in self._in_zone.pop(zone, []):
            self._forget(behavior)
        if all(other.zone_id != zone.zone_id for other in self._in_zone):
            self.memories.release(zone.zone_id)

    def reload(self) -> str:
        """Load all classes again and restart what runs. Return one line that sums up the result.

        Raises `FileFormatError` if a file of the folder does not load; then the previous classes
        stay, and their behaviors continue.
        """
        is_fresh = self.library.reload()
        problems = self.library.problems
        for line in problems:
            self._world.faults.report(BehaviorFailed("", "the behaviors' folder", line))
        if not is_fresh:
            raise faulty(problems)
        restarted = self.restart()
        return f"{len(list(self.library))} behaviors, {restarted} running, {len(problems)} problems"

    def restart(self) -> int:
        """Make every running behavior anew from its class; return how many run then."""
        behaviors = self._running()
        for name in {behavior.name for behavior in behaviors}:
            self._minds.errors.read_again(name)
        # All are forgotten before the first is made again: a new behavior must not meet the old
        # ones.
        for behavior in behaviors:
            self._forget(behavior)
        self._in_zone.clear()
        return sum(
            self.start_behavior(old.name, old.options, old.zone, old.spawn, key=old.key)
            for old in behaviors
        )

    def switched_off(self) -> list[str]:
        """Return one line for each behavior that is switched off, with the reason."""
        return [
            f"behavior {behavior.name} of {behavior.whose} is switched off: {behavior.reason}"
            for behavior in self._running()
            if behavior.failed
        ]

    # -- events of the world --------------------------------------------------------------------

    @property
    def reach(self) -> HearingReach:
        """How near a player must be to be heard by an actor."""
        return HearingReach(self._world.rules.hear, has_height=False)

    def mind_of(self, zone: Zone, spawn: Spawn) -> RunningBehavior | None:
        """Return the behavior of a spawn."""
        behavior = self._of_spawn.get(spawn.id)
        return behavior if behavior is not None and behavior.zone is zone else None

    def listeners(
        self, zone: Zone, _target: Spawn | None
    ) -> Iterator[tuple[Spawn | None, RunningBehavior]]:
        """Yield the behaviors of a zone and its spawns."""
        return ((behavior.spawn, behavior) for behavior in self._in_zone.get(zone, ()))

    def hailed(self, behavior: RunningBehavior, player: Player) -> bool:
        """Call a behavior that is hailed; its actor walks on unless it stops itself."""
        self._call(behavior, Hook.HAIL, self._visitor(behavior, player))
        return False

    def heard(self, behavior: RunningBehavior, player: Player, text: str) -> None:
        """Call a behavior that hears a line."""
        self._call(behavior, Hook.SAY, self._visitor(behavior, player), text)

    def answered(self, event: DialogAnswered) -> None:
        """Pass on a player's answer to the behavior that asked."""
        behavior, player = event.owner, event.player
        if isinstance(behavior, RunningBehavior):
            self._call(behavior, Hook.CHOICE, self._visitor(behavior, player), event.reply)

    def looted(self, event: Looted) -> None:
        """Call the behaviors of a body or chest, and of its zone."""
        for behavior in self._around(event.player, event.source):
            visitor = self._visitor(behavior, event.player)
            self._call(behavior, Hook.LOOT, visitor, event.kind.id, event.count)

    def traded(self, event: Traded) -> None:
        """Call the behaviors of a merchant, and of its zone."""
        for behavior in self._around(event.player, event.partner):
            visitor = self._visitor(behavior, event.player)
            self._call(behavior, Hook.TRADE, visitor, event.kind.id, event.count)

    def used(self, event: ItemUsed) -> None:
        """Call the behaviors of the target of a use, and of its zone."""
        for behavior in self._around(event.player, event.target):
            visitor = self._visitor(behavior, event.player)
            if self._call(behavior, Hook.USE, visitor, event.kind.id) is True:
                event.answers.append(0)

    def _around(self, player: Player, spawn: Spawn | None) -> list[RunningBehavior]:
        """Return the behaviors of a spawn, if it has one, and of the player's zone."""
        return [
            one for one in self._in_zone.get(player.zone, ())
            if one.spawn is None or one.spawn is spawn
        ]  # fmt: skip

    def entered(self, player: Player) -> None:
        """Handle a player's arrival in a zone: wake the behaviors there."""
        for behavior in list(self._in_zone.get(player.zone, ())):
            self._attempt(behavior, self._arm_tick, behavior)

    def left(self, player: Player) -> None:
        """Handle a player's leaving of its zone or of the world."""
        self.context.pacing.forget_player(player)

    # -- internals ------------------------------------------------------------------------------

    def _running(self) -> list[RunningBehavior]:
        return [behavior for behaviors in self._in_zone.values() for behavior in behaviors]

    def _attempt(self, behavior: RunningBehavior, act: Callable[..., object], *values: Any) -> None:
        """Do something for one behavior; a fault of the server switches only that behavior off."""
        try:
            act(*values)
        except Exception as error:  # noqa: BLE001  # other behaviors are due as well
            self._world.faults.add_fault("the timer of a behavior", behavior.whose, error)
            self._switch_off(behavior, f"the server failed: {type(error).__name__}")

    def _visitor(self, behavior: RunningBehavior, player: Player) -> Visitor:
        return Visitor(player, self.context, behavior)

    def _call_back(self, behavior: RunningBehavior, hook: Hook, value: str) -> None:
        """Call a behavior at a time: for a timer with its name, at the end of a way without."""
        values = (value,) if hook is Hook.TIMER else ()
        self._attempt(behavior, self._call, behavior, hook, *values)

    def _tick_is_due(self, behavior: RunningBehavior, _name: str, _now: Monotonic) -> None:
        # In an empty zone the ticks end here; `entered` begins them again.
        if self._world.players.standing_in(behavior.zone):
            self._attempt(behavior, self._call, behavior, Hook.TICK, behavior.tick)
            self._arm_tick(behavior)

    def _arm_tick(self, behavior: RunningBehavior) -> None:
        wants = Hook.TICK in behavior.hooks and not behavior.failed
        if wants and self._ticks.get(behavior, "") is None:
            self._ticks.set(behavior, "", Monotonic(self.context.now + behavior.tick))

    def _look_out(self, behavior: RunningBehavior) -> None:
        """Let a behavior be called for the players who come near it, and who go."""
        if behavior.failed or behavior.hooks.isdisjoint(VISITS):
            return

        def call(hook: Hook) -> Callable[[Player], None]:
            return lambda player: self._attempt(
                behavior, self._call, behavior, hook, self._visitor(behavior, player)
            )

        watch = NearActor(
            zone=behavior.zone, spawn=behavior.spawn, distance=behavior.near, pause=behavior.tick,
            came=call(Hook.ENTER), went=call(Hook.LEAVE),
        )  # fmt: skip
        self._minds.nearness.add_watch(behavior, watch, most=1)

    def _call(self, behavior: RunningBehavior, hook: Hook, *values: object) -> object:
        """Call a hook of a behavior; return what it returns, None for a call that failed."""
        found: list[object] = []
        if hook in behavior.hooks and not behavior.failed and self._has_time(behavior):
            # The method is looked up inside the guard: a behavior's `__getattr__` is its own code.
            self._run(
                behavior, lambda: found.append(getattr(behavior.owner, hook.method)(*values)),
                type(behavior.owner), hook.method,
            )  # fmt: skip
        return found[0] if found else None

    def _run(
        self, behavior: RunningBehavior, call: Callable[[], object], made: type,
        method: str = MAKING,
    ) -> None:  # fmt: skip
        self.counters["calls"] += 1
        reason = self._budget.spend(call)
        if behavior.work is None:
            behavior.work = RateLimit(self.limits.share, self.limits.reserve, self.context.now)
        # Charged afterwards, because the cost is not known before; the balance may become negative.
        behavior.work.charge(self._budget.spent, self.context.now)
        self.seconds += self._budget.spent
        if reason:
            self._switch_off(behavior, _with_place(reason, made, method), method)
        elif self._minds.errors.old:
            self._minds.errors.ran(behavior.name, method)
        # What the call asked for that may take time, such as a change of zone, begins outside of
        # the guard.
        self.context.do_afterwards()

    def _has_time(self, behavior: RunningBehavior) -> bool:
        """Return whether a behavior may be called now; if not, the call is left out and counted.

        The budget of one call does not bound the sum of many calls: a behavior that is called often
        could take most of a core. So each behavior also has a share of the time.
        """
        if behavior.work is None or behavior.work.left(self.context.now) > 0.0:
            return True
        self.counters["left out"] += 1
        if not behavior.is_slowed:
            behavior.is_slowed = True
            self._world.faults.report(
                BehaviorSlowed(behavior.name, behavior.whose, self.limits.share)
            )
        return False

    def _switch_off(self, behavior: RunningBehavior, reason: str, method: str = MAKING) -> None:
        behavior.failed = True
        behavior.reason = reason
        if behavior.spawn is not None:
            self._minds.moves.forget(behavior.spawn, behavior.zone)
        self._minds.timers.stop(behavior)
        self._minds.nearness.forget(behavior)
        self.counters["failed"] += 1
        self._world.faults.report(BehaviorFailed(behavior.name, behavior.whose, reason))
        file, line, text = place_of(reason)
        error = ScriptError(file or f"behavior {behavior.name}", line, text)
        self._minds.errors.count_error(
            error, method, behavior.whose, behavior.name, is_behavior=True
        )

    def _forget(self, behavior: RunningBehavior) -> None:
        # Set first: code that runs during the release can cause no further calls of it.
        behavior.failed = True

        def release() -> None:
            behavior.owner = None

        # Dropping the last reference can run the behavior's `__del__`, so it happens in the guard.
        self._budget.spend(release)
        if behavior.spawn is not None:
            self._of_spawn.pop(behavior.spawn.id, None)
            self._minds.moves.forget(behavior.spawn, behavior.zone)
        self._ticks.clear(behavior, "")
        self._minds.timers.stop(behavior)
        self._minds.nearness.forget(behavior)
        self.context.pacing.forget_owner(behavior)
        self.conversations.forget_owner(behavior)


def _with_place(reason: str, behavior: type, method: str) -> str:
    """Return a reason with file and line: those of the method if the reason has none."""
    place = "" if place_of(reason)[0] else place_of_method(behavior, method)
    return f"{place}: {reason}" if place else reason
