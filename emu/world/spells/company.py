"""Groups of players, encounters of creatures, and pets: friends and enemies of a caster.

Source: docs/guides/spells.md#targets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from emu.content.standing import Standing
from emu.rules.stance import SHOWN
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Entered, LeftZone, Order
from emu.world.world import World
from emu.world.zones.zone import Zone

ENCOUNTER_RADIUS: Final = 60.0
"""How far those of one encounter stand from each other at most."""


@dataclass(slots=True, eq=False)
class _Kinds:
    """What is known of the creatures of a zone."""

    group: dict[Spawn, int] = field(default_factory=dict)
    own: dict[Spawn, Any] = field(default_factory=dict)
    """The rows of their kind."""


class Company:
    """The players who stand in zones, the groups of creatures, and whose pet is whose."""

    def __init__(self, world: World, attitude: Callable[[Player, int], int]) -> None:
        """`attitude` returns what a faction thinks of a player: -5 to 5."""
        self._world = world
        self._attitude = attitude
        self._kinds: dict[Zone, _Kinds] = {}
        self.players: dict[Spawn, Player] = {}
        self.owners: dict[Spawn, Spawn] = {}
        """The masters of pets."""
        world.events.subscribe(Entered, self._entered, Order.OWNER)
        world.events.subscribe(LeftZone, self._left, Order.RECORDS)

    def _entered(self, event: Entered) -> None:
        self.players[event.player.spawn] = event.player

    def _left(self, event: LeftZone) -> None:
        self.players.pop(event.player.spawn, None)

    # -- creatures of the content file ------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Remember the group and the row of a creature that stands now."""
        if spawn.kind is SpawnKind.NPC:
            kinds = self._kinds.setdefault(zone, _Kinds())
            kinds.own[spawn] = standing.template.own
            if standing.group:
                kinds.group[spawn] = standing.group

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a creature that is gone."""
        kinds = self._kinds.get(zone)
        if kinds is not None:
            kinds.group.pop(spawn, None)
            kinds.own.pop(spawn, None)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._kinds.pop(zone, None)

    def row_of(self, zone: Zone, spawn: Spawn) -> Any:
        """Return the row of a creature's kind in the content file; empty without one."""
        kinds = self._kinds.get(zone)
        return kinds.own.get(spawn, {}) if kinds is not None else {}

    def group_of(self, zone: Zone, spawn: Spawn) -> int:
        """Return the number of the group of a creature; 0 for none."""
        kinds = self._kinds.get(zone)
        return kinds.group.get(spawn, 0) if kinds is not None else 0

    def encounter(self, zone: Zone, spawn: Spawn) -> list[Spawn]:
        """Return the living creatures that stand in one group with a creature, itself first."""
        kinds, group = self._kinds.get(zone), self.group_of(zone, spawn)
        # Who is charmed belongs to its master, and to its group no longer.
        if kinds is None or not group or spawn in self.owners:
            return [spawn]
        others = (
            one for one in zone.near(spawn.position, ENCOUNTER_RADIUS)
            if one is not spawn and one.hp_percent > 0 and kinds.group.get(one) == group
            and one not in self.owners
        )  # fmt: skip
        return [spawn, *others]

    # -- players ----------------------------------------------------------------------------------

    def master(self, spawn: Spawn) -> Spawn:
        """Return the master of a pet; for all others themselves."""
        return self.owners.get(spawn, spawn)

    def player(self, spawn: Spawn) -> Player | None:
        """Return the player of a spawn, or the one whose pet it is."""
        return self.players.get(self.master(spawn))

    def pets(self, spawn: Spawn) -> list[Spawn]:
        """Return the living pets of somebody."""
        return [
            pet for pet, master in self.owners.items()
            if master is spawn and pet.hp_percent > 0
        ]  # fmt: skip

    def members(self, player: Player) -> list[Player]:
        """Return the players of a group who stand in the same zone, the player first."""
        group = self._world.groups.table.of(player.id)
        found = [player]
        for member in group.members if group is not None else ():
            other = self._world.players.get(member)
            if other is None or other is player:
                continue
            if other.zone is player.zone and other.state in IN_ZONE:
                found.append(other)
        return found

    def are_grouped(self, one: Spawn, other: Spawn) -> bool:
        """Return whether two spawns are those of one group, or pets of it."""
        if self.master(one) is self.master(other):
            return True
        player, second = self.player(one), self.player(other)
        if player is None or second is None:
            return False
        return second in self.members(player)

    def share_group(self, one: Spawn, other: Spawn) -> bool:
        """Return whether two spawns belong to one group or raid, wherever they are."""
        player, second = self.player(one), self.player(other)
        if player is None or second is None or player is second:
            return player is second
        group, theirs = (self._world.groups.table.of(each.id) for each in (player, second))
        if group is None or theirs is None:
            return False
        return group is theirs or (group.raid is not None and group.raid is theirs.raid)

    # -- friends and enemies ----------------------------------------------------------------------

    def are_friends(self, one: Spawn, other: Spawn) -> bool:
        """Return whether a spawn may be helped by another one."""
        if one is other or not other.is_living:
            return one is other
        mine, theirs = self.player(one), self.player(other)
        if mine is not None and theirs is not None:
            return True
        if mine is None and theirs is None:
            return other not in one.mind.hates
        player, creature = (mine, other) if mine is not None else (theirs, one)
        assert player is not None  # noqa: S101  # one of the two
        hostile = creature.attackable or self._attitude(player, creature.faction) <= -SHOWN
        return not hostile
