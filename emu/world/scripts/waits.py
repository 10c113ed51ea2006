"""Timers and proximity for scripts: what they name, as the timers and watches of the world.

Nothing is looked at while no player is in the zone: timers that fall due then wait for the next
player. Source: docs/guides/lua.md#time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.minds.nearness import AtPlace, NearOthers, NearSpawn
from emu.world.minds.shared import Minds
from emu.world.minds.shares import OF_PLAYERS, Shares
from emu.world.minds.timers import MindTimer
from emu.world.scripts.bodies import Body, Home, Homes
from emu.world.scripts.calls import Calls
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

MOST_TIMERS: Final = 64
"""Timers of one spawn."""
MOST_PLACES: Final = 256
"""Places that the script of one zone watches; the community's largest script has 33."""
MOST_OTHERS: Final = 16
"""Kinds of spawns that one spawn watches."""
DESPAWN: Final = "\0despawn"
"""The function of a timer that removes its spawn: no script can name it."""


class Waits:
    """The timers of scripts, and what they watch."""

    def __init__(
        self,
        *,
        calls: Calls,
        homes: Homes,
        shares: Shares,
        minds: Minds,
        despawn: Callable[[Zone, Spawn], object],
    ) -> None:
        """`despawn` removes a spawn of the content file from its zone."""
        self._calls = calls
        self._shares = shares
        self._homes = homes
        self._timers = minds.timers
        self._nearness = minds.nearness
        self.despawn = despawn

    # -- timers -----------------------------------------------------------------------------------

    def add_timer(
        self, body: Body, seconds: float, function: str, times: int = 1, other: Body | None = None
    ) -> None:
        """Call a function of a spawn's script later, and as often again after the same time."""
        if self._timers.count(body) >= MOST_TIMERS:
            self._calls.counters["timers left out"] += 1
            return
        is_despawn = function == DESPAWN
        ring = self._despawn if is_despawn else partial(self._ring, function=function, other=other)
        file = body.script if body.player is None else OF_PLAYERS
        self._timers.add_timer(
            MindTimer(
                owner=body, name=function, zone=body.home.zone, ring=partial(ring, body),
                seconds=seconds, times=times, waits_for_player=True,
                # A spawn has a limited number of timers.
                pace=None if is_despawn else partial(self._shares.do, file, is_bounded=True),
            )
        )  # fmt: skip

    def stop_timers(self, body: Body, function: str) -> None:
        """Stop the timers of a spawn with one function; all of them if that is empty."""
        self._timers.stop(body, function)

    def _despawn(self, body: Body) -> None:
        self.despawn(body.home.zone, body.spawn)

    def _ring(self, body: Body, *, function: str, other: Body | None) -> None:
        other = other if other is None or not other.is_gone else None
        if body.player is None:
            self._calls.call(body, function, other)
            return
        # A function of the scripts of players: of the one of its zone, else of all zones'.
        for name in (body.home.name, "global"):
            path = self._calls.files.find(f"PlayerScripts/{name}.lua")
            if path and self._calls.run(path, function, body.home, body, other).is_found:
                return

    # -- nearness ---------------------------------------------------------------------------------

    def watch_players(self, body: Body, distance: float, enter: str, leave: str) -> None:
        """Call functions when players come near a spawn and leave it; replace those of before."""
        self._nearness.forget(body, NearSpawn)
        watch = NearSpawn(
            zone=body.home.zone, spawn=body.spawn, distance=distance,
            came=self._soon(body, enter), went=self._soon(body, leave),
        )  # fmt: skip
        self._nearness.add_watch(body, watch, most=1)

    def watch_spawns(
        self, body: Body, others: Callable[[], list[Body]], distance: float, enter: str, leave: str
    ) -> None:
        """Call functions when some of the zone's spawns come near a spawn and leave it."""
        watch = NearOthers(
            zone=body.home.zone, spawn=body.spawn, distance=distance,
            others=lambda: [other.spawn for other in others()],
            came=self._soon(body, enter), went=self._soon(body, leave),
        )  # fmt: skip
        self._nearness.add_watch(body, watch, most=MOST_OTHERS)

    def watch_place(
        self, home: Home, place: Position, distance: float, enter: str, leave: str
    ) -> None:
        """Call functions of a zone's script when players come to a place and leave it."""
        watch = AtPlace(
            zone=home.zone, place=place, distance=distance,
            # Without a function for leaving, each player is greeted once in a stay.
            greets_once=not leave, came=self._soon(home, enter), went=self._soon(home, leave),
        )  # fmt: skip
        self._nearness.add_watch(home, watch, most=MOST_PLACES)

    def _soon(self, owner: Body | Home, function: str) -> Callable[[Any], None]:
        """Return what calls a function of a script when the share of its file allows it."""

        def call(subject: Player | Spawn) -> None:
            if isinstance(subject, Player):
                other: Body | None = self._homes.player(subject)
            else:
                zone = owner.home.zone if isinstance(owner, Body) else owner.zone
                other = self._homes.body(subject, zone)
            if function and other is not None:
                self._shares.do(owner.script, partial(self._call, owner, function, other))

        return call

    def _call(self, owner: Body | Home, function: str, other: Body) -> None:
        if not other.is_gone:
            self._calls.call(owner, function, other)

    def forget(self, owner: Body | Home) -> None:
        """End what a spawn, a player or a zone that is gone waits for."""
        self._timers.stop(owner)
        self._nearness.forget(owner)
