"""The spawns that a client sees in a zone, and where it has seen others.

Ghosts are decoded when somebody looks, and again only after a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emu.client.evening.walkers import place_after
from emu.client.hunting import DEAD
from emu.client.world import WorldClientCore
from emu.client.world.events import Appeared, Updated, Vanished, WorldEvent
from emu.client.world.surroundings import (
    FULL_HEALTH,
    NOWHERE,
    Place,
    fights_viewer,
    health_percent,
    is_attackable,
    shows_verb,
)
from emu.times import Monotonic
from emu.world_stream.ghosts import INFO, POSITION, VISIBILITY


@dataclass(frozen=True, slots=True)
class SeenSpawn:
    """One ghost as the player sees it."""

    index: int
    name: str
    level: int
    place: Place
    is_enemy: bool
    harm: int
    """The percent of its health that it has lost."""
    mark: int
    """The mark of a quest above it; 0 for none."""
    fights_it: bool = False
    """Whether it fights the player, or who is in its group."""
    shows_verb: bool = False
    """Whether an icon shows that it can be used."""

    @property
    def is_dead(self) -> bool:
        """Whether it has lost all of its health."""
        return self.harm == DEAD


class SeenSpawns:
    """The ghosts of the present zone, and the places where kinds were seen in it."""

    def __init__(self, core: WorldClientCore) -> None:
        self._core = core
        self._known: dict[int, SeenSpawn | None] = {}
        self._all: list[SeenSpawn] | None = None
        self._placed: dict[int, Monotonic] = {}
        """When the place of a ghost has come."""
        self.remembered: dict[str, Place] = {}
        """The last place of each name that was seen in this zone."""

    def handle_event(self, event: WorldEvent, now: Monotonic) -> None:
        """Note what an event changes."""
        match event:
            case Appeared(index, _):
                self._known[index] = None
                self._placed[index] = now
            case Updated(_, entries):
                for entry in entries:
                    self._known[entry.ghost] = None
                    if entry.part == POSITION:
                        self._placed[entry.ghost] = now
            case Vanished(index, _):
                self._known.pop(index, None)
                self._placed.pop(index, None)
            case _:
                return
        self._all = None

    def forget(self) -> None:
        """Begin anew in another zone."""
        self._known.clear()
        self._placed.clear()
        self.remembered.clear()
        self._all = None

    def get(self, index: int) -> SeenSpawn | None:
        """Return a ghost, None if it is not there."""
        seen = self._core.surroundings
        if seen is None or index not in seen:
            self._known.pop(index, None)
            return None
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._look(index)
            if known.name and not known.is_dead and known.place[:3] != NOWHERE:
                self.remembered[known.name] = known.place
        return known

    def place_now(self, spawn: SeenSpawn, now: Monotonic) -> Place:
        """Return where a ghost is that may walk: the server sends the points of its way only."""
        seen, since = self._core.surroundings, self._placed.get(spawn.index)
        if seen is None or since is None or spawn.index not in seen:
            return spawn.place
        return place_after(seen.part(spawn.index, POSITION), spawn.place, now - since)

    def all(self) -> list[SeenSpawn]:
        """Return all ghosts with a name but the own one."""
        if self._all is None:
            own = self._core.own_index
            found = (self.get(index) for index in list(self._known) if index != own)
            self._all = [one for one in found if one is not None and one.name]
        return self._all

    def peaceful(self, here: Place) -> Iterator[SeenSpawn]:
        """Yield those who live and are no enemies, the nearest to a place first.

        Those without a place are left out.
        """
        for one in sorted(self.all(), key=lambda one: here.distance_to(one.place)):
            if not one.is_enemy and not one.is_dead and one.place[:3] != NOWHERE:
                yield one

    def _look(self, index: int) -> SeenSpawn:
        seen = self._core.surroundings
        assert seen is not None  # noqa: S101  # `get` has looked
        visible, info = seen.part(index, VISIBILITY), seen.part(index, INFO)
        try:
            place = seen.place(index)
        except KeyError:
            place = Place(*NOWHERE)
        return SeenSpawn(
            index, seen.name(index), int(info.get("level", 0)), place, is_attackable(visible),
            FULL_HEALTH - health_percent(info), int(visible.get("quest_flag", 0)),
            fights_viewer(visible), shows_verb(visible, info),
        )  # fmt: skip
