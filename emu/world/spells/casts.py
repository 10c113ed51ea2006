"""Casts: the checks in their order, cast time, interruption, what a cast costs, and the queue.

Source: docs/guides/spells.md#casts, docs/protocol/world/fights.md#casts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.rules.spells import (
    HATE_OF_HARM,
    RESISTED_RECAST,
    fizzle_chance,
    keeps_casting,
    with_speed,
)
from emu.spells.kinds import SpellKind, SpellTier
from emu.times import Monotonic
from emu.world.actors.player import DEAD, Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.combat.figures import fraction
from emu.world.deadlines import Deadlines
from emu.world.events import Cast, Died, Hurt, Order
from emu.world.spells import shows, words
from emu.world.spells.amounts import Amounts
from emu.world.spells.checks import CastChecks
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import (
    DEEPEST_CAST,
    CastPhase,
    End,
    LivingSpell,
    SpellState,
    WaitingCast,
)
from emu.world.spells.ports import NOT_FOUND, SpellAnswer
from emu.world.spells.targets import Aim, SpellTargets, given
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

STEP: Final = 0.5
"""Units that a caster may move without an end of its cast."""
FIZZLE_SHARE: Final = 2
"""A fizzle costs the whole divided by this."""
STOPPED: Final = "You stop casting."
EACH_TARGET: Final = "grouptarget"
"""The effect of a spell whose script acts once for each target (EQ2Emulator)."""
CAST, READY = "cast", "ready"


class Casts:
    """The casts of one world, of players and creatures alike."""

    def __init__(
        self,
        core: SpellCore,
        targets: SpellTargets,
        lasting: LastingSpells,
        amounts: Amounts,
        book_changed: Callable[[Player], object],
    ) -> None:
        """Subscribe to what ends casts. `book_changed` shows a player when it can cast what."""
        world = self._world = core.world
        self._chat = core.chat
        self._kinds = core.kinds
        self._states = core.states
        self._company = core.company
        self._targets = targets
        self._lasting = lasting
        self._amounts = amounts
        self._chance_of = core.chance
        self._skill_of = core.skill_of
        self._scripts = core.scripts
        self._book_changed = book_changed
        self._checks = CastChecks(core, lasting)
        self._now = world.clock.now
        self._from: dict[LivingSpell, Position] = {}
        """Where casters stood when their casts began."""
        self.waiters: list[Callable[[Player, float], object]] = []
        """Called with each player whose recast begins, and its seconds."""
        self.spenders: list[Callable[[Zone, Spawn], object]] = []
        """Called with those who have paid with health or power."""
        self.focus_skill = next(
            (one.id for one in world.knowledge.skills.values() if one.name == "Focus"), 0
        )
        self._ends: Deadlines[LivingSpell, str] = world.timetable.deadlines("casts", self._ended)
        self._ready: Deadlines[Spawn, str] = world.timetable.deadlines(
            "casts that wait", self._is_ready
        )
        world.events.subscribe(Hurt, self._hurt, Order.SUBJECTS)
        # After the message of the death (recorded: then the interruption).
        world.events.subscribe(Died, self._died, Order.SUBJECTS)
        lasting.ended.append(self._spell_over)

    # -- players ----------------------------------------------------------------------------------

    def use(self, player: Player, spell_id: int) -> None:
        """Let a player cast a spell of its book at its target; its client shows what forbids it."""
        if player.spawn.hp_percent <= 0:
            self._chat.line(player, DEAD, "error")
            return
        kind = self._kinds.get(spell_id)
        if kind is None or not kind.is_active:
            self._world.count("a spell that nothing describes")
            return
        number = player.past.spell_tier(spell_id)
        tier = kind.tier(number) if number else None
        if tier is None:
            shows.refuse(player, "too_low")
            return
        state = self._states.of(player.spawn)
        if state.casting is not None:
            self._queue(player, state, WaitingCast(kind, tier))
            return
        self._begin_or_wait(player, state, kind, tier)

    def _switch_off(self, spawn: Spawn, kind: SpellKind) -> bool:
        running = self._lasting.own(spawn, kind.id)
        if running is None:
            return False
        self._lasting.end(running, End.PURGED)
        return True

    def _begin_or_wait(
        self, player: Player, state: SpellState, kind: SpellKind, tier: SpellTier
    ) -> None:
        if kind.is_toggle and self._switch_off(player.spawn, kind):
            return
        spell = self._prepared(player.zone, player.spawn, kind, tier)
        aim = self._targets.aim(player.zone, player.spawn, kind, tier, player.target)
        error = self._checks.early_error(spell, aim, state)
        if error is None and not self._is_free(state, kind):
            self._queue(player, state, WaitingCast(kind, tier))
            return
        if error is None:
            error = self._checks.late_error(spell, aim)
        if error is not None:
            shows.refuse(player, error)
            return
        self._begin(spell, aim)

    def _queue(self, player: Player, state: SpellState, waiting: WaitingCast) -> None:
        """Let a cast wait; the same one, asked for again, waits no more (recorded)."""
        before = state.waiting
        if before is not None and before.kind.id == waiting.kind.id:
            self.clear_queue(player)
            return
        state.waiting = waiting
        self._plan_ready(player.spawn, state)
        self._book_changed(player)

    def _is_ready(self, spawn: Spawn, _name: str, now: Monotonic) -> None:
        """Begin what waits, and show that spells can be cast again."""
        state, player = self._states.get(spawn), self._company.players.get(spawn)
        if state is None:
            return
        state.ready = {number: at for number, at in state.ready.items() if at > now}
        if player is None:
            self._states.tidy(spawn)
            return
        waiting = state.waiting
        if waiting is not None and state.casting is None and self._is_free(state, waiting.kind):
            # The client sees that the spell can be cast before it is (recorded).
            self._book_changed(player)
            state.waiting = None
            if spawn.hp_percent > 0:
                self._begin_or_wait(player, state, waiting.kind, waiting.tier)
        self._plan_ready(spawn, state)
        self._book_changed(player)
        self._states.tidy(spawn)

    def _plan_ready(self, spawn: Spawn, state: SpellState) -> None:
        """Look again when the next spell can be cast: that which waits, or one of the book."""
        now = self._now()
        times = [at for at in (*state.ready.values(), state.recovered) if at > now]
        if state.waiting is not None and state.casting is None:
            due = max(now, state.recovered, self._ready_at(state, state.waiting.kind))
            times.append(Monotonic(due))
        if times:
            self._ready.set(spawn, READY, Monotonic(min(times)))

    def clear_queue(self, player: Player) -> None:
        """Forget what a player would cast next."""
        state = self._states.get(player.spawn)
        if state is not None and state.waiting is not None:
            state.waiting = None
            self._book_changed(player)

    def _is_free(self, state: SpellState, kind: SpellKind) -> bool:
        now = self._now()
        return state.recovered <= now and self._ready_at(state, kind) <= now

    def _ready_at(self, state: SpellState, kind: SpellKind) -> float:
        return max(
            state.ready.get(kind.id, 0.0),
            state.ready.get(-kind.linked_timer, 0.0) if kind.linked_timer else 0.0,
        )

    def ready_at(self, spawn: Spawn, kind: SpellKind) -> float:
        """Return when somebody can cast a spell again; a time that is over for now."""
        state = self._states.get(spawn)
        return 0.0 if state is None else self._ready_at(state, kind)

    # -- creatures and scripts --------------------------------------------------------------------

    def cast(
        self, zone: Zone, caster: Spawn, what: WaitingCast, target: Spawn | None, *,
        depth: int = 0, cast_time: float | None = None, is_given: bool = False,
        pays: bool = False, is_silent: bool = False,
    ) -> LivingSpell | None:  # fmt: skip
        """Let a creature or a script cast; it needs no book, and costs nothing unless it `pays`.

        `is_given` asks for no view, distance or enemy: content gives an effect. None: no cast.
        """
        kind, tier = what
        if depth >= DEEPEST_CAST or caster.hp_percent <= 0 or not kind.is_active:
            return None
        state = self._states.of(caster)
        seconds = tier.cast_time if cast_time is None else cast_time
        if zone.spawn(caster.id) is not caster or (state.casting is not None and seconds > 0):
            self._states.tidy(caster)
            return None
        spell = self._prepared(zone, caster, kind, tier)
        spell.is_free, spell.depth, spell.is_silent = not pays, depth, is_silent
        aim = self._targets.aim(zone, caster, kind, tier, target)
        if is_given:
            aim = given(aim, kind, tier, target)
        else:
            error = self._checks.early_error(spell, aim, state)
            error = self._checks.late_error(spell, aim) if error is None else error
            if error is not None:
                self._states.tidy(caster)
                return None
        return self._begin(spell, aim, cast_time=seconds)

    def affords(self, spawn: Spawn, what: WaitingCast) -> bool:
        """Return whether somebody has the power that a spell takes."""
        return self._checks.power_for(spawn, *what) <= spawn.sheet.power.current

    def _prepared(self, zone: Zone, caster: Spawn, kind: SpellKind, tier: SpellTier) -> LivingSpell:
        return LivingSpell(kind, tier, zone, caster, level=caster.level, began=self._now())

    # -- a cast -----------------------------------------------------------------------------------

    def _begin(
        self, spell: LivingSpell, aim: Aim, *, cast_time: float | None = None
    ) -> LivingSpell | None:
        caster, kind, tier = spell.caster, spell.kind, spell.tier
        spell.target = aim.target if aim.target is not None else caster
        spell.targets = list(aim.targets)
        player = self._company.players.get(caster)
        if not self._is_prepared(spell, player):
            self._lasting.end(spell, End.CANCELED, is_quiet=True)
            self._states.tidy(caster)
            return None
        if self._fizzles(spell):
            self._fizzle(spell, player)
            return None
        seconds = tier.cast_time if cast_time is None else cast_time
        seconds = with_speed(seconds, fraction(caster, "casting_speed"))
        state = self._states.of(caster)
        spell.phase, spell.began = CastPhase.CASTING, self._now()
        if seconds <= 0:
            # Recorded: what a spell triggers has a bar, a passive spell has none.
            if player is not None and (spell.depth or not spell.is_free):
                shows.begin_bar(player, kind.name, 0.0)
                spell.has_bar = True
            self._finish(spell, is_instant=True)
            shows.show_cast(spell.zone, caster, spell.targets, kind, 0.0)
            return None if spell.is_over and spell.is_resisted else spell
        state.casting = spell
        self._from[spell] = caster.position
        self._ends.set(spell, CAST, Monotonic(self._now() + seconds))
        if player is not None:
            shows.begin_bar(player, kind.name, seconds)
            spell.has_bar = True
            self._book_changed(player)
        shows.show_cast(spell.zone, caster, spell.targets, kind, seconds)
        return spell

    def _is_prepared(self, spell: LivingSpell, player: Player | None) -> bool:
        """Load the script, and ask its `precast`."""
        scripts = self._scripts()
        if not scripts.begin(spell):
            if player is not None:
                shows.refuse(player, "cannot_prepare")
            return False
        answer = scripts.call(spell, "precast", spell.caster, spell.target)
        if not answer.is_found or answer.has_failed:
            return True
        if answer.values and answer.values[0] not in (None, False):
            return True
        if player is not None:
            number = answer.values[1] if len(answer.values) > 1 else None
            code = None
            if isinstance(number, int | float):
                code = self._kinds.error_code(player.client.version, int(number))
            if code is None:
                shows.refuse(player, "cannot_prepare")
            else:
                shows.show_error(player, code)
        return False

    def _fizzles(self, spell: LivingSpell) -> bool:
        kind = spell.kind
        needed, rules = kind.min_class_skill, self._world.rules.in_zone(spell.zone.zone_id)
        if spell.is_free or not kind.can_fizzle or needed <= 0 or not kind.mastery_skill:
            return False
        if not rules.fizzles:
            return False
        skill = self._skill_of(spell.caster, kind.mastery_skill)
        if not skill:
            return False
        drawn = self._chance_of(spell.zone).randint(0, 9999)
        chance = fizzle_chance(
            skill, needed, rules.fizzle_percent,
            sure=rules.fizzle_skill, least=rules.fizzle_least,
        )  # fmt: skip
        return drawn < chance * 100

    def _fizzle(self, spell: LivingSpell, player: Player | None) -> None:
        shows.show_fizzle(spell.zone, spell.caster, spell.targets, spell.kind.id)
        self._pay(spell, FIZZLE_SHARE)
        self._lasting.end(spell, End.CANCELED, is_quiet=True)
        self._recover(spell)
        if player is not None:
            self._book_changed(player)

    def _ended(self, spell: LivingSpell, _name: str, _now: Monotonic) -> None:
        state = self._states.get(spell.caster)
        if state is None or state.casting is not spell:
            return
        state.casting = None
        self._from.pop(spell, None)
        if spell.zone.spawn(spell.caster.id) is spell.caster:
            self._finish(spell)
        self._next(spell.caster)

    def _next(self, caster: Spawn) -> None:
        """Begin what waits as soon as it can be cast."""
        state = self._states.get(caster)
        if state is not None:
            self._plan_ready(caster, state)

    def _finish(self, spell: LivingSpell, *, is_instant: bool = False) -> None:
        """Let a cast act, take what it costs, and let it last.

        The bar of an instant cast ends after its texts (recorded).
        """
        caster, kind = spell.caster, spell.kind
        player = self._company.players.get(caster)
        error = self._targets.gather(spell)
        if player is not None and spell.has_bar and (not is_instant or error is not None):
            shows.end_bar(player, kind.name)
        if error is not None:
            self._lasting.end(spell, End.CANCELED, is_quiet=True)
            if player is not None:
                shows.refuse(player, error)
                self._book_changed(player)
            return
        spell.phase = CastPhase.ACTING
        first = spell.targets[0] if spell.targets else spell.target
        targets = tuple(spell.targets)
        self._provoke(spell)
        answer = self._act(spell, first)
        if answer.has_failed:
            self._lasting.end(spell, End.CANCELED, is_quiet=True)
        # Recorded: of a resisted spell as well.
        if not answer.has_failed:
            words.say(self._chat, self._company.players, spell, first)
        if player is not None and spell.has_bar and is_instant:
            shows.end_bar(player, kind.name)
        self._pay(spell, 1)
        self._let_last(spell)
        self._recast(spell)
        if self._world.events.has_listener(Cast):
            self._world.events.publish(
                Cast(
                    player, zone=spell.zone, spawn=caster, foe=first, spell_id=kind.id,
                    tier=spell.tier.number, has_landed=not (spell.is_resisted or answer.has_failed),
                    name=kind.name, targets=() if answer.has_failed else targets,
                    is_harmful=not kind.is_friendly,
                )
            )  # fmt: skip
        if player is not None:
            self._show_end(player, has_locked=not (spell.is_free and is_instant))

    def _let_last(self, spell: LivingSpell) -> None:
        """Let a spell that has acted last, if it does; else it is over."""
        goes_on = spell.caster.hp_percent > 0 and not (
            spell.is_resisted or spell.is_over or spell.is_cancelled
        )
        if goes_on and spell.kind.lasts(spell.tier):
            self._lasting.begin(spell)
        elif not (goes_on and self._lasting.linger(spell)):
            self._lasting.end(spell, End.CANCELED, is_quiet=True)

    def _act(self, spell: LivingSpell, first: Spawn | None) -> SpellAnswer:
        """Call the script's `cast`: once for all targets, or for each, if its kind says so."""
        each: list[Spawn | None] = [*spell.targets] if spell.kind.effect == EACH_TARGET else []
        answer = NOT_FOUND
        for target in each or [first]:
            answer = self._scripts().call(spell, "cast", spell.caster, target, *spell.tier.values)
            if answer.has_failed or spell.is_over:
                break
        return answer

    def _show_end(self, player: Player, *, has_locked: bool) -> None:
        """Show a player what the end of a cast has changed; one given at once locks no spell."""
        if has_locked:
            self._book_changed(player)
        self._states.changed(player.spawn)

    def _provoke(self, spell: LivingSpell) -> None:
        """Let the creatures that a harmful spell reaches hate its caster."""
        if spell.kind.is_friendly:
            return
        for one in list(spell.targets):
            if one is not spell.caster and one.kind is SpawnKind.NPC:
                self._amounts.hate(spell.zone, one, spell.caster, HATE_OF_HARM)

    # -- what it costs ----------------------------------------------------------------------------

    def _pay(self, spell: LivingSpell, share: int) -> None:
        # A proc of the target may have killed the caster: a cost must not give it health.
        if spell.is_free or spell.caster.hp_percent <= 0:
            return
        sheet = spell.caster.sheet
        power, health = (
            self._checks.power_of(spell) // share,
            self._checks.health_of(spell) // share,
        )
        if power:
            sheet.power.set_current(sheet.power.current - power)
        if health:
            sheet.health.set_current(max(1, sheet.health.current - health))
        if power or health:
            spell.caster.show_pools()
            self._states.changed(spell.caster)
            self.paid(spell.zone, spell.caster)

    def paid(self, zone: Zone, spawn: Spawn) -> None:
        """Note that somebody lacks power or health, which it regains."""
        for listener in self.spenders:
            listener(zone, spawn)

    def _recover(self, spell: LivingSpell) -> None:
        if spell.is_free:
            return
        state = self._states.of(spell.caster)
        seconds = with_speed(spell.tier.recovery, fraction(spell.caster, "recovery_speed"))
        state.recovered = Monotonic(self._now() + seconds)
        self._plan_ready(spell.caster, state)

    def _recast(self, spell: LivingSpell) -> None:
        """Let the time begin until a spell, and those of its timer, can be cast again."""
        if spell.is_free:
            return
        # That of a toggle with an end begins at its end (recorded for one without: at once).
        is_on = spell.kind.is_toggle and spell.phase is CastPhase.LASTING
        if not is_on or spell.ends is None:
            self._begin_recast(spell)
        self._recover(spell)

    def _begin_recast(self, spell: LivingSpell) -> None:
        seconds = with_speed(spell.tier.recast, fraction(spell.caster, "reuse_speed"))
        if spell.is_resisted and not spell.is_missed:
            seconds = min(seconds, RESISTED_RECAST)
        if seconds <= 0:
            return
        state = self._states.of(spell.caster)
        due = Monotonic(self._now() + seconds)
        state.ready[spell.kind.id] = due
        if spell.kind.linked_timer:
            state.ready[-spell.kind.linked_timer] = due
        player = self._company.players.get(spell.caster)
        if player is not None:
            for listener in self.waiters:
                listener(player, seconds)
        self._plan_ready(spell.caster, state)

    def _spell_over(self, spell: LivingSpell) -> None:
        """Begin the recast of a toggle that was on."""
        if not spell.has_lasted or spell.ends is None:
            return
        if spell.kind.is_toggle and not spell.is_free and spell.caster in self._company.players:
            self._begin_recast(spell)
            self._book_changed(self._company.players[spell.caster])

    # -- interruption -----------------------------------------------------------------------------

    def interrupt(self, spawn: Spawn, reason: str = "interrupted") -> bool:
        """End the cast of somebody; return whether it was casting.

        `reason` is the error that a player is shown; it is shown none without.
        """
        state = self._states.get(spawn)
        spell = state.casting if state is not None else None
        if state is None or spell is None:
            return False
        state.casting = None
        self._ends.clear(spell, CAST)
        self._from.pop(spell, None)
        player = self._company.players.get(spawn)
        if player is not None:
            shows.end_bar(player, spell.kind.name)
            self._book_changed(player)
        shows.show_interrupt(spell.zone, spawn, spell.targets, spell.kind.id)
        self._lasting.end(spell, End.CANCELED, is_quiet=True)
        if player is not None:
            shows.refuse(player, reason)
        self._next(spawn)
        return True

    def stop(self, player: Player) -> None:
        """End the cast of a player who does not want it any more, and forget what waits."""
        state = self._states.get(player.spawn)
        if state is None or state.casting is None:
            return
        state.waiting = None
        self._chat.line(player, STOPPED, "spell")
        self.interrupt(player.spawn, "")

    def moved(self, player: Player) -> None:
        """Interrupt the cast of a player who walks away, unless the spell lets it walk."""
        state = self._states.get(player.spawn)
        spell = state.casting if state is not None else None
        if spell is None or spell.kind.casts_while_moving:
            return
        began = self._from.get(spell)
        if began is not None and began.distance_to(player.position) > STEP:
            self.interrupt(player.spawn)

    def _hurt(self, event: Hurt) -> None:
        state = self._states.get(event.spawn)
        spell = state.casting if state is not None else None
        if spell is None or not event.damage or not spell.kind.is_interruptable:
            return
        focus = self._skill_of(event.spawn, self.focus_skill)
        usual = self._world.rules.in_zone(spell.zone.zone_id).kept_casts
        if not keeps_casting(focus, self._chance_of(spell.zone), usual):
            self.interrupt(event.spawn)

    def _died(self, event: Died) -> None:
        """Drop the cast of the dead without a word; who has killed its own target stops.

        What its killer would have cast on it next is forgotten as well (recorded).
        """
        self._drop(event.victim)
        state = self._states.get(event.killer) if event.killer is not None else None
        if state is None or event.killer is None:
            return
        player, waiting = self._company.players.get(event.killer), state.waiting
        is_harmful = waiting is not None and not waiting.kind.is_friendly
        if player is not None and is_harmful and player.target is event.victim:
            self.clear_queue(player)
        spell = state.casting
        if spell is not None and spell.target is event.victim and spell.kind.is_interruptable:
            self.interrupt(spell.caster, "target_dead")

    def _drop(self, spawn: Spawn) -> None:
        state = self._states.get(spawn)
        if state is None:
            return
        state.waiting = None
        spell, state.casting = state.casting, None
        if spell is not None:
            self._ends.clear(spell, CAST)
            self._from.pop(spell, None)
            self._lasting.end(spell, End.CANCELED, is_quiet=True)

    def forget(self, spawn: Spawn) -> None:
        """Forget a spawn that is gone, or a player who leaves its zone."""
        self._drop(spawn)
        self._ready.clear(spawn, READY)

    def is_casting(self, spawn: Spawn) -> bool:
        """Return whether somebody casts now."""
        state = self._states.get(spawn)
        return state is not None and state.casting is not None

    def resume(self, spawn: Spawn) -> None:
        """Plan the ends of recasts that somebody has brought along."""
        state = self._states.get(spawn)
        if state is not None:
            self._plan_ready(spawn, state)
