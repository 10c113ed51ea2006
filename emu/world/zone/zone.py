"""A running zone: its spawns, its viewers, and the tick that brings them together.

Owns who sees whom, by distance on a grid, and when viewers are told. A spawn that changes is noted;
the next tick tells all viewers at once, at most `tick` times a second, and never while nothing has
changed. Knows no client version and no socket; times are monotonic seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from emu.errors import LimitExceeded
from emu.times import Monotonic
from emu.world.ghosts import Album
from emu.world.rules import ZoneRules
from emu.world.spawns import Change, Position, Spawn
from emu.world.spawns.spawn import NOBODY
from emu.world.zone.grid import Grid
from emu.world.zone.viewer import Viewer

_MILLISECONDS: Final = 1000
_CLOCK: Final = 0xFFFFFFFF


class Zone:
    """One instance of a zone."""

    __slots__ = (
        "_album", "_crowded", "_grid", "_last_tick", "_looked_at", "_moved", "_next_tick", "_now",
        "_pending", "_spawns", "_viewers", "_wake", "_watchers", "instance", "rules", "zone_id",
    )  # fmt: skip

    def __init__(
        self,
        zone_id: int,
        instance: int = 0,
        rules: ZoneRules | None = None,
        *,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Make an empty zone; `wake` is called when `get_timer` has become earlier."""
        self.zone_id = zone_id
        self.instance = instance
        self.rules = rules or ZoneRules()
        self._wake = wake
        self._grid = Grid()
        self._album = Album()
        self._spawns: dict[int, Spawn] = {}
        self._viewers: dict[int, Viewer] = {}
        self._watchers: dict[int, dict[int, Viewer]] = {}
        """For each spawn that somebody sees, those viewers by their own spawn's id."""
        self._pending: dict[int, Viewer] = {}
        self._crowded: dict[int, Viewer] = {}
        self._moved: dict[int, Spawn] = {}
        self._looked_at: dict[int, Position] = {}
        self._now = 0.0
        self._last_tick = float("-inf")
        self._next_tick: float | None = None

    # -- what is here ---------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Spawn]:
        """All spawns; a snapshot."""
        return iter(list(self._spawns.values()))

    def __len__(self) -> int:
        return len(self._spawns)

    @property
    def viewers(self) -> list[Viewer]:
        """All players' eyes; a snapshot."""
        return list(self._viewers.values())

    def spawn(self, spawn_id: int) -> Spawn | None:
        """Return a spawn by its number."""
        return self._spawns.get(spawn_id)

    def near(self, center: Position, distance: float) -> list[Spawn]:
        """Return the spawns within a distance of a place, the nearest first."""
        found = self._grid.near(center, distance)
        return sorted(found, key=lambda spawn: center.distance_to(spawn.position))

    def viewer_of(self, spawn: Spawn) -> Viewer | None:
        """Return the eyes of a player's spawn."""
        return self._viewers.get(spawn.id)

    # -- coming and going -----------------------------------------------------------------------

    def add(self, spawn: Spawn, now: Monotonic) -> None:
        """Put a spawn into the zone; whoever is near sees it with the next tick.

        Raises `LimitExceeded` when the zone holds as many as it may.
        """
        if len(self._spawns) >= self.rules.spawn_limit:
            raise LimitExceeded("too many spawns in a zone")
        self._now = now
        self._spawns[spawn.id] = spawn
        self._grid.put(spawn)
        spawn.watcher = self._changed
        self._look_at(spawn)

    def remove(self, spawn: Spawn, now: Monotonic) -> None:
        """Take a spawn out; its ghosts are destroyed at once. One that is not here is fine."""
        if self._spawns.pop(spawn.id, None) is None:
            return
        self._now = now
        spawn.watcher = NOBODY
        self._grid.remove(spawn)
        self._moved.pop(spawn.id, None)
        self._looked_at.pop(spawn.id, None)
        for viewer in self._watchers.pop(spawn.id, {}).values():
            viewer.hide(spawn)
        self._album.forget(spawn)

    def enter(self, viewer_of: Callable[[Album], Viewer], now: Monotonic) -> Viewer:
        """Let a player look; the ghosts near it are shown at once. Its own spawn may come later."""
        self._now = now
        viewer = viewer_of(self._album)
        self._viewers[viewer.spawn.id] = viewer
        self._look_around(viewer)
        return viewer

    def show_own(self, viewer: Viewer, now: Monotonic) -> None:
        """Give a player its own ghost, unless it has it."""
        self._now = now
        self._show(viewer, viewer.spawn)

    def leave(self, viewer: Viewer, now: Monotonic) -> None:
        """Close a player's eyes and forget what they saw; its spawn stays until it is removed."""
        self._now = now
        spawn_id = viewer.spawn.id
        if self._viewers.get(spawn_id) is not viewer:
            return
        del self._viewers[spawn_id]
        self._pending.pop(spawn_id, None)
        self._crowded.pop(spawn_id, None)
        for spawn in viewer.sights:
            self._unwatch(viewer, spawn)

    def ready(self, viewer: Viewer, now: Monotonic) -> None:
        """Begin to send updates to a viewer: its client has said that it stands."""
        self._now = now
        viewer.is_ready = True
        if viewer.sights.is_due:
            self._pend(viewer)

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `tick` wants to be called, None while there is nothing to tell."""
        return None if self._next_tick is None else Monotonic(self._next_tick)

    def tick(self, now: Monotonic) -> None:
        """See who sees whom, and tell every viewer what changed."""
        self._now = now
        self._last_tick = now
        self._next_tick = None
        moved, self._moved = self._moved, {}
        crowded, self._crowded = self._crowded, {}
        pending, self._pending = self._pending, {}
        for spawn in moved.values():
            self._look_from(spawn)
        for viewer in crowded.values():
            self._look_around(viewer)
        stamp = self._stamp
        for viewer in pending.values():
            if viewer.flush(stamp):
                self._pend(viewer)

    @property
    def _stamp(self) -> int:
        return int(self._now * _MILLISECONDS) & _CLOCK

    def _arm(self) -> None:
        if self._next_tick is None:
            self._next_tick = max(self._now, self._last_tick + self.rules.tick)
            self._wake()

    def _pend(self, viewer: Viewer) -> None:
        self._pending[viewer.spawn.id] = viewer
        self._arm()

    # -- seeing ---------------------------------------------------------------------------------

    def _changed(self, spawn: Spawn, change: int) -> None:
        """Take note of a change; called by the spawn."""
        self._album.changed(spawn, change)
        for viewer in self._watchers.get(spawn.id, {}).values():
            if viewer.changed(spawn, change):
                self._pend(viewer)
        if change & Change.POSITION:
            self._grid.put(spawn)
            before = self._looked_at.get(spawn.id)
            if before is None or before.distance_to(spawn.position) >= self.rules.look_again:
                self._look_at(spawn)
        elif change & Change.VISIBILITY:
            self._look_at(spawn)

    def _look_at(self, spawn: Spawn) -> None:
        """Have the next tick see who sees a spawn, and what it sees."""
        self._looked_at[spawn.id] = spawn.position
        self._moved[spawn.id] = spawn
        self._arm()

    def _look_from(self, spawn: Spawn) -> None:
        """See who sees a spawn, and what it sees itself."""
        self._hide_from_the_far(spawn)
        for other in self._grid.near(spawn.position, self.rules.create_distance):
            viewer = self._viewers.get(other.id)
            if viewer is not None and other is not spawn:
                self._show(viewer, spawn)
        own = self._viewers.get(spawn.id)
        if own is not None:
            self._look_around(own)

    def _hide_from_the_far(self, spawn: Spawn) -> None:
        for viewer in list(self._watchers.get(spawn.id, {}).values()):
            self._hide_when_far(viewer, spawn)

    def _look_around(self, viewer: Viewer) -> None:
        """Bring up to date what a viewer sees."""
        for spawn in viewer.sights:
            self._hide_when_far(viewer, spawn)
        for spawn in self._grid.near(viewer.spawn.position, self.rules.create_distance):
            if spawn is not viewer.spawn:
                self._show(viewer, spawn)

    def _hide_when_far(self, viewer: Viewer, spawn: Spawn) -> None:
        distance = viewer.spawn.position.distance_to(spawn.position)
        is_gone = spawn.hidden or distance > self.rules.destroy_distance
        if is_gone and viewer.spawn is not spawn:
            viewer.hide(spawn)
            self._unwatch(viewer, spawn)

    def _show(self, viewer: Viewer, spawn: Spawn) -> None:
        if spawn in viewer.sights or (spawn.hidden and viewer.spawn is not spawn):
            return
        if viewer.is_crowded:
            self._crowded[viewer.spawn.id] = viewer
            self._arm()
            return
        viewer.show(spawn, self._stamp)
        self._watchers.setdefault(spawn.id, {})[viewer.spawn.id] = viewer

    def _unwatch(self, viewer: Viewer, spawn: Spawn) -> None:
        watchers = self._watchers.get(spawn.id)
        if watchers is not None:
            watchers.pop(viewer.spawn.id, None)
            if not watchers:
                del self._watchers[spawn.id]
                self._album.forget(spawn)
