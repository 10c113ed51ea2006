"""Spells that last: their ticks, their end, stacking, death, and what they give to spawns.

Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from emu.rules.spells import ticks_of
from emu.spells.kinds import FOR_EVER
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines
from emu.world.events import Died, Hurt, Order
from emu.world.spells.bonuses import is_better
from emu.world.spells.core import SpellCore
from emu.world.spells.living import (
    MOST_EFFECTS,
    MOST_MAINTAINED,
    CastPhase,
    Control,
    End,
    LaterCall,
    LivingSpell,
    Remainder,
    SpellState,
)
from emu.world.spells.remains import undo
from emu.world.spells.shows import filled

FADES: Final = "Your {name} fades."
BETTER_THERE: Final = (
    "The spell did not take hold as the target already has a better spell of this type."
)
OWN_OF_EACH: Final = frozenset(("dd", "dot"))
"""Effects of which each caster's own lasts beside those of others."""
RELIEVED: Final = "Your {name} relieves {effect} from {target}."
MOST_TIMERS: Final = 100
"""Functions that one spell calls later."""
TICK, ENDS, CANCEL = "tick", "end", "cancel"


class LastingSpells:
    """The lasting spells of one world."""

    def __init__(self, core: SpellCore) -> None:
        """Subscribe to what ends spells."""
        world = self._world = core.world
        self._chat = core.chat
        self._states = core.states
        self._company = core.company
        self._scripts = core.scripts
        self._now = world.clock.now
        self.ended: list[Callable[[LivingSpell], object]] = []
        """Called with each spell that is over."""
        self.changed: list[Callable[[Spawn], object]] = []
        """Called with each spawn on which a spell begins or ends to last."""
        self._times: Deadlines[LivingSpell, str] = world.timetable.deadlines(
            "spells that last", self._due, may_wait=True
        )
        self._calls: Deadlines[LaterCall, str] = world.timetable.deadlines(
            "timers of spells", self._call
        )
        world.events.subscribe(Died, self._died, Order.SUBJECTS)
        world.events.subscribe(Hurt, self._hurt, Order.SUBJECTS)

    # -- beginning --------------------------------------------------------------------------------

    def begin(self, spell: LivingSpell, *, rest: Remainder | None = None) -> bool:
        """Let a spell last on its targets; return False if it takes hold on none.

        `rest` is what was left of one that goes on after a change of the zone.
        """
        now, tier = self._now(), spell.tier
        spell.targets = [one for one in spell.targets if self._takes_hold(spell, one)]
        caster = self._states.of(spell.caster)
        is_listed = not spell.kind.is_not_maintained and not spell.is_passive
        if not spell.targets or (is_listed and len(caster.maintained) >= MOST_MAINTAINED):
            self.end(spell, End.CANCELED, is_quiet=True)
            return False
        spell.phase, spell.has_lasted = CastPhase.LASTING, True
        duration = tier.duration if rest is None or rest.seconds is None else rest.seconds
        is_timed = 0 < duration < FOR_EVER and not spell.kind.lasts_until_cancelled
        spell.ends = Monotonic(now + duration) if is_timed else None
        self._plan(spell, now, duration if is_timed else 0.0, rest)
        for one in spell.targets:
            self._states.of(one).effects.append(spell)
        if is_listed:
            caster.maintained.append(spell)
            caster.concentration += tier.cost.concentration
        for one in spell.targets:
            self._states.recount(one)
            self._note(one)
        for one in spell.gifts:
            if one not in spell.targets:
                self.gave(spell, one)
        if spell.caster not in spell.targets:
            self._states.show(spell.caster)
        return True

    def linger(self, spell: LivingSpell) -> bool:
        """Let a spell without duration live until its script's timers are over, if it has any.

        What it has given counts as long. Nothing shows it, and its script's `remove` is not called.
        """
        if spell.is_over or not spell.pending:
            return False
        spell.phase, spell.lingers = CastPhase.LASTING, True
        for one in list(spell.gifts):
            self.gave(spell, one)
        return True

    def gave(self, spell: LivingSpell, spawn: Spawn) -> None:
        """Count anew what a spawn has of a spell whose script has given something to it.

        It need not be a target: a spell may give a proc to its caster. What a spell gives during
        its cast counts from then on when it lasts.
        """
        if spell.phase is not CastPhase.LASTING:
            return
        state = self._states.of(spawn)
        if spell not in state.effects and spell not in state.others:
            state.others = (*state.others, spell)
        self._states.recount(spawn)

    def _plan(
        self, spell: LivingSpell, now: Monotonic, duration: float, rest: Remainder | None
    ) -> None:
        period = spell.tier.period
        if period > 0:
            # One that time does not end ticks until something else ends it.
            spell.ticks = max(1, ticks_of(duration, period)) if duration else -1
            spell.due = Monotonic(now + period)
            if rest is not None and rest.ticks:
                spell.ticks, spell.due = rest.ticks, Monotonic(now + rest.until_tick)
            self._times.set(spell, TICK, spell.due)
        elif duration:
            self._times.set(spell, ENDS, Monotonic(now + duration))
        for seconds, function in rest.calls if rest is not None else ():
            self.call_later(spell, seconds, function, spell.caster, spell.target)

    def _takes_hold(self, spell: LivingSpell, target: Spawn) -> bool:
        """Return whether a spell takes hold on a target; end what it replaces there."""
        if target.hp_percent <= 0 and not spell.kind.lasts_through_death:
            return False
        state = self._states.of(target)
        for old in [one for one in state.effects if excludes(spell, one)]:
            if old.kind.id == spell.kind.id:
                stronger = old.tier.number > spell.tier.number
            else:
                stronger = not is_better(spell.kind, old.kind)
            if stronger:
                player = self._company.players.get(spell.caster)
                if player is not None:
                    self._chat.line(player, BETTER_THERE, "system")
                return False
            self.leave(old, target, End.PURGED)
        return len(state.effects) < MOST_EFFECTS

    # -- time -------------------------------------------------------------------------------------

    def _due(self, spell: LivingSpell, name: str, now: Monotonic) -> None:
        if name != TICK:
            self.end(spell, End.EXPIRED if name == ENDS else End.CANCELED)
            return
        spell.ticks -= 1
        answer = self._scripts().call(spell, "tick", spell.caster, spell.target, *spell.tier.values)
        if spell.is_over:
            return
        if answer.has_failed or spell.ticks == 0:
            self.end(spell, End.EXPIRED)
            return
        # From the time that it was due: what comes late must not add up.
        spell.due = Monotonic(spell.due + spell.tier.period)
        self._times.set(spell, TICK, max(spell.due, now))

    def ends_now(self, spell: LivingSpell) -> None:
        """End a spell with the next turn: a function of its script asks for it."""
        if not spell.is_over:
            self._times.set(spell, CANCEL, self._now())

    def call_later(
        self, spell: LivingSpell, seconds: float, function: str, caster: Spawn,
        target: Spawn | None,
    ) -> None:  # fmt: skip
        """Call a function of a spell's script later, also when its duration is over by then."""
        if spell.is_over or spell.timers >= MOST_TIMERS:
            return
        spell.timers += 1
        call = LaterCall(spell, Monotonic(self._now() + seconds), function, caster, target)
        spell.pending = (*spell.pending, call)
        self._calls.set(call, "", call.at)

    def _call(self, call: LaterCall, _name: str, _now: Monotonic) -> None:
        spell = call.spell
        spell.pending = tuple(one for one in spell.pending if one is not call)
        sides = [one for one in (spell.caster, spell.target) if one is not None]
        is_there = any(spell.zone.spawn(one.id) is one for one in sides)
        if not spell.is_over and (is_there or not spell.lingers):
            self._scripts().call(spell, call.function, call.caster, call.target, *spell.tier.values)
        if spell.lingers and not (spell.pending and is_there):
            self.end(spell, End.EXPIRED, is_quiet=True)

    def cure(
        self, spawn: Spawn, number: int, fits: Callable[[LivingSpell], bool], level: int, *,
        caster: Spawn, name: str,
    ) -> int:  # fmt: skip
        """End so many harmful spells that fit, up to a level; return how many there were."""
        state = self._states.get(spawn)
        found = [
            one for one in (state.effects if state is not None else ())
            if not one.kind.is_incurable and not one.kind.is_friendly and fits(one)
            and (level <= 0 or one.level <= level)
        ][: max(1, number)]  # fmt: skip
        for one in found:
            self.leave(one, spawn, End.CANCELED)
            player = self._company.players.get(caster)
            if player is not None and name:
                text = RELIEVED.format(name=name, effect=one.kind.name, target=spawn.name)
                self._chat.line(player, text, "spell")
        return len(found)

    # -- the end ----------------------------------------------------------------------------------

    def end(self, spell: LivingSpell, reason: str, *, is_quiet: bool = False) -> None:
        """End a spell: its script's `remove` is called, and all that it has given is taken back.

        The globals of its script live until the functions that it calls later are called.
        """
        if spell.is_over:
            return
        was_lasting, is_first = spell.phase is CastPhase.LASTING, not spell.lingers
        remains = {one: gifts.remains for one, gifts in spell.gifts.items() if gifts.remains}
        if was_lasting and is_first:
            self._scripts().call(
                spell, "remove", spell.caster, spell.target, reason, *spell.tier.values
            )
        if spell.is_over:  # its script has ended it
            return
        spell.phase = CastPhase.OVER
        self._times.forget(spell, (TICK, ENDS, CANCEL))
        touched = self._take_back(spell, was_lasting=was_lasting)
        for one, kept in remains.items():
            undo(one, kept, self._remains(one), is_undone=True)
        if was_lasting and is_first and not (is_quiet or spell.is_passive):
            self._say_end(spell, touched)
        if is_first:
            for listener in self.ended:
                listener(spell)
        if was_lasting and is_first and spell.pending:
            spell.phase, spell.lingers = CastPhase.LASTING, True
        else:
            self._scripts().end(spell)

    def drop(self, spell: LivingSpell) -> None:
        """End a spell together with those whom it is on: its script takes nothing back."""
        if spell.is_over:
            return
        spell.phase = CastPhase.OVER
        self._times.forget(spell, (TICK, ENDS, CANCEL))
        for listener in self.ended:
            listener(spell)
        self._scripts().end(spell)

    def _take_back(self, spell: LivingSpell, *, was_lasting: bool) -> list[Spawn]:
        """Take back all that a spell has given; return to whom."""
        touched = list(dict.fromkeys((*spell.targets, *spell.gifts)))
        for one in touched:
            state = self._states.get(one)
            if state is None:
                continue
            if spell in state.effects:
                state.effects.remove(spell)
            state.others = tuple(other for other in state.others if other is not spell)
        spell.gifts.clear()
        if was_lasting:
            self._unlist(spell)
        for one in touched if was_lasting else ():
            if self._states.get(one) is not None:
                self._states.recount(one)
        for one in (*touched, spell.caster) if was_lasting else ():
            self._states.tidy(one)
        for one in touched if was_lasting else ():
            self._note(one)
        return touched

    def _remains(self, spawn: Spawn) -> Iterator[Mapping[str, tuple[float, ...]]]:
        """Yield what the spells on a spawn do to it that only their scripts take back."""
        state = self._states.get(spawn)
        for one in state.giving if state is not None else ():
            gifts = one.gifts.get(spawn)
            if gifts is not None:
                yield gifts.remains

    def _note(self, spawn: Spawn) -> None:
        for listener in self.changed:
            listener(spawn)

    def _unlist(self, spell: LivingSpell) -> None:
        caster = self._states.get(spell.caster)
        if caster is None or spell not in caster.maintained:
            return
        caster.maintained.remove(spell)
        caster.concentration -= spell.tier.cost.concentration
        self._states.show(spell.caster)

    def leave(
        self, spell: LivingSpell, target: Spawn, reason: str, *, is_quiet: bool = False
    ) -> None:
        """End a spell on one of its targets; without any it is over.

        If it `is_quiet`, the target reads nothing: the spell goes on where the target is next.
        """
        if spell.is_over or target not in spell.targets:
            return
        if len(spell.targets) == 1:
            self.end(spell, reason, is_quiet=is_quiet)
            return
        self._let_go(spell, target, self._states.of(target))
        self._states.recount(target)
        self._states.tidy(target)
        self._note(target)
        if not (is_quiet or spell.is_passive):
            self._say_end(spell, (target,))

    def _let_go(self, spell: LivingSpell, spawn: Spawn, state: SpellState) -> bool:
        """Take a spell from one of those who have it; return whether it had given it anything.

        Its script's `remove` is called once, when the spell is over for all.
        """
        if spawn in spell.targets:
            spell.targets.remove(spawn)
        if spell in state.effects:
            state.effects.remove(spell)
        gifts = spell.gifts.pop(spawn, None)
        if gifts is None:
            return False
        undo(spawn, gifts.remains, self._remains(spawn))
        return True

    def hand_over(self, spell: LivingSpell, target: Spawn) -> None:
        """Let one of a spell's targets count as its caster; the present one leaves the zone."""
        before, spell.caster = spell.caster, target
        state = self._states.get(before)
        if state is not None:
            had_gifts = self._let_go(spell, before, state)
            state.others = tuple(one for one in state.others if one is not spell)
            if spell in state.maintained:
                state.maintained.remove(spell)
                state.concentration -= spell.tier.cost.concentration
                own = self._states.of(target)
                own.maintained.append(spell)
                own.concentration += spell.tier.cost.concentration
            if had_gifts:
                self._states.recount(before)
        spell.is_free = True
        for call in spell.pending:
            call.caster = target if call.caster is before else call.caster
        self._states.show(target)
        self._note(target)

    def _say_end(self, spell: LivingSpell, spawns: Iterable[Spawn]) -> None:
        """Tell those whom a spell leaves; its caster reads nothing of others (recorded)."""
        for one in spawns:
            player = self._company.players.get(one)
            if player is not None:
                text = filled(spell.kind.fade_message, spell.caster, one)
                self._chat.line(player, text or FADES.format(name=spell.kind.name), "spell")

    # -- death ------------------------------------------------------------------------------------

    def _died(self, event: Died) -> None:
        state = self._states.get(event.victim)
        if state is None:
            return
        for one in list(state.effects):
            if not (one.kind.lasts_through_death or one.is_passive):
                self.leave(one, event.victim, End.EXPIRED)
        for one in list(state.maintained):
            if not one.kind.lasts_through_death:
                self.end(one, End.DEAD)

    def _hurt(self, event: Hurt) -> None:
        """Wake who is mezzed: harm ends it."""
        state = self._states.get(event.spawn)
        if state is None or not event.damage or Control.MEZ not in state.controls:
            return
        for one in list(state.effects):
            if Control.MEZ in one.gifts_of(event.spawn).controls:
                self.leave(one, event.spawn, End.CANCELED)

    # -- asking -----------------------------------------------------------------------------------

    def in_the_way(self, spell: LivingSpell, targets: Iterable[Spawn]) -> LivingSpell | None:
        """Return the stronger spell of a timer that keeps one off a target, before its cast."""
        for target in targets:
            state = self._states.get(target)
            for old in state.effects if state is not None else ():
                is_other = old.kind.id != spell.kind.id and excludes(spell, old)
                if is_other and not is_better(spell.kind, old.kind):
                    return old
        return None

    def own(self, caster: Spawn, spell_id: int) -> LivingSpell | None:
        """Return a lasting spell of a caster's own by number."""
        state = self._states.get(caster)
        if state is None:
            return None
        return next((one for one in state.maintained if one.kind.id == spell_id), None)


def excludes(fresh: LivingSpell, old: LivingSpell) -> bool:
    """Return whether two spells cannot both last on one target."""
    same = old.kind.id == fresh.kind.id
    linked = fresh.stacks_as() and fresh.stacks_as() == old.stacks_as()
    if not same and not linked:
        return False
    if old.caster is fresh.caster:
        return True
    # Others' harm of these kinds does not count; of one spell each caster has its own.
    return fresh.kind.effect not in OWN_OF_EACH or fresh.kind.is_friendly
