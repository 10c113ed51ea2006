"""`Combat`: the fights of one world, from the first blow to what follows from a death.

Source: docs/guides/fights.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.content.population import Population
from emu.rules.combat import FightChance
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.creatures import Creatures
from emu.world.combat.falls import Falls
from emu.world.combat.fights import Fights
from emu.world.combat.recovery import Recovery
from emu.world.combat.rewards import Rewards
from emu.world.combat.standings import Standings
from emu.world.deadlines import Deadlines
from emu.world.events import Hurt, KillAsked, LeftZone
from emu.world.levels import Levels
from emu.world.minds.shared import Minds
from emu.world.sheets import CharacterSheets
from emu.world.skills import Skills
from emu.world.social.chat import Chat
from emu.world.travel.travel import Travel
from emu.world.world import World
from emu.world.zones.zone import Zone

SHEET_PAUSE: Final = 0.3
"""Seconds from a blow to the change of the sheet: several blows share one."""


class FightRolls:
    """The chance of fights, from the world's source of random numbers."""

    def __init__(self, roll: Callable[[int], int]) -> None:
        """`roll` returns a number from 0 to one below its argument."""
        self._roll = roll

    def randint(self, low: int, high: int, /) -> int:
        """Return a number from `low` to `high`, both included."""
        return low + self._roll(high - low + 1)


class Combat:
    """The components of fights."""

    def __init__(
        self,
        world: World,
        minds: Minds,
        chance: FightChance,
        *,
        travel: Travel,
        levels: Levels,
        skills: Skills,
        sheets: CharacterSheets,
        chat: Chat,
        population: Callable[[Zone], Population | None],
    ) -> None:
        """Make the components; each subscribes to the events of the world."""
        self._sheets = sheets
        self._now = world.clock.now
        self.fights = Fights(world, minds, chat, chance, skills)
        self.standings = Standings(world, chat, population)
        self.creatures = Creatures(world, minds, self.fights, chat, self.standings)
        self.recovery = Recovery(world, self.creatures.is_fighting, self.changed)
        self.falls = Falls(world, self.fights, travel, sheets, chat)
        self.rewards = Rewards(world, self.fights, levels, chat, self.standings)
        self._harm = minds.harm
        self._unsent: Deadlines[Player, str] = world.timetable.deadlines(
            "sheets of fighters", self._send
        )
        world.events.subscribe(Hurt, lambda event: self._sheet_changed(event.spawn))
        world.events.subscribe(KillAsked, self._kill_asked)
        world.events.subscribe(LeftZone, lambda event: self._unsent.clear(event.player, ""))

    def _kill_asked(self, event: KillAsked) -> None:
        """Kill a creature in a world without scripts."""
        if not event.done_by and event.target.kind is SpawnKind.NPC:
            event.done_by.append("combat")
            self._harm.kill(event.player.zone, event.target, event.player.spawn)

    def changed(self, spawn: Spawn) -> None:
        """Show changed health and power of a spawn; a player's sheet follows at once."""
        spawn.show_pools()
        player = self.fights.players.get(spawn)
        if player is not None:
            self._sheets.send(player)

    def _sheet_changed(self, spawn: Spawn) -> None:
        player = self.fights.players.get(spawn)
        if player is not None and self._unsent.get(player, "") is None:
            self._unsent.set(player, "", Monotonic(self._now() + SHEET_PAUSE))

    def _send(self, player: Player, _name: str, _now: Monotonic) -> None:
        if player.state in IN_ZONE:
            self._sheets.send(player)
