"""The scripts of players: one for all zones, and one by the name of each zone.

They may forbid a level. Source: docs/guides/lua.md#players.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from emu.world.actors.player import Player
from emu.world.events import (
    ClassChanged,
    Died,
    Events,
    LetterRead,
    LevelGained,
    MayLevel,
    MayTradeLevel,
    Order,
    TradeLevelGained,
)
from emu.world.scripts.bodies import Body, Home, Homes
from emu.world.scripts.calls import Calls

EVERYWHERE: Final = "PlayerScripts/global.lua"
FORBIDS: Final = -1
"""What a function returns that forbids a level."""


class PlayerEvents:
    """Calls the functions of the scripts of players."""

    def __init__(self, calls: Calls, homes: Homes, events: Events) -> None:
        """Subscribe, and read the script for all zones, which may have to be compiled first."""
        self._calls = calls
        self._homes = homes
        events.subscribe(MayLevel, partial(self._may_level, "on_level_up"), Order.MINDS)
        events.subscribe(LevelGained, partial(self._has_level, "on_level_up"), Order.MINDS)
        trade = "on_tradeskill_level_up"
        events.subscribe(MayTradeLevel, partial(self._may_level, trade), Order.MINDS)
        events.subscribe(TradeLevelGained, partial(self._has_level, trade), Order.MINDS)
        events.subscribe(ClassChanged, self._has_class, Order.MINDS)
        events.subscribe(LetterRead, self._has_read, Order.MINDS)
        events.subscribe(Died, self._died, Order.MINDS)
        if calls.files.find(EVERYWHERE):
            calls.files.prepare(EVERYWHERE)

    def _scripts(self, home: Home) -> list[str]:
        """Return the scripts of the players of a zone that there are."""
        names = (EVERYWHERE, f"PlayerScripts/{home.name}.lua")
        return [name for name in names if self._calls.files.find(name)]

    def _call(self, player: Player, name: str, *values: float) -> list[object]:
        """Call a function of the scripts of a player; return their results."""
        home = self._homes.get(player.zone)
        if home is None:
            return []
        body = self._homes.player(player)
        return [
            self._calls.run(script, name, home, body, *values).value
            for script in self._scripts(home)
        ]

    def _may_level(self, name: str, event: MayLevel) -> None:
        home = self._homes.get(event.player.zone)
        if home is None:
            return
        # A level cannot be taken back, and the points stay: the next gain asks again.
        if any(self._calls.files.is_awaited(script) for script in self._scripts(home)):
            event.refusals.append("a script that is being compiled")
            return
        answers = self._call(event.player, name, event.before, event.after, event.points)
        if FORBIDS in answers:
            event.refusals.append("a script of players")

    def _has_level(self, name: str, event: LevelGained | TradeLevelGained) -> None:
        self._call(event.player, f"{name}_complete", event.before, event.after, 0)

    def _has_class(self, event: ClassChanged) -> None:
        after = event.player.character.class_
        self._call(event.player, "on_class_change", event.before, after)

    def _has_read(self, event: LetterRead) -> None:
        self._call(event.player, "on_mail_first_read", event.letter_id)

    def _died(self, event: Died) -> None:
        home = self._homes.get(event.zone)
        if home is None:
            return
        victim = self._homes.body(event.victim, event.zone)
        killer = self._body(event)
        if victim is not None and victim.player is not None:
            self._call_with(home, "on_player_death", victim, killer)
        elif victim is not None and killer is not None and killer.player is not None:
            self._call_with(home, "on_player_kill", victim, killer)

    def _body(self, event: Died) -> Body | None:
        return self._homes.body(event.killer, event.zone) if event.killer is not None else None

    def _call_with(self, home: Home, name: str, *bodies: Body | None) -> None:
        for script in self._scripts(home):
            self._calls.run(script, name, home, *bodies)
