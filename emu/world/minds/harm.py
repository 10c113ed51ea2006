"""Harm: the one place where spawns lose health and die, whoever causes it.

Blows, spells and scripts call it; what follows from a death listens to `Died`.
Source: docs/guides/fights.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.rules.stance import Encounter
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import Died, Events, Hurt, MayHurt, Warded
from emu.world.minds.moves import Moves
from emu.world.players import Players
from emu.world.zones.zone import Zone

CORPSE: Final = "corpse"
"""The word of a spawn that is dead."""
CORPSE_STAYS: Final = 10.0
"""Seconds from a creature's death until its body goes."""

_Body = tuple[Zone, Spawn]


class Harm:
    """Takes health from spawns, and lets them die."""

    def __init__(
        self,
        *,
        events: Events,
        players: Players,
        moves: Moves,
        timetable: Timetable,
        now: Callable[[], Monotonic],
        despawn: Callable[[Zone, Spawn], object],
    ) -> None:
        """`despawn` removes a body from its zone; its place is filled again later."""
        self._events = events
        self._players = players
        self._moves = moves
        self._now = now
        self._despawn = despawn
        self._bodies: Deadlines[_Body, str] = timetable.deadlines("bodies", self._remove)

    def through(
        self, zone: Zone, spawn: Spawn, foe: Spawn | None, damage: int, damage_type: int = 0
    ) -> int:
        """Return how much of a damage a spawn takes: less its wards, as its script changes it."""
        if damage > 0 and self._events.has_listener(Warded):
            warded = Warded(
                zone=zone, spawn=spawn, foe=foe, damage=damage, damage_type=damage_type
            )  # fmt: skip
            self._events.publish(warded)
            damage = warded.left
        if damage <= 0 or not self._events.has_listener(MayHurt):
            return max(0, damage)
        asked = MayHurt(zone=zone, spawn=spawn, foe=foe, damage=damage)
        self._events.publish(asked)
        return max(0, asked.answers[-1]) if asked.answers else damage

    def take_health(
        self, zone: Zone, spawn: Spawn, foe: Spawn | None, damage: int, *, kind: int = 0,
        spell_id: int = 0,
    ) -> bool:  # fmt: skip
        """Take health from a living spawn, or note a blow of 0; return whether it died of it.

        `kind` is the type of the damage, `spell_id` the spell that does it; 0 for a blow.
        """
        if not spawn.is_living or spawn.hp_percent <= 0:
            return False
        health = spawn.sheet.health
        taken = min(damage, health.current)
        health.set_current(health.current - taken)
        is_dead = health.current <= 0
        if taken and not is_dead:
            spawn.show_pools()
        # Before the death: who has struck last is among the fighters.
        hurt = Hurt(zone=zone, spawn=spawn, foe=foe, damage=taken, kind=kind, spell_id=spell_id)
        self._events.publish(hurt)
        # A listener may have let it die already.
        if is_dead and spawn.hp_percent > 0:
            self.kill(zone, spawn, foe, kind=kind)
        return is_dead

    def kill(self, zone: Zone, spawn: Spawn, foe: Spawn | None, *, kind: int = 0) -> None:
        """Let a living spawn die; the body of a creature goes a little later.

        `kind` is the type of the damage that kills it.
        """
        if not spawn.is_living or spawn.hp_percent <= 0:
            return
        spawn.sheet.health.set_current(0)
        # Whoever has called for help gets nothing, and nor does the helper.
        is_broken = spawn.mind.encounter is Encounter.BROKEN or spawn.mind.is_worthless
        fighters = () if is_broken else tuple(spawn.mind.fighters) or _alone(foe)
        is_player = spawn.kind is SpawnKind.PLAYER
        if is_player:
            spawn.sheet.power.set_current(0)
        else:
            mover = self._moves.get(spawn, zone)
            if mover is not None:
                mover.died()
        spawn.show_pools()
        spawn.set_word(CORPSE, on=True)
        if not is_player:
            spawn.set_visibility(attackable=False)
        died = Died(
            self._killer(zone, foe, fighters), zone=zone, victim=spawn, killer=foe,
            fighters=fighters, is_rewarded=not is_broken, kind=kind,
        )  # fmt: skip
        self._events.publish(died)
        if not is_player and zone.spawn(spawn.id) is spawn:
            stays = max([CORPSE_STAYS, *died.stays])
            self._bodies.set((zone, spawn), "", Monotonic(self._now() + stays))

    def _killer(self, zone: Zone, foe: Spawn | None, fighters: tuple[Spawn, ...]) -> Player | None:
        """Return the player who has killed a spawn: the foe, or else the first who fought."""
        here = {player.spawn: player for player in self._players.standing_in(zone)}
        found = (here.get(one) for one in (*((foe,) if foe is not None else ()), *fighters))
        return next((player for player in found if player is not None), None)

    def _remove(self, body: _Body, _name: str, now: Monotonic) -> None:
        zone, spawn = body
        # A game master may have removed it, and the zone may have ended.
        if zone.spawn(spawn.id) is spawn:
            self._despawn(zone, spawn)
        # A creature that no file has placed has no place to fill again.
        if zone.spawn(spawn.id) is spawn:
            zone.remove(spawn, now)


def _alone(foe: Spawn | None) -> tuple[Spawn, ...]:
    """Return who has fought a creature that died without a fight: who has killed it.

    Recorded: a game master who kills a creature by a command gains its experience (items-*-deal).
    """
    return (foe,) if foe is not None else ()
