"""The scripts of players: one for all zones, and one by the name of each zone.

They may forbid a level. Source: docs/guides/lua.md#players.
"""

from __future__ import annotations

from typing import Final

from emu.world.actors.player import Player
from emu.world.events import Died, Events, LevelGained, MayLevel, Order
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
        events.subscribe(MayLevel, self._may_level, Order.MINDS)
        events.subscribe(LevelGained, self._has_level, Order.MINDS)
        events.subscribe(Died, self._died, Order.MINDS)
        if calls.find(EVERYWHERE):
            calls.prepare(EVERYWHERE)

    def _scripts(self, home: Home) -> list[str]:
        """Return the scripts of the players of a zone that there are."""
        names = (EVERYWHERE, f"PlayerScripts/{home.name}.lua")
        return [name for name in names if self._calls.find(name)]

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

    def _may_level(self, event: MayLevel) -> None:
        home = self._homes.get(event.player.zone)
        if home is None:
            return
        # A level cannot be taken back, and the points stay: the next gain asks again.
        if any(self._calls.is_awaited(script) for script in self._scripts(home)):
            event.refusals.append("a script that is being compiled")
            return
        answers = self._call(
            event.player, "on_level_up", event.before, event.after, event.points
        )  # fmt: skip
        if FORBIDS in answers:
            event.refusals.append("a script of players")

    def _has_level(self, event: LevelGained) -> None:
        self._call(event.player, "on_level_up_complete", event.before, event.after, 0)

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
