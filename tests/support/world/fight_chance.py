"""What chance has decided in a recorded fight, so that a replay of the fight can decide alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from emu.rules.combat import Result
from emu.world.combat.blows import _RESULTS
from tests.support.world.ghost_views import DIALECTS

EARLY, LATE = 0.5, 1.3
"""Seconds by which a recorded outcome may come before and after the same moment of the replay."""
SOON: Final = 0.6
"""Seconds by which a recorded interruption may come after the end of the replay's cast."""
_OWN: Final = 1
"""A player's own number."""
_FIZZLE, _BLOW = "OP_EqHearSpellFizzleCmd", "OP_EqHearCombatCmd"
_INTERRUPT: Final = "OP_EqHearSpellInterruptCmd"


class RecordedChance:
    """The fizzles and the results of the spells of each recorded player."""

    COMMANDS: Final = (_FIZZLE, _BLOW, _INTERRUPT)

    def __init__(
        self, commands: Iterable[tuple[dict[str, Any], dict[str, Any]]], versions: Mapping[str, int]
    ) -> None:
        """Note the outcomes in the recorded commands: rows and fields. `versions`: of clients."""
        self._fizzles: dict[tuple[str, int], list[float]] = defaultdict(list)
        self._interrupts: dict[tuple[str, int], list[float]] = defaultdict(list)
        self._results: dict[tuple[str, str], list[tuple[float, Result]]] = defaultdict(list)
        for row, fields in commands:
            self._note(row["c"], float(row["t"]), fields, versions[row["c"]])

    def _note(self, client: str, at: float, fields: dict[str, Any], version: int) -> None:
        if fields.get("spawn_id") == _OWN:
            is_fizzle = fields["target_array"] and "target" in fields["target_array"][0]
            times = self._fizzles if is_fizzle else self._interrupts
            times[client, fields["spell_id"]].append(at)
        elif fields.get("attacker") == _OWN and fields.get("spell_name"):
            rules = DIALECTS.for_version(version).world_rules
            number = fields.get("result_type", 0)
            found = Result.HIT
            if number != rules.blow_landed:
                numbers = {one * rules.blow_step: result for result, one in _RESULTS.items()}
                found = numbers.get(number, Result.HIT)
            self._results[client, fields["spell_name"]].append((at, found))

    def fizzles(self, client: str, spell_id: int, at: float) -> bool:
        """Return whether the spell that a player begins has fizzled; each fizzle counts once."""
        times = self._fizzles[client, spell_id]
        found = next((one for one in times if -EARLY <= one - at <= LATE), None)
        if found is not None:
            times.remove(found)
        return found is not None

    def interrupts(self, client: str, spell_id: int, at: float) -> bool:
        """Return whether the cast that ends now was interrupted a moment later."""
        return any(0 <= one - at <= SOON for one in self._interrupts[client, spell_id])

    def result(self, client: str, name: str, at: float) -> Result:
        """Return what became of a player's spell; a hit if none was recorded near that moment."""
        near = [one for one in self._results[client, name] if -EARLY <= one[0] - at <= LATE]
        return min(near, key=lambda one: abs(one[0] - at))[1] if near else Result.HIT
