"""Procs and wards: what spells do when something happens to those on whom they last.

Source: docs/guides/spells.md#procs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from emu.rules.combat import LARGEST_DAMAGE, Result
from emu.rules.spells import BLOWS, HATE_OF_RESIST, MAGIC, rolled
from emu.world.actors.spawn import Spawn
from emu.world.combat.blows import LAST_DAMAGE_TYPE, Blow, show_blow
from emu.world.events import (
    BlowAvoided,
    BlowLanded,
    Cast,
    Died,
    Healed,
    Hurt,
    Order,
    Warded,
)
from emu.world.spells.amounts import Amounts
from emu.world.spells.core import SpellCore
from emu.world.spells.living import LivingSpell, Ward
from emu.world.spells.shows import ABSORBED, filled, show_heal, show_threat
from emu.world.spells.words import say_effect
from emu.world.zones.zone import Zone


class ProcKind:
    """The events at which spells act, in the numbers of scripts."""

    OFFENSIVE: Final = 1
    DEFENSIVE: Final = 2
    PHYSICAL_OFFENSIVE: Final = 3
    PHYSICAL_DEFENSIVE: Final = 4
    MAGICAL_OFFENSIVE: Final = 5
    MAGICAL_DEFENSIVE: Final = 6
    BLOCK: Final = 7
    PARRY: Final = 8
    RIPOSTE: Final = 9
    EVADE: Final = 10
    HEALING: Final = 11
    BENEFICIAL: Final = 12
    DEATH: Final = 13
    KILL: Final = 14
    DAMAGED: Final = 15
    DAMAGED_BY_BLOW: Final = 16
    DAMAGED_BY_SPELL: Final = 17
    RANGED_OFFENSIVE: Final = 18
    RANGED_DEFENSIVE: Final = 19
    PHYSICAL_ATTEMPT: Final = 20
    MAGICAL_ATTEMPT: Final = 21


_OF_RESULTS: Final = {
    Result.BLOCK: ProcKind.BLOCK, Result.PARRY: ProcKind.PARRY,
    Result.RIPOSTE: ProcKind.RIPOSTE, Result.DODGE: ProcKind.EVADE,
}  # fmt: skip
"""What happens to a spawn that avoids a blow."""


class ProcHarm(NamedTuple):
    """What a proc does to a spawn."""

    name: str
    kind: int
    low: int
    high: int
    success: str = ""
    """A line for who causes it."""
    spell_id: int = 1
    effect: str = ""
    """A line for those near."""


PHYSICAL, MAGICAL = 1, 2
"""Kinds of wards."""
TAKEN: Final = "You take {points} of the damage that was meant for {name}."
TAKEN_OFF: Final = "{name} takes {points} of the damage that was meant for you."
"""The lines about a ward that redirects; the sources say that there are two, not their words."""
DEEPEST: Final = 4
"""Procs that procs cause."""


class Procs:
    """Calls scripts of spells at events, and lets wards take damage."""

    def __init__(self, core: SpellCore, amounts: Amounts) -> None:
        """Subscribe to what spells act on."""
        world = core.world
        self._chat = core.chat
        self._states = core.states
        self._company = core.company
        self._amounts = amounts
        self._chance_of = core.chance
        self._scripts = core.scripts
        self._running: list[LivingSpell] = []
        """The spells whose procs are being called, each inside of the one before."""
        self.used_up: list[Callable[[LivingSpell], object]] = []
        """Called with each spell whose ward is used up."""
        subscribe = world.events.subscribe
        subscribe(Warded, self._ward, Order.SUBJECTS)
        subscribe(Hurt, self._hurt, Order.RECORDS)
        subscribe(BlowLanded, self._landed, Order.RECORDS)
        subscribe(BlowAvoided, self._avoided, Order.RECORDS)
        subscribe(Died, self._died, Order.OWNER)
        subscribe(Healed, self._healed, Order.RECORDS)
        subscribe(Cast, self._cast, Order.RECORDS)

    # -- procs ------------------------------------------------------------------------------------

    def happen(self, spawn: Spawn, kind: int, other: Spawn | None) -> None:
        """Let the spells on a spawn act on an event; `other` is the other side of it."""
        state = self._states.get(spawn)
        giving = state.giving if state is not None else ()
        if not giving or len(self._running) >= DEEPEST:
            return
        for spell in list(giving):
            gifts = spell.gifts.get(spawn)
            for proc in list(gifts.procs) if gifts is not None else ():
                # What a proc does must not cause the same proc again: it would strike five times.
                if proc.kind != kind or spell.is_over or spell in self._running:
                    continue
                if self._chance_of(spell.zone).randint(0, 9999) >= proc.chance * 100:
                    continue
                self._running.append(spell)
                try:
                    self._scripts().call(spell, "proc", spawn, other, kind, *spell.tier.values)
                finally:
                    self._running.pop()

    def _hurt(self, event: Hurt) -> None:
        victim, foe = event.spawn, event.foe
        is_spell = bool(event.spell_id)
        if foe is not None and foe is not victim:
            self.happen(
                foe, ProcKind.MAGICAL_ATTEMPT if is_spell else ProcKind.PHYSICAL_ATTEMPT, victim
            )
        if not event.damage:
            return
        self.happen(victim, ProcKind.DAMAGED, foe)
        self.happen(
            victim, ProcKind.DAMAGED_BY_SPELL if is_spell else ProcKind.DAMAGED_BY_BLOW, foe
        )
        self.happen(victim, ProcKind.DEFENSIVE, foe)
        self.happen(
            victim, ProcKind.MAGICAL_DEFENSIVE if is_spell else ProcKind.PHYSICAL_DEFENSIVE, foe
        )
        if foe is not None and foe is not victim:
            self.happen(foe, ProcKind.OFFENSIVE, victim)
            self.happen(
                foe, ProcKind.MAGICAL_OFFENSIVE if is_spell else ProcKind.PHYSICAL_OFFENSIVE,
                victim,
            )  # fmt: skip

    def _landed(self, event: BlowLanded) -> None:
        if event.is_ranged and event.foe is not None:
            self.happen(event.spawn, ProcKind.RANGED_OFFENSIVE, event.foe)
            self.happen(event.foe, ProcKind.RANGED_DEFENSIVE, event.spawn)

    def _avoided(self, event: BlowAvoided) -> None:
        kind = _OF_RESULTS.get(event.result)
        if kind is not None:
            self.happen(event.spawn, kind, event.foe)

    def _died(self, event: Died) -> None:
        self.happen(event.victim, ProcKind.DEATH, event.killer)
        if event.killer is not None:
            self.happen(event.killer, ProcKind.KILL, event.victim)

    def _healed(self, event: Healed) -> None:
        if event.foe is not None and not event.is_power:
            self.happen(event.foe, ProcKind.HEALING, event.spawn)

    def _cast(self, event: Cast) -> None:
        if event.has_landed and event.foe is not None:
            self.happen(event.spawn, ProcKind.BENEFICIAL, event.foe)

    def damage(self, zone: Zone, caster: Spawn, target: Spawn, harm: ProcHarm) -> None:
        """Let a proc harm a spawn, under a name of its own, or be resisted as a spell is."""
        if target.hp_percent <= 0 or not target.is_living or target is caster:
            return
        # `remove` gets its reason in front of the values, so that some scripts pass another one.
        harm = harm._replace(kind=harm.kind if 0 <= harm.kind <= LAST_DAMAGE_TYPE else 0)
        outcome = self._amounts.outcome_of_proc(zone, caster, target, harm.kind)
        if outcome is not Result.HIT:
            show_blow(zone, caster, target, Blow(outcome, 0, harm.kind, False, harm.name))
            self._amounts.hate(zone, target, caster, HATE_OF_RESIST)
            return
        low, high = (min(one, LARGEST_DAMAGE) for one in (harm.low, harm.high))
        points = rolled(low, high, self._chance_of(zone))
        points = self._amounts.harm.through(zone, target, caster, points, harm.kind)
        shown = Blow(Result.HIT, min(points, LARGEST_DAMAGE), harm.kind, False, harm.name)
        show_blow(zone, caster, target, shown)
        player = self._company.players.get(caster)
        if player is not None and harm.success:
            self._chat.line(player, filled(harm.success, caster, target), "spell")
        say_effect(self._chat, self._company.players, zone, harm.effect, (caster, target))
        if target.hp_percent > 0:
            self._amounts.harm.take_health(
                zone, target, caster, points, kind=harm.kind, spell_id=harm.spell_id
            )

    def hate(self, zone: Zone, creature: Spawn, foe: Spawn, amount: int, *, name: str) -> None:
        """Let a creature hate somebody by what a proc does, and show it to newer clients."""
        self._amounts.hate(zone, creature, foe, amount)
        show_threat(zone, (foe, creature), name, amount)

    # -- wards ------------------------------------------------------------------------------------

    def _ward(self, event: Warded) -> None:
        state = self._states.get(event.spawn)
        if state is None:
            return
        warded = [one for one in state.effects if one.ward is not None]
        for spell in sorted(warded, key=lambda one: one.ward.base if one.ward is not None else 0):
            if event.left <= 0:
                break
            event.absorbed.append(self._absorb(event, spell, event.left))

    def _absorb(self, event: Warded, spell: LivingSpell, damage: int) -> int:
        """Return how much of a damage the ward of a spell takes."""
        ward = spell.ward
        if ward is None or spell.is_over or not _keeps(ward, event.damage_type):
            return 0
        taken = damage * ward.percent // 100 if ward.percent else damage
        if ward.health and taken >= event.spawn.sheet.health.most * ward.health // 100:
            return 0
        taken = taken if ward.left < 0 else min(taken, ward.left)
        if taken <= 0:
            return 0
        show_heal(event.zone, (spell.caster, event.spawn), spell.kind.name, taken, ABSORBED)
        is_last = ward.hits == 1
        ward.hits = max(0, ward.hits - 1)
        if ward.left >= 0 or is_last:
            # After its last blow it keeps off nothing more, also if it stays.
            ward.left = 0 if is_last else ward.left - taken
            self._states.changed(event.spawn)
        self._redirect(event, spell, taken * ward.redirect // 100)
        if ward.left == 0 and not ward.kept:
            for listener in self.used_up:
                listener(spell)
        return taken

    def _redirect(self, event: Warded, spell: LivingSpell, points: int) -> None:
        """Let the caster of a ward take a share of what it keeps off; both sides read of it."""
        caster, warded = spell.caster, event.spawn
        is_there = caster.hp_percent > 0 and event.zone.spawn(caster.id) is caster
        if points <= 0 or caster is warded or not is_there:
            return
        for reader, other, text in ((caster, warded, TAKEN), (warded, caster, TAKEN_OFF)):
            player = self._company.players.get(reader)
            if player is not None:
                self._chat.line(player, text.format(points=points, name=other.name), "spell")
        self._amounts.harm.take_health(event.zone, caster, None, points, kind=event.damage_type)


def _keeps(ward: Ward, kind: int) -> bool:
    """Return whether a ward keeps off a type of damage."""
    if ward.kind == PHYSICAL:
        return kind in BLOWS
    return kind in MAGIC if ward.kind == MAGICAL else True
