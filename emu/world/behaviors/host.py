"""Runs behaviors: calls them when something happens, and keeps them from harming anybody.

Every call has a budget of time. What raises, or does not return in time, is told of with file and
line and switched off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from emu.errors import EmuError
from emu.model import Title
from emu.times import Monotonic
from emu.world.behaviors.actor import Actor, Place, Visitor, ZoneActor
from emu.world.behaviors.budget import Budget, Guard, unguarded
from emu.world.behaviors.dialogs import Dialogs
from emu.world.behaviors.finding import Library
from emu.world.behaviors.part import Limits, Part
from emu.world.behaviors.steps import Way
from emu.world.chat import Chat
from emu.world.deadlines import Deadlines
from emu.world.events import BehaviorFailed
from emu.world.players import leaving, moving, saving
from emu.world.players.player import IN_ZONE, Player
from emu.world.spawns import Destination, Position, Spawn
from emu.world.world import World
from emu.world.zone import Zone

TICK: Final = "tick"
STEP: Final = "step"
TIMER: Final = "timer "
"""Names of deadlines: the tick, the next step of a way, and a behavior's own timers."""


class Behaviors:
    """All behaviors of a world; implements `emu.world.behaviors.actor.Stage`."""

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

        `clock` measures (monotonic seconds); `wake` asks for the timer again.
        """
        self.library = library
        self.limits = limits or Limits()
        self.counters: Counter[str] = Counter()
        self._world = world
        self._chat = chat
        self._budget = Budget(self.limits.budget, guard, clock)
        self._wake = wake
        self._now = Monotonic(0.0)
        self._deadlines: Deadlines[Part] = Deadlines()
        self._parts: dict[object, Part] = {}
        """By actor, which is what a behavior holds."""
        self._of_spawn: dict[int, Part] = {}
        self._in_zone: dict[Zone, list[Part]] = {}
        self._dialogs = Dialogs(self.limits.text)
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
        self._now = now
        actor: Actor | ZoneActor = (
            Actor(spawn, self) if spawn is not None else ZoneActor(str(zone.zone_id), self)
        )
        part.actor = actor
        self._parts[actor] = part
        self._in_zone.setdefault(zone, []).append(part)
        if spawn is not None:
            self._of_spawn[spawn.id] = part

        def make() -> None:
            part.owner = made(actor, dict(options))
            part.near = float(getattr(part.owner, "near", part.near))
            part.tick = max(self.limits.shortest_timer, float(getattr(part.owner, "tick", 1.0)))

        self._run(part, make)
        self._call(part, "on_start")
        self._arm_tick(part, now)
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
        parts = list(self._parts.values())
        for part in parts:
            self._forget(part)
        self._in_zone.clear()
        return sum(self.add(part.name, part.options, part.zone, part.spawn, now) for part in parts)

    # -- what happens in the world --------------------------------------------------------------

    def heard(self, speaker: Player, text: str, now: Monotonic) -> None:
        """Take what a player said aloud: a hail to whom it looks at, else words to all near."""
        self._now = now
        target = speaker.target
        hailed = self._of_spawn.get(target.id) if target is not None else None
        if hailed is not None and text.casefold().startswith("hail"):
            if self._is_near(hailed, speaker, self._world.rules.hear):
                self._call(hailed, "on_hail", self._visitor(speaker))
            return
        for part in list(self._in_zone.get(speaker.zone, ())):
            if part.spawn is None or self._is_near(part, speaker, self._world.rules.hear):
                self._call(part, "on_say", self._visitor(speaker), text)

    def chosen(self, player: Player, conversation: int, number: int, now: Monotonic) -> None:
        """Take the answer that a player chose in a dialog. Raises `CommandError` for no dialog."""
        part = self._dialogs.answered(player, conversation)
        self._now = now
        if self._is_near(part, player, 2 * self._world.rules.hear):
            self._call(part, "on_choice", self._visitor(player), number)

    def select_message(self, _world: World, player: Player, body: bytes, now: Monotonic) -> None:
        """Take OP_DialogSelectMsg. Raises `MalformedMessage` and `CommandError`."""
        fields = player.client.dialect.layout("WS_DialogSelect").decode(body)
        self.chosen(player, fields["conversation_id"], fields["response"], now)

    def close_message(self, _world: World, player: Player, body: bytes, _now: Monotonic) -> None:
        """Take OP_DialogCloseMsg. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_DialogClose").decode(body)
        self._dialogs.close(player, fields["conversation_id"])

    def entered(self, player: Player, now: Monotonic) -> None:
        """Learn that a player stands in a zone: behaviors there wake up."""
        self._now = now
        for part in list(self._in_zone.get(player.zone, ())):
            self._arm_tick(part, now)
            if part.spawn is None:
                self._see(part)  # who stands in the zone is no matter of distance

    def left(self, player: Player) -> None:
        """Learn that a player is out of the world, or out of its zone."""
        self._dialogs.forget_player(player)
        for part in [part for parts in self._in_zone.values() for part in parts]:
            if part.seen.pop(player.id, None) is not None:
                self._call(part, "on_leave", self._visitor(player))

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return self._deadlines.next()

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due: ticks, steps of those who walk, timers."""
        self._now = now
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

    # -- what behaviors ask for (Stage) ---------------------------------------------------------

    def players_near(self, owner: object, center: Position, distance: float) -> list[Player]:
        """Return players of the owner's zone within a distance."""
        zone = self._parts[owner].zone
        return [
            player
            for player in self._standing(zone)
            if player.position.distance_to(center) <= distance
        ]

    def say(self, owner: object, text: str, *, emote: bool) -> None:
        """Let a spawn speak."""
        part = self._parts[owner]
        if part.spawn is not None:
            channel = "emote" if emote else "say"
            hearers = self._standing(part.zone)
            self._chat.spawn_says(part.spawn, hearers, text[: self.limits.text], channel)

    def walk(self, owner: object, points: Sequence[Place], speed: float) -> None:
        """Send a spawn on its way."""
        part = self._parts[owner]
        if part.spawn is None or not points:
            return
        goals = [_position(point) for point in points[: self.limits.longest_way]]
        part.way = Way(goals, max(0.1, min(float(speed), self._world.rules.movement.fastest)))
        self._deadlines.set(part, STEP, Monotonic(self._now + self.limits.step))
        self._wake()

    def stop(self, owner: object) -> None:
        """Let a spawn stand."""
        part = self._parts[owner]
        part.way = None
        if self._deadlines.clear(part, STEP) and part.spawn is not None:
            part.spawn.move(part.spawn.position)

    def turn(self, owner: object, toward: Position) -> None:
        """Turn a spawn."""
        spawn = self._parts[owner].spawn
        if spawn is not None:
            at = spawn.position
            spawn.move(at._replace(heading=at.heading_to(toward)), speed=spawn.speed)

    def dialog(self, owner: object, player: Player, text: str, choices: Sequence[str]) -> None:
        """Open a dialog."""
        self._dialogs.open(self._parts[owner], player, text, choices)

    def timer(self, owner: object, name: str, seconds: float) -> None:
        """Set a timer."""
        part, what = self._parts[owner], TIMER + name
        if what not in part.timers and len(part.timers) >= self.limits.timers:
            raise EmuError(f"{part.name} has {self.limits.timers} timers already")
        part.timers.add(what)
        due = self._now + max(self.limits.shortest_timer, float(seconds))
        self._deadlines.set(part, what, Monotonic(due))
        self._wake()

    def tell(self, player: Player, text: str) -> None:
        """Show a player a line."""
        self._chat.line(player, text[: self.limits.text])

    def put(self, player: Player, place: Place, heading: float | None) -> None:
        """Put a player somewhere in its zone."""
        if player.state in IN_ZONE:
            at = player.position
            turned = at.heading if heading is None else float(heading)
            goal = _position(place)._replace(heading=turned, grid=at.grid)
            moving.teleport(player, goal, self._now)

    def send(self, player: Player, zone: str, place: Place | None) -> None:
        """Send a player to another zone."""
        definition = self._world.zones.table.named(zone)
        if definition is None:
            raise EmuError(f"there is no zone {zone}")
        if player.state in IN_ZONE:
            to = _position(place) if place else Position(*definition.safe)
            going = Destination(definition.id, to)
            self._world.start(leaving.change_zone(self._world, player, going, self._now))

    def title(self, player: Player, title: str) -> None:
        """Give a player a title that it bears from now on."""
        given = Title(title)
        player.titles.give(given)
        player.titles.bear(given)
        player.titles.show(player.spawn)
        player.titles.send(player.client)
        saving.changed(self._world, player, saving.Kept.TITLES, self._now)

    # -- how ------------------------------------------------------------------------------------

    def _tick(self, part: Part) -> None:
        if not self._standing(part.zone):
            return  # nobody is there; `entered` arms it again
        self._see(part)
        self._call(part, "on_tick", part.tick)
        self._arm_tick(part, self._now)

    def _arm_tick(self, part: Part, now: Monotonic) -> None:
        wants = any(hasattr(part.owner, name) for name in ("on_tick", "on_enter", "on_leave"))
        if wants and not part.failed and self._deadlines.get(part, TICK) is None:
            self._deadlines.set(part, TICK, Monotonic(now + part.tick))
            self._wake()

    def _see(self, part: Part) -> None:
        """Tell a behavior who came and who went."""
        here = {player.id: player for player in self._standing(part.zone)}
        if part.spawn is not None:
            here = {
                number: player
                for number, player in here.items()
                if self._is_near(part, player, part.near)
            }
        gone = [player for number, player in part.seen.items() if number not in here]
        new = [player for number, player in here.items() if number not in part.seen]
        part.seen = here
        for player in gone:
            self._call(part, "on_leave", self._visitor(player))
        for player in new:
            self._call(part, "on_enter", self._visitor(player))

    def _step(self, part: Part) -> None:
        spawn, way = part.spawn, part.way
        if spawn is None or way is None:
            return
        if not self._standing(part.zone):
            # Nobody looks: it is where it would be when somebody does.
            spawn.move(way.goals[-1])
            part.way = None
        elif way.step(spawn, self.limits.step):
            part.way = None
        if part.way is not None:
            self._deadlines.set(part, STEP, Monotonic(self._now + self.limits.step))
        else:
            self._call(part, "on_arrive")

    def _standing(self, zone: Zone) -> list[Player]:
        return [
            player
            for player in self._world.players
            if player.zone is zone and player.state in IN_ZONE
        ]

    def _is_near(self, part: Part, player: Player, distance: float) -> bool:
        if player.zone is not part.zone or player.state not in IN_ZONE:
            return False
        return part.spawn is None or (part.spawn.position.distance_to(player.position) <= distance)

    def _visitor(self, player: Player) -> Visitor:
        return Visitor(player, self)

    def _call(self, part: Part, name: str, *values: object) -> None:
        method = getattr(part.owner, name, None)
        if method is not None and not part.failed:
            self._run(part, lambda: method(*values))

    def _run(self, part: Part, call: Callable[[], object]) -> None:
        self.counters["calls"] += 1
        reason = self._budget.spend(call)
        if reason:
            self._fail(part, reason)

    def _fail(self, part: Part, reason: str) -> None:
        part.failed = True
        part.way = None
        self.counters["failed"] += 1
        self._world.report(BehaviorFailed(part.name, part.whose, reason))

    def _forget(self, part: Part) -> None:
        part.failed = True
        self._parts.pop(part.actor, None)
        if part.spawn is not None:
            self._of_spawn.pop(part.spawn.id, None)
        self._deadlines.forget(part, (TICK, STEP, *part.timers))
        self._dialogs.forget_part(part)


def _position(place: Place) -> Position:
    """Return a place that a behavior named; raises `ValueError` for what is none."""
    x, y, z = (float(number) for number in place)
    if not all(map(math.isfinite, (x, y, z))):
        raise ValueError(f"not a place: {place!r}")
    return Position(x, y, z)
