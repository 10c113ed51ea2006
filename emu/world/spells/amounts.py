"""Amounts of spells: damage, healing, power, hate. Chance is the world's.

Source: docs/guides/spells.md#rules.
"""

from __future__ import annotations

from typing import Final

from emu.rules.combat import (
    LARGEST_DAMAGE,
    FightChance,
    Result,
    mitigated,
    result,
    usable_mitigation,
)
from emu.rules.spells import (
    BLOWS,
    HATE_OF_RESIST,
    HEAL_HATE_SHARE,
    SpellAim,
    SpellForce,
    SpellGuard,
    critical_amount,
    damage_amount,
    heal_amount,
    is_critical,
    lands,
    resisted_share,
    rolled,
)
from emu.world.actors.bonus_types import (
    HEALING,
    SPELL_DAMAGE,
    SPELLS_AND_ARTS,
    SPELLS_AND_HEALS,
    TAUNTS,
    TAUNTS_AND_ARTS,
)
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.blows import LAST_DAMAGE_TYPE, Blow, show_blow
from emu.world.combat.figures import (
    DefenseSkills,
    attack_of,
    defense_of,
    fraction,
    shared_hate,
    side_of,
    whole,
)
from emu.world.events import Hated, Healed
from emu.world.spells.core import SpellCore
from emu.world.spells.living import LivingSpell
from emu.world.spells.shows import CRITICAL_HEAL, CRITICAL_POWER, HEAL, POWER, show_heal
from emu.world.zones.zone import Zone

FORCED, FORBIDDEN = 1, 2
"""What scripts say about critical amounts."""
SKILL_OF_LEVEL: Final = 5
GROUP_SHARE, SINGLE_SHARE = 3, 2
"""The ability modifier adds at most this share of an amount."""
_RESISTS: Final = {
    3: "heat", 4: "cold", 5: "magic", 6: "mental", 7: "divine", 8: "disease", 9: "poison",
}  # fmt: skip
"""The field of the sheet that resists a type of damage."""
DAMAGE_LIMIT: Final = 2**31 - 1


def force_of(spell: LivingSpell) -> SpellForce:
    """Return what raises the amounts of a spell: its caster's, as it is now."""
    caster = spell.caster
    sheet = caster.sheet
    return SpellForce(
        level=spell.level,
        intelligence=sheet.attribute("intel"),
        damage=sheet.bonus(SPELL_DAMAGE),
        healing=sheet.bonus(HEALING),
        heals=sheet.bonus(SPELLS_AND_HEALS),
        arts=sheet.bonus(SPELLS_AND_ARTS),
        blows=sheet.bonus(TAUNTS_AND_ARTS),
        potency=fraction(caster, "potency"),
        ability=fraction(caster, "ability_modifier"),
        critical_chance=fraction(caster, "crit_chance"),
        critical_bonus=fraction(caster, "crit_bonus"),
    )


class Amounts:
    """Lets spells harm and heal."""

    def __init__(self, core: SpellCore) -> None:
        self._states = core.states
        self.harm = core.minds.harm
        self._world = core.world
        self._events = core.world.events
        self._chance_of = core.chance
        self._skill_of = core.skill_of
        self._numbers = {one.name: one.id for one in core.world.knowledge.skills.values()}

    # -- damage -----------------------------------------------------------------------------------

    def damage(
        self, spell: LivingSpell, target: Spawn, kind: int, span: tuple[int, int], *,
        critical: int = 0, plain: bool = False, takes_power: bool = False,
    ) -> bool:  # fmt: skip
        """Let a spell harm one target by an amount of those between; return whether it landed.

        `plain` amounts are those of the script, without formulas.
        """
        if target.hp_percent <= 0 or not target.is_living:
            return False
        # Some rows have another number where the type stands.
        kind = kind if 0 <= kind <= LAST_DAMAGE_TYPE else 0
        if not spell.is_tick:
            outcome = self._outcome(spell, target, kind)
            if outcome is not Result.HIT:
                self._missed(spell, target, kind, outcome)
                return False
        points: float = rolled(*span, self._chance_of(spell.zone))
        force = force_of(spell)
        share = GROUP_SHARE if len(spell.targets) > 1 else SINGLE_SHARE
        if not plain:
            points = damage_amount(int(points), kind, force, share=share)
        points, is_high = self._with_critical(spell, points, force, critical)
        name = _RESISTS.get(kind)
        if name is not None and not plain:
            points *= resisted_share(whole(target, name))
        dealt = max(0, min(int(points), DAMAGE_LIMIT))
        if kind in BLOWS and not plain:
            armor = usable_mitigation(whole(target, "cur_mitigation"), target.level)
            dealt = mitigated(dealt, armor, spell.level)
        dealt = self.harm.through(spell.zone, target, spell.caster, dealt, kind)
        blow = Blow(Result.HIT, min(dealt, LARGEST_DAMAGE), kind, is_high, spell.kind.name)
        show_blow(spell.zone, spell.caster, target, blow)
        spell.last_hit = spell.has_damaged = True
        if takes_power:
            power = target.sheet.power
            power.set_current(power.current - dealt)
            target.show_pools()
            self._states.changed(target)
        elif target.hp_percent > 0:
            self.harm.take_health(
                spell.zone, target, spell.caster, dealt, kind=kind, spell_id=spell.kind.id
            )
        return True

    def _outcome(self, spell: LivingSpell, target: Spawn, kind: int) -> Result:
        caster = spell.caster
        if target is caster or spell.kind.is_friendly:
            return Result.HIT
        if target.sheet.is_invulnerable:
            return Result.INVULNERABLE
        chance = self._chance_of(spell.zone)
        if spell.kind.is_art:
            found = result(
                attack_of(caster), defense_of(target, self._defenses(target)),
                side_of(caster, target), chance,
            )  # fmt: skip
            return Result.PARRY if found is Result.RIPOSTE else found
        skill = self._skill_of(caster, spell.kind.class_skill) or SKILL_OF_LEVEL * caster.level
        aim = SpellAim(
            spell.level, caster.sheet.attribute("wis"), skill,
            mastery=self._skill_of(caster, spell.kind.mastery_skill),
            mastery_points=self._world.rules.in_zone(spell.zone.zone_id).mastery_points,
            bonus=spell.tier.hit_bonus, resistibility=spell.tier.resistibility,
        )  # fmt: skip
        return self._landing(aim, target, kind, chance)

    def outcome_of_proc(self, zone: Zone, caster: Spawn, target: Spawn, kind: int) -> Result:
        """Return what becomes of what a proc does: it lands as a plain spell of the caster does."""
        if target.sheet.is_invulnerable:
            return Result.INVULNERABLE
        level = caster.level
        aim = SpellAim(level, caster.sheet.attribute("wis"), SKILL_OF_LEVEL * level)
        return self._landing(aim, target, kind, self._chance_of(zone))

    def _landing(self, aim: SpellAim, target: Spawn, kind: int, chance: FightChance) -> Result:
        name = _RESISTS.get(kind)
        guard = SpellGuard(
            target.level, target.sheet.attribute("wis"),
            avoidance=self._skill_of(target, self._numbers.get("Spell Avoidance", 0)),
            resist=whole(target, name) if name is not None else 0,
        )  # fmt: skip
        return Result.HIT if lands(aim, guard, chance) else Result.RESIST

    def _defenses(self, target: Spawn) -> DefenseSkills | None:
        if target.kind is not SpawnKind.PLAYER:
            return None
        return DefenseSkills(*(self._skill_of(target, self._numbers.get(one, 0))
                               for one in ("Parry", "Defense")))  # fmt: skip

    def _missed(self, spell: LivingSpell, target: Spawn, kind: int, outcome: Result) -> None:
        spell.last_hit = False
        spell.is_resisted = True
        spell.is_missed = outcome is not Result.RESIST
        show_blow(spell.zone, spell.caster, target, Blow(outcome, 0, kind, False, spell.kind.name))
        self.hate(spell.zone, target, spell.caster, HATE_OF_RESIST)

    def _with_critical(
        self, spell: LivingSpell, points: float, force: SpellForce, critical: int
    ) -> tuple[float, bool]:
        """Return an amount, and whether it is critical: a tick is what its cast was."""
        if critical == FORCED:
            is_high = True
        elif critical == FORBIDDEN:
            is_high = False
        elif spell.is_tick and spell.critical:
            is_high = spell.critical == FORCED
        else:
            is_high = is_critical(force, self._chance_of(spell.zone))
        spell.critical = spell.critical or (FORCED if is_high else FORBIDDEN)
        return (critical_amount(points, force) if is_high else points), is_high

    # -- healing ----------------------------------------------------------------------------------

    def heal(
        self, spell: LivingSpell, target: Spawn, low: int, high: int, *, is_power: bool = False,
        critical: int = 0, plain: bool = False, name: str = "",
    ) -> bool:  # fmt: skip
        """Let a spell give one living target health or power; return whether it got some."""
        if target.hp_percent <= 0 or not target.is_living:
            return False
        force = force_of(spell)
        points: float = rolled(low, high, self._chance_of(spell.zone))
        is_high = False
        if not plain:
            share = GROUP_SHARE if len(spell.targets) > 1 else SINGLE_SHARE
            points = heal_amount(int(points), force, share=share)
            points, is_high = self._with_critical(spell, points, force, critical)
        return self.give(
            spell.zone, spell.caster, target, int(points), name or spell.kind.name,
            is_power=is_power, is_critical=is_high,
        ) > 0  # fmt: skip

    def give(
        self, zone: Zone, caster: Spawn, target: Spawn, points: int, name: str, *,
        is_power: bool = False, is_critical: bool = False,
    ) -> int:  # fmt: skip
        """Give a spawn health or power, and show it; return how much it got."""
        pool = target.sheet.power if is_power else target.sheet.health
        amount = max(0, min(points, pool.most - pool.current))
        if not amount:
            # Nothing is sent for a heal of nobody who needs it (recorded).
            return 0
        pool.set_current(pool.current + amount)
        target.show_pools()
        self._states.changed(target)
        usual, high = (POWER, CRITICAL_POWER) if is_power else (HEAL, CRITICAL_HEAL)
        show_heal(zone, (caster, target), name, amount, high if is_critical else usual)
        if not is_power and target is not caster:
            self._anger(zone, caster, target, amount // HEAL_HATE_SHARE)
        if self._events.has_listener(Healed):
            self._events.publish(
                Healed(zone=zone, spawn=target, foe=caster, amount=amount, is_power=is_power)
            )
        return amount

    def _anger(self, zone: Zone, caster: Spawn, target: Spawn, amount: int) -> None:
        """Let those who hate the healed one hate the healer."""
        if amount <= 0 or "combat" not in target.words:
            return
        for one in zone.around(target.position, 100.0):
            if one.kind is SpawnKind.NPC and target in one.mind.hates:
                self.hate(zone, one, caster, amount, is_harmful=False)

    # -- hate -------------------------------------------------------------------------------------

    def hate(
        self, zone: Zone, creature: Spawn, foe: Spawn, amount: int, *, is_harmful: bool = True
    ) -> None:  # fmt: skip
        """Let a creature hate somebody more, or less; it may begin to fight.

        What `is_harmful` makes the foe one of those who fight it, as a blow does.
        """
        if creature.kind is not SpawnKind.NPC or creature is foe or not foe.is_living:
            return
        if min(creature.hp_percent, foe.hp_percent) <= 0:
            return
        made = int(amount * _hate_factor(foe))
        for one, part in shared_hate(zone, foe, made):
            creature.mind.add_hate(one, part, creature.position)
            if is_harmful and one.kind is SpawnKind.PLAYER and one in creature.mind.hates:
                creature.mind.fighters[one] = None
        self._events.publish(Hated(zone=zone, spawn=creature, foe=foe))


def _hate_factor(foe: Spawn) -> float:
    """Return what the hate that somebody's spells make is multiplied by."""
    sheet = foe.sheet
    taunts = (1 + sheet.bonus(TAUNTS) / 100) * (1 + sheet.bonus(TAUNTS_AND_ARTS) / 100)
    return max(0.0, 1 + fraction(foe, "hate_mod") / 100) * taunts
