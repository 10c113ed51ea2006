"""The scripts of regions: parts of a zone, such as water, that spawns enter and leave.

Who knows the regions of a zone's map calls `entered` and `left`.
Source: docs/guides/lua.md#zones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import Entered, Events, Order
from emu.world.minds.shares import LEAST_PAUSE, Shares
from emu.world.scripts.bodies import Body, Home, Homes
from emu.world.scripts.calls import Calls
from emu.world.zones.zone import Zone

SHORTEST_TICK: Final = 0.1
LONGEST_TICK: Final = 86_400.0
STOP: Final = 1
"""The result of `Tick` that ends the ticks."""


@dataclass(slots=True)
class _Stay:
    """A spawn in a region: the region's kind, and the seconds between two ticks."""

    kind: int
    pause: float


class RegionEvents:
    """Calls the functions of regions' scripts."""

    def __init__(
        self, *, calls: Calls, homes: Homes, shares: Shares, events: Events,
        timetable: Timetable, now: Callable[[], Monotonic],
    ) -> None:  # fmt: skip
        self._calls = calls
        self._shares = shares
        self._homes = homes
        self._now = now
        self._stays: dict[Body, dict[str, _Stay]] = {}
        self._ticks: Deadlines[Body, str] = timetable.deadlines("the ticks of regions", self._tick)
        events.subscribe(Entered, self._entered, Order.MINDS)

    def script(self, home: Home, region: str, environment: str) -> str:
        """Return the script of a region, by its name or that of its environment; else the default.

        Empty: there is none.
        """
        return self.chooser(home)(region, environment)

    def chooser(self, home: Home) -> Callable[[str, str], str]:
        """Return `script` of one zone for many regions, as its files are now."""
        # Folders have the name of the zone's file; most zones have the same name. They are listed
        # once: a zone may have hundreds of regions, and to ask for each file takes 20 us.
        folders = [
            (folder, self._calls.files.names_in(folder))
            for folder in dict.fromkeys(
                f"RegionScripts/{name.lower()}" for name in (home.zone.definition.file, home.name)
            )
        ]

        def chosen(region: str, environment: str) -> str:
            # Names of maps have an ending, which those of scripts have not.
            stems = [name.partition(".")[0] for name in (region, environment, "default")]
            paths = (
                f"{folder}/{stem}.lua"
                for folder, names in folders
                for stem in stems
                if stem and f"{stem}.lua" in names
            )
            return next(paths, "")

        return chosen

    def entered(self, zone: Zone, spawn: Spawn, region: str, environment: str, kind: int) -> None:
        """Call `EnterRegion`; its result is the milliseconds between two calls of `Tick`."""
        body = self._homes.body(spawn, zone)
        script = self.script(body.home, region, environment) if body is not None else ""
        if body is None or not script or script in self._stays.get(body, ()):
            return
        stay = self._stays.setdefault(body, {})[script] = _Stay(kind, 0.0)
        self._begin(body, script, stay)

    def _begin(self, body: Body, script: str, stay: _Stay) -> None:
        """Call `EnterRegion`, once the script can run: until then its calls would do nothing."""
        if not self._stays_in(body, script, stay):
            return
        if self._calls.files.is_awaited(script):
            self._calls.files.when_compiled(script, partial(self._begin, body, script, stay))
            return
        value = self._calls.run(script, "EnterRegion", body.home, body, stay.kind).value
        # The call may have sent the spawn away.
        if not self._stays_in(body, script, stay):
            return
        if isinstance(value, int | float) and math.isfinite(value) and value > 0:
            stay.pause = min(max(value / 1000, SHORTEST_TICK), LONGEST_TICK)
            self._ticks.set(body, script, Monotonic(self._now() + stay.pause))

    def _stays_in(self, body: Body, script: str, stay: _Stay) -> bool:
        return self._stays.get(body, {}).get(script) is stay

    def left(self, zone: Zone, spawn: Spawn, region: str, environment: str) -> None:
        """Call `LeaveRegion`, with the region's kind unless that is 0."""
        body = self._homes.body(spawn, zone)
        if body is not None:
            script = self.script(body.home, region, environment)
            stay = self._end(body, script)
            if stay is not None:
                self._calls.run(script, "LeaveRegion", body.home, body, stay.kind or None)

    def lost(self, zone: Zone, spawn: Spawn, region: str, environment: str) -> None:
        """End the ticks of a spawn that is far from the region at once; no function is called."""
        body = self._homes.body(spawn, zone)
        if body is not None:
            self._end(body, self.script(body.home, region, environment))

    def _end(self, body: Body, script: str) -> _Stay | None:
        stay = self._stays.get(body, {}).pop(script, None)
        if stay is not None:
            self._ticks.clear(body, script)
        return stay

    def _entered(self, event: Entered) -> None:
        """Go on with the ticks of a zone in which a player stands now."""
        zone, now = event.player.zone, event.now
        for body, stays in self._stays.items():
            for script, stay in stays.items():
                if body.home.zone is zone and stay.pause and self._ticks.get(body, script) is None:
                    self._ticks.set(body, script, Monotonic(now + stay.pause))

    def forget(self, body: Body) -> None:
        """Forget a spawn that leaves its zone; no function is called."""
        self._ticks.forget(body, self._stays.pop(body, ()))

    # -- time -------------------------------------------------------------------------------------

    def _tick(self, body: Body, script: str, now: Monotonic) -> None:
        """Call `Tick` for a spawn for which it is due."""
        stay = self._stays.get(body, {}).get(script)
        # In an empty zone the ticks end here; a player who enters begins them again.
        if stay is None or not body.home.zone.is_watched:
            return
        pause = self._shares.pause(script)
        if pause or self._shares.is_turn_over:
            self._ticks.set(body, script, Monotonic(now + max(pause, LEAST_PAUSE)))
            return
        answer = self._calls.run(script, "Tick", body.home, body, stay.kind)
        # The call may have sent the spawn away.
        if answer.value == STOP or not answer.is_found:
            stay.pause = 0.0
        elif script in self._stays.get(body, ()):
            self._ticks.set(body, script, Monotonic(now + stay.pause))
