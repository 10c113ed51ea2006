"""Feuds: creatures attack those of factions that are hostile to theirs, while players are near.

Players look out for them, as they do for creatures that attack players: where nobody is, nobody
fights. Source: docs/guides/fights.md#creatures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emu.rules.stance import FIXED_FACTIONS
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.combat.creatures import AGGRO_HATE, FARTHEST_AGGRO, Creatures
from emu.world.combat.standings import Standings
from emu.world.events import Entered, LeftZone
from emu.world.minds.nearness import distance_between
from emu.world.minds.shared import Minds
from emu.world.rounds import Rounds
from emu.world.world import World
from emu.world.zones.zone import Zone

PAUSE: Final = 2.0
"""Seconds between two searches around a player, as EQ2Emulator's server has it."""


class Feuds:
    """Lets creatures of hostile factions fight."""

    def __init__(
        self, world: World, minds: Minds, creatures: Creatures, standings: Standings
    ) -> None:
        self._world = world
        self._views = minds.views
        self._creatures = creatures
        self._standings = standings
        self._looks: Rounds[Player] = Rounds(
            world.timetable, "creatures of hostile factions", PAUSE, self._look
        )
        world.events.subscribe(Entered, lambda event: self._looks.add(event.player, event.now))
        world.events.subscribe(LeftZone, lambda event: self._looks.discard(event.player))

    def _look(self, player: Player, _now: Monotonic) -> bool:
        zone = player.zone
        may = self._world.rules.in_zone(zone.zone_id).faction_fights
        if not may or player.state not in IN_ZONE or not self._standings.has_feuds(zone):
            return True
        there: dict[int, list[Spawn]] = {}
        for one in zone.npcs_around(player.position, FARTHEST_AGGRO):
            if one.look.faction > FIXED_FACTIONS and one.hp_percent > 0:
                there.setdefault(one.look.faction, []).append(one)
        for creature, enemy in list(self._pairs(zone, there)):
            if not self._creatures.is_fighting(creature) and enemy.hp_percent > 0:
                self._creatures.hate(zone, creature, enemy, AGGRO_HATE)
        return True

    def _pairs(self, zone: Zone, there: dict[int, list[Spawn]]) -> Iterator[tuple[Spawn, Spawn]]:
        """Yield creatures that do not fight yet, each with the nearest enemy in its radius."""
        for faction, creatures in there.items():
            enemies = [
                other for enemy in self._standings.enemies(zone, faction)
                for other in there.get(enemy, ()) if other.attackable
            ]  # fmt: skip
            if not enemies:
                continue
            for creature in creatures:
                if self._creatures.is_fighting(creature):
                    continue
                radius = self._creatures.radius(zone, creature)
                near = [
                    (distance, other) for other in enemies
                    if other is not creature
                    and (distance := distance_between(creature, other)) <= radius
                ]  # fmt: skip
                found = min(near, key=lambda one: one[0], default=None)
                if found is not None and self._views.sees(zone, creature, found[1]):
                    yield creature, found[1]
