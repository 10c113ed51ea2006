"""Levels and classes of players: changing them, showing that, and storing it with the character.

The caller sends the player its sheet. Source: docs/guides/lua.md#levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.rules.experience import Progress, gained, usual_needs
from emu.rules.levels import cut_level, usual_health
from emu.times import Monotonic
from emu.world.actors.looks import change_looks
from emu.world.actors.player import Player
from emu.world.sheets import CharacterSheets
from emu.world.social.chat import Chat
from emu.world.speech.spoken import play_visual
from emu.world.world import World

LEVEL_VISUAL: Final = 322
"""The spell visual of a player that reaches a level."""
LARGEST_CLASS: Final = 0xFF


class Levels:
    """Changes levels and classes of the players of one world."""

    def __init__(self, world: World, chat: Chat, needed: Mapping[int, int]) -> None:
        """`needed` are the points that lead to a level, by that level; empty for the usual ones."""
        self._world = world
        self._chat = chat
        self._sheets = CharacterSheets(world)
        self._needed = needed or usual_needs()

    def set_level(self, player: Player, level: int, now: Monotonic) -> bool:
        """Give a player another level, with full health and power; return False for its own level.

        The level is cut to those of this world.
        """
        level = self._cut(player, level)
        before = player.character.level
        if level == before:
            return False
        needed = self._needed.get(level + 1, 0)
        self._change(player, now, level=level, experience=0, experience_needed=needed)
        spawn = player.spawn
        full = usual_health(level, is_player=True)
        spawn.sheet.health.fill(full)
        spawn.sheet.power.fill(full)
        spawn.set_info(level=level)
        spawn.show_pools()
        self._chat.line(player, f"You are now level {level}!")
        if level > before:
            around = self._world.players.standing_in(player.zone)
            play_visual(spawn, around, LEVEL_VISUAL)
        return True

    def gain(self, player: Player, points: int, now: Monotonic) -> None:
        """Give a player experience; half of it pays its debt, and it may reach levels.

        The player is sent its sheet.
        """
        character = player.character
        highest = self._world.rules.in_zone(player.zone.zone_id).max_level
        before = Progress(character.level, character.experience, character.experience_debt / 1000)
        after = gained(before, points, self._needed, highest)
        if after.level > before.level:
            self.set_level(player, after.level, now)
            player.client.send(
                "WS_LevelChanged", {"old_level": before.level, "new_level": after.level}
            )
        self._change(
            player, now, experience=after.points,
            experience_needed=self._needed.get(after.level + 1, 0),
            experience_debt=round(after.debt * 1000),
        )  # fmt: skip
        self._sheets.send(player)

    def set_class(self, player: Player, number: int, now: Monotonic) -> bool:
        """Give a player another class of adventurers; return False for its own, or no class."""
        if not 0 <= number <= LARGEST_CLASS or number == player.character.class_:
            return False
        self._change(player, now, class_=number)
        change_looks(player.spawn, **{"class": number})
        return True

    def set_trade(self, player: Player, number: int, now: Monotonic) -> bool:
        """Give a player another tradeskill class; return False for its own, or no class."""
        if not 0 <= number <= LARGEST_CLASS or number == player.character.tradeskill_class:
            return False
        self._change(player, now, tradeskill_class=number)
        return True

    def set_deity(self, player: Player, number: int, now: Monotonic) -> bool:
        """Give a player another deity; return False for its own."""
        if number == player.character.deity:
            return False
        self._change(player, now, deity=number)
        return True

    def set_trade_level(self, player: Player, level: int, now: Monotonic) -> bool:
        """Give a player another tradeskill level, cut to those of this world."""
        level = self._cut(player, level)
        if level == player.character.tradeskill_level:
            return False
        self._change(player, now, tradeskill_level=level)
        return True

    def _cut(self, player: Player, level: int) -> int:
        return cut_level(level, self._world.rules.in_zone(player.zone.zone_id).max_level)

    def _change(self, player: Player, now: Monotonic, **values: int) -> None:
        self._world.saves.set_facts(player, now, **values)
