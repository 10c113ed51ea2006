"""Grids of a zone, which spawns enter and leave: the zone's script hears of it.

A player is in the grid that its client says. A creature on its way is looked at once a second, as
EQ2Emulator's server does it, while a player is in the zone.
Source: docs/guides/lua.md#zones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import Events, GridChanged, Order
from emu.world.minds.shares import Shares
from emu.world.minds.walks import Walks
from emu.world.scripts.bodies import Body, Home, Homes
from emu.world.scripts.calls import Calls

PAUSE: Final = 1.0
"""Seconds between two comparisons of the grids of those who walk."""
_COMPARE: Final = "compare"


class GridEvents:
    """Calls `enter_location` and `leave_location` of zones' scripts."""

    def __init__(
        self, *, calls: Calls, homes: Homes, shares: Shares, walks: Walks, events: Events,
        timetable: Timetable, now: Callable[[], Monotonic],
    ) -> None:  # fmt: skip
        """Subscribe to the grids of players."""
        self._calls, self._homes, self._shares, self._walks = calls, homes, shares, walks
        self._now = now
        self._grids: dict[Home, dict[Spawn, int]] = {}
        """Those of creatures on their way, as they were at the last comparison."""
        self._deadlines: Deadlines[Home, str] = timetable.deadlines(
            "the grids of those who walk", self._compare
        )
        events.subscribe(GridChanged, self._changed, Order.MINDS)

    def entered(self, home: Home, body: Body) -> None:
        """Begin with the grid in which a player stands; the zone's script knows the player."""
        if home.script:
            self._deadlines.set(home, _COMPARE, Monotonic(self._now() + PAUSE))
            self._call(home, body, 0, body.spawn.position.grid)

    def ended(self, home: Home) -> None:
        """Forget a zone that ends."""
        self._grids.pop(home, None)
        self._deadlines.clear(home, _COMPARE)

    def _changed(self, event: GridChanged) -> None:
        home = self._homes.get(event.player.zone)
        if home is not None and home.is_ready and event.player not in home.newcomers:
            self._call(home, self._homes.player(event.player), event.before, event.grid)

    def _compare(self, home: Home, _what: str, now: Monotonic) -> None:
        """Compare the grids of those who walk, as long as the zone's script has a function."""
        if not self._homes.players_in(home):
            self._grids.pop(home, None)
            return
        before = self._grids.get(home, {})
        grids = self._grids[home] = {
            spawn: spawn.position.grid for spawn in self._walks.walking(home.zone)
        }
        self._deadlines.set(home, _COMPARE, Monotonic(now + PAUSE))
        for spawn, grid in grids.items():
            was = before.get(spawn, grid)
            body = self._homes.body(spawn, home.zone) if was != grid else None
            if body is not None:
                self._shares.do(home.script, partial(self._call, home, body, was, grid))

    def _call(self, home: Home, body: Body, before: int, grid: int) -> None:
        """Call both functions. Grid 0 is none."""
        found = [
            self._calls.ask(home, name, body, number).is_found
            for name, number in (("leave_location", before), ("enter_location", grid))
            if number
        ]
        if found and not any(found):
            # Walkers are compared again when a player enters: the script may be another one then.
            self._grids.pop(home, None)
            self._deadlines.clear(home, _COMPARE)
