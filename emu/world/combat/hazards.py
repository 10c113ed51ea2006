"""Hazards: falls and drowning, which clients report, hurt their players.

Source: docs/protocol/world/fights.md#hazards.
"""

from __future__ import annotations

import math
from typing import Final

from emu.errors import MalformedMessage
from emu.rules.combat import Result
from emu.rules.hazards import DROWNING_PAUSE, drowning_damage, fall_damage
from emu.times import Monotonic
from emu.world.actors.bonus_types import FALL_SAVING
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.sheet import FieldKind
from emu.world.combat.blows import Blow, show_blow
from emu.world.deadlines import Deadlines
from emu.world.events import LeftZone
from emu.world.messages import WorldMessages
from emu.world.minds.harm import Harm
from emu.world.skills import Skills
from emu.world.world import World

MOST_FALL: Final = 1_000_000.0
"""Units that nobody can fall."""
SAFE_FALL: Final = "Safe Fall"
DROWN, FALL = 10, 11
"""Types of damage."""
DROWNS: Final = frozenset((14336, 14464))
"""Activities of a client whose player drowns (docs/protocol/world/movement.md#prediction)."""
BORNE: Final = frozenset((12, 13, 14))
"""Controls under which no fall hurts: flight, glide and safe fall."""


class Hazards:
    """Lets falls and drowning hurt the players of one world."""

    def __init__(self, world: World, harm: Harm, skills: Skills) -> None:
        self._world = world
        self._harm = harm
        self._skills = skills
        self._drowning: Deadlines[Player, str] = world.timetable.deadlines(
            "players who drown", self._drown
        )
        world.events.subscribe(LeftZone, lambda event: self._drowning.clear(event.player, ""))

    def register(self, messages: WorldMessages) -> None:
        """Add the message of a fall to the table."""
        messages.add_handler("OP_ClientFellMsg", self._fell, IN_ZONE)

    def _fell(self, player: Player, body: bytes, _now: Monotonic) -> None:
        height = player.client.dialect.layout("WS_ClientFell").decode(body)["height"]
        if not math.isfinite(height) or abs(height) > MOST_FALL:
            raise MalformedMessage("fall out of range")
        spawn = player.spawn
        if not BORNE.isdisjoint(spawn.sheet.spells.controls):
            return
        skill = self._skills.total(player, SAFE_FALL)
        points = fall_damage(height, skill, spawn.sheet.health.most, spawn.sheet.bonus(FALL_SAVING))
        if points > 0:
            self._skills.use(player, SAFE_FALL)
            self._hurt(player, points, FALL)

    def moved(self, player: Player) -> None:
        """Let a player begin to drown whose client says that it does."""
        if player.spawn.activity in DROWNS and self._drowning.get(player, "") is None:
            self._drowning.set(player, "", Monotonic(self._world.clock.now() + DROWNING_PAUSE))

    def _drown(self, player: Player, _name: str, now: Monotonic) -> None:
        spawn = player.spawn
        if player.state not in IN_ZONE or spawn.activity not in DROWNS or spawn.hp_percent <= 0:
            return
        self._drowning.set(player, "", Monotonic(now + DROWNING_PAUSE))
        if not spawn.sheet.get("breathe_underwater", FieldKind.UNSIGNED):
            self._hurt(player, drowning_damage(spawn.sheet.health.most), DROWN)

    def _hurt(self, player: Player, points: int, kind: int) -> None:
        spawn, zone = player.spawn, player.zone
        may_hurt = self._world.rules.in_zone(zone.zone_id).falls_hurt
        if not may_hurt or spawn.hp_percent <= 0 or spawn.sheet.is_invulnerable:
            return
        show_blow(zone, spawn, spawn, Blow(Result.HIT, points, kind))
        self._harm.take_health(zone, spawn, None, points, kind=kind)
