"""A running zone: its spawns, its viewers, and the tick that brings them together.

Owns who sees whom, by distance on a grid, and when viewers are told. A spawn that changes is noted;
the next tick tells all who see it, every `tick` seconds at most, and never while nothing has
changed. The tick of a crowd takes several turns, between which sessions have theirs; when even so
there is more to tell than time, the next tick comes late and tells the newest state. A viewer whose
link is full is not asked again before the link has room. Knows no client version and no socket;
times are monotonic seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from emu.errors import LimitExceeded
from emu.times import Monotonic
from emu.world.ghosts import Album
from emu.world.rules import ZoneRules
from emu.world.spawns import Change, Position, Spawn
from emu.world.spawns.spawn import NOBODY
from emu.world.zone.grid import Grid
from emu.world.zone.viewer import Viewer

WORK_AT_ONCE: Final = 2000
"""Ghosts looked at in one turn of a tick: about ten milliseconds with what sending them takes."""
_WORK_OF_ONE: Final = 20
"""What serving one viewer takes besides its ghosts, in as many ghosts."""
_OVER: Final = object()
_MILLISECONDS: Final = 1000
_CLOCK: Final = 0xFFFFFFFF


@dataclass(slots=True, eq=False, repr=False)
class Zone:
    """One instance of a zone."""

    zone_id: int
    instance: int = 0
    rules: ZoneRules = field(default_factory=ZoneRules)
    _: KW_ONLY
    wake: Callable[[], None] = lambda: None
    """Is called when `get_timer` has become earlier."""
    _grid: Grid = field(default_factory=Grid)
    _album: Album = field(default_factory=Album)
    _spawns: dict[int, Spawn] = field(default_factory=dict)
    _viewers: dict[int, Viewer] = field(default_factory=dict)
    _watchers: dict[int, list[Viewer]] = field(default_factory=dict)
    """For each spawn that somebody sees, those viewers. There is an entry for each pair of
    them, so it is the smallest there is; it is searched when a ghost is destroyed."""
    _changes: set[int] = field(default_factory=set)
    """Spawns that changed since the last tick, and are seen."""
    _pending: set[Viewer] = field(default_factory=set)
    """Viewers to be told whatever changed."""
    _crowded: set[Viewer] = field(default_factory=set)
    """Viewers with new ghosts to see, and no room on their link."""
    _moved: dict[int, Spawn] = field(default_factory=dict)
    _turns: Iterator[None] | None = None
    """The tick that is going on, when it takes more than one turn."""
    _looked_at: dict[int, Position] = field(default_factory=dict)
    _now: float = 0.0
    _last_tick: float = float("-inf")
    _next_tick: float | None = None

    # -- what is here ---------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Spawn]:
        """All spawns; a snapshot."""
        return iter(list(self._spawns.values()))

    def __len__(self) -> int:
        return len(self._spawns)

    def spawn(self, spawn_id: int) -> Spawn | None:
        """Return a spawn by its number."""
        return self._spawns.get(spawn_id)

    def near(self, center: Position, distance: float) -> list[Spawn]:
        """Return the spawns within a distance of a place, the nearest first."""
        found = self._grid.near(center, distance)
        return sorted(found, key=lambda spawn: center.distance_to(spawn.position))

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
        for viewer in self._watchers.pop(spawn.id, ()):
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
        self._pending.discard(viewer)
        self._crowded.discard(viewer)
        for spawn in viewer.sights:
            self._unwatch(viewer, spawn)

    def ready(self, viewer: Viewer, now: Monotonic) -> None:
        """Begin to send updates to a viewer: its client has said that it stands."""
        self._now = now
        viewer.is_ready = True
        viewer.sights.all_changed()
        self._pending.add(viewer)
        self._arm()

    def drained(self, viewer: Viewer, now: Monotonic) -> None:
        """Serve a viewer whose link has room again, without waiting for the tick.

        Its link would stand empty until then. What it is told is the state of the last tick.
        """
        self._now = now
        if self._viewers.get(viewer.spawn.id) is not viewer:
            return
        if viewer in self._crowded:
            self._crowded.discard(viewer)
            self._look_around(viewer)
        viewer.flush(self._stamp)

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `tick` wants to be called, None while there is nothing to tell."""
        return None if self._next_tick is None else Monotonic(self._next_tick)

    def tick(self, now: Monotonic) -> None:
        """See who sees whom, and tell viewers what changed: as much as one turn is to take.

        When there is more, `get_timer` says `now`, and the next call goes on.
        """
        self._now = now
        if self._turns is None:
            self._last_tick = now
            self._turns = self._see_and_tell()
        if next(self._turns, _OVER) is _OVER:
            self._turns = None
        self._next_tick = None if self._turns is None else now
        if self._moved or self._changes or self._pending:
            self._arm()

    def _see_and_tell(self) -> Iterator[None]:
        """Do a whole tick, with a yield wherever others should have their turn."""
        work = 0
        moved, self._moved = self._moved, {}
        for spawn in moved.values():
            if self._spawns.get(spawn.id) is spawn:
                self._look_from(spawn)
                work += _WORK_OF_ONE + len(self._watchers.get(spawn.id, ()))
            if work >= WORK_AT_ONCE:
                work = 0
                yield
        changes, self._changes = self._changes, set()
        for viewer in self._to_be_told(changes):
            if self._viewers.get(viewer.spawn.id) is viewer:
                viewer.sights.changed(changes)
                work += _WORK_OF_ONE + viewer.sights.due
                viewer.flush(self._stamp)
            if work >= WORK_AT_ONCE:
                work = 0
                yield

    def _to_be_told(self, changes: AbstractSet[int]) -> list[Viewer]:
        """Return who sees something of what changed, and who has never been told."""
        told, self._pending = self._pending, set()
        for spawn_id in changes:
            self._album.look(spawn_id)
            told.update(self._watchers.get(spawn_id, ()))
        return [viewer for viewer in self._viewers.values() if viewer in told and viewer.is_ready]

    @property
    def _stamp(self) -> int:
        return int(self._now * _MILLISECONDS) & _CLOCK

    def _arm(self) -> None:
        if self._next_tick is None:
            self._next_tick = max(self._now, self._last_tick + self.rules.tick)
            self.wake()

    # -- seeing ---------------------------------------------------------------------------------

    def _changed(self, spawn: Spawn, change: int) -> None:
        """Take note of a change; called by the spawn."""
        self._album.changed(spawn, change)
        if spawn.id in self._watchers:
            self._changes.add(spawn.id)
            self._arm()
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
        for viewer in list(self._watchers.get(spawn.id, ())):
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
            self._crowded.add(viewer)
            return
        viewer.show(spawn, self._stamp)
        self._watchers.setdefault(spawn.id, []).append(viewer)

    def _unwatch(self, viewer: Viewer, spawn: Spawn) -> None:
        watchers = self._watchers.get(spawn.id)
        if watchers is not None and viewer in watchers:
            watchers.remove(viewer)
            if not watchers:
                del self._watchers[spawn.id]
                self._album.forget(spawn)
