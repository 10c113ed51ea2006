"""Serves zones of the content file and of zone files: the spawns that stand in them.

A zone is read in one job of a thread when it starts. Then its spawns are added in slices, the
nearest to its players first, so that a zone of thousands keeps nobody waiting. All spawns of one
number share a template. What returns, expires or depends on the time of the day is the business of
`emu.content.population`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final, Protocol

from emu.content.population import ORDINARY, Change, Condition, Death, Population, Surroundings
from emu.content.standing import Randomness, Standing
from emu.errors import EmuError, LimitExceeded
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnTemplate
from emu.world.deadlines import Deadlines, Timetable
from emu.world.population.absent import AbsentDeaths
from emu.world.population.appearing import is_from_file, nearest_first
from emu.world.population.deaths import Deaths
from emu.world.population.freeing import Freeing
from emu.world.population.looks import spawn_of
from emu.world.population.reading import (
    FIRST_FIXTURE,
    ServedZone,
    emptied,
    prepared,
    with_fixtures,
)
from emu.world.population.standing import place_on_ground
from emu.world.zones.definitions import Fixture
from emu.world.zones.ground import ZoneGround
from emu.world.zones.targets import Targets
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

SLICE: Final = 150
"""Spawns that one turn adds at most."""
FILL: Final = "fill"
PAUSE: Final = 0.01
"""Seconds between two slices, in which sessions are served."""
MOST_EXTRAS: Final = 1000
"""Spawns that scripts may have made in one zone, besides what stands there."""

PUBLIC: Final = ("", "none", "public", "tradeskill")
"""Types of zones whose instances belong to nobody."""


# -- running zones ------------------------------------------------------------------------------


class Watcher(Protocol):
    """Notes which spawns of the content file stand in which zone."""

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note a spawn that was put into its zone."""

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that was removed from its zone."""

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""


class Listener(Protocol):
    """Hears of the spawns of the content file; the host of scripts is one."""

    def zone_starts(self, zone: Zone) -> None:
        """Handle a zone whose content is about to be read."""

    def zone_is_read(self, zone: Zone, script: str) -> None:
        """Handle a zone whose content was read: `script` is what its row names."""

    def zone_is_ready(self, zone: Zone) -> None:
        """Handle a zone in which all spawns of the content file stand."""

    def prepared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Handle a spawn that is about to be put into its zone."""

    def appeared(
        self, zone: Zone, spawn: Spawn, standing: Standing, *, is_back: bool = False
    ) -> None:
        """Handle a spawn that was put into its zone; `is_back` means that it stood there before."""

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Handle a spawn that was removed from its zone."""

    def ended(self, zone: Zone) -> None:
        """Handle the end of a zone."""


@dataclass(slots=True, eq=False)
class _Filled:
    """A running zone: what stands there, and what is still to be added."""

    zone: Zone
    population: Population
    served: ServedZone
    spawns: dict[int, Spawn] = field(default_factory=dict)
    """By placement."""
    extras: dict[int, tuple[Spawn, Standing]] = field(default_factory=dict)
    """What was made besides, by the number of the spawn; it takes no place and does not return."""
    waiting: deque[Standing] = field(default_factory=deque)
    leaving: deque[Standing] = field(default_factory=deque)
    """What another content has no longer; it goes before anything is added."""
    replaced: dict[int, tuple[Spawn, Sequence[Player]]] = field(default_factory=dict)
    """By placement, what another content has in another form, until that form stands there, and
    the players whose target it was."""
    is_opening: bool = True
    """Whether the spawns with which it starts are still being added."""
    is_private: bool = False
    """Whether it is an instance of its own for some players, who come back to it."""


class ContentZones:
    """Fills running zones from a content file, and lets what is dead return."""

    def __init__(
        self,
        read: Callable[[int, ServedZone | None, Callable[[], bool]], Awaitable[ServedZone | None]]
        | None,
        *,
        fixtures: Callable[[int], Sequence[Fixture]] = lambda _zone_id: (),
        next_id: Callable[[], int],
        randomness: Callable[[], Randomness],
        hour: Callable[[], int],
        center: Callable[[Zone], Position | None],
        now: Callable[[], Monotonic],
        timetable: Timetable,
        start: Callable[[Coroutine[Any, Any, None]], object],
        failed: Callable[[str], object],
        deaths: Deaths | None = None,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
        surroundings: Callable[[int, Condition], Surroundings] = lambda _zone_id, now: Surroundings(
            now, holidays=ORDINARY
        ),
    ) -> None:
        """Prepare to fill zones.

        `read` reads a zone in a thread; it may return what it returned before, which it is given,
        if nothing has changed, and nothing if the zone is no longer wanted then. It is None in a
        world of zone files alone. `fixtures` returns the spawns that zone files lay over a zone.
        `hour` is that of the world's clock. `center` returns where a zone's players are, if anybody
        is there. `failed` reports a line to operators. `deaths` keeps what is dead; without it,
        everything lives when a zone starts. `in_thread` carries out a call in a thread.
        `surroundings` returns those of a zone at a time of the day, by the zone's number.
        """
        self._read = read
        self._fixtures = fixtures
        self._next_id = next_id
        self._randomness = randomness
        self._hour = hour
        self._center = center
        self._now = now
        self._timetable = timetable
        self._deadlines: Deadlines[Zone, str] = timetable.deadlines(
            "the spawns of the content file", self._go_on
        )
        self._start = start
        self._absent = AbsentDeaths(
            read=lambda zone_id: self._whole(zone_id, None), start=start, died=self._died_absent,
            failed=failed, now=now,
        )  # fmt: skip
        self._failed = failed
        self.deaths = deaths
        self._surroundings = surroundings
        self._in_thread = in_thread
        self._freeing = Freeing(timetable, now)
        self._filled: dict[Zone, _Filled] = {}
        self._opening: set[Zone] = set()
        self._running: dict[Zone, None] = {}
        self.listener: Listener | None = None
        self.watchers: list[Watcher] = []
        """Who notes the spawns before the listener hears of them."""
        self.targets: Targets | None = None
        """Keeps a spawn the target of players when another content has another form of it."""
        self.ground: Callable[[Zone], ZoneGround] | None = None
        """Returns the ground of a zone; None in a world without maps."""
        self.snap = False
        """Whether creatures that neither fly nor swim stand on the ground, whatever their row says.
        """
        self.apart: Callable[[], AbstractContextManager[object]] = nullcontext
        """Keeps the memory of what is made inside apart from that of what stays."""

    def settle(self, zone: Zone) -> None:
        """Begin to fill a zone that starts."""
        self._running[zone] = None
        self._opening.add(zone)
        if self.listener is not None and self._read is not None:
            self.listener.zone_starts(zone)
        fixtures = self._fixtures(zone.zone_id)
        if self._read is not None or len(fixtures) > SLICE:
            self._start(self._open(zone))
        elif (served := with_fixtures(None, zone.zone_id, fixtures)) is not None:
            # Nothing is read, so whoever enters sees them at once.
            self._begin(zone, served, *self._populated(zone, served, {})())

    @property
    def running(self) -> list[Zone]:
        """The zones that run."""
        return list(self._running)

    def forget(self, zone: Zone) -> None:
        """Remove a zone that ends."""
        self._running.pop(zone, None)
        self._opening.discard(zone)
        filled = self._filled.pop(zone, None)
        if filled is not None:
            self._freeing.free_in_slices(filled.spawns.values(), filled.waiting)
            self._free(filled.population, filled.served)
        self._deadlines.clear(zone, FILL)
        for watcher in self.watchers:
            watcher.ended(zone)
        if self.listener is not None:
            self.listener.ended(zone)

    def despawn(self, zone: Zone, spawn: Spawn) -> None:
        """Remove a spawn of the content file; it returns after the respawn time of its place."""
        filled = self._filled.get(zone)
        if filled is None:
            return
        if filled.extras.pop(spawn.id, None) is not None:
            self._remove(zone, spawn, self._now())
            return
        placement = self._placement_of(zone, spawn)
        if placement is not None and filled.spawns.get(placement) is spawn:
            del filled.spawns[placement]
            filled.population.removed(placement, self._now())
            self._keep_deaths(filled)
            self._remove(zone, spawn, self._now())
            # It returns, also where nothing else comes or goes.
            if self._deadlines.get(zone, FILL) is None:
                self._rest(filled, self._now())

    def died(self, zone: Zone, spawn: Spawn) -> None:
        """Keep that a spawn is dead before its body goes: neither crash nor end revives it."""
        filled, placement = self._filled.get(zone), self._placement_of(zone, spawn)
        if filled is not None and placement is not None:
            filled.population.died(placement, self._now())
            self._keep_deaths(filled)

    def keep_dead(self, zone_id: int, location: int, seconds: int) -> bool:
        """Let a location of a zone stay empty for so long, also over a restart.

        What stands there stays until it dies. Returns whether a running zone has that location; in
        a zone that does not run, it is stored if the zone has it.
        """
        now, is_known = self._now(), False
        for filled in self._filled.values():
            if filled.zone.zone_id == zone_id:
                is_known |= filled.population.keep_dead(location, seconds, now)
                self._keep_deaths(filled)
        if not any(zone.zone_id == zone_id for zone in self._running):
            self._absent.keep(zone_id, location, seconds)
        return is_known

    def _died_absent(self, zone_id: int, deaths: list[Death]) -> None:
        if self.deaths is not None:
            self.deaths.died(zone_id, 0, deaths, for_ever=False)

    def population(self, zone: Zone) -> Population | None:
        """Return what can stand in a zone; None while its content is not read."""
        filled = self._filled.get(zone)
        return filled.population if filled is not None else None

    def put_spawn(
        self, zone: Zone, standing: Standing, of: SpawnTemplate | None = None
    ) -> Spawn | None:
        """Put a spawn into a zone besides what stands there; None if it cannot be put there.

        `of` is its template if the zone does not have it.
        """
        filled = self._filled.get(zone)
        if filled is None or len(filled.extras) >= MOST_EXTRAS:
            return None
        template = filled.served.templates.get(standing.template.id) or of
        if template is None:
            return None
        spawn = spawn_of(template, standing, self._next_id())
        # Before the listener hears of it: its script may remove it at once.
        filled.extras[spawn.id] = spawn, standing
        if not self._add(filled, spawn, standing, is_back=False):
            filled.extras.pop(spawn.id, None)
            return None
        return spawn if spawn.id in filled.extras else None

    async def refresh(self) -> list[str]:
        """Read all running zones again, and change what differs in them, a slice at a time.

        Returns a line for each zone that has changes. Raises `EmuError` if a zone cannot be read.
        """
        lines = []
        for zone in self.running:
            line = await self._refresh(zone)
            lines += [line] if line else []
        return lines

    async def _refresh(self, zone: Zone) -> str:
        known = self._filled.get(zone)
        fresh = await self._whole(zone.zone_id, known.served if known is not None else None)
        filled = self._filled.get(zone)
        if filled is None:
            # Its content may have come only now, or another one than the one it is opened with.
            if zone in self._running:
                self._opening.add(zone)
                await self._open(zone)
            return ""
        if fresh is None:
            fresh = emptied(filled.served)
        old = filled.served
        if fresh is old:
            return ""
        found, population = await self._in_thread(partial(prepared, old, fresh, filled.population))
        # Another content may have come first, or the zone may have ended.
        if self._filled.get(zone) is not filled or filled.served is not old:
            return ""
        now = self._now()
        change = population.take_over(filled.population, found.places, found.spawns, now)
        self._free(filled.population, old)
        filled.population, filled.served = population, fresh
        filled.leaving.extend(change.gone)
        for standing in change.come:
            place = standing.placement.id
            before = filled.spawns.get(place)
            if before is not None and place not in filled.replaced and self.targets is not None:
                filled.replaced[place] = before, self.targets.holders(before)
        filled.waiting.extend(nearest_first(change.come, self._middle(zone)))
        self._go_on_soon(filled)
        gone, come = (sum(not is_from_file(one) for one in of) for of in (change.gone, change.come))
        return f"{zone.definition.name}: {gone} spawns go, {come} come" if gone or come else ""

    def standing_of(self, zone: Zone, spawn: Spawn) -> Standing | None:
        """Return what a spawn of the content file is; None for another spawn."""
        number = self._placement_of(zone, spawn)
        if number is None or number >= FIRST_FIXTURE:
            return None
        return self._filled[zone].population.at(number)

    def _placement_of(self, zone: Zone, spawn: Spawn) -> int | None:
        filled = self._filled.get(zone)
        if filled is None:
            return None
        replaced = ((place, before) for place, (before, _) in filled.replaced.items())
        standing = chain(filled.spawns.items(), replaced)
        return next((one for one, known in standing if known is spawn), None)

    def is_fixture(self, zone: Zone, spawn: Spawn) -> bool:
        """Return whether a zone file places a spawn."""
        number = self._placement_of(zone, spawn)
        return number is not None and number >= FIRST_FIXTURE

    def fixture_at(self, zone: Zone, standing: Standing) -> Fixture | None:
        """Return the spawn of a zone file that stands; None where it is of the content file."""
        filled = self._filled.get(zone)
        return None if filled is None else filled.served.placed.get(standing.placement.id)

    def standing(self, zone: Zone) -> int:
        """Return how many spawns of the content file stand in a zone."""
        filled = self._filled.get(zone)
        return len(filled.spawns) if filled is not None else 0

    # -- internals --------------------------------------------------------------------------------

    def _go_on(self, zone: Zone, what: str, now: Monotonic) -> None:
        """Add the next slice to a zone that is filled, or let its spawns come and go."""
        if not self._timetable.may_work(self._now()):
            # It follows in the next turn, after sessions were served.
            self._deadlines.set(zone, what, now)
            return
        filled = self._filled[zone]
        # Set before the work: if that raises, the zone goes on nevertheless.
        self._deadlines.set(zone, what, Monotonic(now + PAUSE))
        if filled.leaving:
            self._remove_slice(filled, now)
        elif filled.waiting:
            with self.apart():
                self._add_slice(filled)
        else:
            self._pass_time(filled, now)
        self._rest(filled, now)

    def _rest(self, filled: _Filled, now: Monotonic) -> None:
        """Let a zone rest until there is something to do in it."""
        zone = filled.zone
        if filled.waiting or filled.leaving:
            self._deadlines.set(zone, FILL, Monotonic(now + PAUSE))
            return
        if filled.is_opening:
            filled.is_opening = False
            if self.listener is not None and filled.served.of_file is not None:
                self.listener.zone_is_ready(zone)
        if filled.served.of_file is None and not (
            filled.extras
            or any(left is not None for left in filled.population.waiting(now).values())
        ):
            # What zone files place changes by no daytime; most such zones cost no time.
            self._deadlines.clear(zone, FILL)
            return
        due = filled.population.get_timer()
        self._deadlines.set(zone, FILL, Monotonic(max(now + PAUSE, due)))

    async def _whole(
        self, zone_id: int, old: ServedZone | None, is_wanted: Callable[[], bool] = lambda: True
    ) -> ServedZone | None:
        """Read a zone, and lay the spawns of zone files over it; return `old` if it is the same."""
        fixtures = self._fixtures(zone_id)
        was = old.of_file if old is not None else None
        base = await self._read(zone_id, was, is_wanted) if self._read is not None else None
        if base is None and was is not None:
            base = emptied(was)
        if old is not None and base is was and fixtures == old.fixtures:
            return old
        if len(fixtures) <= SLICE:
            return with_fixtures(base, zone_id, fixtures)
        laid: ServedZone | None = await self._in_thread(
            partial(with_fixtures, base, zone_id, fixtures)
        )
        return laid

    async def _open(self, zone: Zone) -> None:
        try:
            served = await self._whole(zone.zone_id, None, lambda: zone in self._opening)
            dead = await self._dead(zone)
        except EmuError as error:
            self._failed(f"zone {zone.zone_id} was not filled: {error}")
            # The spawns of zone files stand nevertheless.
            served, dead = with_fixtures(None, zone.zone_id, self._fixtures(zone.zone_id)), {}
        if served is None:
            return
        # The zone may have ended while it was read.
        if zone not in self._opening:
            self._freeing.free_in_slices(*served.parts())
            return
        # Thousands of rolls: they would keep the players of other zones waiting.
        populated = await self._in_thread(self._populated(zone, served, dead))
        if zone in self._opening:
            self._begin(zone, served, *populated)
        else:
            self._free(populated[0], served)

    def _populated(
        self, zone: Zone, served: ServedZone, dead: Mapping[int, float | None]
    ) -> Callable[[], tuple[Population, list[Standing]]]:
        """Return what makes the population of a zone that opens, and what stands. For a thread."""
        now, center = self._now(), self._middle(zone)
        surroundings = self._surroundings(zone.zone_id, self._daytime())

        def populated() -> tuple[Population, list[Standing]]:
            population = Population(served.content, self._randomness(), surroundings, dead)
            return population, nearest_first(population.open(now), center)

        return populated

    def _begin(
        self, zone: Zone, served: ServedZone, population: Population, standing: Iterable[Standing]
    ) -> None:
        """Begin to add what stands in a zone that opens."""
        self._opening.discard(zone)
        row = served.content.zone
        filled = _Filled(zone, population, served, is_private=row["instance_type"] not in PUBLIC)
        filled.waiting.extend(standing)
        self._filled[zone] = filled
        if self.listener is not None and served.of_file is not None:
            self.listener.zone_is_read(zone, row["script"])
        if served.faults:
            self._failed(
                f"zone {zone.zone_id}: {len(served.faults)} spawns cannot be shown;"
                f" the first: {served.faults[0]}"
            )
        self._go_on_soon(filled)

    def _go_on_soon(self, filled: _Filled) -> None:
        """Add the first slice at once where all is from zone files, else in the next turn."""
        now = self._now()
        if filled.served.of_file is None:
            self._remove_slice(filled, now)
            self._add_slice(filled)
            self._rest(filled, now)
        else:
            self._deadlines.set(filled.zone, FILL, now)

    def _free(self, population: Population, served: ServedZone) -> None:
        self._freeing.free_in_slices(*population.parts(), *served.parts())

    async def _dead(self, zone: Zone) -> dict[int, float | None]:
        if self.deaths is None:
            return {}
        return await self.deaths.dead_in(zone.zone_id, zone.instance)

    def _keep_deaths(self, filled: _Filled) -> None:
        deaths = filled.population.take_deaths()
        if deaths and self.deaths is not None:
            zone = filled.zone
            self.deaths.died(zone.zone_id, zone.instance, deaths, for_ever=filled.is_private)

    def _middle(self, zone: Zone) -> Position:
        """Return the place at which a zone's players are, or will appear."""
        return self._center(zone) or zone.definition.safe

    def _daytime(self) -> Condition:
        is_day = 8 <= self._hour() < 19
        return (Condition.DAY if is_day else Condition.NIGHT) | Condition.DRY

    def _add_slice(self, filled: _Filled) -> None:
        for number in range(min(SLICE, len(filled.waiting))):
            # Scripts of spawns may take long.
            if number and not self._timetable.may_work(self._now()):
                return
            standing = filled.waiting.popleft()
            # What expired before it was its turn is gone already.
            if filled.population.at(standing.placement.id) is not standing:
                continue
            template = filled.served.templates.get(standing.template.id)
            if template is None:
                continue
            spawn = spawn_of(template, standing, self._next_id())
            filled.spawns[standing.placement.id] = spawn
            before = filled.replaced.pop(standing.placement.id, None)
            if not self._add(filled, spawn, standing, is_back=not filled.is_opening):
                filled.spawns.pop(standing.placement.id, None)
                filled.waiting.clear()
                return
            if before is not None and self.targets is not None:
                self.targets.hand_over(filled.zone, before[1], before[0], spawn)

    def _add(self, filled: _Filled, spawn: Spawn, standing: Standing, *, is_back: bool) -> bool:
        """Put a spawn into its zone; return False if the zone is full."""
        # Scripts have the spawns of the content file alone, and a zone file's place is exact.
        is_of_file = not is_from_file(standing)
        listener = self.listener if is_of_file else None
        if self.ground is not None and is_of_file:
            place_on_ground(self.ground(filled.zone), spawn, standing, snap=self.snap)
        if listener is not None:
            listener.prepared(filled.zone, spawn, standing)
        try:
            filled.zone.add_spawn(spawn, self._now())
        except LimitExceeded as error:
            self._failed(f"zone {filled.zone.zone_id}: {error}")
            if listener is not None:
                listener.vanished(filled.zone, spawn)
            return False
        for watcher in self.watchers:
            watcher.appeared(filled.zone, spawn, standing)
        if listener is not None:
            listener.appeared(filled.zone, spawn, standing, is_back=is_back)
        return True

    def _remove_slice(self, filled: _Filled, now: Monotonic) -> None:
        some = [filled.leaving.popleft() for _ in range(min(SLICE, len(filled.leaving)))]
        self._apply(filled, Change(gone=some), now)

    def _remove(self, zone: Zone, spawn: Spawn, now: Monotonic) -> None:
        # Its behavior first: that must not act for a spawn that is gone.
        for watcher in self.watchers:
            watcher.vanished(zone, spawn)
        zone.remove(spawn, now)
        if self.listener is not None:
            self.listener.vanished(zone, spawn)

    def _pass_time(self, filled: _Filled, now: Monotonic) -> None:
        population = filled.population
        changes = [population.handle_timer(now)]
        daytime = self._daytime()
        if daytime != population.surroundings.now:
            population.surroundings.now = daytime
            changes.append(population.changed(now))
        for change in changes:
            self._apply(filled, change, now)
        for spawn, standing in list(filled.extras.values()):
            if standing.expires is not None and standing.expires <= now:
                self.despawn(filled.zone, spawn)
        self._keep_deaths(filled)

    def _apply(self, filled: _Filled, change: Change, now: Monotonic) -> None:
        for standing in change.gone:
            spawn = filled.spawns.pop(standing.placement.id, None)
            if spawn is not None:
                self._remove(filled.zone, spawn, now)
        filled.waiting.extend(change.come)
