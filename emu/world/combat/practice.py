"""Practice: the skills that players use in fights, and that grow by it.

Source: docs/protocol/world/fights.md#skills.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emu.items.kinds import Slot
from emu.rules.combat import Result
from emu.world.actors.player import Player
from emu.world.combat.figures import PRIMARY, RANGED, SECONDARY
from emu.world.skills import Skills

FISTS: Final = "Fists"
"""The skill of bare hands of monks and bruisers."""
CRUSHING: Final = "Crushing"
"""That of all others (recorded)."""
DEFENSE: Final = "Defense"
PARRY: Final = "Parry"
_SLOTS: Final[Mapping[str, Slot]] = {
    PRIMARY: Slot.PRIMARY, SECONDARY: Slot.SECONDARY, RANGED: Slot.RANGE,
}  # fmt: skip


class Practice:
    """Lets players use the skills of fights."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def strike(self, player: Player, hand: str) -> int:
        """Use the skill of the weapon in a hand, and return its value before."""
        inventory = player.holdings.inventory
        thing = inventory.worn(_SLOTS[hand])
        skill: int | str = inventory.kind(thing).skills[0] if thing is not None else 0
        if not skill:
            skill = FISTS if self._skills.value(player, FISTS) else CRUSHING
        value = self._skills.value(player, skill)
        self._skills.use(player, skill)
        return value

    def defend(self, player: Player, outcome: Result) -> None:
        """Use the skills of a player who is struck."""
        self._skills.use(player, DEFENSE)
        if outcome in (Result.PARRY, Result.RIPOSTE):
            self._skills.use(player, PARRY)
