"""Runs behaviors: calls them when something happens, and keeps them from harming anybody.

Every call has a budget of time. What raises, or does not return in time, is told of with file and
line and switched off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from emu.times import Monotonic
from emu.world.behaviors.actor import Actor, Visitor, ZoneActor
from emu.world.behaviors.budget import Budget, Guard, unguarded
from emu.world.behaviors.finding import Library
from emu.world.behaviors.part import STEP, TICK, TIMER, Limits, Part
from emu.world.behaviors.stage import Stage
from emu.world.chat import Chat
from emu.world.events import BehaviorFailed
from emu.world.players.player import IN_ZONE, Player
from emu.world.spawns import Spawn
from emu.world.world import World
from emu.world.zone import Zone


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
        self.counters: Counter[str] = Counter()
        self.stage = Stage(world, chat, self.limits, wake)
        self._world = world
        self._budget = Budget(self.limits.budget, guard, clock)
        self._deadlines = self.stage.deadlines
        self._dialogs = self.stage.dialogs
        self._of_spawn: dict[int, Part] = {}
        self._in_zone: dict[Zone, list[Part]] = {}
        world.on_say.append(self.heard)
        world.on_stand.append(self.entered)
        world.on_out_of_zone.append(self.left)

    # -- beginning and ending -------------------------------------------------------------------

    def add(
        self, name: str, options: Mapping[str, Any], zone: Zone, spawn: Spawn | None, now: Monotonic
    ) -> bool:
        """Give a spawn, or with None the zone itself, a behavior; returns whether it works.

        A name that nobody has, and a class that cannot be made, are told of.
        """
        part = Part(name, options, zone, spawn)
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
            part.owner = made(actor, dict(options))
            part.near = float(getattr(part.owner, "near", part.near))
            part.tick = max(self.limits.shortest_timer, float(getattr(part.owner, "tick", 1.0)))

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

    # -- what happens in the world --------------------------------------------------------------

    def heard(self, speaker: Player, text: str, now: Monotonic) -> None:
        """Take what a player said aloud: a hail to whom it looks at, else words to all near."""
        self.stage.now = now
        target = speaker.target
        hailed = self._of_spawn.get(target.id) if target is not None else None
        if hailed is not None and text.casefold().startswith("hail"):
            if self._is_near(hailed, speaker, self._world.rules.hear):
                self._call(hailed, "on_hail", Visitor(speaker, self.stage))
            return
        for part in list(self._in_zone.get(speaker.zone, ())):
            if part.spawn is None or self._is_near(part, speaker, self._world.rules.hear):
                self._call(part, "on_say", Visitor(speaker, self.stage), text)

    def select_message(self, _world: World, player: Player, body: bytes, now: Monotonic) -> None:
        """Take the answer that a player chose in a dialog: OP_DialogSelectMsg.

        Raises `MalformedMessage`, and `CommandError` for a dialog that is not open.
        """
        fields = player.client.dialect.layout("WS_DialogSelect").decode(body)
        part = self._dialogs.answered(player, fields["conversation_id"])
        self.stage.now = now
        if self._is_near(part, player, 2 * self._world.rules.hear):
            self._call(part, "on_choice", Visitor(player, self.stage), fields["response"])

    def close_message(self, _world: World, player: Player, body: bytes, _now: Monotonic) -> None:
        """Take OP_DialogCloseMsg. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_DialogClose").decode(body)
        self._dialogs.close(player, fields["conversation_id"])

    def entered(self, player: Player, now: Monotonic) -> None:
        """Learn that a player stands in a zone: behaviors there wake up."""
        self.stage.now = now
        for part in list(self._in_zone.get(player.zone, ())):
            self._arm_tick(part)
            if part.spawn is None:
                self._see(part)  # who stands in the zone is no matter of distance

    def left(self, player: Player) -> None:
        """Learn that a player is out of the world, or out of its zone."""
        self._dialogs.forget_player(player)
        for part in self._parts():
            if part.seen.pop(player.id, None) is not None:
                self._call(part, "on_leave", Visitor(player, self.stage))

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return self._deadlines.next()

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due: ticks, steps of those who walk, timers."""
        self.stage.now = now
        while (due := self._deadlines.pop_due(now)) is not None:
            part, what = due
            if part.failed:
                continue
            if what == TICK:
                self._tick(part)
            elif what == STEP:
                self._step(part)
            else:
                part.timers.discard(what)
                self._call(part, "on_timer", what.removeprefix(TIMER))

    # -- how ------------------------------------------------------------------------------------

    def _parts(self) -> list[Part]:
        return [part for parts in self._in_zone.values() for part in parts]

    def _tick(self, part: Part) -> None:
        if not self._world.players.standing_in(part.zone):
            return  # nobody is there; `entered` arms it again
        self._see(part)
        self._call(part, "on_tick", part.tick)
        self._arm_tick(part)

    def _arm_tick(self, part: Part) -> None:
        wants = any(hasattr(part.owner, name) for name in ("on_tick", "on_enter", "on_leave"))
        if wants and not part.failed and self._deadlines.get(part, TICK) is None:
            self.stage.arm(part, TICK, part.tick)

    def _see(self, part: Part) -> None:
        """Tell a behavior who came and who went."""
        here = {
            player.id: player
            for player in self._world.players.standing_in(part.zone)
            if self._is_near(part, player, part.near)
        }
        gone = [player for number, player in part.seen.items() if number not in here]
        new = [player for number, player in here.items() if number not in part.seen]
        part.seen = here
        for player in gone:
            self._call(part, "on_leave", Visitor(player, self.stage))
        for player in new:
            self._call(part, "on_enter", Visitor(player, self.stage))

    def _step(self, part: Part) -> None:
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

    def _is_near(self, part: Part, player: Player, distance: float) -> bool:
        if player.zone is not part.zone or player.state not in IN_ZONE:
            return False
        return part.spawn is None or (part.spawn.position.distance_to(player.position) <= distance)

    def _call(self, part: Part, name: str, *values: object) -> None:
        method = getattr(part.owner, name, None)
        if method is not None and not part.failed:
            self._run(part, lambda: method(*values))

    def _run(self, part: Part, call: Callable[[], object]) -> None:
        self.counters["calls"] += 1
        reason = self._budget.spend(call)
        if reason:
            part.failed = True
            part.way = None
            self.counters["failed"] += 1
            self._world.report(BehaviorFailed(part.name, part.whose, reason))

    def _forget(self, part: Part) -> None:
        part.failed = True
        if part.spawn is not None:
            self._of_spawn.pop(part.spawn.id, None)
        self._deadlines.forget(part, (TICK, STEP, *part.timers))
        self._dialogs.forget_part(part)
