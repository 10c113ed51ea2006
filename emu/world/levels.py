"""Levels and classes of players: changing them, showing that, and storing it with the character.

The caller sends the player its sheet. Source: docs/guides/lua.md#levels,
docs/protocol/world/fights.md#experience.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.rules.experience import Progress, debt_paid, most_points, usual_needs
from emu.rules.levels import cut_level
from emu.times import Monotonic
from emu.world.actors.looks import change_looks
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.events import (
    ClassChanged,
    Entered,
    LevelGained,
    MayLevel,
    MayTradeLevel,
    Order,
    TenthGained,
    TradeLevelGained,
)
from emu.world.sheets import CharacterSheets
from emu.world.social.chat import Chat
from emu.world.speech.spoken import play_animation, play_visual
from emu.world.world import World

LEVEL_VISUAL: Final = 322
"""The spell visual of a player that reaches a level."""
HIGH_VISUAL: Final = 323
"""That of the levels from `HIGH_LEVEL` on."""
HIGH_LEVEL: Final = 50
TENTH_VISUAL: Final = 332
"""That of a player that reaches a tenth of a level (recorded)."""
CHEER: Final = 1753
"""The animation of a player that reaches a level, the same in all versions (recorded)."""
LARGEST_CLASS: Final = 0xFF
TENTHS: Final = 10
TRADESKILL: Final = 1
"""The kind of a tradeskill level in the message about a level."""
TRADE_LEVEL: Final = "Your tradeskill level is now {level}!"
"""Not recorded; the wording is EQ2Emulator's."""


class Levels:
    """Changes levels and classes of the players of one world."""

    def __init__(
        self, world: World, chat: Chat, needed: Mapping[int, int], sheets: CharacterSheets
    ) -> None:
        """`needed` are the points that lead to a level, by that level; empty for the usual ones."""
        self._world = world
        self._chat = chat
        self._sheets = sheets
        self.needed = needed or usual_needs()
        """The points that lead to each level."""
        world.events.subscribe(Entered, self._entered, Order.OWNER)
        # Spells of a level come before the line, and skills behind it (recorded).
        world.events.subscribe(LevelGained, self._say_level, Order.SUBJECTS)

    def set_level(self, player: Player, level: int, now: Monotonic) -> bool:
        """Give a player another level, with full health and power; return False for its own level.

        The level is cut to those of this world, and its points begin anew. The player is not sent
        its sheet.
        """
        level = self._cut(player, level)
        before = player.character.level
        if level == before:
            return False
        needed = self.needed.get(level + 1, 0)
        self._change(player, now, level=level, experience=0, experience_needed=needed)
        spawn = player.spawn
        spawn.level = level
        spawn.mark_sheet()
        if spawn.hp_percent > 0:
            _fill(spawn)
        spawn.set_info(level=level)
        spawn.show_pools()
        player.client.send("WS_LevelChanged", {"old_level": before, "new_level": level})
        if level > before:
            around = list(self._world.players.standing_in(player.zone))
            play_visual(spawn, around, HIGH_VISUAL if level >= HIGH_LEVEL else LEVEL_VISUAL)
            play_animation(spawn, around, CHEER)
        # Arrows and colors of all spawns depend on the viewer's level.
        if player.viewer is not None:
            player.zone.look_again(player.viewer)
        self._world.events.publish(LevelGained(player, before, level))
        return True

    def _say_level(self, event: LevelGained) -> None:
        self._chat.line(event.player, f"You are now level {event.after}!", "experience")

    def gain(self, player: Player, points: int, now: Monotonic) -> bool:
        """Give a player experience; half of it pays its debt, and it may reach levels.

        The player is sent its sheet. Return whether it has reached a further tenth of its level:
        then the caller calls `cheer_tenth`, after its line about the points.
        """
        character = player.character
        needed = self.needed.get(character.level + 1, 0)
        before = Progress(character.level, character.experience, character.experience_debt / 1000)
        left, debt = debt_paid(before, points, needed)
        if debt != before.debt:
            self._change(player, now, experience_debt=round(debt * 1000))
        has_tenth = self._advance(player, left, now)
        self._sheets.send(player)
        return has_tenth

    def cheer_tenth(self, player: Player) -> None:
        """Fill the pools of a player that has reached a tenth of a level, and show it."""
        spawn = player.spawn
        if spawn.hp_percent <= 0:
            return
        _fill(spawn)
        spawn.show_pools()
        play_visual(spawn, list(self._world.players.standing_in(player.zone)), TENTH_VISUAL)

    def _advance(self, player: Player, points: int, now: Monotonic) -> bool:
        """Add points to those of a player, and let it reach the levels that they make.

        Return whether it has reached a further tenth of its level. Whoever changes the zone reaches
        levels when it stands in the next one.
        """
        highest = self._world.rules.in_zone(player.zone.zone_id).max_level
        while True:
            level, before = player.character.level, player.character.experience
            needed = self.needed.get(level + 1, 0)
            if level >= highest or not needed:
                total = min(before + points, max(0, needed - 1))
                break
            total = before + points
            if total < needed or player.state not in IN_ZONE:
                break
            asked = MayLevel(player, level, level + 1, points)
            self._world.events.publish(asked)
            # A listener may have cut the points, or changed the level.
            if asked.refusals or player.character.level != level:
                total = player.character.experience + points
                break
            points = max(0, total - needed)
            self.set_level(player, level + 1, now)
        was = player.character.experience
        self._change(
            player, now, experience=min(total, most_points(self.needed)), experience_needed=needed
        )
        has_tenth = needed > 0 and total * TENTHS // needed > was * TENTHS // needed
        if has_tenth:
            self._world.events.publish(TenthGained(player))
        return has_tenth

    def set_points(self, player: Player, points: int, now: Monotonic) -> None:
        """Set the points that a player has in its level; it reaches no level by that."""
        points = max(0, min(points, most_points(self.needed)))
        self._change(player, now, experience=points)

    def _entered(self, event: Entered) -> None:
        """Let a player reach the level that it could not reach while it changed the zone."""
        character = event.player.character
        needed = self.needed.get(character.level + 1, 0)
        if needed and character.experience >= needed:
            self._advance(event.player, 0, event.now)
            self._sheets.send(event.player)

    def set_class(self, player: Player, number: int, now: Monotonic) -> bool:
        """Give a player another class of adventurers; return False for its own, or no class."""
        if not 0 <= number <= LARGEST_CLASS or number == player.character.class_:
            return False
        before = player.character.class_
        self._change(player, now, class_=number)
        change_looks(player.spawn, **{"class": number})
        player.spawn.mark_sheet()
        player.spawn.show_pools()
        self._world.events.publish(ClassChanged(player, before))
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
        """Give a player another tradeskill level, cut to those of this world.

        Its points begin anew. The player is not sent its sheet.
        """
        level = self._cut(player, level)
        before = player.character.tradeskill_level
        if level == before:
            return False
        needed = self.needed.get(level + 1, 0)
        self._change(
            player, now, tradeskill_level=level, tradeskill_experience=0, tradeskill_needed=needed
        )
        fields = {"old_level": before, "new_level": level, "type": TRADESKILL}
        player.client.send("WS_LevelChanged", fields)
        self._world.events.publish(TradeLevelGained(player, before, level))
        if level > before:
            self._chat.line(player, TRADE_LEVEL.format(level=level), "experience")
        return True

    def gain_trade(self, player: Player, points: int, now: Monotonic) -> None:
        """Give a player tradeskill experience; it may reach levels. The player is sent its sheet.

        A tradeskill level needs as many points as one of adventurers.
        """
        highest = self._world.rules.in_zone(player.zone.zone_id).max_level
        total = player.character.tradeskill_experience + points
        while True:
            level = player.character.tradeskill_level
            needed = self.needed.get(level + 1, 0)
            if level >= highest or not needed:
                total = min(total, max(0, needed - 1))
                break
            if total < needed or not self._may_trade(player, total):
                break
            self.set_trade_level(player, level + 1, now)
            total -= needed
        total = min(total, most_points(self.needed))
        self._change(player, now, tradeskill_experience=total, tradeskill_needed=needed)
        self._sheets.send(player)

    def _may_trade(self, player: Player, points: int) -> bool:
        """Ask whether a player may reach the next tradeskill level; its points stay if not."""
        level = player.character.tradeskill_level
        asked = MayTradeLevel(player, level, level + 1, points)
        self._world.events.publish(asked)
        return not asked.refusals and player.character.tradeskill_level == level

    def _cut(self, player: Player, level: int) -> int:
        return cut_level(level, self._world.rules.in_zone(player.zone.zone_id).max_level)

    def _change(self, player: Player, now: Monotonic, **values: int) -> None:
        self._world.saves.set_facts(player, now, **values)


def _fill(spawn: Spawn) -> None:
    """Give a living player full health and power."""
    spawn.sheet.health.restore()
    spawn.sheet.power.restore()
