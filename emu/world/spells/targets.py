"""Targets of casts, by the target types of the tables.

Source: docs/guides/spells.md#targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from emu.spells.kinds import SpellKind, SpellTarget, SpellTier
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.figures import gap
from emu.world.spells.company import Company
from emu.world.spells.living import LivingSpell
from emu.world.zones.zone import Zone

ENCOUNTER_BACKDROP: Final = 312
"""The backdrop of icons of spells that reach a whole encounter."""
ONE_FRIEND_BACKDROP: Final = 316
AREA_IMMUNITY: Final = 7
"""The number of the immunity to spells on an area."""
MOST_TARGETS: Final = 64

Attackable = Callable[[Spawn, Spawn], bool]
"""Returns whether the first one may harm the second one."""
Immune = Callable[[Spawn], bool]


class Aim(NamedTuple):
    """Whom a cast is for."""

    target: Spawn | None
    """At whom it is cast; distance and view are measured to it."""
    targets: tuple[Spawn, ...] = ()
    error: str = ""
    """Why it cannot be cast; `spell_errors.toml` has the numbers."""


class SpellTargets:
    """Finds the targets of casts."""

    def __init__(
        self, company: Company, may_harm: Attackable, is_spared: Callable[[Spawn, int], bool],
        is_asked: Callable[[Player], bool],
    ) -> None:  # fmt: skip
        """`is_spared` returns whether somebody is mezzed, or immune to a kind of spells.

        `is_asked` returns whether a dead player has a resurrection to answer.
        """
        self._company = company
        self._may_harm = may_harm
        self._is_spared = is_spared
        self._is_asked = is_asked

    def aim(
        self, zone: Zone, caster: Spawn, kind: SpellKind, tier: SpellTier, target: Spawn | None
    ) -> Aim:
        """Return whom a cast at somebody reaches; those of an area are gathered at its end."""
        if target is not None and zone.spawn(target.id) is not target:
            target = None
        if kind.target is SpellTarget.NONE or (tier.most_targets > 0 and not kind.is_friendly):
            return Aim(caster)
        if kind.target is SpellTarget.SELF:
            return Aim(caster, (caster,))
        if kind.target in (SpellTarget.CORPSE, SpellTarget.GROUP_CORPSE):
            return self._corpses(caster, kind, tier, target)
        if kind.target is SpellTarget.OWN_PET:
            pets = self._company.pets(caster)
            return Aim(pets[0], tuple(pets)) if pets else Aim(None, (), "no_fit_target")
        if kind.is_friendly:
            return self._friends(zone, caster, kind, target)
        found = self._enemies(zone, caster, kind, target)
        if self._company.player(caster) is None and len(found.targets) > 1:
            # Of a player's group, a creature reaches those within the spell's range.
            near = [one for one in found.targets
                    if one is found.target or gap(caster, one) <= tier.range]  # fmt: skip
            found = found._replace(targets=tuple(near))
        return found

    def around(
        self, zone: Zone, caster: Spawn, kind: SpellKind, tier: SpellTier, target: Spawn | None
    ) -> list[Spawn]:
        """Return those around the caster whom a spell on an area reaches, the target first."""
        if kind.is_friendly:
            found: Iterable[Spawn] = self._group(zone, caster)
            return [one for one in found if gap(caster, one) <= tier.radius][: tier.most_targets]
        near = zone.near(caster.position, tier.radius + 10.0)
        if target is not None and target in near:
            near = [target, *(one for one in near if one is not target)]
        reached = [
            one for one in near
            if one.hp_percent > 0 and gap(caster, one) <= tier.radius
            and self._may_harm(caster, one) and not self._is_spared(one, AREA_IMMUNITY)
        ]  # fmt: skip
        return reached[: min(tier.most_targets, MOST_TARGETS)]

    def gather(self, spell: LivingSpell) -> str | None:
        """Let a spell at the end of its cast have the targets that are left; return why none is."""
        kind, tier = spell.kind, spell.tier
        if tier.most_targets > 0:
            target = spell.target if spell.target is not spell.caster else None
            if target is None and spell.caster.target_id:
                target = spell.zone.spawn(spell.caster.target_id)
            spell.targets = self.around(spell.zone, spell.caster, kind, tier, target)
            return None if spell.targets else "none_in_range"
        if kind.target in (SpellTarget.CORPSE, SpellTarget.GROUP_CORPSE):
            spell.targets, error = self.to_raise(spell.targets)
            return error or None
        before = spell.targets
        living = [one for one in before if one.hp_percent > 0 and spell.zone.spawn(one.id) is one]
        spell.targets = [one for one in living if self._is_open(spell, one)]
        if not before or spell.targets:
            return None
        return "not_an_enemy" if living else "target_dead"

    def _is_open(self, spell: LivingSpell, target: Spawn) -> bool:
        """Return whether the caster may still reach a target: somebody may have locked it since.

        What a spell costs nothing for is given by content, whatever the target is.
        """
        if spell.kind.is_friendly or spell.is_free:
            return True
        is_own = self._company.master(target) is spell.caster
        return is_own or self._may_harm(spell.caster, target)

    # -- friends ----------------------------------------------------------------------------------

    def _friends(self, zone: Zone, caster: Spawn, kind: SpellKind, target: Spawn | None) -> Aim:
        if kind.target is SpellTarget.OTHER_GROUP:
            other = self._company.players.get(target) if target is not None else None
            if other is None:
                return Aim(None, (), "no_fit_target")
            return Aim(target, tuple(one.spawn for one in self._company.members(other)))
        if kind.target in (SpellTarget.GROUP, SpellTarget.RAID):
            return self._friends_of_group(zone, caster, kind, target)
        if target is not None and target.hp_percent <= 0:
            # Recorded: a body is no friend; for a dead player it says nothing.
            is_player = target in self._company.players
            return Aim(target, (), "target_dead" if is_player else "not_a_friend")
        chosen = self._one_friend(zone, caster, kind, target)
        if kind.is_group:
            return Aim(chosen, tuple(self._group(zone, chosen)))
        return Aim(chosen, (chosen,))

    def _friends_of_group(
        self, zone: Zone, caster: Spawn, kind: SpellKind, target: Spawn | None
    ) -> Aim:
        if kind.backdrop in (ENCOUNTER_BACKDROP, ONE_FRIEND_BACKDROP):
            chosen = self._one_friend(zone, caster, kind, target)
            if kind.backdrop == ONE_FRIEND_BACKDROP:
                return Aim(chosen, (chosen,))
            return Aim(chosen, tuple(self._group(zone, chosen)))
        return Aim(caster, tuple(self._group(zone, caster)))

    def _one_friend(
        self, zone: Zone, caster: Spawn, kind: SpellKind, target: Spawn | None
    ) -> Spawn:
        """Return the friend whom a spell is for: the target, or that of a foe, or oneself."""
        if target is None or target.hp_percent <= 0:
            return caster
        if self._company.player(caster) is None:
            # A creature helps creatures.
            is_helped = target.kind is SpawnKind.NPC and self._company.are_friends(caster, target)
            return target if is_helped else caster
        if self._company.are_friends(caster, target):
            is_bound = kind.only_group or kind.is_group or kind.affects_raid
            return target if not is_bound or self._company.are_grouped(caster, target) else caster
        # The foe fights somebody: that one may need help.
        other = zone.spawn(target.target_id) if target.target_id else None
        if other is not None and other in self._company.players and not kind.only_group:
            return other
        return caster

    def _group(self, zone: Zone, spawn: Spawn) -> list[Spawn]:
        """Return the living ones of a spawn's group in its zone, with their pets."""
        player = self._company.player(spawn)
        if player is None:
            found = self._company.encounter(zone, spawn)
        else:
            found = [one.spawn for one in self._company.members(player)]
        living = [one for one in found if one.hp_percent > 0]
        return [*living, *(pet for one in living for pet in self._company.pets(one))]

    # -- enemies ----------------------------------------------------------------------------------

    def _enemies(self, zone: Zone, caster: Spawn, kind: SpellKind, target: Spawn | None) -> Aim:
        if target is None:
            return Aim(None, (), "not_an_enemy")
        if caster in self._company.players and target in self._company.players:
            # With a friend as target, the spell goes to the friend's enemy.
            target = self._company.players[target].target
            if target is None or target in self._company.players:
                return Aim(None, (), "not_an_enemy")
        # Recorded: a dead one is no enemy; only one that dies during the cast is dead.
        if target.hp_percent <= 0 or not self._may_harm(caster, target):
            return Aim(target, (), "not_an_enemy")
        whole = (
            kind.is_group
            or kind.backdrop == ENCOUNTER_BACKDROP
            or (kind.target in (SpellTarget.GROUP, SpellTarget.RAID))
        )
        if not whole:
            return Aim(target, (target,))
        return Aim(target, tuple(self._with_group(zone, caster, target)))

    def _with_group(self, zone: Zone, caster: Spawn, target: Spawn) -> list[Spawn]:
        """Return an enemy and those of its encounter, or its group, who can be reached."""
        player = self._company.players.get(target)
        if player is not None:
            others = [one.spawn for one in self._company.members(player)]
        else:
            others = self._company.encounter(zone, target)
        return [
            one for one in others
            if one is target or (
                one.hp_percent > 0 and self._may_harm(caster, one)
                and not self._is_spared(one, AREA_IMMUNITY)
            )
        ]  # fmt: skip

    # -- the dead ---------------------------------------------------------------------------------

    def _corpses(
        self, caster: Spawn, kind: SpellKind, tier: SpellTier, target: Spawn | None
    ) -> Aim:
        if kind.target is SpellTarget.GROUP_CORPSE:
            player = self._company.player(caster)
            members: list[Player] = self._company.members(player) if player is not None else []
            dead = [
                one.spawn
                for one in members
                if one.spawn.hp_percent <= 0
                and (not tier.radius or gap(caster, one.spawn) <= tier.radius)
            ]
            if not dead:
                return Aim(caster, (), "no_fit_target")
            found, error = self.to_raise(dead)
            return Aim(caster, tuple(found), error)
        if target is None or target not in self._company.players:
            return Aim(target, (), "no_fit_target")
        found, error = self.to_raise([target])
        return Aim(target, tuple(found), error)

    def to_raise(self, spawns: Sequence[Spawn]) -> tuple[list[Spawn], str]:
        """Return which players can be asked whether they want to live again, or why none can."""
        dead = [one for one in spawns if one.hp_percent <= 0]
        if not dead:
            return [], "target_not_dead"
        players = self._company.players
        found = [one for one in dead if one not in players or not self._is_asked(players[one])]
        return found, "" if found else "cast_already"


def given(aim: Aim, kind: SpellKind, tier: SpellTier, target: Spawn | None) -> Aim:
    """Return whom a spell reaches that content gives to a target, whatever that is."""
    is_for_one = kind.target is SpellTarget.ONE and not (kind.is_group or tier.most_targets)
    is_missed = bool(aim.error) or not aim.targets or (is_for_one and target not in aim.targets)
    if target is None or not target.is_living or not is_missed or tier.most_targets > 0:
        return aim
    return Aim(target, (target,))
