"""Rest: vitality that grows, and debt that is forgiven, in the world and away from it.

Source: docs/protocol/world/fights.md#experience.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.rules.experience import REST_PAUSE, debt_after_rest, vitality_after_rest
from emu.times import UNKNOWN, Monotonic
from emu.world.actors.player import Player
from emu.world.deadlines import Deadlines
from emu.world.events import Arrived, LeftWorld
from emu.world.world import World


class Rest:
    """Lets the players of one world rest."""

    def __init__(self, world: World, changed: Callable[[Player], object]) -> None:
        """`changed` is called after what a player's sheet shows has changed."""
        self._world = world
        self._changed = changed
        self._rests: Deadlines[Player, str] = world.timetable.deadlines(
            "rest of players", self._rested
        )
        world.events.subscribe(Arrived, self._arrived)
        world.events.subscribe(LeftWorld, lambda event: self._rests.clear(event.player, ""))

    def _arrived(self, event: Arrived) -> None:
        """Count the time for which a player was away."""
        rested, moment = event.player.character.rested, self._world.clock.moment()
        # A clock that was set back takes nothing away.
        self._rest(event.player, max(0.0, moment - rested) if rested != UNKNOWN else 0.0)
        self._rests.set(event.player, "", Monotonic(event.now + REST_PAUSE))

    def _rested(self, player: Player, _name: str, now: Monotonic) -> None:
        self._rests.set(player, "", Monotonic(now + REST_PAUSE))
        self._rest(player, REST_PAUSE)

    def _rest(self, player: Player, seconds: float) -> None:
        character, rules, moment = player.character, self._world.rules, self._world.clock.moment()
        vitality = vitality_after_rest(
            character.vitality / 1000, rules.vitality_gain, seconds / rules.vitality_seconds
        )
        debt = debt_after_rest(
            character.experience_debt / 1000, rules.debt_recovery, seconds / rules.debt_seconds
        )
        changes = {
            "vitality": round(vitality * 1000),
            # Cut, or less than a thousandth a step would never end it.
            "experience_debt": int(debt * 1000),
        }
        is_other = any(getattr(character, name) != value for name, value in changes.items())
        self._world.saves.set_facts(player, self._world.clock.now(), rested=moment, **changes)
        if is_other:
            self._changed(player)
