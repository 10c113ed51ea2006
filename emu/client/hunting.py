"""A bot that fights: it walks to the nearest creature that it may strike, and returns from death.

It knows no more than its client was sent. Times are seconds, distances world units.
"""

from __future__ import annotations

from typing import Final

from emu.client.world import WorldClientCore
from emu.client.world.events import BlowSeen, DeathSeen, RevivalOffered, WorldEvent
from emu.client.world.surroundings import RUNNING_SPEED, is_attackable
from emu.errors import CommandError
from emu.times import Monotonic
from emu.world_stream.ghosts import INFO, VISIBILITY

THINK: Final = 1.0
"""Between two thoughts."""
STRIKES: Final = 3.0
"""It stands as near as this to whom it strikes."""
PATIENCE: Final = 30.0
"""After so long it looks for another creature: this one may be out of reach."""
DEAD: Final = 100
"""What the field of the missing health has for the dead."""


class Hunter:
    """The fights of one bot."""

    __slots__ = (
        "_core", "_is_dead", "_radius", "_since", "_target", "blows", "deaths", "home", "kills",
        "taken",
    )  # fmt: skip

    def __init__(self, core: WorldClientCore, radius: float) -> None:
        """It fights what is within `radius` of where it entered."""
        self._core = core
        self._radius = radius
        self.home = core.place
        self._target: int | None = None
        self._since = Monotonic(0.0)
        self._is_dead = False
        self.blows = 0
        """Blows that it has dealt."""
        self.taken = 0
        """Blows that it has taken."""
        self.kills = 0
        """Creatures that it saw killed by itself."""
        self.deaths = 0

    # -- what it sees -----------------------------------------------------------------------------

    def handle_event(self, event: WorldEvent) -> None:
        """Handle an event of the client."""
        own = self._core.own_index
        match event:
            case BlowSeen(attacker, defender, _):
                self.blows += attacker == own
                self.taken += defender == own
            case DeathSeen(killer, dead):
                self.kills += killer == own and dead != own
                self.deaths += dead == own
                if dead == self._target:
                    self._target = None
            case RevivalOffered(places):
                # Also at an entry, if it left the world dead.
                self._is_dead, self._target = True, None
                self._revive(places[0][0] if places else 0)

    def _revive(self, number: int) -> None:
        try:
            self._core.command(f"/select_junction {number}")
        except CommandError:
            return  # the world offers no way back
        self._is_dead = False

    # -- what it does -----------------------------------------------------------------------------

    def think(self, now: Monotonic) -> None:
        """Choose whom to strike, and go there."""
        if self._is_dead:
            return
        if self._target is not None and now - self._since > PATIENCE:
            self._target = None
        if self._target is None or not self._may_strike(self._target):
            self._target = self._nearest()
            self._since = now
            if self._target is None:
                return
            try:
                self._core.target(self._target)
                self._core.command("/autoattack 1")
            except CommandError:
                self._target = None
                return
        self._approach(self._target, now)

    def _may_strike(self, index: int) -> bool:
        """Return whether a ghost is a creature that lives and can be attacked."""
        seen = self._core.surroundings
        if seen is None or index not in seen or index == self._core.own_index:
            return False
        is_enemy = is_attackable(seen.part(index, VISIBILITY))
        return is_enemy and seen.part(index, INFO).get("hp_remaining", 0) != DEAD

    def _nearest(self) -> int | None:
        """Return the nearest creature around where it has entered; None if there is none."""
        seen = self._core.surroundings
        if seen is None:
            return None
        around = seen.near(self._core.place, self._radius, besides=self._core.own_index)
        return next((one.ghost for one in around if self._may_strike(one.ghost)), None)

    def _approach(self, index: int, now: Monotonic) -> None:
        seen = self._core.surroundings
        if seen is None:
            return
        try:
            self._core.approach(seen.place(index), STRIKES, now, RUNNING_SPEED)
        except CommandError:
            self._target = None  # it is unknown how this version walks
