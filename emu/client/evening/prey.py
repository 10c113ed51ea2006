"""The enemies that a client that plays would attack."""

from __future__ import annotations

from typing import Final

from emu.client.evening.fighting import Fighting
from emu.client.evening.reading import GOOD, WEAK, fit, is_leading, resemblance
from emu.client.evening.seen import SeenSpawn, SeenSpawns
from emu.client.world import WorldClientCore
from emu.client.world.surroundings import Place
from emu.times import Monotonic

ABOVE: Final = 1
"""How many levels above its own an enemy may have."""
BELOW: Final = 3
"""How many levels below its own an enemy may have that it fights for experience."""
COMPANY: Final = 20.0
"""How near to an enemy others are that may come to its help, in world units."""
DETOUR: Final = 30.0
"""How much farther it goes for an enemy with one helper less, in world units."""
NEAREST: Final = 8
"""Among how many enemies it looks for the one with the fewest helpers."""


class Prey:
    """The enemies in sight of one player."""

    def __init__(self, core: WorldClientCore, spawns: SeenSpawns, fighting: Fighting) -> None:
        self._core = core
        self._spawns = spawns
        self._fighting = fighting

    def is_weak(self, one: SeenSpawn) -> bool:
        """Return whether somebody is no stronger than the player can fight."""
        return one.level <= self._fighting.level + ABOVE

    def leads_to(self, text: str) -> Place | None:
        """Return the place of the person to whom a task wants enemies led; else None."""
        if not is_leading(text):
            return None
        people = {one.name: one.place for one in self._spawns.all() if not one.is_enemy}
        known = self._spawns.remembered | people
        rated = [(fit(name, text), name) for name in known if name[:1].isupper()]
        best = max(rated, default=(0.0, ""))
        return known[best[1]] if best[0] >= GOOD else None

    def effort(self, one: SeenSpawn) -> float:
        """Return how far it is to somebody, and for an enemy more for each one that may help it.

        A person takes on the wolf at the edge of the pack.
        """
        far = self._core.place.distance_to(one.place)
        if not one.is_enemy:
            return far
        helpers = sum(
            other.is_enemy and not other.is_dead and other.index != one.index
            and other.level >= self._fighting.level - BELOW
            and one.place.distance_to(other.place) < COMPANY
            for other in self._spawns.all()
        )  # fmt: skip
        return far + DETOUR * helpers

    def weak(self, now: Monotonic, *, is_needed: bool = False) -> list[SeenSpawn]:
        """Return the enemies that it would attack, those with the least effort first.

        Of many the farther ones stay in the order of their distance.
        """
        found = [
            one for one in self._spawns.all()
            if self._fighting.may_attack(one, now, is_needed=is_needed) and self.is_weak(one)
        ]  # fmt: skip
        here = self._core.place
        found.sort(key=lambda one: here.distance_to(one.place))
        return [*sorted(found[:NEAREST], key=self.effort), *found[NEAREST:]]

    def like(
        self, text: str, now: Monotonic, *, is_needed: bool = False
    ) -> SeenSpawn | None:  # fmt: skip
        """Return the enemy whose name resembles a text most; None without one.

        Who has a name of its own is somebody else: the Dark Puppeteer is no Dark Blademaster.
        """
        found = [
            (resemblance(one.name, text), one) for one in self.weak(now, is_needed=is_needed)
            if not one.name[:1].isupper()
        ]  # fmt: skip
        _, best = max(found, key=lambda pair: pair[0], default=(0.0, None))
        return best if best is not None and resemblance(best.name, text) >= WEAK else None

    def worthy(self, now: Monotonic) -> SeenSpawn | None:
        """Return the enemy of about its own level with the least effort; None without one."""
        level = self._fighting.level
        found = (one for one in self.weak(now) if level - BELOW <= one.level <= level)
        return next(found, None)
