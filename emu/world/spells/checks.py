"""The checks of casts, in their order.

Source: docs/guides/spells.md#casts.
"""

from __future__ import annotations

from typing import Final

from emu.rules.spells import power_needed
from emu.spells.kinds import CastingFlag, SpellKind, SpellTarget, SpellTier
from emu.world.actors.bonus_types import MORE_CONCENTRATION, POWER_SAVING, SKILL_KIND
from emu.world.actors.spawn import Spawn
from emu.world.combat.figures import gap
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import Control, LivingSpell, SpellState
from emu.world.spells.targets import Aim

USUAL_CONCENTRATION: Final = 5
_HELD: Final = {Control.MEZ: CastingFlag.MEZZED, Control.STUN: CastingFlag.STUNNED}
_STIFLED: Final = {Control.STIFLE: CastingFlag.STIFLED}
_FEARED: Final = {Control.FEAR: CastingFlag.FEARED}


class CastChecks:
    """Says what forbids a cast."""

    def __init__(self, core: SpellCore, lasting: LastingSpells) -> None:
        self._views = core.minds.views
        self._states = core.states
        self._lasting = lasting
        self._skill_of = core.skill_of
        self._ministration = next(
            (one.id for one in core.world.knowledge.skills.values() if one.name == "Ministration"),
            0,
        )

    def early_error(self, spell: LivingSpell, aim: Aim, state: SpellState) -> str | None:
        """Return what forbids a cast before it is asked whether it is ready; None for nothing."""
        caster, target, flags = spell.caster, aim.target, spell.kind.casting_flags
        if target is not None and not self._views.sees(spell.zone, caster, target):
            return "cannot_see"
        if target in aim.targets and self._lasting.in_the_way(spell, aim.targets) is not None:
            return "stronger_there"
        if state.held(flags, _HELD) is not None:
            return "stunned"
        if state.held(flags, _STIFLED) is not None:
            return "stifled"
        return "feared" if state.held(flags, _FEARED) is not None else None

    def late_error(self, spell: LivingSpell, aim: Aim) -> str | None:
        """Return what else forbids a cast; an empty text forbids it without a word."""
        target = aim.target
        if aim.error in ("not_an_enemy", "no_fit_target") and target is None:
            return aim.error
        distance_error = self._distance_error(spell, target)
        if distance_error is not None:
            return distance_error
        if aim.error:
            return aim.error
        if not aim.targets and not self._gathers_later(spell):
            return ""
        return None if spell.is_free else self._cost_error(spell)

    @staticmethod
    def _distance_error(spell: LivingSpell, target: Spawn | None) -> str | None:
        kind, tier = spell.kind, spell.tier
        if target is None or target is spell.caster:
            return None
        if kind.is_friendly and kind.target is SpellTarget.GROUP:
            return None
        distance = gap(spell.caster, target)
        if distance > max(tier.range, 0.0):
            return "too_far"
        return "too_close" if tier.min_range > 0 and distance < tier.min_range else None

    @staticmethod
    def _gathers_later(spell: LivingSpell) -> bool:
        return spell.tier.most_targets > 0 or spell.kind.target is SpellTarget.NONE

    def _cost_error(self, spell: LivingSpell) -> str | None:
        sheet, cost = spell.caster.sheet, spell.tier.cost
        if self.power_of(spell) > sheet.power.current:
            return "no_power"
        if self.health_of(spell) >= sheet.health.current and self.health_of(spell) > 0:
            return "no_health"
        # Nobody has any: no source says how beastlords and channelers come by it.
        if cost.savagery > 0:
            return "no_savagery"
        if cost.dissonance > 0:
            return "no_dissonance"
        state = self._states.of(spell.caster)
        most = USUAL_CONCENTRATION + int(sheet.bonus(MORE_CONCENTRATION))
        if cost.concentration and state.concentration + cost.concentration > most:
            return "no_concentration"
        return None

    def power_of(self, spell: LivingSpell) -> int:
        """Return the power that a cast takes."""
        return self.power_for(spell.caster, spell.kind, spell.tier)

    def power_for(self, caster: Spawn, kind: SpellKind, tier: SpellTier) -> int:
        """Return the power that a spell takes from somebody, with what skill and things save."""
        sheet = caster.sheet
        is_ministered = self._ministration and kind.mastery_skill == self._ministration
        return power_needed(
            tier.cost.power, tier.cost.power_percent, sheet.power.most,
            skill=self._skill_of(caster, self._ministration) if is_ministered else 0,
            saving=sheet.bonus(SKILL_KIND + POWER_SAVING),
        )  # fmt: skip

    def health_of(self, spell: LivingSpell) -> int:
        """Return the health that a cast takes."""
        cost = spell.tier.cost
        return power_needed(cost.health, cost.health_percent, spell.caster.sheet.health.most)
