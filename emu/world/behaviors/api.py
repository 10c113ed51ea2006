"""The world API: what a behavior can do with its spawn, its zone and a visitor.

An `Actor` is a spawn, a `ZoneActor` a zone, and a `Visitor` a player. No method takes or returns an
object of the server, so behaviors keep working when the server changes. Every argument becomes an
exact number or text (`emu.world.minds.plain`) before it is used. Messages to players are rate
limited; the rest is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from emu.errors import EmuError
from emu.items.held import LAST_NUMBER
from emu.model import SavedKind, Title
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Destination, Spawn
from emu.world.behaviors.context import BehaviorContext
from emu.world.behaviors.hooks import Hook
from emu.world.behaviors.memory import Memory
from emu.world.behaviors.running import RunningBehavior
from emu.world.conversations import DialogPage, Ends
from emu.world.items.gifts import MOST_MADE
from emu.world.minds import plain
from emu.world.minds.moves import Mover
from emu.world.minds.timers import MindTimer
from emu.world.minds.walks import Waypoint
from emu.world_stream.movement import Position

Place = tuple[float, float, float]
"""x, y, z in world units; Y is up."""

WALKING: Final = 2.5
RUNNING: Final = 5.0
"""The default speed of `Actor.walk`, in units per second."""
LONGEST_ZONE: Final = 128
"""Characters of a zone's name that are read."""
ARRIVED: Final = "arrived"
"""The mark of the last point of a way."""
MOST_COPPER: Final = 2_000_000_000
"""Coins that one call gives or takes at most."""
_HUGE: Final = 1e9
"""The bound of numbers that are then clamped."""

P = ParamSpec("P")
T = TypeVar("T")


def _timed(
    method: Callable[Concatenate[_Own, P], T],
) -> Callable[Concatenate[_Own, P], T]:
    """Make a method check the behavior's time before and after its work.

    The guard never interrupts code of the server, because a half-done change would corrupt the
    world. A behavior that spends its time in these methods is stopped here instead: by `OutOfTime`.
    """

    @wraps(method)
    def call(self: _Own, /, *values: P.args, **named: P.kwargs) -> T:
        check = self._context.budget.check
        check()
        result = method(self, *values, **named)
        check()
        return result

    return call


class _WorldObject:
    """The base of visitors and actors."""

    __slots__ = ("_context",)

    _context: BehaviorContext


_Own = TypeVar("_Own", bound=_WorldObject)


class Visitor(_WorldObject):
    """A player, as a behavior has it.

    Visitors of the same character are equal. A visitor may be kept: while the player is offline,
    its methods do nothing. The rate limits of the behavior drop what is sent too often.
    """

    __slots__ = ("_behavior", "_player")

    def __init__(
        self, player: Player, context: BehaviorContext, behavior: RunningBehavior | None = None
    ) -> None:
        """Wrap a player. What it is sent counts against the rate limit of `behavior`."""
        self._player = player
        self._context = context
        self._behavior = behavior

    def __eq__(self, other: object) -> bool:
        # A visitor object is made for each call, so behaviors compare characters and not objects.
        return isinstance(other, Visitor) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Visitor({self.name!r})"

    @property
    def id(self) -> int:
        """The character's id; the same on every visit."""
        return self._player.id

    @property
    def name(self) -> str:
        """The character's name."""
        return self._player.name

    @property
    def level(self) -> int:
        """The character's level, from 1."""
        return self._player.character.level

    @property
    def race(self) -> int:
        """The number of the character's race, as clients have it."""
        return self._player.character.race

    @property
    def place(self) -> Place:
        """The player's position: x, y, z in world units; Y is up."""
        return self._player.position[:3]

    @_timed
    def tell(self, text: str) -> None:
        """Show the player a text that no other player sees; it may have several lines.

        Raises `TypeError` if the text is no `str`.
        """
        limits = self._context.limits
        # Checked before `_is_to_be_sent`: a text that cannot be sent must not count.
        lines = plain.text(text, "a text", limits.text, kept="\n").splitlines()
        if lines and self._is_to_be_sent():
            self._context.chat.line(self._player, "\n".join(lines[: limits.lines]))

    @_timed
    def move_to(self, x: float, y: float, z: float, heading: float | None = None) -> None:
        """Put the player at another place in this zone.

        x, y and z are world units from -32,000 to 32,000; Y is up. The heading is in degrees, None
        keeps the present one. Raises `TypeError` and `ValueError`.
        """
        player = self._player
        goal = _position(self._context, (x, y, z))
        # Every argument is made plain before the first change: a bad heading must not move the
        # player halfway.
        turned = None if heading is None else plain.heading(heading)
        if player.state in IN_ZONE and self._is_to_be_sent():
            at = player.position
            turned = at.heading if turned is None else turned
            player.teleport(goal._replace(heading=turned, grid=at.grid), self._context.now)

    @_timed
    def send_to(self, zone: str | int, place: Place | None = None) -> None:
        """Send the player to another zone, by name, file or number, after the call has returned.

        The place is x, y, z in world units; without one the player arrives at the zone's safe
        place. If the zone is full or locked, the player stays. Raises `EmuError` for an unknown
        zone.
        """
        context, player = self._context, self._player
        wanted = _zone_name(zone)
        definition = context.world.zones.table.named(wanted)
        if definition is None:
            raise EmuError(f"there is no zone {wanted}")
        to = Position(*definition.safe) if place is None else _position(context, place)
        going = Destination(definition.id, to)
        if player.state in IN_ZONE and not player.journey.is_travelling and self._is_to_be_sent():
            # Taking a player out of its zone calls behaviors' `on_leave`, which must not happen
            # inside this call.
            context.afterwards(lambda: context.world.start(_send(context, player, going)))

    @_timed
    def give_title(self, title: str) -> None:
        """Give the player a title and show it behind the name.

        The title is saved with the character. Raises `TypeError` if it is no `str`.
        """
        player = self._player
        given = Title(plain.text(title, "a title", self._context.limits.text).strip())
        # Behaviors give the same title at each meeting; that costs nothing and saves nothing.
        if given.text == player.titles.suffix or not self._is_to_be_sent():
            return
        player.titles.give(given)
        player.titles.bear(given)
        player.titles.show(player.spawn)
        player.titles.send(player.client)
        self._context.world.saves.changed(player, SavedKind.TITLES, self._context.now)

    @_timed
    def has(self, item: int, count: int = 1) -> bool:
        """Return whether the player carries or wears so many things of a kind, by its number.

        Raises `TypeError` and `ValueError`.
        """
        number, many = _item_number(item), _many(count)
        return self._context.gifts.has(self._player, number, many)

    @_timed
    def give(self, item: int, count: int = 1) -> bool:
        """Give the player new things of a kind, by its number.

        Returns False if there is no such kind, or if the player may not have more of it, which
        a line says to it. What finds no place waits. Raises `TypeError` and `ValueError`.
        """
        number, many = _item_number(item), _many(count)
        return self._is_to_be_sent() and self._context.gifts.give(self._player, number, many)

    @_timed
    def take(self, item: int, count: int = 1) -> bool:
        """Take things out of the player's bags; False, and nothing, if there are too few.

        Raises `TypeError` and `ValueError`.
        """
        number, many = _item_number(item), _many(count)
        return self._is_to_be_sent() and self._context.gifts.take_things(self._player, number, many)

    @_timed
    def coin(self, copper: int) -> bool:
        """Give the player coins, in copper, or take them with a number below 0.

        Returns False, and takes none, if the player has too few. Raises `TypeError` and
        `ValueError`.
        """
        amount = int(plain.number(copper, "copper", -MOST_COPPER, MOST_COPPER))
        if not self._is_to_be_sent():
            return False
        if amount < 0:
            return self._context.gifts.take_coins(self._player, -amount)
        self._context.gifts.give_coins(self._player, amount)
        return True

    def _is_to_be_sent(self) -> bool:
        """Return whether the player is online and within its rate limits; count the message."""
        return self._player.is_online and self._context.pacing.may_send(
            self._behavior, self._player
        )


class _Remembering(_WorldObject):
    """What has a behavior of its own: a spawn or a zone."""

    __slots__ = ("_behavior",)

    _behavior: RunningBehavior

    @property
    def memory(self) -> Memory:
        """What it remembers: a dict of plain values that is stored with it.

        It survives a reload and a restart. All instances of the zone share it.
        """
        behavior = self._behavior
        return self._context.memories.of(behavior.zone.zone_id, behavior.key)

    @_timed
    def memory_of(self, visitor: Visitor) -> Memory:
        """Return what it remembers of a player; that ends with the character."""
        behavior, player = self._behavior, _player_of(visitor)
        return self._context.memories.of(behavior.zone.zone_id, behavior.key, player.id)


class ZoneActor(_Remembering):
    """A zone, as its behavior has it; `name` is the zone's number as a text."""

    __slots__ = ("name",)

    def __init__(self, behavior: RunningBehavior, context: BehaviorContext) -> None:
        self.name = str(behavior.zone.zone_id)
        self._behavior = behavior
        self._context = context

    @_timed
    def visitors(self) -> list[Visitor]:
        """Return the players in the zone who are not hidden."""
        return [
            Visitor(player, self._context, self._behavior)
            for player in self._context.world.players.standing_in(self._behavior.zone)
            if not player.spawn.hidden
        ]

    @_timed
    def after(self, seconds: float, name: str = "") -> None:
        """Set a timer: `on_timer(name)` is called once, after some seconds. Setting it moves it.

        A timer lasts at most one year. Raises `EmuError` for a 17th timer.
        """
        _set_timer(self._behavior, self._context, name, seconds)


class Actor(_Remembering):
    """A spawn, as its behavior has it."""

    __slots__ = ("_spawn",)

    def __init__(self, behavior: RunningBehavior, spawn: Spawn, context: BehaviorContext) -> None:
        self._behavior = behavior
        self._spawn = spawn
        self._context = context

    @property
    def name(self) -> str:
        """The spawn's name."""
        return self._spawn.name

    @property
    def place(self) -> Place:
        """The spawn's position now: x, y, z in world units; Y is up."""
        self._mover.refresh()
        return self._spawn.position[:3]

    @property
    def home(self) -> Place:
        """The position at which the spawn was added to the zone: x, y, z in world units."""
        return self._spawn.origin[:3]

    @_timed
    def visitors(self, distance: float) -> list[Visitor]:
        """Return the players within a distance, in world units, who are not hidden.

        The distance ignores height. Raises `TypeError` and `ValueError`.
        """
        within = plain.number(distance, "a distance", -_HUGE, math.inf)
        return [
            Visitor(player, self._context, self._behavior)
            for player in _players_near(self._context, self._behavior, self._spawn, within)
            if not player.spawn.hidden
        ]

    @_timed
    def say(self, text: str) -> None:
        """Say something to the players who are near enough to hear it.

        A text has at most 1,024 characters; the rest is cut. Raises `TypeError` if it is no `str`.
        """
        self._speak(text, "say")

    @_timed
    def emote(self, text: str) -> None:
        """Show an emote in words to the players near: `emote("bows")`. Limits as for `say`."""
        self._speak(text, "emote")

    @_timed
    def walk(self, *points: Place, speed: float = WALKING) -> None:
        """Walk from point to point; `on_arrive` is called at the last one.

        A point is x, y, z in world units, the speed in units per second. A new walk replaces the
        present one; points beyond the 64th are left out. Raises `TypeError` and `ValueError`.
        """
        context, limits = self._context, self._context.limits
        if points:
            goals = [_position(context, point) for point in points[: limits.longest_way]]
            pace = self._pace(speed)
            # A walk does not know the cells of the map that it crosses.
            grid = self._spawn.position.grid
            way = [Waypoint(goal._replace(grid=grid), pace) for goal in goals]
            way[-1] = way[-1]._replace(mark=ARRIVED)
            mover = self._mover
            mover.set_way(way)
            self._afterwards(mover.set_off)

    @_timed
    def stop(self) -> None:
        """Stop the walk; `on_arrive` is not called."""
        self._mover.stop()

    @_timed
    def follow(self, visitor: Visitor, distance: float = 2.0, speed: float = RUNNING) -> None:
        """Run after a player, around what is in the way, until `stop`, `go_home` or `walk`.

        The spawn stops at a distance in world units, and goes on when the player does. With maps it
        keeps to the ground. It ends when the player leaves the zone; a creature of water does not
        leave it. Raises `TypeError` and `ValueError`.
        """
        near = plain.number(distance, "a distance", 0.0, _HUGE)
        pace = self._pace(speed)
        target, mover = _player_of(visitor).spawn, self._mover
        self._afterwards(lambda: mover.hunt(target, lambda: None, speed=pace, distance=near))

    @_timed
    def go_home(self, speed: float = WALKING) -> None:
        """Go to `home`, around what is in the way, and follow nobody.

        Raises `TypeError` and `ValueError`.
        """
        pace, mover = self._pace(speed), self._mover
        mover.chase = mover.home = None
        self._afterwards(lambda: mover.return_to(self._spawn.origin, pace))

    @_timed
    def flee(self, speed: float = RUNNING) -> bool:
        """Run to any place within 100 units that can be reached, and follow nobody.

        Returns False in a zone without a navigation mesh: nobody knows where to run. Raises
        `TypeError` and `ValueError`.
        """
        pace, mover = self._pace(speed), self._mover
        mover.chase = None
        return mover.flee(pace)

    def _afterwards(self, act: Callable[[], object]) -> None:
        """Set off after the call: what fails then is the server's fault."""
        self._context.afterwards(lambda: self._context.attempt(self._behavior, act))

    def _pace(self, speed: float) -> float:
        wanted = plain.number(speed, "a speed", -_HUGE, _HUGE)
        # Clients extrapolate speeds, so a huge one would throw the spawn across their screens.
        return max(0.1, min(wanted, self._context.world.rules.movement.fastest))

    @_timed
    def look_at(self, visitor: Visitor) -> None:
        """Turn the spawn to a player; one that walks looks where it goes.

        Raises `TypeError` for anything but a visitor.
        """
        self._mover.look_at(_player_of(visitor).position)

    @_timed
    def ask(self, visitor: Visitor, text: str, *choices: str) -> None:
        """Open a dialog for a player; `on_choice` is called with the number of the answer.

        Answers count from 1, and those beyond the 16th are left out. Nothing opens if the player's
        client does not have the spawn. Raises `TypeError` if a text is no `str`.
        """
        context, limits = self._context, self._context.limits
        player = _player_of(visitor)
        question = plain.text(text, "a text", limits.text, kept="\n")
        answers = [
            plain.text(choice, "an answer", limits.text) for choice in choices[: limits.choices]
        ]
        if player.is_online and context.pacing.may_send(self._behavior, player):
            context.minds.conversations.open(
                player, self._spawn,
                DialogPage(
                    text=question, title=self._spawn.name, ends=Ends.BY_CLIENT,
                    # Twice the distance of hearing: the player may have walked while it read the
                    # dialog, but must not answer from anywhere.
                    reach=2 * context.world.rules.hear,
                ),
                [(text, number) for number, text in enumerate(answers, 1)],
                owner=self._behavior, most=limits.dialogs,
            )  # fmt: skip

    @_timed
    def after(self, seconds: float, name: str = "") -> None:
        """Set a timer: `on_timer(name)` is called once, after some seconds. Setting it moves it.

        A timer lasts at most one year. Raises `EmuError` for a 17th timer.
        """
        _set_timer(self._behavior, self._context, name, seconds)

    @property
    def _mover(self) -> Mover:
        """What moves the spawn; at the end of a way the behavior is called."""
        behavior, context = self._behavior, self._context
        return context.minds.moves.of(
            self._spawn, behavior.zone, lambda _mark: context.call(behavior, Hook.ARRIVE, "")
        )

    def _speak(self, text: str, channel: str) -> None:
        context, behavior = self._context, self._behavior
        said = plain.text(text, "a text", context.limits.text)
        if not context.pacing.may_speak(behavior):
            return
        # The limits differ: `may_speak` bounds the behavior, `may_hear` what a player gets from all
        # behaviors together.
        near = _players_near(context, behavior, self._spawn, context.world.rules.hear)
        hearers = [player for player in near if context.pacing.may_hear(behavior, player)]
        context.chat.spawn_says(self._spawn, hearers, said, channel)


def _players_near(
    context: BehaviorContext, behavior: RunningBehavior, spawn: Spawn, distance: float
) -> list[Player]:
    at = spawn.position
    return [
        player
        for player in context.world.players.standing_in(behavior.zone)
        if player.position.distance_to(at) <= distance
    ]


def _player_of(visitor: Visitor) -> Player:
    """Return the player of a visitor. Raises `TypeError` for any other object."""
    if type(visitor) is not Visitor:  # a subclass could replace the attribute below by its own code
        raise TypeError("that is not a visitor")
    return visitor._player  # noqa: SLF001  # a class of this module


async def _send(context: BehaviorContext, player: Player, to: Destination) -> None:
    """Send a player to another zone. If the change of zone is refused, the player stays."""
    try:
        await context.departures.change_zone(player, to)
    except EmuError:
        context.counters["not sent to a zone"] += 1


def _item_number(item: int) -> int:
    """Return the number of a kind of things. Raises `TypeError` and `ValueError`."""
    return int(plain.number(item, "an item", 0, LAST_NUMBER))


def _many(count: int) -> int:
    """Return a number of things. Raises `TypeError` and `ValueError`."""
    return int(plain.number(count, "a count", 1, MOST_MADE))


def _zone_name(zone: object) -> str:
    if issubclass(type(zone), int):
        return str(int.__index__(zone))  # type: ignore[arg-type]  # not the behavior's own method
    return plain.text(zone, "a zone", LONGEST_ZONE)


def _set_timer(
    behavior: RunningBehavior, context: BehaviorContext, name: str, seconds: float
) -> None:
    limits = context.limits
    text = plain.text(name, "a timer's name", limits.timer_name)
    wait = max(
        limits.shortest_timer, plain.number(seconds, "seconds", -_HUGE, limits.longest_timer)
    )
    timers, key = context.minds.timers, f"timer {text}"
    # Moving a timer that exists is always allowed.
    if timers.has(behavior, key):
        timers.stop(behavior, key)
    elif timers.count(behavior) >= limits.timers:
        raise EmuError(f"{behavior.name} has {limits.timers} timers already")
    timers.add_timer(
        MindTimer(
            owner=behavior, name=key, zone=behavior.zone, seconds=wait,
            ring=lambda: context.call(behavior, Hook.TIMER, text),
        )
    )  # fmt: skip


def _position(context: BehaviorContext, place: Place) -> Position:
    """Return a behavior's place as a position. Raises `TypeError` and `ValueError`."""
    return plain.place(place, context.world.rules.movement.farthest)
