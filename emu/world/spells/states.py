"""States of spawns with spells, and how they are shown: icons, sheets, controls.

Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from emu.spells.kinds import Detriment
from emu.world.actors.looks import take_shape
from emu.world.actors.player import Player
from emu.world.actors.sheet import NO_MARKS, EffectIcon, ShownEffect, ShownMaintained, SpellMarks
from emu.world.actors.spawn import Spawn
from emu.world.knowledge import class_line
from emu.world.minds.views import INVISIBLE, STEALTH
from emu.world.sheets import CharacterSheets
from emu.world.speech.windows import set_control_flags
from emu.world.spells.bonuses import apply, totals
from emu.world.spells.company import Company
from emu.world.spells.living import NONE, Control, LivingSpell, SpellState

MOST_ICONS: Final = 30
"""Icons of a ghost."""
MILLISECONDS: Final = 1000
_U32: Final = 0xFFFFFFFF
STEALTHED, UNSEEN = 1, 2
"""How spells hide a spawn."""
_HIDDEN: Final = {STEALTH: STEALTHED, INVISIBLE: UNSEEN}
OWN, PET, OTHER = 0, 1, 2
"""Kinds of targets in the list of maintained spells."""
ROOTED, HELD, AFRAID = 8, 16, 4
"""Control flags of a player's client: it cannot move, it does nothing, it runs."""
FIRST_BYTE: Final = 1
_FLAGS: Final = {
    Control.MEZ: (ROOTED, HELD), Control.STUN: (ROOTED, HELD), Control.ROOT: (ROOTED,),
    Control.FEAR: (AFRAID,),
}  # fmt: skip
"""The control flags of each control."""


def milliseconds(now: float) -> int:
    """Return a time as clients know it: the milliseconds of the server's clock."""
    return int(now * MILLISECONDS) & _U32


class SpellStates:
    """The states of all spawns of one world that spells concern."""

    def __init__(
        self,
        company: Company,
        sheets: CharacterSheets,
        races: Callable[[Spawn], tuple[int, ...]],
    ) -> None:
        """`races` returns the numbers of a spawn's race for bonuses of some races alone."""
        self._company = company
        self._sheets = sheets
        self._races = races
        self._states: dict[Spawn, SpellState] = {}
        self.controlled: list[Callable[[Spawn, SpellMarks], object]] = []
        """Called with each creature that spells hold or slow in another way than before."""
        self.held: list[Callable[[Player], object]] = []
        """Called with each player whom spells control in another way than before."""

    def __iter__(self) -> Iterator[tuple[Spawn, SpellState]]:
        return iter(list(self._states.items()))

    def get(self, spawn: Spawn) -> SpellState | None:
        """Return what a spawn has of spells; None if it has nothing."""
        return self._states.get(spawn)

    def of(self, spawn: Spawn) -> SpellState:
        """Return what a spawn has of spells; empty at first."""
        found = self._states.get(spawn)
        if found is None:
            found = self._states[spawn] = SpellState()
        return found

    def tidy(self, spawn: Spawn) -> None:
        """Forget a spawn that has nothing of spells any more."""
        state = self._states.get(spawn)
        if state is not None and state.is_empty:
            del self._states[spawn]
            marks = spawn.sheet.spells
            if marks is not NO_MARKS and not marks.bonuses and marks.pet is None:
                spawn.sheet.spells = NO_MARKS

    def forget(self, spawn: Spawn) -> None:
        """Forget a spawn that is gone."""
        self._states.pop(spawn, None)

    def marks(self, spawn: Spawn) -> SpellMarks:
        """Return what spells have made of a spawn, as an object of its own."""
        if spawn.sheet.spells is NO_MARKS:
            spawn.sheet.spells = SpellMarks()
        return spawn.sheet.spells

    # -- one recount ------------------------------------------------------------------------------

    def recount(self, spawn: Spawn) -> None:
        """Let a spawn have what all its spells add up to, and show it."""
        state = self.of(spawn)
        sheet = spawn.sheet
        marks = self.marks(spawn)
        sums, skills = totals(state.giving, spawn, self._classes(spawn), self._races(spawn))
        for skill, value in (state.skills or {}).items():
            skills[skill] = skills.get(skill, 0.0) + value
        gifts = [one.gifts[spawn] for one in state.giving if spawn in one.gifts]
        before, snared, hidden = marks.controls, marks.snare, marks.stealth
        state.controls = _together(one.controls for one in gifts)
        marks.controls, marks.bonuses, marks.skills = state.controls, sums, skills
        marks.stealth = _together(one.stealth for one in gifts)
        marks.snare = min((one.snare / 100 for one in gifts if one.snare), default=1.0)
        marks.immunities = _together(one.immunities for one in gifts)
        marks.threat = next((one.threat for one in gifts if one.threat is not None), None)
        if marks.stealth != hidden:
            for word, number in _HIDDEN.items():
                spawn.set_word(word, on=number in marks.stealth)
        model = next((one.model for one in reversed(gifts) if one.model), 0)
        if model != marks.model:
            marks.model = model
            take_shape(spawn, model)
        player = self._company.players.get(spawn)
        apply(sheet, sums)
        state.totals = sums
        if player is not None and before != state.controls:
            self._control(player, before, state.controls)
            for held in self.held:
                held(player)
        elif before != state.controls or marks.snare != snared:
            for listener in self.controlled:
                listener(spawn, marks)
        spawn.show_pools()
        self.show(spawn)

    def _classes(self, spawn: Spawn) -> tuple[int, ...]:
        # A bonus for fighters is also one for guardians (EQ2Emulator: the class and its bases).
        return tuple(class_line(int(spawn.appearance.get("class", 0))))

    def _control(self, player: Player, before: AbstractSet[int], now: AbstractSet[int]) -> None:
        old = {flag for one in before for flag in _FLAGS.get(one, ())}
        new = {flag for one in now for flag in _FLAGS.get(one, ())}
        # Death holds a player as well, and lets it go when it lives again.
        kept = () if player.spawn.hp_percent > 0 else (ROOTED, HELD)
        for flag in sorted((old ^ new).difference(kept)):
            set_control_flags(player, FIRST_BYTE, flag, int(flag in new))

    def hold_again(self, player: Player) -> None:
        """Let the client of a player that lives again or is new here know what holds the player."""
        state = self._states.get(player.spawn)
        if state is not None and state.controls:
            self._control(player, NONE, state.controls)
            for held in self.held:
                held(player)

    # -- showing ----------------------------------------------------------------------------------

    def show(self, spawn: Spawn) -> None:
        """Show the spells of a spawn: icons to those who see it, lists to its own client."""
        state = self.of(spawn)
        icons = tuple(
            EffectIcon(one.kind.id, one.kind.icon, one.kind.backdrop, min(one.triggers, 255))
            for one in state.effects[:MOST_ICONS]
            if one.kind.backdrop or one.kind.icon
        )
        if icons != spawn.effect_icons:
            spawn.set_info(effect_icons=icons)
        if spawn in self._company.players:
            # Only players have a client that is shown lists.
            self._list(spawn, state)
        self.changed(spawn)

    def _list(self, spawn: Spawn, state: SpellState) -> None:
        marks = self.marks(spawn)
        marks.effects = tuple(map(_effect, state.effects))
        marks.maintained = tuple(self._maintained(spawn, one) for one in state.maintained)
        marks.concentration = state.concentration
        kinds = [one.kind.detriment for one in state.effects if not one.kind.is_friendly]
        marks.detriments = (
            kinds.count(Detriment.TRAUMA), kinds.count(Detriment.ARCANE),
            kinds.count(Detriment.NOXIOUS), kinds.count(Detriment.ELEMENTAL),
        )  # fmt: skip

    def changed(self, spawn: Spawn) -> None:
        """Send a player its sheet soon; several changes share one."""
        player = self._company.players.get(spawn)
        if player is not None:
            self._sheets.soon(player)

    def _maintained(self, caster: Spawn, spell: LivingSpell) -> ShownMaintained:
        kind = spell.kind
        target = spell.targets[0] if spell.targets else caster
        whose = OWN if target is caster else OTHER
        if self._company.owners.get(target) is caster:
            whose = PET
        return ShownMaintained(
            kind.id, kind.name, target.id, whose, kind.icon, kind.backdrop,
            spell.tier.cost.concentration, spell.tier.duration, _ends_at(spell),
            min(spell.triggers, 255),
        )  # fmt: skip


def _together(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    """Return what is in any of some sets; the same object for nothing, and for one set."""
    found = NONE
    for one in sets:
        if one:
            found = found | one if found else one
    return found


def _ends_at(spell: LivingSpell) -> int:
    return 0 if spell.ends is None else milliseconds(spell.ends)


def _effect(spell: LivingSpell) -> ShownEffect:
    kind = spell.kind
    return ShownEffect(
        kind.id, kind.icon, kind.backdrop, spell.tier.duration, _ends_at(spell),
        kind.is_friendly, is_harmful=not kind.is_friendly,
    )  # fmt: skip
