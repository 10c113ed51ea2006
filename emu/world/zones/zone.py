"""A running zone: its spawns in a grid, its viewers, and the tick that updates them.

The zone decides which spawns each viewer is shown (its interest set), by distance on the ground,
and when viewers are sent what has changed. A spawn that changes is noted; the next tick sends the
change to its observers. Ticks are at least `ZoneRules.tick` apart, and there is none while nothing
has changed. Distances are world units, times monotonic seconds.

Interest sets work in both directions. A viewer's own set says which ghosts its client has
(`Viewer.interest`), and `Zone._observers` says for each spawn which viewers have it: a change must
not cost a search over all viewers. Both are updated only for spawns that have moved by
`ZoneRules.interest_step` or more, because that needs a search of the grid. The distance at which a
ghost is destroyed is greater than that at which it is created, so that a spawn at the edge does not
appear and vanish with each step.

The tick of a crowd takes several turns of the reactor, between which sessions have theirs. If there
is more to send than time, the next tick comes late and sends the newest state. A viewer whose link
is full is skipped until the link has capacity. A spawn or a viewer that fails does not stop the
tick of the others; one that fails several times in a row is paused.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from emu.errors import LimitExceeded
from emu.times import Monotonic
from emu.world.actors.spawn import NOBODY, GhostPart, Spawn, SpawnKind
from emu.world.rules import ZoneRules
from emu.world.visibility.baselines import BaselineCache
from emu.world.visibility.viewer import Viewer
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.grid import Grid
from emu.world.zones.strikes import Strikes
from emu.world_stream.movement import Position

NEW_AT_ONCE: Final = 12
"""Ghosts that one turn creates for one viewer: up to three milliseconds if all of them differ."""
LEAST_AT_ONCE: Final = 4
"""Ghosts that even a long turn creates: on a slow machine all turns are long."""
NEWCOMER_TURNS: Final = 80
"""Turns of one tick for viewers that have just come to a crowded place."""
WORK_AT_ONCE: Final = 1200
"""Ghosts that one turn of a tick handles: about six milliseconds, with sending them."""
_WORK_OF_ONE: Final = 20
"""Cost of serving one viewer besides its ghosts, as a number of ghosts."""
_WORK_OF_NEW: Final = 100
"""Cost of creating a ghost, as a number of ghosts that are updated."""
_OVER: Final = object()
_MILLISECONDS: Final = 1000
_CLOCK: Final = 0xFFFFFFFF


class Failing(enum.Enum):
    """What has failed about an actor."""

    SPAWN = enum.auto()
    """Showing it to others."""
    VIEW = enum.auto()
    """Showing the zone to its client."""


@dataclass(slots=True, eq=False, repr=False)
class Zone:
    """One instance of a zone."""

    definition: ZoneDefinition
    """Its table in the zone files, replaced when these are loaded again."""
    instance: int = 0
    rules: ZoneRules = field(default_factory=ZoneRules)
    _: KW_ONLY
    wake: Callable[[Monotonic], None] = lambda _due: None
    """Is called with `next_tick` when that has become earlier."""
    is_listed: bool = True
    """Whether it is shown in public; a zone that runs for hidden players only is not."""
    failed: Callable[[str, str, Exception], None] = lambda *_what: None
    """Reports a fault that is confined to one actor: the task, the actor's name, the exception."""
    paused: Callable[[str, int], None] = lambda *_what: None
    """Reports the name of an actor that is paused, and its failures in a row."""
    is_long: Callable[[], bool] = lambda: False
    """Returns whether the turn has taken so long that what can wait should be for the next one."""
    zone_id: int = field(init=False)
    _strikes: Strikes[tuple[Failing, int]] = field(init=False)
    _watcher: Callable[[Spawn, int], None] = field(init=False)
    """The one bound method of `_changed`, which all spawns share."""
    _grid: Grid = field(default_factory=Grid)
    _viewer_grid: Grid = field(default_factory=Grid)
    """The spawns of the viewers: for each spawn that appears or walks, those near it are searched,
    and thousands of spawns can stand there that are no viewers."""
    _npc_grid: Grid = field(default_factory=Grid)
    """The NPCs: those that attack by themselves are searched around each player once a second."""
    _baselines: BaselineCache = field(default_factory=BaselineCache)
    _spawns: dict[int, Spawn] = field(default_factory=dict)
    _viewers: dict[int, Viewer] = field(default_factory=dict)
    _observers: dict[int, list[Viewer]] = field(default_factory=dict)
    """The observers of each spawn that has any. A crowd has an entry for each pair of players,
    so it is a list, the smallest container; it is searched when a ghost is destroyed."""
    _changes: set[int] = field(default_factory=set)
    """Observed spawns that have changed since the last tick."""
    _pending: set[Viewer] = field(default_factory=set)
    """Viewers to serve with the next tick even if no spawn that they see has changed."""
    _crowded: set[Viewer] = field(default_factory=set)
    """Viewers with new ghosts to create, and no capacity on their link."""
    _newcomers: dict[Viewer, None] = field(default_factory=dict)
    """Viewers with more new ghosts than one turn creates."""
    _moved: dict[int, Spawn] = field(default_factory=dict)
    _created: int = 0
    """Ghosts that were created since the zone has started."""
    _turns: Iterator[None] | None = None
    """The tick in progress, if it takes more than one turn."""
    _checked_at: dict[int, Position] = field(default_factory=dict)
    _now: float = 0.0
    _last_tick: float = float("-inf")
    _next_tick: float | None = None

    def __post_init__(self) -> None:
        self.zone_id = self.definition.id
        self._watcher = self._changed
        self._strikes = Strikes(self.rules.actor_failures, self.rules.actor_pause)

    # -- spawns ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Spawn]:
        """All spawns; a snapshot."""
        return iter(list(self._spawns.values()))

    def __len__(self) -> int:
        return len(self._spawns)

    @property
    def is_watched(self) -> bool:
        """Whether anybody is shown this zone."""
        return bool(self._viewers)

    def spawn(self, spawn_id: int) -> Spawn | None:
        """Return a spawn by its number."""
        return self._spawns.get(spawn_id)

    def observers(self, spawn: Spawn) -> Sequence[Viewer]:
        """Return the viewers that are shown a spawn now, its own player among them."""
        return self._observers.get(spawn.id, ())

    def around(self, center: Position, distance: float) -> list[Spawn]:
        """Return the spawns within a distance of a place on the ground, in no order."""
        return self._grid.near(center, distance)

    def npcs_around(self, center: Position, distance: float) -> list[Spawn]:
        """Return the NPCs within a distance of a place on the ground, in no order."""
        return self._npc_grid.near(center, distance)

    def near(self, center: Position, distance: float) -> list[Spawn]:
        """Return the spawns within a distance of a place, the nearest first."""
        found = self._grid.near(center, distance)
        return sorted(found, key=lambda spawn: center.distance_to(spawn.position))

    # -- adding and removing --------------------------------------------------------------------

    def add_spawn(self, spawn: Spawn, now: Monotonic) -> None:
        """Put a spawn into the zone; viewers near it are shown it with the next tick.

        Raises `LimitExceeded` if the zone is full.
        """
        if len(self._spawns) >= self.rules.spawn_limit and spawn.id not in self._spawns:
            raise LimitExceeded("too many spawns in a zone")
        # A spawn reports its changes without a time, so the zone remembers the time of the last
        # call from outside.
        self._now = now
        self._spawns[spawn.id] = spawn
        self._place(spawn)  # it may have moved since its viewer entered
        spawn.watcher = self._watcher
        self._check_later(spawn)

    def _place(self, spawn: Spawn) -> None:
        """Note in the grids where a spawn is now."""
        # All grids have the same cells, and most steps stay in one.
        if not self._grid.note_place(spawn):
            return
        if spawn.kind is SpawnKind.NPC:
            self._npc_grid.note_place(spawn)
        if spawn.id in self._viewers:
            self._viewer_grid.note_place(spawn)

    def remove(self, spawn: Spawn, now: Monotonic) -> None:
        """Remove a spawn and destroy its ghosts at once; do nothing if it is not here."""
        if self._spawns.pop(spawn.id, None) is None:
            return
        self._now = now
        spawn.watcher = NOBODY
        self._grid.remove(spawn)
        self._npc_grid.remove(spawn)
        self._moved.pop(spawn.id, None)
        self._checked_at.pop(spawn.id, None)
        self._strikes.worked((Failing.SPAWN, spawn.id))
        for viewer in self._observers.pop(spawn.id, ()):
            self._hide(viewer, spawn)
        self._baselines.forget(spawn)

    def end(self) -> None:
        """Let go of all spawns: nobody sees the zone any more, and it does not start again.

        Without this a spawn and its zone would name each other until the garbage collector finds
        them, and one search through a large world keeps everybody waiting.
        """
        for spawn in self._spawns.values():
            spawn.watcher = NOBODY
        for kept in (self._spawns, self._moved, self._checked_at, self._observers, self._changes):
            kept.clear()
        self._grid, self._npc_grid, self._baselines = Grid(), Grid(), BaselineCache()
        # All three name the zone.
        self._watcher, self.wake, self.paused = NOBODY, lambda _due: None, lambda *_what: None
        self.is_long = lambda: False

    def enter(self, viewer_of: Callable[[BaselineCache], Viewer], now: Monotonic) -> Viewer:
        """Add a viewer and show it the spawns near it; its own spawn may be added later."""
        self._now = now
        viewer = viewer_of(self._baselines)
        self._viewers[viewer.spawn.id] = viewer
        self._viewer_grid.note_place(viewer.spawn)
        self._update_interest(viewer)
        return viewer

    def show_own(self, viewer: Viewer, now: Monotonic) -> None:
        """Send a player its own ghost, unless it has it."""
        self._now = now
        self._show(viewer, viewer.spawn)

    def leave(self, viewer: Viewer, now: Monotonic) -> None:
        """Remove a viewer; its spawn stays until it is removed."""
        self._now = now
        spawn_id = viewer.spawn.id
        if self._viewers.get(spawn_id) is not viewer:
            return
        del self._viewers[spawn_id]
        self._viewer_grid.remove(viewer.spawn)
        self._strikes.worked((Failing.VIEW, spawn_id))
        self._pending.discard(viewer)
        self._crowded.discard(viewer)
        for spawn in viewer.interest:
            self._remove_observer(viewer, spawn)

    def purge(self, spawn: Spawn) -> None:
        """Remove a spawn and its viewer after removing them in order has failed.

        Nothing is sent. This changes only the zone's own tables.
        """
        spawn.watcher = NOBODY
        viewer = self._viewers.pop(spawn.id, None)
        self._viewer_grid.remove(spawn)
        if viewer is not None:
            self._pending.discard(viewer)
            self._crowded.discard(viewer)
            for spawn_id, observers in list(self._observers.items()):
                if viewer in observers:
                    observers.remove(viewer)
                if not observers:
                    del self._observers[spawn_id]
        self._spawns.pop(spawn.id, None)
        self._moved.pop(spawn.id, None)
        self._checked_at.pop(spawn.id, None)
        self._observers.pop(spawn.id, None)
        self._changes.discard(spawn.id)
        for key in ((Failing.SPAWN, spawn.id), (Failing.VIEW, spawn.id)):
            self._strikes.worked(key)
        self._grid.remove(spawn)
        self._npc_grid.remove(spawn)
        self._baselines.forget(spawn)

    def holds(self, spawn: Spawn) -> bool:
        """Return whether a spawn is here, or its viewer."""
        return self._spawns.get(spawn.id) is spawn or spawn.id in self._viewers

    def ready(self, viewer: Viewer, now: Monotonic) -> None:
        """Start to send updates to a viewer: its client has reported that it stands."""
        self._now = now
        viewer.is_ready = True
        viewer.interest.all_changed()
        self._pending.add(viewer)
        self._arm()

    def drained(self, viewer: Viewer, now: Monotonic) -> None:
        """Serve a viewer whose link has capacity again, without waiting for the tick.

        Its link would be idle until then. It is sent the state of the last tick.
        """
        self._now = now
        if self._viewers.get(viewer.spawn.id) is not viewer:
            return
        if viewer in self._crowded:
            self._crowded.discard(viewer)
            self._update_interest(viewer)
        viewer.flush(self._stamp)

    def look_again(self, viewer: Viewer) -> None:
        """Send a viewer the changed arrows and attitudes of the spawns that it sees.

        They depend on its level and on its standings with factions.
        """
        viewer.look_again()
        self._is_pending(viewer)

    def mark(self, viewer: Viewer, marks: Mapping[int, int], changed: AbstractSet[int]) -> None:
        """Give a viewer the marks of quests over spawns, and send those of the changed ones."""
        viewer.interest.marks = marks
        viewer.interest.changed(changed)
        self._is_pending(viewer)

    def _is_pending(self, viewer: Viewer) -> None:
        if viewer.is_ready:
            self._pending.add(viewer)
            self._arm()

    # -- time -----------------------------------------------------------------------------------

    def next_tick(self) -> Monotonic | None:
        """Return when to call `tick`, None while there is nothing to send."""
        due = self._next_tick
        # A paused actor causes no change: nothing else wakes the zone when its pause is over.
        if self._strikes.records and (resumes := self._strikes.next()) is not None:
            due = resumes if due is None else min(due, resumes)
        return None if due is None else Monotonic(due)

    def tick(self, now: Monotonic) -> None:
        """Update interest sets and send changes to viewers, as much as one turn may take.

        If there is more, `next_tick` returns `now`, and the next call continues.
        """
        self._now = now
        if self._strikes.records:
            self._resume(now)
        if self._turns is None:
            self._last_tick = now
            self._turns = self._run_tick()
        if next(self._turns, _OVER) is _OVER:
            self._turns = None
        # "Now" lets the reactor handle datagrams that have arrived, and then call again at once.
        self._next_tick = None if self._turns is None else now
        if self._moved or self._changes or self._pending or self._newcomers:
            self._arm()

    def _run_tick(self) -> Iterator[None]:
        """Run a whole tick, with a yield between two turns."""
        work, created = 0, self._created
        # Interest sets before updates: a spawn that comes into view then needs no update.
        moved, self._moved = self._moved, {}
        for spawn in moved.values():
            if self._spawns.get(spawn.id) is spawn:
                try:
                    self._update_around(spawn)
                except Exception as error:  # noqa: BLE001  # the other spawns have moved as well
                    self._fail(Failing.SPAWN, spawn, "seeing who is near", error)
                work += _WORK_OF_ONE + len(self._observers.get(spawn.id, ()))
                work += _WORK_OF_NEW * (self._created - created)
                created = self._created
            if work >= WORK_AT_ONCE:
                work = 0
                yield
        yield from self._show_newcomers()
        # Changes that happen from here on, between the turns of this tick, are for the next one.
        changes, self._changes = self._changes, set()
        stamp = self._stamp
        for viewer in self._viewers_of(changes):
            if self._viewers.get(viewer.spawn.id) is viewer:
                viewer.interest.changed(changes)
                work += _WORK_OF_ONE + len(viewer.interest.due)
                self._flush(viewer, stamp)
            if work >= WORK_AT_ONCE:
                work = 0
                yield
                stamp = self._stamp
        for spawn_id in changes:
            self._baselines.settle(spawn_id)

    def _show_newcomers(self) -> Iterator[None]:
        """Show viewers in crowded places more of the spawns near them, each in its turn."""
        for _ in range(NEWCOMER_TURNS):
            if not self._newcomers:
                return
            viewer = next(iter(self._newcomers))
            del self._newcomers[viewer]
            if self._viewers.get(viewer.spawn.id) is viewer:
                self._show_near(viewer)
            yield

    def _viewers_of(self, changes: AbstractSet[int]) -> list[Viewer]:
        """Return the viewers that see one of the changed spawns, and those that are pending."""
        found, self._pending = self._pending, set()
        for spawn_id in changes:
            try:
                self._baselines.refresh(spawn_id)
            except Exception as error:  # noqa: BLE001  # the other spawns have changed as well
                spawn = self._spawns.get(spawn_id)
                if spawn is not None:
                    self._fail(Failing.SPAWN, spawn, "encoding a spawn", error)
                continue
            found.update(self._observers.get(spawn_id, ()))
        # In the order of `_viewers`, not of a set: then a fault can be repeated.
        return [viewer for viewer in self._viewers.values() if viewer in found and viewer.is_ready]

    @property
    def _stamp(self) -> int:
        return int(self._now * _MILLISECONDS) & _CLOCK

    def _arm(self) -> None:
        if self._next_tick is None:
            due = self._next_tick = Monotonic(max(self._now, self._last_tick + self.rules.tick))
            # The pause of an actor may end earlier.
            self.wake((self._strikes.records and self.next_tick()) or due)

    # -- failures -------------------------------------------------------------------------------

    def abandon_tick(self, retry: Monotonic) -> None:
        """Give up a tick that raised; the rest of it is sent at `retry`."""
        self._turns = None
        self._next_tick = retry

    def paused_actors(self) -> list[str]:
        """Return the names of the spawns and players that are paused now."""
        return self._strikes.paused(self._now)

    def _flush(self, viewer: Viewer, stamp: int) -> None:
        """Send a viewer what is due; if that raises, try again with the next tick."""
        strikes = self._strikes
        if strikes.records and strikes.is_paused((Failing.VIEW, viewer.spawn.id), self._now):
            return
        try:
            viewer.flush(stamp)
        except Exception as error:  # noqa: BLE001  # the other viewers still get theirs
            if not self._fail(Failing.VIEW, viewer.spawn, "updating a player's view", error):
                self._pending.add(viewer)
        else:
            if strikes.records:
                strikes.worked((Failing.VIEW, viewer.spawn.id))

    def _fail(self, what: Failing, spawn: Spawn, task: str, error: Exception) -> bool:
        """Count a failure of one actor; return whether it is paused now."""
        self.failed(task, spawn.name, error)
        failures = self._strikes.failed((what, spawn.id), spawn.name, Monotonic(self._now))
        if failures:
            self.paused(spawn.name, failures)
        elif what is Failing.SPAWN:
            self._moved[spawn.id] = spawn
        self._arm()
        return failures > 0

    def _resume(self, now: Monotonic) -> None:
        """Try the actors again whose pause is over."""
        for what, spawn_id in self._strikes.resume(now):
            spawn, viewer = self._spawns.get(spawn_id), self._viewers.get(spawn_id)
            if what is Failing.SPAWN and spawn is not None:
                self._baselines.changed(
                    spawn, GhostPart.POSITION | GhostPart.VISIBILITY | GhostPart.INFO
                )
                self._changes.add(spawn_id)
                self._check_later(spawn)
            elif what is Failing.VIEW and viewer is not None:
                self._pending.add(viewer)
            else:
                self._strikes.worked((what, spawn_id))

    # -- interest sets --------------------------------------------------------------------------

    def _changed(self, spawn: Spawn, change: int) -> None:
        """Note a change; called by the spawn."""
        if change & GhostPart.DRIFT:
            # Whoever is shown the spawn later gets its place; the others have predicted it.
            self._baselines.changed(spawn, GhostPart.POSITION)
            self._place_changed(spawn)
            return
        self._baselines.changed(spawn, change)
        viewer = self._viewers.get(spawn.id) if change & GhostPart.INFO else None
        if viewer is not None and viewer.has_new_level:
            # The colors of all others' arrows depend on the viewer's level.
            self.look_again(viewer)
        # A change that nobody sees is not noted, so an empty zone has no ticks. Whoever comes later
        # gets the whole state.
        if spawn.id in self._observers:
            self._changes.add(spawn.id)
            self._arm()
        if change & GhostPart.POSITION:
            self._place_changed(spawn)
        elif change & GhostPart.VISIBILITY:
            self._check_later(spawn)

    def _place_changed(self, spawn: Spawn) -> None:
        # The grid is exact, for searches. Interest sets follow in steps, because each update
        # searches the grid.
        self._place(spawn)
        before = self._checked_at.get(spawn.id)
        if before is None or before.distance_to(spawn.position) >= self.rules.interest_step:
            self._check_later(spawn)

    def _check_later(self, spawn: Spawn) -> None:
        """Update the observers of a spawn, and its own interest set, with the next tick."""
        self._checked_at[spawn.id] = spawn.position
        self._moved[spawn.id] = spawn
        self._arm()

    def _update_around(self, spawn: Spawn) -> None:
        """Update the observers of a spawn, and its interest set if it is a player."""
        # Before the search: a viewer beyond the destroy distance is also beyond the create
        # distance, so no ghost is destroyed and created again.
        for viewer in list(self._observers.get(spawn.id, ())):
            self._hide_when_far(viewer, spawn)
        for other in self._viewer_grid.near(spawn.position, self.rules.create_distance):
            near = self._viewers.get(other.id)
            if near is not None and other is not spawn:
                self._show(near, spawn)
        own = self._viewers.get(spawn.id)
        if own is not None:
            self._update_interest(own)

    def _update_interest(self, viewer: Viewer) -> None:
        """Update the interest set of a viewer."""
        for spawn in viewer.interest:
            self._hide_when_far(viewer, spawn)
        # Who is still shown a crowded place gets the next ones in a turn of its own.
        if viewer not in self._newcomers:
            self._show_near(viewer)

    def _show_near(self, viewer: Viewer) -> None:
        """Show a viewer the spawns near it: as many as one turn may, the nearest first."""
        at, interest = viewer.spawn.position, viewer.interest
        new = [
            spawn for spawn in self._grid.near(at, self.rules.create_distance)
            if spawn is not viewer.spawn and spawn not in interest
        ]  # fmt: skip
        if len(new) > NEW_AT_ONCE:
            new.sort(key=lambda spawn: at.distance_to(spawn.position))
        before = len(interest)
        shown = 0
        for spawn in new[:NEW_AT_ONCE]:
            self._show(viewer, spawn)
            shown += 1
            if shown >= LEAST_AT_ONCE and self.is_long():
                break
        # Without progress the rest must wait for something else: a free link, or a hidden spawn.
        if len(new) > shown and len(interest) > before:
            self._newcomers[viewer] = None
            self._arm()

    def _hide_when_far(self, viewer: Viewer, spawn: Spawn) -> None:
        # Farther than the distance of creation: a spawn at the edge would flicker otherwise.
        distance = viewer.spawn.position.distance_to(spawn.position)
        is_gone = distance > self.rules.destroy_distance or (
            # Asked first: it is seldom so, and this runs for each pair.
            bool(spawn.hidden or spawn.allowed) and not spawn.may_be_seen_by(viewer.spawn)
        )
        if is_gone and viewer.spawn is not spawn:
            self._hide(viewer, spawn)
            self._remove_observer(viewer, spawn)

    def _hide(self, viewer: Viewer, spawn: Spawn) -> None:
        """Destroy a ghost; if sending that fails, the client keeps it until it leaves the zone."""
        try:
            viewer.hide(spawn)
        except Exception as error:  # noqa: BLE001  # the other viewers still get theirs
            self._fail(Failing.VIEW, viewer.spawn, "hiding a spawn", error)
        self._flush_later(viewer)

    def _flush_later(self, viewer: Viewer) -> None:
        """Serve a viewer in the next tick if it was shown, or has lost, the target of a spawn."""
        if viewer.interest.is_due:
            self._pending.add(viewer)
            self._arm()

    def _show(self, viewer: Viewer, spawn: Spawn) -> None:
        # A hidden player still sees itself: without its own ghost its client cannot move.
        if spawn in viewer.interest or not spawn.may_be_seen_by(viewer.spawn):
            return
        strikes = self._strikes
        if strikes.records and strikes.is_paused((Failing.SPAWN, spawn.id), self._now):
            return
        if viewer.is_crowded:
            # A full link gets no new ghosts: they are large, and updates of the old ones go first.
            self._crowded.add(viewer)
            return
        try:
            payload = viewer.observe(spawn, self._stamp)
        except Exception as error:  # noqa: BLE001  # the other spawns can be shown
            self._fail(Failing.SPAWN, spawn, "encoding a spawn", error)
            return
        self._created += 1
        # The interest set has the spawn now: both tables must agree even if sending raises.
        self._observers.setdefault(spawn.id, []).append(viewer)
        try:
            viewer.send_ghost(spawn, payload)
        except Exception as error:  # noqa: BLE001  # the other viewers still get theirs
            self._fail(Failing.VIEW, viewer.spawn, "showing a spawn", error)
        self._flush_later(viewer)

    def _remove_observer(self, viewer: Viewer, spawn: Spawn) -> None:
        observers = self._observers.get(spawn.id)
        if observers is not None and viewer in observers:
            observers.remove(viewer)
            if not observers:
                del self._observers[spawn.id]
                self._baselines.forget(spawn)
