"""Spells over a change of the zone: those of a player on itself go on, and recasts keep their time.

Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.spells.kinds import SpellKind, SpellTier
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.events import Entered, LeftZone, Order
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import CastPhase, End, LivingSpell, SpellGifts, Ward
from emu.world.spells.pets import Pets

MOST_KEPT: Final = 5000
"""Characters whose spells are kept while they are away; the first ones are forgotten."""


class _Kept(NamedTuple):
    """A spell that goes on after the change."""

    kind: SpellKind
    tier: SpellTier
    level: int
    seconds: float | None
    """What is left of it; None for one that time does not end."""
    gifts: SpellGifts
    ward: Ward | None
    triggers: int
    is_free: bool


@dataclass(slots=True)
class _Luggage:
    spells: list[_Kept]
    ready: dict[int, Monotonic]


class KeptSpells:
    """Lets the spells of the players of one world go on in their next zone."""

    def __init__(self, core: SpellCore, lasting: LastingSpells, pets: Pets) -> None:
        """Subscribe before whoever ends the spells of those that leave."""
        self._states = core.states
        self._scripts = core.scripts
        self._lasting = lasting
        self._pets = pets
        self._now = core.world.clock.now
        self._luggage: dict[int, _Luggage] = {}
        core.world.events.subscribe(LeftZone, self._left, Order.OWNER)
        core.world.events.subscribe(Entered, self._entered, Order.OWNER)

    def _left(self, event: LeftZone) -> None:
        player = event.player
        state = self._states.get(player.spawn)
        if state is None:
            return
        kept = []
        for spell in list(state.effects):
            if self._goes_on(spell, player):
                kept.append(self._packed(spell, player))
                self._lasting.end(spell, End.CANCELED, is_quiet=True)
        now = self._now()
        ready = {number: at for number, at in state.ready.items() if at > now}
        if kept or ready:
            self._luggage[player.id] = _Luggage(kept, ready)
            while len(self._luggage) > MOST_KEPT:
                del self._luggage[next(iter(self._luggage))]

    def _goes_on(self, spell: LivingSpell, player: Player) -> bool:
        spawn = player.spawn
        is_own = spell.caster is spawn and spell.targets == [spawn]
        return (
            is_own and spell.kind.is_friendly and not self._pets.has_of(spell)
            and spawn.hp_percent > 0
        )  # fmt: skip

    def _packed(self, spell: LivingSpell, player: Player) -> _Kept:
        seconds = None if spell.ends is None else max(0.1, spell.ends - self._now())
        # A copy: the script takes its bonuses back at the end.
        gifts = spell.gifts.get(player.spawn, SpellGifts()).copy()
        return _Kept(
            spell.kind, spell.tier, spell.level, seconds, gifts, spell.ward, spell.triggers,
            spell.is_free,
        )  # fmt: skip

    def _entered(self, event: Entered) -> None:
        luggage = self._luggage.pop(event.player.id, None)
        if luggage is None:
            return
        for one in luggage.spells:
            self._begin(event.player, one)
        now = self._now()
        state = self._states.of(event.player.spawn)
        state.ready.update((number, at) for number, at in luggage.ready.items() if at > now)
        self._states.tidy(event.player.spawn)

    def _begin(self, player: Player, kept: _Kept) -> None:
        spawn = player.spawn
        spell = LivingSpell(
            kept.kind, kept.tier, player.zone, spawn, target=spawn, targets=[spawn],
            level=kept.level, phase=CastPhase.ACTING, is_free=kept.is_free, began=self._now(),
            triggers=kept.triggers, gifts={spawn: kept.gifts}, ward=kept.ward,
        )  # fmt: skip
        if self._scripts().begin(spell):
            self._lasting.begin(spell, seconds=kept.seconds)
