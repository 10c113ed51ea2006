"""The doors of houses in running zones, and what players are shown at them.

A player may buy, enter and pay only what a window has shown to it, while it stands near the door
of that window.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.content.homes import HouseKind
from emu.content.standing import Standing
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import Player
from emu.world.actors.reach import distance_of, reach_of
from emu.world.actors.spawn import TOO_FAR, Spawn
from emu.world.events import LeftZone
from emu.world.world import World
from emu.world.zones.zone import Zone


@dataclass(slots=True)
class Offers:
    """What a player was shown at a door, or in a house without one."""

    door: Spawn | None
    reach: float
    home: HouseKind | None = None
    """The house that it may buy."""
    houses: dict[int, int] = field(default_factory=dict)
    """Numbers of houses by the number that the client sends for each."""


class Entrances:
    """The doors of one world's houses."""

    def __init__(self, world: World) -> None:
        self._homes: dict[int, tuple[Zone, int]] = {}
        """The house of the content file, by the door's number of this run."""
        self._shown: dict[int, Offers] = {}
        """By character."""
        world.events.subscribe(LeftZone, lambda event: self._shown.pop(event.player.id, None))

    # -- spawns of the content file -------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note a spawn that has appeared, if it is the door of a house."""
        template = standing.template
        if template.kind == "widgets" and template.own["housing"]:
            self._homes[spawn.id] = zone, template.own["housing"]

    def vanished(self, _zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that has left its zone."""
        self._homes.pop(spawn.id, None)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._homes = {key: one for key, one in self._homes.items() if one[0] is not zone}

    def home_of(self, spawn: Spawn) -> int:
        """Return the number of the house whose door a spawn is; 0 if it is none."""
        found = self._homes.get(spawn.id)
        return found[1] if found is not None else 0

    # -- what players are shown -----------------------------------------------------------------

    def open(self, player: Player, door: Spawn | None) -> Offers:
        """Begin to show a player windows at a door; what it was shown before counts no more."""
        reach = reach_of(door, player.position) if door is not None else 0.0
        self._shown[player.id] = Offers(door, reach)
        return self._shown[player.id]

    def shown(self, player: Player) -> Offers | None:
        """Return what a player was shown, if it is still near enough; else it reads that."""
        shown = self._shown.get(player.id)
        if shown is None or shown.door is None:
            return shown
        is_near = distance_of(shown.door, player.position) <= shown.reach
        if not is_near or player.index_of(shown.door) is None:
            send_text(player.client, TOO_FAR, ERROR_COLOR)
            return None
        return shown

    def is_shown(self, player: Player, shown: Offers) -> bool:
        """Return whether a player has opened no other window since."""
        return self._shown.get(player.id) is shown
