"""`Spells`: the casts and effects of one world, and the books of its players.

Source: docs/guides/spells.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from emu.content.population import Population
from emu.content.spells import SpellKinds
from emu.content.standing import Standing
from emu.rules.skills import most_at
from emu.spells.kinds import SpellKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.standings import Standings
from emu.world.events import Cast, Entered, Hurt, LeftZone, Order, Revived
from emu.world.minds.shared import Minds
from emu.world.minds.views import INVISIBLE, STEALTH
from emu.world.sheets import CharacterSheets
from emu.world.skills import Skills
from emu.world.social.chat import Chat
from emu.world.spells import shows
from emu.world.spells.amounts import Amounts
from emu.world.spells.books import SpellBooks
from emu.world.spells.casts import Casts
from emu.world.spells.company import Company
from emu.world.spells.core import SpellCore
from emu.world.spells.creature_casts import CreatureCasts
from emu.world.spells.effects import LastingSpells
from emu.world.spells.kept import KeptSpells
from emu.world.spells.living import IDLE, Control, End, LivingSpell, WaitingCast
from emu.world.spells.opportunities import Opportunities
from emu.world.spells.passives import Passives
from emu.world.spells.pets import Pets
from emu.world.spells.plain import PlainSpells
from emu.world.spells.ports import Raises, SpellScripts
from emu.world.spells.procs import Procs
from emu.world.spells.states import SpellStates
from emu.world.spells.targets import AREA_IMMUNITY, SpellTargets
from emu.world.spells.windows import SpellWindows
from emu.world.world import World
from emu.world.zones.zone import Zone

LARGEST_ABSORB: Final = 0xFFFF
"""The most that the field of a sheet can carry."""


class Spells:
    """The components of spells."""

    def __init__(
        self,
        world: World,
        minds: Minds,
        chat: Chat,
        kinds: SpellKinds,
        *,
        sheets: CharacterSheets,
        skills: Skills,
        scripts: Callable[[], SpellScripts],
        may_fight: Callable[[Player, Spawn], bool],
        despawn: Callable[[Zone, Spawn], object],
        resurrections: Callable[[], Raises],
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
        population: Callable[[Zone], Population | None],
    ) -> None:
        """Make the components; each subscribes to the events of the world.

        `scripts` returns what runs the scripts of spells. `may_fight` returns whether a player may
        harm a creature. `despawn` removes a summoned one. `resurrections` returns who lets the dead
        live again. `in_thread` carries out a call that reads the content file.
        """
        self.kinds = kinds
        self._world = world
        self._skills = skills
        self._minds = minds
        self._may_fight = may_fight
        self.company = Company(world, Standings(world, chat, population).attitude)
        self.states = SpellStates(self.company, sheets, _races)
        for event in (Entered, Revived):
            # Before kept spells begin: they show what they hold by themselves.
            world.events.subscribe(
                event, lambda one: self.states.hold_again(one.player), Order.OWNER
            )
        core = SpellCore(
            world=world, minds=minds, chat=chat, kinds=kinds, states=self.states,
            company=self.company, chance=world.zones.chances.of, scripts=lambda: self._plain,
            skill_of=self.skill_of,
        )  # fmt: skip
        self.targets = SpellTargets(
            self.company, self.may_harm, self.is_spared,
            is_asked=lambda player: resurrections().has_offer(player),
        )  # fmt: skip
        self.lasting = LastingSpells(core)
        self.amounts = Amounts(core)
        self.books = SpellBooks(
            core, is_classic=lambda: world.rules.classic_spell_levels, in_thread=in_thread
        )
        self.casts = Casts(core, self.targets, self.lasting, self.amounts, self.books.send)
        self.windows = SpellWindows(core, self.books, self.casts)
        self.creatures = CreatureCasts(core, self.casts, self.lasting)
        self.pets = Pets(core, self.lasting, despawn)
        self.kept = KeptSpells(core, self.lasting, self.pets, self.casts.resume)
        self.casts.waiters.append(self.kept.recast_began)
        self.opportunities = Opportunities(core, self.casts)
        self.passives = Passives(core, self.cast_for_free)
        self._resurrections = resurrections
        self.procs = Procs(core, self.amounts)
        self._plain = PlainSpells(
            core, self.amounts, self.lasting, others=scripts, interrupt=self.casts.interrupt,
            raise_dead=lambda player, caster, spell, health, power: self.raise_dead(
                player, caster.name, spell, health=health, power=power, asks=True
            ),
        )  # fmt: skip
        self.procs.used_up.append(lambda spell: self.lasting.end(spell, End.PURGED))
        sheets.more.append(self.sheet_fields)
        world.events.subscribe(LeftZone, self._left, Order.SUBJECTS)
        world.events.subscribe(Hurt, self._struck)
        world.events.subscribe(Cast, self._cast)

    # -- asking -----------------------------------------------------------------------------------

    def may_harm(self, caster: Spawn, target: Spawn) -> bool:
        """Return whether a spell of somebody may harm a spawn."""
        if target is caster or not target.is_living or target.hp_percent <= 0:
            return False
        player = self.company.player(caster)
        if player is not None:
            return self._may_fight(player, target)
        if not target.may_be_seen_by(caster) or target.sheet.is_invulnerable:
            return False
        # A creature harms players, their pets, and whom it hates.
        return self.company.player(target) is not None or target in caster.mind.hates

    def is_spared(self, spawn: Spawn, immunity: int) -> bool:
        """Return whether a spell on many leaves somebody out: it is mezzed, or immune."""
        marks = spawn.sheet.spells
        if immunity == AREA_IMMUNITY and Control.MEZ in marks.controls:
            return True
        return immunity in marks.immunities

    def hinders(self, spawn: Spawn) -> bool:
        """Return whether a spawn cannot strike now: it casts, or a spell holds it."""
        state = self.states.get(spawn)
        return state is not None and (
            state.casting is not None or not state.controls.isdisjoint(IDLE)
        )

    def sheet_fields(self, player: Player) -> dict[str, int]:
        """Return the values of a player's sheet about its wards: how much damage they keep off."""
        state = self.states.get(player.spawn)
        wards = (one.ward for one in state.effects) if state is not None else ()
        left = sum(max(0, one.left) for one in wards if one is not None)
        return {"absorb": min(left, LARGEST_ABSORB)} if left else {}

    def slow(self, spawn: Spawn, share: float) -> None:
        """Let a creature walk with a share of its speed."""
        for zone in self._world.zones:
            mover = self._minds.moves.get(spawn, zone) if zone.spawn(spawn.id) is spawn else None
            if mover is not None:
                mover.set_factor(share)

    def skill_of(self, spawn: Spawn, skill: int) -> int:
        """Return the value of a skill of a spawn, with what is added to it; 0 for none."""
        player = self.company.players.get(spawn)
        if player is not None:
            return self._skills.total(player, skill)
        # EQ2Emulator's code: a creature has whatever is asked.
        own = most_at(spawn.level) if skill and spawn.kind is SpawnKind.NPC else 0
        return own + spawn.sheet.skill_bonus(skill)

    def unhide(self, spawn: Spawn, kind: int, but: LivingSpell | None = None) -> None:
        """End all spells that hide a spawn in a way, except one."""
        state = self.states.get(spawn)
        for one in list(state.effects) if state is not None else ():
            if one is not but and spawn in one.gifts and kind in one.gifts[spawn].stealth:
                self.lasting.leave(one, spawn, End.CANCELED)

    def _struck(self, event: Hurt) -> None:
        """Let everybody see again who strikes; ticks and procs do not betray anybody."""
        if event.foe is not None and event.foe is not event.spawn and not event.spell_id:
            self._reveal(event.foe)

    def _cast(self, event: Cast) -> None:
        """Let everybody see again who has harmed somebody, or tried to, by a spell."""
        if event.is_harmful and event.foe is not None and event.foe is not event.spawn:
            self._reveal(event.spawn)

    def _reveal(self, spawn: Spawn) -> None:
        if not spawn.words.isdisjoint((STEALTH, INVISIBLE)):
            for kind in spawn.sheet.spells.stealth:
                self.unhide(spawn, kind)

    # -- acts of players --------------------------------------------------------------------------

    def use(self, player: Player, spell_id: int) -> None:
        """Let a player cast a spell of its book; arts of crafting need something that is made."""
        is_known = bool(player.past.spell_tier(spell_id)) and player.spawn.hp_percent > 0
        kind = self.kinds.get(spell_id) if is_known else None
        if kind is not None and self.books.is_out_of_use(player, kind):
            shows.refuse(player, "only_crafting")
            return
        self.casts.use(player, spell_id)

    def cancel_maintained(self, player: Player, slot: int) -> None:
        """End a spell of a player's own by its place in the list."""
        state = self.states.get(player.spawn)
        if state is not None and 0 <= slot < len(state.maintained):
            self.lasting.end(state.maintained[slot], End.CANCELED)

    def cancel_effect(self, player: Player, spell_id: int) -> None:
        """End a friendly spell that lasts on a player."""
        state = self.states.get(player.spawn)
        for one in list(state.effects) if state is not None else ():
            if one.kind.id == spell_id and one.kind.is_friendly:
                self.lasting.leave(one, player.spawn, End.CANCELED)

    def cast_for_free(
        self, player: Player, kind: SpellKind, tier: int, target: Spawn | None, *,
        is_silent: bool = False,
    ) -> LivingSpell | None:  # fmt: skip
        """Let a game master cast without any check; if it `is_silent`, nobody reads of it."""
        of_tier = kind.tier(tier)
        if of_tier is None:
            return None
        return self.casts.cast(
            player.zone, player.spawn, WaitingCast(kind, of_tier), target or player.spawn,
            cast_time=0.0, is_given=True, is_silent=is_silent,
        )  # fmt: skip

    def cast_on_itself(self, player: Player, spell_id: int) -> bool:
        """Let a player cast a spell that it need not have; return False if there is none."""
        kind = self.kinds.get(spell_id)
        of_tier = kind.tier(1) if kind is not None else None
        if kind is None or of_tier is None:
            return False
        self.casts.cast(
            player.zone, player.spawn, WaitingCast(kind, of_tier), player.spawn, is_given=True
        )
        return True

    def give(self, player: Player, spell_id: int, tier: int) -> None:
        """Let a spell last on a player, as if it had cast it upon itself without a cost."""
        kind = self.kinds.get(spell_id)
        if kind is not None:
            self.cast_for_free(player, kind, tier, player.spawn)

    def raise_dead(
        self, player: Player, caster: str, spell: str, *, health: float, power: float, asks: bool
    ) -> None:
        """Let a dead player live again where it lies; with `asks` it is asked before."""
        port = self._resurrections()
        if asks:
            port.offer(player, caster, spell, health=health, power=power)
        else:
            port.resurrect(player, health=health, power=power)

    def left_group(self, player: Player) -> None:
        """End the spells for a group between a player and those that it has left.

        EQ2Emulator lets them last, which the sources name as a fault.
        """
        own = player.spawn
        for spawn in (own, *self.company.pets(own)):
            state = self.states.get(spawn)
            for one in (*state.effects, *state.maintained) if state is not None else ():
                if one.kind.is_for_group and one.caster in self.company.players:
                    for target in list(one.targets):
                        if not self.company.share_group(one.caster, target):
                            self.lasting.leave(one, target, End.CANCELED)

    # -- spawns that come and go ------------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note a creature that stands now."""
        self.company.appeared(zone, spawn, standing)
        if spawn.kind is SpawnKind.NPC:
            self.creatures.appeared(zone, spawn)

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a creature that is gone, with all that it has of spells."""
        self.forget(spawn)
        self.creatures.vanished(zone, spawn)
        self.company.vanished(zone, spawn)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends, and all that lasts on its creatures.

        Their scripts are not called: the creatures end, too. In a zone with hundreds of them the
        calls took a turn of a tenth of a second.
        """
        for spawn, state in self.states:
            all_of_it = (*state.giving, *state.maintained)
            here = [one for one in all_of_it if one.zone is zone]
            if here and spawn.kind is SpawnKind.PLAYER:
                self.forget(spawn)
            elif here:
                self.pets.forget(spawn)
                self.casts.forget(spawn)
                for one in here:
                    self.lasting.drop(one)
                self.creatures.vanished(zone, spawn)
                self.states.forget(spawn)
        self.creatures.ended(zone)
        self.company.ended(zone)

    def forget(self, spawn: Spawn) -> None:
        """End all spells on a spawn, and its own on others; its pets go."""
        self.pets.forget(spawn)
        self.casts.forget(spawn)
        state = self.states.get(spawn)
        if state is None:
            return
        for one in list(state.effects):
            self.lasting.leave(one, spawn, End.CANCELED)
        for one in (*state.maintained, *(other for other in state.others if other.lingers)):
            self.lasting.end(one, End.CANCELED)
        self.states.forget(spawn)

    def _left(self, event: LeftZone) -> None:
        """End the spells of a player who leaves; it reads nothing of those that go on elsewhere.

        What it has cast on others goes on with those with whom it would go on elsewhere, too.
        """
        player = event.player
        state = self.states.get(player.spawn)
        if state is not None:
            for one in list(state.effects):
                if self.kept.goes_on(one, player):
                    self.lasting.leave(one, player.spawn, End.CANCELED, is_quiet=True)
            for one in list(state.maintained):
                self._hand_over(one)
        self.forget(player.spawn)

    def _hand_over(self, spell: LivingSpell) -> None:
        """Give a spell whose caster leaves to one of its targets; without one it stays."""
        others = (self.company.players.get(one) for one in spell.targets)
        heirs = [one for one in others if one is not None and one.spawn is not spell.caster]
        if heirs and self.kept.goes_on(spell, heirs[0]):
            self.lasting.hand_over(spell, heirs[0].spawn)


def _races(spawn: Spawn) -> tuple[int, ...]:
    return (int(spawn.appearance.get("race", 0)),) if spawn.kind is SpawnKind.PLAYER else ()
