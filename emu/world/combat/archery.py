"""Archery: what a player shoots with, how far, and the ammunition that each shot takes.

Source: docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

from collections import Counter
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
        self._shot: dict[Player, Counter[int]] = {}
        """How many of which ammunition was shot while an exchange runs: it is taken after that."""
        self._waiting: set[Player] = set()
        """Those of whom an act waits that takes it."""

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
        if ammunition.count <= self._shot.get(player, Counter[int]())[ammunition.id]:
            return NO_AMMUNITION
        if distance < part.reach.low:
            return TOO_CLOSE
        if distance > part.reach.high + added.range_bonus:
            return TOO_FAR
        look = kind.look.model if kind.look is not None else 0
        return Shot(ammunition, added.damage_bonus, added.damage_type or part.damage_type, look)

    def loose(self, player: Player, shot: Shot) -> None:
        """Take the ammunition of a shot, now or after the exchange that a player is in."""
        self._shot.setdefault(player, Counter())[shot.ammunition.id] += 1
        # One act takes all: only so many acts of a player may wait. Without one the next shot asks.
        if player not in self._waiting:
            self._waiting.add(player)
            self._items.in_turn(
                player, lambda: self._use_up(player), lambda: self._waiting.discard(player)
            )

    def _use_up(self, player: Player) -> None:
        self._waiting.discard(player)
        for number, count in self._shot.pop(player, Counter[int]()).items():
            ammunition = player.holdings.inventory.get(number)
            if ammunition is not None:
                self._items.use_up(player, ammunition, count, Owner(OwnerKind.USE))
        self._items.changed(player)
