"""Passive spells: hidden ones of a book, which last on their owner wherever it stands.

Recorded: every player of real-fight-546-QueensColony-fighter has those of its race from its entry
on. Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

from emu.spells.kinds import SpellBook, SpellKind
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines
from emu.world.events import Entered, LeftZone, Revived, SpellLearned
from emu.world.spells.core import SpellCore
from emu.world.spells.living import LivingSpell


class CastForFree(Protocol):
    """Casts without a check or a cost; `emu.world.spells.spells.Spells.cast_for_free` does."""

    def __call__(
        self, player: Player, kind: SpellKind, tier: int, target: Spawn | None, *, is_silent: bool
    ) -> LivingSpell | None:
        """Cast; if it `is_silent`, nobody reads of it."""


BEGIN: Final = "begin"


class Passives:
    """Lets the passive spells of the players of one world last.

    Each spell runs its script. So those of a player who enters begin in turns of their own, as
    all work that can wait.
    """

    def __init__(self, core: SpellCore, cast: CastForFree) -> None:
        """Subscribe to entries and to new spells. `cast` casts without a check or a cost."""
        self._kinds = core.kinds
        self._states = core.states
        self._cast = cast
        world = core.world
        self._now = world.clock.now
        self._timetable = world.timetable
        self._deadlines: Deadlines[Player, str] = world.timetable.deadlines(
            "passive spells", self._go_on
        )
        self._waiting: dict[Player, deque[int]] = {}
        """The numbers of spells that begin soon."""
        for event in (Entered, Revived):
            world.events.subscribe(event, lambda one: self._begin_soon(one.player))
        world.events.subscribe(SpellLearned, self._learned)
        world.events.subscribe(LeftZone, lambda event: self._forget(event.player))

    def _begin_soon(self, player: Player) -> None:
        """Let all passive spells of a player last who stands in a zone or lives again."""
        self._waiting[player] = deque(player.past.spells)
        self._deadlines.set(player, BEGIN, self._now())

    def _go_on(self, player: Player, _what: str, now: Monotonic) -> None:
        waiting = self._waiting.get(player, deque())
        kinds = self._kinds.load(waiting)
        while waiting and player.state in IN_ZONE:
            if not self._timetable.may_work(self._now()):
                self._deadlines.set(player, BEGIN, now)
                return
            number = waiting.popleft()
            tier = player.past.spells.get(number)
            if tier is not None and number in kinds:
                self._begin(player, kinds[number], tier, is_silent=True)
        self._waiting.pop(player, None)

    def _forget(self, player: Player) -> None:
        self._waiting.pop(player, None)
        self._deadlines.clear(player, BEGIN)

    def _learned(self, event: SpellLearned) -> None:
        kind = self._kinds.get(event.spell_id)
        if kind is not None and event.player.state in IN_ZONE:
            self._begin(event.player, kind, event.tier)

    def _begin(
        self, player: Player, kind: SpellKind, number: int, *, is_silent: bool = False
    ) -> None:
        """Let a hidden spell last on its owner, unless it does already or has an end.

        Who enters reads nothing of it (recorded in real-entry-*).
        """
        tier = kind.tier(number)
        if kind.book is not SpellBook.HIDDEN or tier is None or not kind.is_active:
            return
        if tier.lasts and not kind.lasts_until_cancelled:
            return
        state = self._states.get(player.spawn)
        lasting = state.effects if state is not None else ()
        old = next((one for one in lasting if one.kind.id == kind.id), None)
        if old is None or old.tier.number < tier.number:
            self._cast(player, kind, number, player.spawn, is_silent=is_silent)
