"""A running zone: its spawns in a grid, its viewers, and the tick that brings them together.

Knows positions only. Distances are on the ground, in world units.

Owns who sees whom, by distance on a grid, and when viewers are told. A spawn that changes is noted;
the next tick tells all who see it, every `tick` seconds at most, and never while nothing has
changed. The tick of a crowd takes several turns, between which sessions have theirs; when even so
there is more to tell than time, the next tick comes late and tells the newest state. A viewer whose
link is full is not asked again before the link has room. A spawn or a viewer that fails does not
stop the tick of the others; one that fails several times in a row is paused. Knows no client
version and no socket; times are monotonic seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from typing import Final, Generic, TypeVar

from emu.errors import LimitExceeded
from emu.times import Monotonic
from emu.world.actors.spawn import NOBODY, GhostPart, Spawn
from emu.world.rules import ZoneRules
from emu.world.visibility.baselines import BaselineCache
from emu.world.visibility.viewer import Viewer
from emu.world_stream.movement import Position

CELL: Final = 128.0
"""Side of a cell; a search of 300 units looks into 25 to 36 of them."""

Cell = tuple[int, int]


class Grid:
    """The spawns of one zone by cell."""

    __slots__ = ("_cells", "_size", "_where")

    def __init__(self, size: float = CELL) -> None:
        self._size = size
        self._cells: dict[Cell, dict[int, Spawn]] = {}
        self._where: dict[int, Cell] = {}

    def __len__(self) -> int:
        return len(self._where)

    def put(self, spawn: Spawn) -> None:
        """Note where a spawn is now."""
        cell = self._cell_of(spawn.position.x, spawn.position.z)
        before = self._where.get(spawn.id)
        if cell == before:
            return
        if before is not None:
            self._take(spawn.id, before)
        self._where[spawn.id] = cell
        self._cells.setdefault(cell, {})[spawn.id] = spawn

    def remove(self, spawn: Spawn) -> None:
        """Forget a spawn; one that is not there is fine."""
        cell = self._where.pop(spawn.id, None)
        if cell is not None:
            self._take(spawn.id, cell)

    def near(self, center: Position, distance: float) -> Iterator[Spawn]:
        """Yield the spawns within a distance, in no order."""
        cells = self._cells
        limit = distance * distance
        for cell in self._cells_within(center, distance):
            for spawn in cells.get(cell, {}).values():
                at = spawn.position
                if (at.x - center.x) ** 2 + (at.z - center.z) ** 2 <= limit:
                    yield spawn

    def _cells_within(self, center: Position, distance: float) -> Iterable[Cell]:
        """Return the cells that a search has to look into: never more than there are."""
        left, low = self._cell_of(center.x - distance, center.z - distance)
        right, high = self._cell_of(center.x + distance, center.z + distance)
        if (right - left + 1) * (high - low + 1) > len(self._cells):
            return list(self._cells)
        return product(range(left, right + 1), range(low, high + 1))

    def _cell_of(self, x: float, z: float) -> Cell:
        return int(x // self._size), int(z // self._size)

    def _take(self, spawn_id: int, cell: Cell) -> None:
        inside = self._cells[cell]
        del inside[spawn_id]
        if not inside:
            del self._cells[cell]


Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _Record:
    name: str
    last: float
    """When it failed last."""
    failures: int = 0
    until: float = 0.0
    """When the pause ends; 0 for one that is not paused."""


class Strikes(Generic[Key]):
    """Failures of many actors; it is empty, and false, while none has failed lately.

    Failures count as in a row until the actor works (`worked`) or has not failed for two pauses.
    """

    __slots__ = ("_limit", "_records", "_seconds")

    def __init__(self, limit: int, seconds: float) -> None:
        """Pause for `seconds` whoever failed `limit` times in a row, and again when it fails."""
        self._limit = limit
        self._seconds = seconds
        self._records: dict[Key, _Record] = {}

    def __len__(self) -> int:
        """Return how many have failed and not worked since."""
        return len(self._records)

    def failed(self, key: Key, name: str, now: Monotonic) -> int:
        """Count a failure. Returns how many there were in a row when a pause begins, else 0."""
        record = self._records.setdefault(key, _Record(name, now))
        if now - record.last > 2 * self._seconds:
            record.failures = 0
        record.last = now
        record.failures += 1
        if record.failures < self._limit:
            return 0
        record.until = now + self._seconds
        return record.failures

    def worked(self, key: Key) -> None:
        """Forget the failures of one that works again, or is gone."""
        self._records.pop(key, None)

    def is_paused(self, key: Key, now: float) -> bool:
        """Say whether one is left out now."""
        record = self._records.get(key)
        return record is not None and now < record.until

    def resume(self, now: Monotonic) -> Iterator[Key]:
        """Yield those whose pause is over, once each; they are tried again."""
        for key, record in list(self._records.items()):
            if now - record.last > 2 * self._seconds:
                del self._records[key]
            if 0 < record.until <= now:
                record.until = 0.0
                yield key

    def next(self) -> float | None:
        """Return when the next pause ends."""
        return min((one.until for one in self._records.values() if one.until), default=None)

    def paused(self, now: float) -> list[str]:
        """Return the names of those that are left out now."""
        return [one.name for one in self._records.values() if now < one.until]


WORK_AT_ONCE: Final = 2000
"""Ghosts looked at in one turn of a tick: about ten milliseconds with what sending them takes."""
_WORK_OF_ONE: Final = 20
"""What serving one viewer takes besides its ghosts, in as many ghosts."""
_OVER: Final = object()
_MILLISECONDS: Final = 1000
_CLOCK: Final = 0xFFFFFFFF
_SPAWN: Final = "spawn"
_VIEW: Final = "view"
"""What of an actor failed: how others see it, or what it sees itself."""


@dataclass(slots=True, eq=False, repr=False)
class Zone:
    """One instance of a zone."""

    zone_id: int
    instance: int = 0
    rules: ZoneRules = field(default_factory=ZoneRules)
    _: KW_ONLY
    wake: Callable[[Monotonic], None] = lambda _due: None
    """Is called with the time when `get_timer` has become earlier."""
    is_listed: bool = True
    """Whether it is shown to people outside; a zone that runs for hidden players only is not."""
    failed: Callable[[str, str, Exception], None] = lambda *_what: None
    """Takes a mistake that was confined to one actor: what was done, for whom, the exception."""
    paused: Callable[[str, int], None] = lambda *_what: None
    """Is called with the name of an actor that is paused, and how often it failed in a row."""
    _strikes: Strikes[tuple[str, int]] = field(init=False)
    _grid: Grid = field(default_factory=Grid)
    _album: BaselineCache = field(default_factory=BaselineCache)
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

    def __post_init__(self) -> None:
        self._strikes = Strikes(self.rules.actor_failures, self.rules.actor_pause)

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
        if len(self._spawns) >= self.rules.spawn_limit and spawn.id not in self._spawns:
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
        self._strikes.worked((_SPAWN, spawn.id))
        for viewer in self._watchers.pop(spawn.id, ()):
            self._hide(viewer, spawn)
        self._album.forget(spawn)

    def enter(self, viewer_of: Callable[[BaselineCache], Viewer], now: Monotonic) -> Viewer:
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
        self._strikes.worked((_VIEW, spawn_id))
        self._pending.discard(viewer)
        self._crowded.discard(viewer)
        for spawn in viewer.interest:
            self._unwatch(viewer, spawn)

    def purge(self, spawn: Spawn) -> None:
        """Take a spawn and its viewer out although taking them out in order has failed.

        Nobody is told. This touches nothing but the zone's own tables.
        """
        spawn.watcher = NOBODY
        viewer = self._viewers.pop(spawn.id, None)
        if viewer is not None:
            self._pending.discard(viewer)
            self._crowded.discard(viewer)
            for spawn_id, watchers in list(self._watchers.items()):
                if viewer in watchers:
                    watchers.remove(viewer)
                if not watchers:
                    del self._watchers[spawn_id]
        self._spawns.pop(spawn.id, None)
        self._moved.pop(spawn.id, None)
        self._looked_at.pop(spawn.id, None)
        self._watchers.pop(spawn.id, None)
        self._changes.discard(spawn.id)
        for key in ((_SPAWN, spawn.id), (_VIEW, spawn.id)):
            self._strikes.worked(key)
        self._grid.remove(spawn)
        self._album.forget(spawn)

    def holds(self, spawn: Spawn) -> bool:
        """Say whether a spawn stands here, or its player looks."""
        return self._spawns.get(spawn.id) is spawn or spawn.id in self._viewers

    def ready(self, viewer: Viewer, now: Monotonic) -> None:
        """Begin to send updates to a viewer: its client has said that it stands."""
        self._now = now
        viewer.is_ready = True
        viewer.interest.all_changed()
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
        due = self._next_tick
        if self._strikes and (resumes := self._strikes.next()) is not None:
            due = resumes if due is None else min(due, resumes)
        return None if due is None else Monotonic(due)

    def tick(self, now: Monotonic) -> None:
        """See who sees whom, and tell viewers what changed: as much as one turn is to take.

        When there is more, `get_timer` says `now`, and the next call goes on.
        """
        self._now = now
        if self._strikes:
            self._resume(now)
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
                try:
                    self._look_from(spawn)
                except Exception as error:  # noqa: BLE001  # the others want to see, too
                    self._fail(_SPAWN, spawn, "seeing who is near", error)
                work += _WORK_OF_ONE + len(self._watchers.get(spawn.id, ()))
            if work >= WORK_AT_ONCE:
                work = 0
                yield
        changes, self._changes = self._changes, set()
        for viewer in self._to_be_told(changes):
            if self._viewers.get(viewer.spawn.id) is viewer:
                viewer.interest.changed(changes)
                work += _WORK_OF_ONE + viewer.interest.due
                self._flush(viewer)
            if work >= WORK_AT_ONCE:
                work = 0
                yield

    def _to_be_told(self, changes: AbstractSet[int]) -> list[Viewer]:
        """Return who sees something of what changed, and who has never been told."""
        told, self._pending = self._pending, set()
        for spawn_id in changes:
            try:
                self._album.refresh(spawn_id)
            except Exception as error:  # noqa: BLE001  # the other spawns changed as well
                spawn = self._spawns.get(spawn_id)
                if spawn is not None:
                    self._fail(_SPAWN, spawn, "encoding a spawn", error)
                continue
            told.update(self._watchers.get(spawn_id, ()))
        return [viewer for viewer in self._viewers.values() if viewer in told and viewer.is_ready]

    @property
    def _stamp(self) -> int:
        return int(self._now * _MILLISECONDS) & _CLOCK

    def _arm(self) -> None:
        if self._next_tick is None:
            due = self._next_tick = Monotonic(max(self._now, self._last_tick + self.rules.tick))
            self.wake(due)

    # -- failures -------------------------------------------------------------------------------

    def abandon_tick(self, retry: Monotonic) -> None:
        """Give up a tick that raised; what is still to be told is told at `retry`."""
        self._turns = None
        self._next_tick = retry

    def paused_actors(self) -> list[str]:
        """Return the names of the spawns and players that are paused now."""
        return self._strikes.paused(self._now)

    def _flush(self, viewer: Viewer) -> None:
        """Send a viewer what is due; when that fails it is tried again with the next tick."""
        key = (_VIEW, viewer.spawn.id)
        if self._strikes and self._strikes.is_paused(key, self._now):
            return
        try:
            viewer.flush(self._stamp)
        except Exception as error:  # noqa: BLE001  # the other viewers are to be told
            if not self._fail(_VIEW, viewer.spawn, "updating a player's view", error):
                self._pending.add(viewer)
        else:
            if self._strikes:
                self._strikes.worked(key)

    def _fail(self, what: str, spawn: Spawn, task: str, error: Exception) -> bool:
        """Note a failure of one actor; returns whether it is paused now."""
        self.failed(task, spawn.name, error)
        failures = self._strikes.failed((what, spawn.id), spawn.name, Monotonic(self._now))
        if failures:
            self.paused(spawn.name, failures)
        elif what == _SPAWN:
            self._moved[spawn.id] = spawn
        self._arm()
        return failures > 0

    def _resume(self, now: Monotonic) -> None:
        """Try again those whose pause is over."""
        for what, spawn_id in self._strikes.resume(now):
            spawn, viewer = self._spawns.get(spawn_id), self._viewers.get(spawn_id)
            if what == _SPAWN and spawn is not None:
                self._album.changed(
                    spawn, GhostPart.POSITION | GhostPart.VISIBILITY | GhostPart.INFO
                )
                self._changes.add(spawn_id)
                self._look_at(spawn)
            elif what == _VIEW and viewer is not None:
                self._pending.add(viewer)
            else:
                self._strikes.worked((what, spawn_id))

    # -- seeing ---------------------------------------------------------------------------------

    def _changed(self, spawn: Spawn, change: int) -> None:
        """Take note of a change; called by the spawn."""
        self._album.changed(spawn, change)
        if spawn.id in self._watchers:
            self._changes.add(spawn.id)
            self._arm()
        if change & GhostPart.POSITION:
            self._grid.put(spawn)
            before = self._looked_at.get(spawn.id)
            if before is None or before.distance_to(spawn.position) >= self.rules.look_again:
                self._look_at(spawn)
        elif change & GhostPart.VISIBILITY:
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
        for spawn in viewer.interest:
            self._hide_when_far(viewer, spawn)
        for spawn in self._grid.near(viewer.spawn.position, self.rules.create_distance):
            if spawn is not viewer.spawn:
                self._show(viewer, spawn)

    def _hide_when_far(self, viewer: Viewer, spawn: Spawn) -> None:
        distance = viewer.spawn.position.distance_to(spawn.position)
        is_gone = spawn.hidden or distance > self.rules.destroy_distance
        if is_gone and viewer.spawn is not spawn:
            self._hide(viewer, spawn)
            self._unwatch(viewer, spawn)

    def _hide(self, viewer: Viewer, spawn: Spawn) -> None:
        """Destroy a ghost; a client that cannot be told keeps it until it leaves the zone."""
        try:
            viewer.hide(spawn)
        except Exception as error:  # noqa: BLE001  # the other viewers are to be told
            self._fail(_VIEW, viewer.spawn, "hiding a spawn", error)

    def _show(self, viewer: Viewer, spawn: Spawn) -> None:
        if spawn in viewer.interest or (spawn.hidden and viewer.spawn is not spawn):
            return
        strikes = self._strikes
        if strikes and strikes.is_paused((_SPAWN, spawn.id), self._now):
            return
        if viewer.is_crowded:
            self._crowded.add(viewer)
            return
        try:
            payload = viewer.observe(spawn, self._stamp)
        except Exception as error:  # noqa: BLE001  # the other spawns can be shown
            self._fail(_SPAWN, spawn, "encoding a spawn", error)
            return
        self._watchers.setdefault(spawn.id, []).append(viewer)
        try:
            viewer.send_ghost(spawn, payload)
        except Exception as error:  # noqa: BLE001  # the other viewers are to be told
            self._fail(_VIEW, viewer.spawn, "showing a spawn", error)

    def _unwatch(self, viewer: Viewer, spawn: Spawn) -> None:
        watchers = self._watchers.get(spawn.id)
        if watchers is not None and viewer in watchers:
            watchers.remove(viewer)
            if not watchers:
                del self._watchers[spawn.id]
                self._album.forget(spawn)
