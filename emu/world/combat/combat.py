"""`Combat`: the fights of one world, from the first blow to what follows from a death.

Source: docs/guides/fights.md.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.content.population import Population
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.archery import Archery
from emu.world.combat.creatures import Creatures
from emu.world.combat.duels import Duels
from emu.world.combat.falls import Falls
from emu.world.combat.feuds import Feuds
from emu.world.combat.fights import Fights
from emu.world.combat.hazards import Hazards
from emu.world.combat.recovery import Recovery
from emu.world.combat.rest import Rest
from emu.world.combat.resurrections import Resurrections
from emu.world.combat.rewards import Rewards
from emu.world.combat.shards import Shards
from emu.world.combat.standings import Standings
from emu.world.events import Hurt, KillAsked
from emu.world.items.items import Items
from emu.world.levels import Levels
from emu.world.minds.shared import Minds
from emu.world.sheets import CharacterSheets
from emu.world.skills import Skills
from emu.world.social.chat import Chat
from emu.world.travel.travel import Travel
from emu.world.world import World
from emu.world.zones.zone import Zone


class Combat:
    """The components of fights."""

    def __init__(
        self,
        world: World,
        minds: Minds,
        *,
        travel: Travel,
        levels: Levels,
        skills: Skills,
        items: Items,
        sheets: CharacterSheets,
        chat: Chat,
        population: Callable[[Zone], Population | None],
        shards: Shards,
    ) -> None:
        """Make the components; each subscribes to the events of the world."""
        self._sheets = sheets
        self.fights = Fights(world, minds, chat, skills, Archery(items))
        self.standings = Standings(world, chat, population)
        self.creatures = Creatures(world, minds, self.fights, chat, self.standings)
        self.feuds = Feuds(world, minds, self.creatures, self.standings)
        self.recovery = Recovery(world, self.creatures.is_fighting, self.changed)
        sheets.listeners.append(self.recovery.look)
        sheets.more.append(self.fights.sheet_fields)
        self.fights.switched.append(sheets.soon)
        self.falls = Falls(world, self.fights, shards, chat, travel=travel, sheets=sheets)
        self.duels = Duels(world, self.fights, chat)
        self.resurrections = Resurrections(world, self.falls, chat)
        self.hazards = Hazards(world, minds.harm, skills)
        self.rest = Rest(world, sheets.send)
        self.rewards = Rewards(world, self.fights, levels, chat, self.standings)
        self._harm = minds.harm
        world.events.subscribe(Hurt, lambda event: self._sheet_changed(event.spawn))
        world.events.subscribe(KillAsked, self._kill_asked)

    def _kill_asked(self, event: KillAsked) -> None:
        """Kill a creature in a world without scripts."""
        if not event.done_by and event.target.kind is SpawnKind.NPC:
            event.done_by.append("combat")
            self._harm.kill(event.player.zone, event.target, event.player.spawn)

    def kill_self(self, player: Player) -> None:
        """Let a player kill itself, as in items-546-deal."""
        self._harm.kill(player.zone, player.spawn, player.spawn)

    def changed(self, spawn: Spawn) -> None:
        """Show changed health and power of a spawn; a player's sheet follows at once."""
        spawn.show_pools()
        player = self.fights.players.get(spawn)
        if player is not None:
            self._sheets.send(player)

    def _sheet_changed(self, spawn: Spawn) -> None:
        player = self.fights.players.get(spawn)
        if player is not None:
            self._sheets.soon(player)
