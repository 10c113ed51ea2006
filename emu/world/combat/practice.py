"""Practice: the skills that players use in fights, and that grow by it.

Source: docs/protocol/world/fights.md#skills.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from emu.items.kinds import Ranged, Slot, Weapon
from emu.rules.combat import SKILL_OF_LEVEL, DamageSpan, Result, mastered
from emu.world.actors.player import Player
from emu.world.combat.figures import PRIMARY, RANGED, SECONDARY, DefenseSkills
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


class Strike(NamedTuple):
    """What a player's skill makes of a blow."""

    skill: int
    damage: DamageSpan | None
    """That of the weapon; None for bare hands."""


class Practice:
    """Lets players use the skills of fights."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def strike(self, player: Player, hand: str) -> Strike:
        """Use the skill of the weapon in a hand, and return what it was worth before."""
        inventory = player.holdings.inventory
        thing = inventory.worn(_SLOTS[hand])
        kind = inventory.kind(thing) if thing is not None else None
        skill: int | str = kind.skills[0] if kind is not None else 0
        if not skill:
            skill = FISTS if self._skills.value(player, FISTS) else CRUSHING
        value = self._skills.total(player, skill)
        self._skills.use(player, skill)
        part = kind.part if kind is not None and thing is not None and thing.condition else None
        if kind is None or not isinstance(part, Weapon | Ranged):
            return Strike(value, None)
        wanted = SKILL_OF_LEVEL * kind.recommended_level
        return Strike(
            value, mastered(DamageSpan(*part.base), DamageSpan(*part.mastery), value, wanted)
        )

    def defenses(self, player: Player) -> DefenseSkills:
        """Return the skills with which a player avoids blows."""
        return DefenseSkills(self._skills.total(player, PARRY), self._skills.total(player, DEFENSE))

    def defend(self, player: Player, outcome: Result) -> None:
        """Use the skills of a player who is struck."""
        self._skills.use(player, DEFENSE)
        if outcome in (Result.PARRY, Result.RIPOSTE):
            self._skills.use(player, PARRY)
