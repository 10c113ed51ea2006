"""The running zones of a world: instances start for players and end when they stay empty.

`Zones` chooses the instance that a player enters, and ticks each zone when it is due. `populate`
puts spawns into a zone that starts.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Final, NamedTuple

from emu.errors import EmuError
from emu.times import Monotonic
from emu.world.deadlines import Deadlines, Timetable
from emu.world.reports import ActorPaused, Faults
from emu.world.rules import ZoneRules
from emu.world.zones.chances import ZoneChances
from emu.world.zones.definitions import Atlas, ZoneDefinition
from emu.world.zones.zone import Zone

LATEST_TICK: Final = 2
"""Turns for which a tick waits that is due in a long one."""
TICKS_SECONDS: Final = 0.005
"""Time of a turn after which no more zones tick: the others do in the next turn."""
RETRY: Final = 0.1
"""Seconds until work for a zone that raised is tried again."""
Populate = Callable[[Zone, ZoneDefinition, Monotonic], None]


class NoSuchZone(EmuError):
    """A character is in a zone, or goes to one, that this world does not have."""

    def __init__(self, zone_id: int) -> None:
        super().__init__(f"this world has no zone {zone_id}")


@dataclass(slots=True)
class _Failing:
    """A zone whose last ticks raised: how many in a row, and when to try the next one."""

    failures: int
    retry: Monotonic


class Stalled(NamedTuple):
    """A zone that does not tick in time, and why."""

    zone: Zone
    reason: str

    def __str__(self) -> str:
        """Return a line for the public, which learns of no zone that runs for hidden players."""
        name = f"zone {self.zone.definition.description}" if self.zone.is_listed else "a zone"
        return f"{name} is stalled: {self.reason}"


class ZoneDeadline(enum.Enum):
    """What happens to a zone at a time."""

    TICK = "tick"
    END = "end"

    __hash__ = object.__hash__
    """Each tick asks for it, and that of `Enum` is a call of Python code."""


@dataclass(slots=True, eq=False)
class Zones:
    """All running zones of a world."""

    table: Atlas
    populate: Populate
    rules: ZoneRules
    _: KW_ONLY
    faults: Faults
    timetable: Timetable
    chances: ZoneChances
    """The random numbers of what happens in zones."""
    ended: Callable[[Zone], None] = lambda _zone: None
    """Called with every instance that has ended."""
    tick: Callable[[Zone, Monotonic], object] = Zone.tick
    """Ticks a zone, and may measure the time."""
    clock: Callable[[], Monotonic] = lambda: Monotonic(0.0)
    """Returns the time at which it is called: a turn is over after some time of ticks."""
    linger: float = 300.0
    """Seconds that an empty instance keeps running."""
    next_spawn_id: Callable[[], int] = field(default_factory=lambda: itertools.count(1).__next__)
    """Returns the number of a new spawn; no number is used twice."""
    _failing: dict[Zone, _Failing] = field(default_factory=dict)
    _running: dict[tuple[int, int], Zone] = field(default_factory=dict)
    _deadlines: Deadlines[Zone, ZoneDeadline] = field(init=False)
    _last_end: int = 0
    """The turn of the timetable in which a zone has ended last."""
    _tick_turn: int = 0
    """The turn in which a zone has ticked last."""

    def __post_init__(self) -> None:
        # Last in each turn: what all others have changed is then sent in the same turn.
        self._deadlines = self.timetable.deadlines(
            "the timer of the zones", self._handle, is_last=True, may_wait=True,
            most_waits=LATEST_TICK,
        )  # fmt: skip

    def __iter__(self) -> Iterator[Zone]:
        """All running zones; a snapshot."""
        return iter(list(self._running.values()))

    def __len__(self) -> int:
        return len(self._running)

    def definition(self, zone_id: int) -> ZoneDefinition:
        """Return the definition of a zone. Raises `NoSuchZone`."""
        found = self.table.get(zone_id)
        if found is None:
            raise NoSuchZone(zone_id)
        return found

    def find(self, zone_id: int, instance: int = 0) -> Zone | None:
        """Return a running instance, None if it does not run."""
        return self._running.get((zone_id, instance))

    def with_space(
        self,
        zone_id: int,
        now: Monotonic,
        players: Callable[[Zone], int],
        numbers: Sequence[int] | None = None,
    ) -> Zone:
        """Return the first instance of a zone that is not full; start one if all are.

        `numbers` are those of the instances that may run here. If all of them are full, the last
        one is returned: the next player is sent to another instance. None: any number.
        Raises `NoSuchZone`.
        """
        definition = self.definition(zone_id)
        zone: Zone | None = None
        # The lowest number with space comes first, so that players meet each other and late
        # instances become empty.
        for instance in itertools.count() if numbers is None else numbers or (0,):
            zone = self._running.get((zone_id, instance))
            if zone is None:
                return self._start(definition, instance, now)
            if not definition.population or players(zone) < definition.population:
                # It is about to be entered. Otherwise its pending end could come before the player.
                self._deadlines.clear(zone, ZoneDeadline.END)
                return zone
        assert zone is not None  # noqa: S101  # there is at least one number
        return zone

    def private(self, zone_id: int, instance: int, now: Monotonic) -> Zone:
        """Return the copy of a zone with a number; start it if it does not run.

        Raises `NoSuchZone`.
        """
        definition = self.definition(zone_id)
        zone = self._running.get((zone_id, instance))
        if zone is None:
            return self._start(definition, instance, now)
        self._deadlines.clear(zone, ZoneDeadline.END)
        return zone

    def _lingers(self, zone: Zone) -> float:
        return zone.definition.linger or self.linger

    def left(self, zone: Zone, players: int, now: Monotonic) -> None:
        """Note that a player has left an instance; an empty one ends after a while."""
        if not players:
            due = Monotonic(now + self._lingers(zone))
            self._deadlines.set(zone, ZoneDeadline.END, due)

    def end_soon(self, zone: Zone, now: Monotonic) -> None:
        """End an instance at once, if it is empty and nobody is about to enter it."""
        if self._deadlines.get(zone, ZoneDeadline.END) is not None:
            self._deadlines.set(zone, ZoneDeadline.END, now)

    def _handle(self, zone: Zone, what: ZoneDeadline, now: Monotonic) -> None:
        """Tick a zone, or end one that was empty long enough; what raises is tried again."""
        try:
            if what is ZoneDeadline.TICK:
                if self._may_tick(now):
                    self._tick(zone, now)
                else:
                    self._deadlines.set(zone, what, now)
            # One in each turn: to free thousands of spawns of each takes some time.
            elif self._last_end == self.timetable.turn:
                self._deadlines.set(zone, what, now)
            else:
                self._last_end = self.timetable.turn
                self.end(zone)
        except Exception:
            if self._running.get((zone.zone_id, zone.instance)) is zone:
                self._deadlines.set(zone, what, Monotonic(now + RETRY))
            raise

    def _may_tick(self, now: Monotonic) -> bool:
        """Return whether one more zone may tick in the turn of a time; the first one always may."""
        is_first, self._tick_turn = self._tick_turn != self.timetable.turn, self.timetable.turn
        return is_first or self.clock() - now < TICKS_SECONDS

    def end(self, zone: Zone) -> None:
        """End an instance; it must be empty."""
        self._running.pop((zone.zone_id, zone.instance), None)
        self._deadlines.forget(zone, ZoneDeadline)
        self._failing.pop(zone, None)
        try:
            self.ended(zone)
        except Exception as error:  # noqa: BLE001  # the zone has ended nevertheless
            self.faults.add_fault("ending a zone", zone.definition.description, error)
        zone.end()

    def stalled(self, now: Monotonic) -> list[Stalled]:
        """Return the zones whose tick has failed several times in a row, or is overdue."""
        found = []
        for zone in self:
            failing, due = self._failing.get(zone), zone.next_tick()
            if failing is not None and failing.failures >= self.rules.stalled_failures:
                reason = f"its tick failed {failing.failures} times in a row"
                found.append(Stalled(zone, reason))
            elif failing is None and due is not None and now - due > self.rules.stalled_after:
                # A zone whose tick has failed is late on purpose: it waits for its retry.
                found.append(Stalled(zone, f"its tick is {now - due:.1f} seconds late"))
        return found

    def _plan(self, zone: Zone) -> None:
        """Set when to tick a zone, if it has something to send; one whose tick failed waits."""
        due = zone.next_tick()
        if due is None:
            self._deadlines.clear(zone, ZoneDeadline.TICK)
        else:
            self._set_tick(zone, due)

    def _set_tick(self, zone: Zone, due: Monotonic) -> None:
        # A change must not bypass the pause, or a busy zone would raise in every turn of the
        # reactor.
        if self._failing and zone in self._failing:
            due = max(due, self._failing[zone].retry)
        self._deadlines.set(zone, ZoneDeadline.TICK, due)

    def _tick(self, zone: Zone, now: Monotonic) -> None:
        """Tick a zone; if that raises, report it and tick the zone again later."""
        try:
            self.tick(zone, now)
        except Exception as error:  # noqa: BLE001  # the other zones are due as well
            failing = self._failing.setdefault(zone, _Failing(0, now))
            failing.failures += 1
            # Bounded, because the power itself would overflow a float after a thousand failures.
            exponent = min(failing.failures - 1, 16)
            wait = min(self.rules.longest_retry, self.rules.tick * 2**exponent)
            failing.retry = Monotonic(now + wait)
            # The half-run tick is a generator that has raised, so it cannot be continued.
            zone.abandon_tick(failing.retry)
            self.faults.add_fault("ticking a zone", zone.definition.description, error)
        else:
            if self._failing:
                self._failing.pop(zone, None)
        self._plan(zone)

    def _actor_paused(self, zone: Zone, actor: str, failures: int) -> None:
        self.faults.report(
            ActorPaused(actor, zone.definition.description, failures, self.rules.actor_pause)
        )

    def _start(self, definition: ZoneDefinition, instance: int, now: Monotonic) -> Zone:
        zone = Zone(
            definition,
            instance,
            self.rules,
            failed=self.faults.add_fault,
            is_long=self.timetable.is_long,
        )
        zone.wake, zone.paused = partial(self._set_tick, zone), partial(self._actor_paused, zone)
        # Listed before it is filled: `populate` may run code that looks for its own zone.
        self._running[definition.id, instance] = zone
        try:
            self.populate(zone, definition, now)
        except Exception as error:  # noqa: BLE001  # players can enter it nevertheless
            self.faults.add_fault("filling a zone", zone.definition.description, error)
        return zone
