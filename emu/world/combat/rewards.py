"""Experience for the players who have killed a creature.

Source: docs/protocol/world/fights.md#experience.
"""

from __future__ import annotations

from emu.rules.experience import Fallen, kill_points, vitality_bonus
from emu.times import Monotonic
from emu.world.actors.bonus_types import COMBAT_EXPERIENCE
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import SpawnKind
from emu.world.combat.blows import show_death
from emu.world.combat.fights import Fights
from emu.world.combat.standings import Standings
from emu.world.events import Died, Order
from emu.world.levels import Levels
from emu.world.social.chat import Chat
from emu.world.world import World

GAINED = "You gain {points} experience!"


class Rewards:
    """Shows the deaths of creatures, and gives players what a kill is worth."""

    def __init__(
        self, world: World, fights: Fights, levels: Levels, chat: Chat, standings: Standings
    ) -> None:
        """Listen to deaths, before the loot falls."""
        self._world = world
        self._fights = fights
        self._levels = levels
        self._chat = chat
        self._standings = standings
        world.events.subscribe(Died, self._died, Order.OWNER)

    def _died(self, event: Died) -> None:
        spawn = event.victim
        if spawn.kind is not SpawnKind.NPC:
            return
        self._end_fights(event)
        players = self.sharers(event)
        # Factions come before experience (recorded).
        self._standings.killed(event.zone, spawn.faction, players)
        fallen = Fallen(spawn.level, spawn.difficulty, spawn.heroic)
        now = self._world.clock.now()
        for player in players:
            rules = self._world.rules.in_zone(player.zone.zone_id)
            rate = rules.experience_rate * player.zone.definition.experience
            more = player.spawn.sheet.bonus(COMBAT_EXPERIENCE)
            points = kill_points(fallen, player.spawn.level, len(players), rate=rate, more=more)
            if points > 0:
                self.give(player, points + self._vitality(player, points, now), now)
        # EQ2Emulator sends the line about experience first (recorded).
        show_death(event.zone, event.killer, spawn, event.kind)

    def _end_fights(self, event: Died) -> None:
        """Tell newer clients of the fighters that it is over (recorded: right behind the blow)."""
        for fighter in dict.fromkeys((*event.fighters, event.killer)):
            player = self._fights.players.get(fighter) if fighter is not None else None
            if player is not None and not player.client.dialect.world_rules.older_windows:
                player.client.send("WS_EnterCombat", {"response": 0})

    def sharers(self, event: Died) -> list[Player]:
        """Return who shares: the fighters and those of their groups who see it."""
        found: dict[int, Player] = {}
        for fighter in event.fighters:
            player = self._fights.players.get(fighter)
            if player is None:
                continue
            group = self._world.groups.table.of(player.id)
            for member in group.members if group is not None else (player.id,):
                other = self._world.players.get(member)
                if other is not None and self._shares(other, event):
                    found[other.id] = other
        return list(found.values())

    def _shares(self, player: Player, event: Died) -> bool:
        is_here = player.zone is event.zone and player.state in IN_ZONE
        return is_here and player.index_of(event.victim) is not None

    def _vitality(self, player: Player, points: int, now: Monotonic) -> int:
        """Use a player's vitality for the points of a kill; return what it adds."""
        character = player.character
        needed = self._levels.needed.get(character.level + 1, 0)
        bonus, left = vitality_bonus(points, character.vitality / 1000, needed)
        vitality = round(left * 1000)
        if vitality != character.vitality:
            self._world.saves.set_facts(player, now, vitality=vitality)
        return bonus

    def give(self, player: Player, points: int, now: Monotonic) -> None:
        """Give a player experience, with a line about it."""
        has_tenth = self._levels.gain(player, points, now)
        self._chat.line(player, GAINED.format(points=points), "experience")
        if has_tenth:
            self._levels.cheer_tenth(player)
