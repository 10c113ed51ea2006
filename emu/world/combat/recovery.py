"""Regeneration of hurt players and creatures; whoever is unhurt costs nothing.

Source: docs/protocol/world/fights.md#rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.rules.combat import REGENERATION, regeneration
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines
from emu.world.events import Died, Entered, Hurt, LeftZone
from emu.world.world import World
from emu.world.zones.zone import Zone

POWER_FIELDS: Final = ("power_regen", "pw_regen")
"""Fields of the sheet with the power of one step; scripts set the one or the other."""
_BONUSES: Final = {
    False: ((600, 602, 604), (601, 603, 605)),
    True: ((604,), (605,)),
}
"""Types of bonuses that add to health and to power, by whether their owner fights.

The first two count everywhere but in fights, as in EQ2Emulator's code (Entity.cpp).
"""


class Recovery:
    """Lets hurt spawns of one world regain health and power."""

    def __init__(
        self,
        world: World,
        is_fighting: Callable[[Spawn], bool],
        changed: Callable[[Spawn], object],
    ) -> None:
        """`changed` is called after health or power of a spawn has changed."""
        self._is_fighting = is_fighting
        self._changed = changed
        self._now = world.clock.now
        self._steps: Deadlines[tuple[Zone, Spawn], str] = world.timetable.deadlines(
            "regeneration", self._step, may_wait=True
        )
        world.events.subscribe(Hurt, lambda event: self.begin(event.zone, event.spawn))
        world.events.subscribe(Entered, lambda event: self.look(event.player))
        world.events.subscribe(Died, self._died)
        world.events.subscribe(LeftZone, self._left)

    def begin(self, zone: Zone, spawn: Spawn) -> None:
        """Let a spawn that has lost something regain it."""
        if spawn.hp_percent > 0 and self._steps.get((zone, spawn), "") is None:
            self._steps.set((zone, spawn), "", Monotonic(self._now() + REGENERATION))

    def look(self, player: Player) -> None:
        """Let a player regain what its sheet lacks, however it came to lack that."""
        sheet = player.spawn.sheet
        if sheet.health.current < sheet.health.most or sheet.power.current < sheet.power.most:
            self.begin(player.zone, player.spawn)

    def _died(self, event: Died) -> None:
        self._steps.clear((event.zone, event.victim), "")

    def _left(self, event: LeftZone) -> None:
        self._steps.clear((event.player.zone, event.player.spawn), "")

    def _step(self, owner: tuple[Zone, Spawn], _name: str, now: Monotonic) -> None:
        zone, spawn = owner
        sheet = spawn.sheet
        if spawn.hp_percent <= 0 or zone.spawn(spawn.id) is not spawn:
            return
        health, power = self._gain(spawn)
        before = sheet.health.current, sheet.power.current
        sheet.health.set_current(before[0] + max(0, health))
        sheet.power.set_current(before[1] + max(0, power))
        if before != (sheet.health.current, sheet.power.current):
            self._changed(spawn)
        if sheet.health.current < sheet.health.most or sheet.power.current < sheet.power.most:
            self._steps.set(owner, "", Monotonic(now + REGENERATION))

    def _gain(self, spawn: Spawn) -> tuple[int, int]:
        """Return the health and power that a spawn regains in one step."""
        sheet, is_fighting = spawn.sheet, self._is_fighting(spawn)
        gain = regeneration(spawn.level, is_fighting=is_fighting)
        added = [int(sum(map(sheet.bonus, kinds))) for kinds in _BONUSES[is_fighting]]
        health, power = gain.health + added[0], gain.power + added[1]
        # What a script has set replaces the usual amount; community modules set 0.
        if sheet.get("hp_regen_override", FieldKind.UNSIGNED):
            health = int(sheet.get("hp_regen", FieldKind.SIGNED) or 0)
        for name in POWER_FIELDS:
            if sheet.get(f"{name}_override", FieldKind.UNSIGNED):
                power = int(sheet.get(name, FieldKind.SIGNED) or 0)
        return health, power
