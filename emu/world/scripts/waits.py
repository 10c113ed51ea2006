"""Timers and proximity for scripts.

Nothing is looked at while no player is in the zone: timers that fall due then wait for the next
player. Source: docs/guides/lua.md#time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import partial
from typing import Final

from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines
from emu.world.scripts.bodies import (
    Body,
    Home,
    Homes,
    Nearness,
    Place,
    SpawnNearness,
    Timer,
    distance_between,
)
from emu.world.scripts.calls import Calls
from emu.world.scripts.shares import OF_PLAYERS, Shares
from emu.world.zones.zone import Zone

NEAR_PAUSE: Final = 2.0
"""Seconds between two looks at who is near a spawn."""
PLACE_PAUSE: Final = 1.0
"""Seconds between two looks at who is at a place."""
MOST_TIMERS: Final = 64
"""Timers of one spawn."""
AT_ONCE: Final = 50
"""Timers of one turn: some milliseconds. A zone that somebody enters has thousands."""
MOST_PLACES: Final = 256
"""Places that the script of one zone watches; the community's largest script has 33."""
MOST_OTHERS: Final = 16
"""Kinds of spawns that one spawn watches."""
SHORTEST_TIMER: Final = 0.01
SHORTEST_REPEAT: Final = 0.1
"""Seconds between the calls of a timer that is to be called several times, at least."""

DESPAWN: Final = "\0despawn"
"""The function of a timer that removes its spawn: no script can name it."""


class Due(enum.Enum):
    """What is due when a deadline expires."""

    TIMER = enum.auto()
    NEAR = enum.auto()
    PLACES = enum.auto()


class Waits:
    """The timers of scripts, and what they watch."""

    def __init__(
        self, calls: Calls, homes: Homes, shares: Shares, wake: Callable[[Monotonic], None],
        now: Callable[[], Monotonic],
    ) -> None:  # fmt: skip
        self._calls = calls
        self._shares = shares
        self._homes = homes
        self._now = now
        self.despawn: Callable[[Zone, Spawn], object] = lambda _zone, _spawn: None
        """Removes a spawn of the content file from its zone."""
        self._deadlines: Deadlines[Timer | Home, Due] = Deadlines(wake)

    # -- timers -----------------------------------------------------------------------------------

    def add_timer(
        self, body: Body, seconds: float, function: str, times: int = 1, other: Body | None = None
    ) -> None:
        """Call a function of a spawn's script later, and as often again after the same time."""
        if len(body.timers) >= MOST_TIMERS:
            self._calls.counters["timers left out"] += 1
            return
        seconds = max(SHORTEST_TIMER, seconds)
        timer = Timer(body, function, other, seconds, max(1, times))
        body.timers += (timer,)
        self._deadlines.set(timer, Due.TIMER, Monotonic(self._now() + seconds))

    def stop_timers(self, body: Body, function: str) -> None:
        """Stop the timers of a spawn with one function; all of them if that is empty."""
        for timer in body.timers:
            if not function or timer.function == function:
                self._stop(timer)

    def _stop(self, timer: Timer) -> None:
        timer.is_stopped = True
        timer.body.timers = tuple(one for one in timer.body.timers if one is not timer)
        self._deadlines.clear(timer, Due.TIMER)

    def _ring(self, timer: Timer) -> None:
        """Call the function of a timer that is due, when the share of its file allows it."""
        body = timer.body
        if not body.home.zone.is_watched:
            body.home.waiting.append(timer)
        elif timer.function == DESPAWN:
            self._stop(timer)
            self.despawn(body.home.zone, body.spawn)
        else:
            # A spawn has a limited number of timers.
            self._shares.do(self._file_of(body), partial(self._run, timer), is_bounded=True)

    def _run(self, timer: Timer) -> None:
        """Call the function of a timer, and set the timer again if it has calls left."""
        body = timer.body
        # It may have waited for its share.
        if timer.is_stopped or body.is_gone:
            return
        timer.times -= 1
        # Before the call: the function may set the same timer again, or stop this one.
        if timer.times > 0:
            pause = max(SHORTEST_REPEAT, timer.seconds)
            self._deadlines.set(timer, Due.TIMER, Monotonic(self._now() + pause))
        else:
            self._stop(timer)
        other = timer.other if timer.other is None or not timer.other.is_gone else None
        if body.player is None:
            self._calls.call(body, timer.function, other)
        else:
            self._call_for_player(body, timer.function, other)

    @staticmethod
    def _file_of(body: Body) -> str:
        return body.script if body.player is None else OF_PLAYERS

    def _soon(self, owner: Body | Home, function: str, other: Body) -> None:
        """Call a function of an owner's script when the share of its file allows it."""

        def act() -> None:
            if not other.is_gone:
                self._calls.call(owner, function, other)

        self._shares.do(owner.script, act)

    def _call_for_player(self, body: Body, function: str, other: Body | None) -> None:
        """Call a function of the scripts of players: of the one of its zone, else of all zones'."""
        for name in (body.home.name, "global"):
            path = self._calls.find(f"PlayerScripts/{name}.lua")
            if path and self._calls.run(path, function, body.home, body, other).is_found:
                return

    # -- nearness ---------------------------------------------------------------------------------

    def watch_players(self, body: Body, distance: float, enter: str, leave: str) -> None:
        """Call functions when players come near a spawn and leave it; replace those of before."""
        body.nearness = Nearness(distance, enter, leave, {})
        self._watch_near(body)

    def watch_spawns(self, body: Body, watched: SpawnNearness) -> None:
        """Call functions when spawns of one number come near a spawn and leave it."""
        if len(body.near_spawns) < MOST_OTHERS:
            body.near_spawns += (watched,)
            self._watch_near(body)

    def watch_place(self, home: Home, place: Place) -> None:
        """Call functions of a zone's script when players come to a place and leave it."""
        if len(home.places) < MOST_PLACES:
            home.places.append(place)
            self._watch(home, Due.PLACES)

    def _watch_near(self, body: Body) -> None:
        body.home.near[body] = None
        self._watch(body.home, Due.NEAR)

    def _watch(self, home: Home, what: Due) -> None:
        if self._deadlines.get(home, what) is None and self._homes.players_in(home):
            self._deadlines.set(home, what, self._now())

    # -- players and zones ------------------------------------------------------------------------

    def entered(self, home: Home, now: Monotonic) -> None:
        """Go on with what waits for a player."""
        waiting, home.waiting = home.waiting, []
        for timer in waiting:
            if not timer.is_stopped:
                self._deadlines.set(timer, Due.TIMER, now)
        if home.near:
            self._deadlines.set(home, Due.NEAR, now)
        if home.places:
            self._deadlines.set(home, Due.PLACES, now)

    def left(self, home: Home, player: Player) -> None:
        """Forget where a player was who leaves a zone; a player who comes back is greeted again."""
        # No function is called: EQ2Emulator's server calls none either.
        for near in home.near:
            if near.nearness is not None:
                near.nearness.inside.pop(player.id, None)
        for place in home.places:
            place.inside.pop(player.id, None)

    def forget(self, body: Body) -> None:
        """End the timers of a spawn that is gone."""
        for timer in body.timers:
            self._stop(timer)

    def ended(self, home: Home) -> None:
        """Forget a zone that ends."""
        self._deadlines.forget(home, (Due.NEAR, Due.PLACES))

    # -- time -------------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`, None if nothing is due."""
        return self._deadlines.next()

    def handle_timer(self, now: Monotonic) -> None:
        """Call what is due, as much as one turn may take; `get_timer` then returns the past."""
        for owner, what in self._deadlines.some_due(now, AT_ONCE):
            if isinstance(owner, Timer):
                self._ring(owner)
            elif players := self._homes.players_in(owner):
                if what is Due.NEAR:
                    self._look_near(owner, players, now)
                else:
                    self._look_at_places(owner, players, now)
            if self._shares.is_turn_over:
                return

    def _look_near(self, home: Home, players: list[Player], now: Monotonic) -> None:
        """Call the functions of the spawns to which somebody came near, or whom they left."""
        if home.near:
            self._deadlines.set(home, Due.NEAR, Monotonic(now + NEAR_PAUSE))
        for body in list(home.near):
            if body.nearness is not None:
                self._compare(body, body.nearness, players)
            for watched in body.near_spawns:
                self._compare_spawns(body, watched)

    def _compare(self, body: Body, nearness: Nearness, players: list[Player]) -> None:
        inside, spawn = nearness.inside, body.spawn
        x, z, most = spawn.position.x, spawn.position.z, nearness.distance
        for player in players:
            # A function that ran just now may have sent the player to another zone.
            if player.zone is not body.home.zone:
                continue
            at = player.spawn.position
            is_inside = player.id in inside
            # Most players are far from most spawns: this is asked for each pair of them.
            if not is_inside and (abs(at.x - x) > most or abs(at.z - z) > most):
                continue
            distance = distance_between(spawn, player.spawn)
            if is_inside and distance > most:
                del inside[player.id]
                function = nearness.leave
            elif not is_inside and distance < most and _may_notice(spawn, player):
                inside[player.id] = player
                function = nearness.enter
            else:
                continue
            if function:
                self._soon(body, function, self._homes.player(player))

    def _compare_spawns(self, body: Body, watched: SpawnNearness) -> None:
        home = body.home
        others = home.by_location.get(watched.number, ())
        if not watched.is_location:
            others = list(home.of_spawn(watched.number))
        near = {
            other for other in others
            if other is not body and distance_between(body.spawn, other.spawn) < watched.distance
        }  # fmt: skip
        gone, new = watched.inside - near, near - watched.inside
        watched.inside.clear()
        watched.inside.update(near)
        for function, found in ((watched.leave, gone), (watched.enter, new)):
            for other in sorted(found, key=lambda one: one.spawn.id):
                if function and not other.is_gone:
                    self._soon(body, function, other)

    def _look_at_places(self, home: Home, players: list[Player], now: Monotonic) -> None:
        """Call the functions of the places to which players came, or which they left."""
        if home.places:
            self._deadlines.set(home, Due.PLACES, Monotonic(now + PLACE_PAUSE))
        for place in list(home.places):
            inside = place.inside
            for player in players:
                is_there = place.has(player.spawn)
                if player.zone is not home.zone or is_there == (player.id in inside):
                    continue
                function = place.enter if is_there else place.leave
                if is_there:
                    inside[player.id] = player
                elif function:
                    del inside[player.id]
                # A place without a function for leaving greets each player once in a stay.
                if function:
                    self._soon(home, function, self._homes.player(player))


def _may_notice(spawn: Spawn, player: Player) -> bool:
    """Return whether a spawn may call its function of nearness for a player beside it.

    A client that enters is sent its ghosts one after another, so a spawn waits until it is there.
    A spawn that is hidden from the player does not wait: 123 scripts of the community hide their
    spawn and show it to those who come near.
    """
    return player.index_of(spawn) is not None or not spawn.may_be_seen_by(player.spawn)
