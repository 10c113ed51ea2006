"""The world API: what a behavior can do with its actor, its zone and a visitor.

An `Actor` is a spawn, a `ZoneActor` a zone, a `Visitor` a player as behaviors see it. Nothing here
takes or gives anything of the server's inside, so that behaviors outlive changes of it. Whatever is
passed in becomes an exact number or text (`emu.world.behaviors.plain`) before it is used. What
players are sent is paced: too much of it is dropped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from emu.errors import CommandError, EmuError
from emu.limits.rates import RateLimit
from emu.model import Title
from emu.times import Monotonic
from emu.world.actors import moving
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Destination, Spawn
from emu.world.behaviors import plain
from emu.world.behaviors.guard import ALOUD, STEP, TIMER, Budget, Limits, RunningBehavior, Way
from emu.world.deadlines import Deadlines
from emu.world.entry import leaving, saving
from emu.world.events import BehaviorPaced
from emu.world.social.chat import Chat
from emu.world.world import World
from emu.world_stream.movement import Position


class Dialogs:
    """Who speaks with whom. No text is longer than `longest`; a player has `most` open at most."""

    def __init__(self, longest: int, most: int = 16) -> None:
        self._longest = longest
        self._most = most
        self._open: dict[int, dict[int, RunningBehavior]] = {}
        """For each player, by its character id, the dialogs by their number, the oldest first."""
        self._last = 0

    def __len__(self) -> int:
        """Return how many dialogs are open."""
        return sum(map(len, self._open.values()))

    def open(
        self, part: RunningBehavior, player: Player, text: str, choices: Sequence[str]
    ) -> None:
        """Open a dialog. Who looks at a spawn it does not see is told nothing."""
        index = player.index_of(part.spawn) if part.spawn is not None else None
        if part.spawn is None or index is None:
            return
        conversation = self._last = self._last % 0x7FFFFFFF + 1
        own = self._open.setdefault(player.id, {})
        while len(own) >= self._most:
            del own[next(iter(own))]
        own[conversation] = part
        player.client.send(
            "WS_DialogOpen",
            {
                "conversation_id": conversation,
                "title": part.spawn.name,
                "text": text[: self._longest],
                "num_responses": len(choices),
                "response_array": [{"response": choice[: self._longest]} for choice in choices],
                "closeable": 1,
                "spawn_id": index,
            },
        )

    def answered(self, player: Player, conversation: int) -> RunningBehavior:
        """Return whose dialog a player answers, which ends it. Raises `CommandError` for none."""
        part = self._open.get(player.id, {}).pop(conversation, None)
        if part is None:
            raise CommandError("that conversation is over")
        return part

    def close(self, player: Player, conversation: int) -> None:
        """Forget a dialog that a player closed."""
        self._open.get(player.id, {}).pop(conversation, None)

    def forget_player(self, player: Player) -> None:
        """Forget all dialogs of a player who leaves."""
        self._open.pop(player.id, None)

    def forget_part(self, part: RunningBehavior) -> None:
        """Forget all dialogs of a behavior that ends."""
        for own in self._open.values():
            for number in [number for number, owner in own.items() if owner is part]:
                del own[number]


class BehaviorContext:
    """What all actors of a world share; behaviors themselves never see it."""

    def __init__(
        self, world: World, chat: Chat, limits: Limits, budget: Budget, wake: Callable[[], None]
    ) -> None:
        """`budget` is what each call of a behavior has; `wake` asks for the timer again."""
        self.world = world
        self.chat = chat
        self.limits = limits
        self.budget = budget
        self.now = Monotonic(0.0)
        self.deadlines: Deadlines[RunningBehavior] = Deadlines()
        self.dialogs = Dialogs(limits.text, limits.dialogs)
        self.counters: Counter[str] = Counter()
        self._wake = wake
        self._heard: dict[int, RateLimit] = {}
        self._afterwards: list[Callable[[], object]] = []

    def arm(self, part: RunningBehavior, what: str, seconds: float) -> None:
        """Set or move one of a behavior's deadlines."""
        self.deadlines.set(part, what, Monotonic(self.now + seconds))
        self._wake()

    def afterwards(self, act: Callable[[], object]) -> None:
        """Do something once the call of a behavior that is going on is over, else at once."""
        self._afterwards.append(act)
        if not self.budget.is_spent_on:
            self.do_afterwards()

    def do_afterwards(self) -> None:
        """Do what was to be done after a call."""
        while self._afterwards and not self.budget.is_spent_on:
            acts, self._afterwards = self._afterwards, []
            for act in acts:
                self.world.attempt("what a behavior asked for", None, act)

    def may_speak(self, part: RunningBehavior) -> bool:
        """Count something that a behavior says aloud; False when it is to be dropped."""
        return self._take(part, ALOUD)

    def may_send(self, part: RunningBehavior | None, player: Player) -> bool:
        """Count something that a behavior sends one player; False when it is to be dropped."""
        if part is not None and not self._take(part, player.id):
            return False
        return self.may_hear(part, player)

    def may_hear(self, part: RunningBehavior | None, player: Player) -> bool:
        """Count something that a player is sent by a behavior; False when it is to be dropped."""
        limits = self.limits
        pace = self._heard.get(player.id)
        if pace is None:
            pace = RateLimit(limits.hear_rate, limits.hear_burst, self.now)
            self._heard[player.id] = pace
        return pace.take(1, self.now) or self._dropped(part)

    def forget_player(self, player: Player) -> None:
        """Forget what a player who is out of its zone was sent, and its dialogs."""
        self._heard.pop(player.id, None)
        self.dialogs.forget_player(player)

    def _take(self, part: RunningBehavior, whom: int) -> bool:
        limits = self.limits
        pace = part.paces.get(whom)
        if pace is None:
            pace = part.paces[whom] = RateLimit(limits.say_rate, limits.say_burst, self.now)
        return pace.take(1, self.now) or self._dropped(part)

    def _dropped(self, part: RunningBehavior | None) -> bool:
        """Count what is dropped, and tell operators the first time; returns False."""
        self.counters["dropped"] += 1
        if part is not None and not part.is_paced:
            part.is_paced = True
            event = BehaviorPaced(part.name, part.whose, self.limits.say_rate)
            self.afterwards(lambda: self.world.report(event))
        return False


Place = tuple[float, float, float]
"""x, y, z in world units; Y is up."""

WALKING: Final = 2.5
"""Units a second of somebody who strolls."""
LONGEST_ZONE: Final = 128
"""Letters of a zone's name."""
_HUGE: Final = 1e9
"""Bound of numbers that are then made to fit."""

P = ParamSpec("P")
T = TypeVar("T")


def _timed(
    method: Callable[Concatenate[_Own, P], T],
) -> Callable[Concatenate[_Own, P], T]:
    """Make a method raise `OutOfTime` when the behavior's time is up: before and after its work.

    The guard does not interrupt the work itself.
    """

    @wraps(method)
    def call(self: _Own, /, *values: P.args, **named: P.kwargs) -> T:
        check = self._stage.budget.check
        check()
        result = method(self, *values, **named)
        check()
        return result

    return call


class _OnStage:
    """What visitors and actors have in common."""

    __slots__ = ("_stage",)

    _stage: BehaviorContext


_Own = TypeVar("_Own", bound=_OnStage)


class Visitor(_OnStage):
    """A player, as behaviors see one."""

    __slots__ = ("_part", "_player")

    def __init__(
        self, player: Player, stage: BehaviorContext, part: RunningBehavior | None = None
    ) -> None:
        """Show a player to a behavior, whose pace counts for what the player is sent."""
        self._player = player
        self._stage = stage
        self._part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Visitor) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Visitor({self.name!r})"

    @property
    def id(self) -> int:
        """The character's number; the same whenever that character comes."""
        return self._player.id

    @property
    def name(self) -> str:
        """The character's name."""
        return self._player.name

    @property
    def level(self) -> int:
        """The character's level."""
        return self._player.character.level

    @property
    def race(self) -> int:
        """The number of its race."""
        return self._player.character.race

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._player.position[:3]

    @_timed
    def tell(self, text: str) -> None:
        """Show it a text that nobody else sees; it may have several lines."""
        limits = self._stage.limits
        lines = plain.text(text, "a text", limits.text, lines=True).splitlines()
        if lines and self._is_to_be_sent():
            self._stage.chat.line(self._player, "\n".join(lines[: limits.lines]))

    @_timed
    def move_to(self, x: float, y: float, z: float, heading: float | None = None) -> None:
        """Put it somewhere else in this zone."""
        player = self._player
        goal = _position(self._stage, (x, y, z))
        turned = None if heading is None else plain.heading(heading)
        if player.state in IN_ZONE and self._is_to_be_sent():
            at = player.position
            turned = at.heading if turned is None else turned
            moving.teleport(player, goal._replace(heading=turned, grid=at.grid), self._stage.now)

    @_timed
    def send_to(self, zone: str | int, place: Place | None = None) -> None:
        """Send it to another zone, by name, file or number; to its safe place by default.

        It goes when the call is over.
        """
        stage, player = self._stage, self._player
        wanted = _zone_name(zone)
        definition = stage.world.zones.table.named(wanted)
        if definition is None:
            raise EmuError(f"there is no zone {wanted}")
        to = Position(*definition.safe) if place is None else _position(stage, place)
        going = Destination(definition.id, to)
        if player.state in IN_ZONE and not player.is_travelling and self._is_to_be_sent():
            stage.afterwards(lambda: stage.world.start(_send(stage, player, going)))

    @_timed
    def give_title(self, title: str) -> None:
        """Give it a title that everybody sees behind its name from now on."""
        player = self._player
        given = Title(plain.text(title, "a title", self._stage.limits.text).strip())
        if given.text == player.titles.suffix or not self._is_to_be_sent():
            return
        player.titles.give(given)
        player.titles.bear(given)
        player.titles.show(player.spawn)
        player.titles.send(player.client)
        saving.changed(self._stage.world, player, saving.SavedKind.TITLES, self._stage.now)

    def _is_to_be_sent(self) -> bool:
        """Say whether it is to be sent something: it is here, and was not sent too much."""
        return self._player.is_online and self._stage.may_send(self._part, self._player)


class ZoneActor(_OnStage):
    """A zone, as its behavior sees it."""

    __slots__ = ("_part", "name")

    def __init__(self, part: RunningBehavior, stage: BehaviorContext) -> None:
        self.name = str(part.zone.zone_id)
        self._part = part
        self._stage = stage

    @_timed
    def visitors(self) -> list[Visitor]:
        """Return everybody who is in the zone and not hidden."""
        return [
            Visitor(player, self._stage, self._part)
            for player in self._stage.world.players.standing_in(self._part.zone)
            if not player.spawn.hidden
        ]

    @_timed
    def after(self, seconds: float, name: str = "") -> None:
        """Have `on_timer(name)` called after some seconds; once, and anew when it is set again."""
        _set_timer(self._part, self._stage, name, seconds)


class Actor(_OnStage):
    """A spawn, as its behavior sees it."""

    __slots__ = ("_part", "_spawn")

    def __init__(self, part: RunningBehavior, spawn: Spawn, stage: BehaviorContext) -> None:
        self._part = part
        self._spawn = spawn
        self._stage = stage

    @property
    def name(self) -> str:
        """What it is called."""
        return self._spawn.name

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._spawn.position[:3]

    @property
    def home(self) -> Place:
        """Where it was put first."""
        return self._spawn.origin[:3]

    @_timed
    def visitors(self, distance: float) -> list[Visitor]:
        """Return the players within a distance who are not hidden."""
        within = plain.number(distance, "a distance", -_HUGE, math.inf)
        return [
            Visitor(player, self._stage, self._part)
            for player in _players_near(self._stage, self._part, self._spawn, within)
            if not player.spawn.hidden
        ]

    @_timed
    def say(self, text: str) -> None:
        """Speak, to those who are near."""
        self._speak(text, "say")

    @_timed
    def emote(self, text: str) -> None:
        """Do something in words, before those who are near."""
        self._speak(text, "emote")

    @_timed
    def walk(self, *points: Place, speed: float = WALKING) -> None:
        """Go from point to point; `on_arrive` is called at the last one."""
        stage, limits = self._stage, self._stage.limits
        if points:
            goals = [_position(stage, point) for point in points[: limits.longest_way]]
            wanted = plain.number(speed, "a speed", -_HUGE, _HUGE)
            fastest = stage.world.rules.movement.fastest
            self._part.way = Way(goals, max(0.1, min(wanted, fastest)))
            stage.arm(self._part, STEP, limits.step)

    @_timed
    def stop(self) -> None:
        """Stand where it is."""
        self._part.way = None
        if self._stage.deadlines.clear(self._part, STEP):
            self._spawn.move(self._spawn.position)

    @_timed
    def look_at(self, visitor: Visitor) -> None:
        """Turn to a player."""
        at = self._spawn.position
        heading = at.heading_to(_player_of(visitor).position)
        self._spawn.move(at._replace(heading=heading), speed=self._spawn.speed)

    @_timed
    def ask(self, visitor: Visitor, text: str, *choices: str) -> None:
        """Open a dialog for a player; `on_choice` gets the answer it chooses."""
        stage, limits = self._stage, self._stage.limits
        player = _player_of(visitor)
        question = plain.text(text, "a text", limits.text, lines=True)
        answers = [
            plain.text(choice, "an answer", limits.text) for choice in choices[: limits.choices]
        ]
        if player.is_online and stage.may_send(self._part, player):
            stage.dialogs.open(self._part, player, question, answers)

    @_timed
    def after(self, seconds: float, name: str = "") -> None:
        """Have `on_timer(name)` called after some seconds; once, and anew when it is set again."""
        _set_timer(self._part, self._stage, name, seconds)

    def _speak(self, text: str, channel: str) -> None:
        stage, part = self._stage, self._part
        said = plain.text(text, "a text", stage.limits.text)
        if not stage.may_speak(part):
            return
        near = _players_near(stage, part, self._spawn, stage.world.rules.hear)
        hearers = [player for player in near if stage.may_hear(part, player)]
        stage.chat.spawn_says(self._spawn, hearers, said, channel)


def _players_near(
    stage: BehaviorContext, part: RunningBehavior, spawn: Spawn, distance: float
) -> list[Player]:
    at = spawn.position
    return [
        player
        for player in stage.world.players.standing_in(part.zone)
        if player.position.distance_to(at) <= distance
    ]


def _player_of(visitor: Visitor) -> Player:
    """Return the player that a behavior names. Raises `TypeError` for what is no visitor."""
    if type(visitor) is not Visitor:
        raise TypeError("that is no visitor")
    return visitor._player  # noqa: SLF001  # its own kind


async def _send(stage: BehaviorContext, player: Player, to: Destination) -> None:
    """Send a player to another zone; one that cannot go stays."""
    try:
        await leaving.change_zone(stage.world, player, to, stage.now)
    except EmuError:
        stage.counters["not sent to a zone"] += 1


def _zone_name(zone: object) -> str:
    if issubclass(type(zone), int):
        return str(int.__index__(zone))  # type: ignore[arg-type]  # not the behavior's own method
    return plain.text(zone, "a zone", LONGEST_ZONE)


def _set_timer(part: RunningBehavior, stage: BehaviorContext, name: str, seconds: float) -> None:
    limits = stage.limits
    what = TIMER + plain.text(name, "a timer's name", limits.timer_name)
    wait = max(
        limits.shortest_timer, plain.number(seconds, "seconds", -_HUGE, limits.longest_timer)
    )
    if what not in part.timers and len(part.timers) >= limits.timers:
        raise EmuError(f"{part.name} has {limits.timers} timers already")
    part.timers.add(what)
    stage.arm(part, what, wait)


def _position(stage: BehaviorContext, place: Place) -> Position:
    """Return a place that a behavior named. Raises `TypeError` and `ValueError`."""
    return plain.place(place, stage.world.rules.movement.farthest)
