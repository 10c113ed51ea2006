"""Archery: what a player shoots with, how far, and the ammunition that each shot takes.

Source: docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.items.held import Thing
from emu.items.kinds import Ranged, Slot, Thrown
from emu.ledger import Owner, OwnerKind
from emu.world.actors.player import Player
from emu.world.items.items import Items

TOO_CLOSE: Final = "Your target is too close! Move back!"
TOO_FAR: Final = "Your target is too far away! Move closer!"
NO_AMMUNITION: Final = "Out of ammo."
NO_WEAPON: Final = "No ranged weapon found."


class Shot(NamedTuple):
    """What one shot needs and adds."""

    ammunition: Thing
    bonus: int
    """Damage that the ammunition adds."""
    damage_type: int
    look: int
    """The model of the weapon."""


class Archery:
    """The ranged weapons of players."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def draw(self, player: Player, distance: float) -> Shot | str:
        """Return what a shot over a distance between the edges needs, or why there is none."""
        inventory = player.holdings.inventory
        bow, ammunition = inventory.worn(Slot.RANGE), inventory.worn(Slot.AMMO)
        kind = inventory.kind(bow) if bow is not None else None
        part = kind.part if kind is not None else None
        if bow is None or kind is None or not isinstance(part, Ranged) or not bow.condition:
            return NO_WEAPON
        added = inventory.kind(ammunition).part if ammunition is not None else None
        if ammunition is None or not isinstance(added, Thrown):
            return NO_AMMUNITION
        if distance < part.reach.low:
            return TOO_CLOSE
        if distance > part.reach.high + added.range_bonus:
            return TOO_FAR
        look = kind.look.model if kind.look is not None else 0
        return Shot(ammunition, added.damage_bonus, added.damage_type or part.damage_type, look)

    def loose(self, player: Player, shot: Shot) -> None:
        """Take the ammunition of a shot."""
        self._items.use_in_turn(player, lambda: self._use_up(player, shot.ammunition.id))

    def _use_up(self, player: Player, number: int) -> None:
        ammunition = player.holdings.inventory.get(number)
        if ammunition is not None:
            self._items.use_up(player, ammunition, 1, Owner(OwnerKind.USE))
            self._items.changed(player)
