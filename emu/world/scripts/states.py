"""The state of actors that scripts change: health that is shown, sheets that are sent, death.

Source: docs/guides/lua.md#sheet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from emu.times import Monotonic
from emu.world.actors.looks import number_in
from emu.world.actors.player import IN_ZONE, Player
from emu.world.deadlines import Deadlines, Timetable
from emu.world.minds.moves import Mover
from emu.world.scripts.bodies import Body
from emu.world.scripts.events import SpawnEvents
from emu.world.scripts.waits import DESPAWN, Waits

CORPSE: Final = "corpse"
"""The word of a spawn that is dead."""
CORPSE_STAYS: Final = 10.0
"""Seconds from a creature's death until its body goes."""

LONGEST_STAY: Final = 7 * 86_400.0
"""Seconds of the longest time after which a script lets a spawn go."""


class Sheets(Protocol):
    """Sends sheets; `emu.world.sheets.CharacterSheets` does."""

    def send(self, player: Player) -> None:
        """Send a client the change of its character sheet."""


class States:
    """Changes the state of actors for scripts, and shows it."""

    def __init__(
        self,
        *,
        events: SpawnEvents,
        waits: Waits,
        mover: Callable[[Body], Mover],
        sheets: Sheets,
        timetable: Timetable,
        now: Callable[[], Monotonic],
        died: Callable[[Body, Body | None], float],
    ) -> None:
        """`died` publishes a death, and returns the seconds for which the body has to stay."""
        self._events = events
        self._waits = waits
        self._mover = mover
        self._sheets = sheets
        self._now = now
        self._died = died
        self._changed: Deadlines[Body, str] = timetable.deadlines(
            "sheets that scripts change", self._send_sheet
        )
        """The players whose sheet has changed."""

    def forget(self, body: Body) -> None:
        """Forget a spawn or a player that is gone."""
        self._changed.clear(body, "")

    def sheet_changed(self, body: Body) -> None:
        """Show the health and power of a spawn, and send a player its sheet with the next turn."""
        body.spawn.show_pools()
        if body.player is not None:
            self._changed.set(body, "", self._now())

    def kill(self, body: Body, killer: Body | None) -> None:
        """Let a living creature die; players and things do not. Its body goes a little later."""
        spawn = body.spawn
        if body.player is not None or not spawn.is_living or spawn.hp_percent <= 0:
            return
        self._mover(body).died()
        spawn.sheet.health.set_current(0)
        spawn.show_pools()
        spawn.set_word(CORPSE, on=True)
        spawn.set_visibility(attackable=False)
        home, killed_by = body.home, killer.spawn if killer is not None else None
        self._events.died(home.zone, spawn, killed_by)
        stays = 0.0 if body.is_gone else self._died(body, killer)
        # Its own functions may have removed it.
        if not body.is_gone and body.group and home.is_group_dead(body.group):
            self._events.group_died(home.zone, spawn, killed_by)
        if not body.is_gone:
            self._waits.add_timer(body, max(CORPSE_STAYS, stays), DESPAWN)

    def hurt(self, body: Body, attacker: Body | None, damage: int, *, power: bool = False) -> bool:
        """Take health, or power, from a living spawn; return whether it lost some.

        The spawn's `healthchanged` may change the damage. A creature without health dies; a player
        keeps 1.
        """
        spawn = body.spawn
        if not spawn.is_living or spawn.hp_percent <= 0 or spawn.sheet.is_invulnerable:
            return False
        if not power:
            foe = attacker.spawn if attacker is not None else None
            other = self._events.health_changes(body.home.zone, spawn, foe, damage)
            damage = damage if other is None else other
        if damage <= 0 or body.is_gone or spawn.hp_percent <= 0:
            return False
        pool = spawn.sheet.power if power else spawn.sheet.health
        if not power and body.player is None and damage >= pool.current:
            self.kill(body, attacker)
            return True
        least = 0 if power else 1
        pool.set_current(max(least, pool.current - damage))
        self.sheet_changed(body)
        return True

    def expire(self, body: Body, seconds: str) -> None:
        """Remove a spawn after so many seconds; 0 lets it stand for ever."""
        wait = number_in(seconds)
        self._waits.stop_timers(body, DESPAWN)
        if wait > 0:
            self._waits.add_timer(body, min(wait, LONGEST_STAY), DESPAWN)

    # -- time -------------------------------------------------------------------------------------

    def _send_sheet(self, body: Body, _name: str, _now: Monotonic) -> None:
        player = body.player
        if player is not None and player.zone is body.home.zone and player.state in IN_ZONE:
            self._sheets.send(player)
