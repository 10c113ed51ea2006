"""Passive spells: hidden ones of a book, which last on their owner wherever it stands.

Recorded: every player of real-fight-546-QueensColony-fighter has those of its race from its entry
on. Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.spells.kinds import SpellBook, SpellKind
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.events import Entered, Revived, SpellLearned
from emu.world.spells.core import SpellCore
from emu.world.spells.living import LivingSpell

CastForFree = Callable[[Player, SpellKind, int, Spawn | None], LivingSpell | None]


class Passives:
    """Lets the passive spells of the players of one world last."""

    def __init__(self, core: SpellCore, cast: CastForFree) -> None:
        """Subscribe to entries and to new spells. `cast` casts without a check or a cost."""
        self._kinds = core.kinds
        self._states = core.states
        self._cast = cast
        for event in (Entered, Revived):
            core.world.events.subscribe(event, lambda one: self._begin_all(one.player))
        core.world.events.subscribe(SpellLearned, self._learned)

    def _begin_all(self, player: Player) -> None:
        """Let all passive spells of a player last who stands in a zone or lives again."""
        known = player.past.spells
        for number, kind in self._kinds.load(known).items():
            self._begin(player, kind, known[number])

    def _learned(self, event: SpellLearned) -> None:
        kind = self._kinds.get(event.spell_id)
        if kind is not None and event.player.state in IN_ZONE:
            self._begin(event.player, kind, event.tier)

    def _begin(self, player: Player, kind: SpellKind, number: int) -> None:
        """Let a hidden spell last on its owner, unless it does already or has an end."""
        tier = kind.tier(number)
        if kind.book is not SpellBook.HIDDEN or tier is None or not kind.is_active:
            return
        if tier.lasts and not kind.lasts_until_cancelled:
            return
        state = self._states.get(player.spawn)
        lasting = state.effects if state is not None else ()
        old = next((one for one in lasting if one.kind.id == kind.id), None)
        if old is None or old.tier.number < tier.number:
            self._cast(player, kind, number, player.spawn)
