"""Makes spawns of the content file for scripts, and looks up what the file says of factions.

What a script makes takes no place of the content: each call makes another one, and nothing returns
when it is gone. A zone holds a limited number of them. Source: docs/guides/lua.md#making.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from emu.content.population import Population, Surroundings
from emu.content.rows import Row
from emu.content.standing import Standing
from emu.content.strays import Stray
from emu.errors import FileFormatError
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnTemplate
from emu.world.population.looks import template_of
from emu.world.scripts.bodies import Body, Home
from emu.world.zones.zone import Zone


class FilledZones(Protocol):
    """The zones of a content file; `emu.world.population.served.ContentZones` has them."""

    def population(self, zone: Zone) -> Population | None:
        """Return what can stand in a zone; None while its content is not read."""

    def put_spawn(
        self, zone: Zone, standing: Standing, of: SpawnTemplate | None = None
    ) -> Spawn | None:
        """Put a spawn into a zone besides what stands there; None if it cannot be put there.

        `of` is its template if the zone does not have it.
        """

    def despawn(self, zone: Zone, spawn: Spawn) -> object:
        """Remove a spawn of the content file from its zone."""

    def keep_dead(self, zone_id: int, location: int, seconds: int) -> bool:
        """Let a location of a zone stay empty for so long, also over a restart."""


class Maker:
    """Makes spawns in the zones of a content file."""

    def __init__(self, *, zones: FilledZones | None, now: Callable[[], Monotonic]) -> None:
        """Without `zones` nothing can be made."""
        self.zones = zones
        self.stray: Callable[[int], Stray | None] = lambda _number: None
        """Returns a kind of spawn that a zone does not have, by its number."""
        self._now = now

    def at_location(self, home: Home, location: int) -> Body | None:
        """Make one more spawn of a place; None if the zone has no such place."""
        population = self._population(home)
        standing = population.make_at(location, self._now()) if population is not None else None
        return next(iter(self._put(home, [standing])), None)

    def group(self, home: Home, group: int) -> list[Body]:
        """Make one more spawn for each place of a group."""
        population = self._population(home)
        return self._put(
            home, population.make_group(group, self._now()) if population is not None else []
        )

    def one(
        self,
        home: Home,
        number: int,
        place: tuple[float, float, float, float],
        *,
        is_private: bool,
    ) -> Body | None:
        """Make a spawn of a number at a place; a private one is seen only by who is let.

        The zone need not have the number: pets come from other zones.
        """
        population = self._population(home)
        if population is None:
            return None
        now = self._now()
        standing, of = population.make_one(number, place, now), None
        if standing is None:
            try:
                other = self.stray(number)
                of = template_of(other.template, other.commands) if other is not None else None
            except FileFormatError:
                return None
            standing = population.make_one(number, place, now, other)
        made = self._put(home, [standing], of)
        if made and is_private:
            made[0].spawn.set_allowed({made[0].spawn.id})
        return made[0] if made else None

    def set_respawn(self, home: Home, location: int, seconds: int) -> bool:
        """Set after how long what dies at a place returns; return False for an unknown place."""
        population = self._population(home)
        return population is not None and population.set_respawn(location, seconds)

    def keep_dead(self, zone_id: int, location: int, seconds: int) -> bool:
        """Let what stands at a place stay dead for so long once it has died, also over a restart.

        Returns whether a running zone has the place.
        """
        return self.zones is not None and self.zones.keep_dead(zone_id, location, seconds)

    def surroundings(self, home: Home) -> Surroundings | None:
        """Return what decides which spawns of a zone may stand; None while its content is unread.

        A change counts for what comes from then on, until the zone ends.
        """
        population = self._population(home)
        return population.surroundings if population is not None else None

    def usual_standing(self, home: Home, faction: int) -> int:
        """Return what a faction thinks of those who have not met it."""
        row = self.faction(home, faction)
        return int(row["default"]) if row is not None else 0

    def faction(self, home: Home, faction: int) -> Row | None:
        """Return the row of a faction; None if there is none."""
        population = self._population(home)
        return population.factions.get(faction) if population is not None else None

    def _population(self, home: Home) -> Population | None:
        return self.zones.population(home.zone) if self.zones is not None else None

    def _put(
        self, home: Home, made: Iterable[Standing | None], of: SpawnTemplate | None = None
    ) -> list[Body]:
        bodies = []
        for standing in made:
            if standing is None or self.zones is None:
                continue
            spawn = self.zones.put_spawn(home.zone, standing, of)
            body = home.bodies.get(spawn.id) if spawn is not None else None
            if body is not None:
                bodies.append(body)
        return bodies
