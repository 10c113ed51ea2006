"""The state of actors that scripts change: health that is shown, sheets that are sent, death.

Source: docs/guides/lua.md#sheet.
"""

from __future__ import annotations

from typing import Final, Protocol

from emu.world.actors.looks import number_in
from emu.world.actors.player import Player
from emu.world.combat.blows import Blow, show_blow
from emu.world.events import Died
from emu.world.minds.harm import Harm
from emu.world.scripts.bodies import Body
from emu.world.scripts.events import SpawnEvents
from emu.world.scripts.waits import DESPAWN, Waits

LONGEST_STAY: Final = 7 * 86_400.0
"""Seconds of the longest time after which a script lets a spawn go."""


class Sheets(Protocol):
    """Sends sheets; `emu.world.sheets.CharacterSheets` does."""

    def soon(self, player: Player, pause: float) -> None:
        """Send a client the change of its character sheet within so many seconds."""


class States:
    """Changes the state of actors for scripts, and shows it."""

    def __init__(
        self,
        *,
        events: SpawnEvents,
        waits: Waits,
        harm: Harm,
        sheets: Sheets,
    ) -> None:
        self._events = events
        self._waits = waits
        self._harm = harm
        self._sheets = sheets

    def sheet_changed(self, body: Body) -> None:
        """Show the health and power of a spawn, and send a player its sheet with the next turn."""
        body.spawn.show_pools()
        if body.player is not None:
            self._sheets.soon(body.player, 0.0)

    def kill(self, body: Body, killer: Body | None) -> None:
        """Let a player or a living creature die; the body of a creature goes a little later."""
        foe = killer.spawn if killer is not None and killer is not body else None
        self._harm.kill(body.home.zone, body.spawn, foe)

    def died(self, event: Died) -> None:
        """Call the functions of a creature that has died, and of who has killed it."""
        body = self._events.body(event.zone, event.victim)
        if body is None or body.player is not None:
            return
        home, spawn = body.home, event.victim
        self._events.died(home.zone, spawn, event.killer)
        # Its own functions may have removed it.
        if not body.is_gone and body.group and home.is_group_dead(body.group):
            self._events.group_died(home.zone, spawn, event.killer)

    def hurt(self, body: Body, attacker: Body | None, blow: Blow, *, power: bool = False) -> bool:
        """Take health, or power, from a living spawn; return whether it lost some.

        The spawn's `healthchanged` may change the damage. Who has no health left dies.
        """
        spawn = body.spawn
        if not spawn.is_living or spawn.hp_percent <= 0 or spawn.sheet.is_invulnerable:
            return False
        foe = attacker.spawn if attacker is not None else None
        damage = blow.damage
        if not power:
            damage = self._harm.through(body.home.zone, spawn, foe, damage, blow.damage_type)
        if damage <= 0 or body.is_gone or spawn.hp_percent <= 0:
            return False
        if power:
            pool = spawn.sheet.power
            pool.set_current(pool.current - damage)
        else:
            show_blow(body.home.zone, foe or spawn, spawn, blow._replace(damage=damage))
            # Nobody is a foe of itself: whom lava burns is not rewarded for its own death.
            other = foe if foe is not spawn else None
            self._harm.take_health(body.home.zone, spawn, other, damage, kind=blow.damage_type)
        if power or body.player is not None:
            self.sheet_changed(body)
        return True

    def expire(self, body: Body, seconds: str) -> None:
        """Remove a spawn after so many seconds; 0 lets it stand for ever."""
        wait = number_in(seconds)
        self._waits.stop_timers(body, DESPAWN)
        if wait > 0:
            self._waits.add_timer(body, min(wait, LONGEST_STAY), DESPAWN)
