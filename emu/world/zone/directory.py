"""The zones that run: instances made when somebody comes, ended when nobody has been there a while.

Owns which instance a player gets and the one timer of all zones. What stands in a zone is put there
by `populate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field

from emu.errors import EmuError
from emu.times import Monotonic
from emu.world.places.atlas import Atlas
from emu.world.places.zones import ZoneDefinition
from emu.world.rules import ZoneRules
from emu.world.zone.zone import Zone

Populate = Callable[[Zone, ZoneDefinition, Monotonic], None]


class NoSuchZone(EmuError):
    """A character is in, or goes to, a zone that this world does not have."""

    def __init__(self, zone_id: int) -> None:
        super().__init__(f"this world has no zone {zone_id}")


@dataclass(slots=True, eq=False)
class Zones:
    """All running zones of a world."""

    table: Atlas
    populate: Populate
    rules: ZoneRules
    _: KW_ONLY
    wake: Callable[[], None]
    ended: Callable[[Zone], None] = lambda _zone: None
    """Is told of every instance that is over."""
    tick: Callable[[Zone, Monotonic], object] = Zone.tick
    """Ticks one, and may time it."""
    linger: float = 300.0
    """Seconds that an empty instance goes on."""
    _running: dict[tuple[int, int], Zone] = field(default_factory=dict)
    _due: dict[Zone, None] = field(default_factory=dict)
    _empty_since: dict[Zone, Monotonic] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Zone]:
        """All running zones; a snapshot."""
        return iter(list(self._running.values()))

    def __len__(self) -> int:
        return len(self._running)

    def definition(self, zone_id: int) -> ZoneDefinition:
        """Return what is known of a zone; raises `NoSuchZone`."""
        found = self.table.get(zone_id)
        if found is None:
            raise NoSuchZone(zone_id)
        return found

    def find(self, zone_id: int, instance: int = 0) -> Zone | None:
        """Return a running zone."""
        return self._running.get((zone_id, instance))

    def with_room(self, zone_id: int, now: Monotonic, players: Callable[[Zone], int]) -> Zone:
        """Return the first instance of a zone that is not full, started when there is none.

        Raises `NoSuchZone`.
        """
        definition = self.definition(zone_id)
        instance = 0
        while True:
            zone = self._running.get((zone_id, instance))
            if zone is None:
                return self._start(definition, instance, now)
            if not definition.population or players(zone) < definition.population:
                self._empty_since.pop(zone, None)
                return zone
            instance += 1

    def left(self, zone: Zone, players: int, now: Monotonic) -> None:
        """Learn that somebody left; an empty instance ends after a while."""
        if not players:
            self._empty_since[zone] = now
            self.wake()

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        times = [due for zone in self._due if (due := zone.get_timer()) is not None]
        times += [Monotonic(since + self.linger) for since in self._empty_since.values()]
        return min(times, default=None)

    def handle_timer(self, now: Monotonic) -> None:
        """Tick the zones that are due, and end those that have been empty long enough."""
        due, self._due = self._due, {}
        for zone in due:
            when = zone.get_timer()
            if when is not None and when <= now:
                self.tick(zone, now)
            if zone.get_timer() is not None:
                self._due[zone] = None
        for zone, since in list(self._empty_since.items()):
            if since + self.linger <= now:
                self.end(zone)

    def end(self, zone: Zone) -> None:
        """Forget an instance; nobody may be in it."""
        self._running.pop((zone.zone_id, zone.instance), None)
        self._empty_since.pop(zone, None)
        self._due.pop(zone, None)
        self.ended(zone)

    def _start(self, definition: ZoneDefinition, instance: int, now: Monotonic) -> Zone:
        def wake() -> None:
            self._due[zone] = None
            self.wake()

        zone = Zone(definition.id, instance, self.rules, wake=wake)
        self._running[definition.id, instance] = zone
        self.populate(zone, definition, now)
        return zone
