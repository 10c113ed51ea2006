"""The port to scripts: a script for each cast, whose functions are called."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from emu.world.actors.player import Player
from emu.world.spells.living import LivingSpell


class SpellAnswer(NamedTuple):
    """How a call of a spell's script ended."""

    is_found: bool
    """Whether the script has the function."""
    values: tuple[Any, ...] = ()
    """Its results."""
    has_failed: bool = False


NOT_FOUND: SpellAnswer = SpellAnswer(is_found=False)


class Raises(Protocol):
    """Lets dead players live again; `emu.world.combat.resurrections.Resurrections` does."""

    def offer(
        self, player: Player, caster: str, spell: str, *, health: float, power: float
    ) -> bool:
        """Ask a dead player; return False if it lives or was asked already."""

    def has_offer(self, player: Player) -> bool:
        """Return whether a player has been asked and has not answered yet."""

    def resurrect(self, player: Player, *, health: float, power: float) -> None:
        """Let a dead player live at once, with percentages of its health and power."""


class SpellScripts(Protocol):
    """Runs the scripts of spells; `emu.world.scripts.spell_calls.SpellCalls` does."""

    def begin(self, spell: LivingSpell) -> bool:
        """Make the globals of a cast; return False if its script cannot run."""

    def call(self, spell: LivingSpell, function: str, *values: Any) -> SpellAnswer:
        """Call a function of a cast's script; spawns among the values become handles."""

    def end(self, spell: LivingSpell) -> None:
        """Let go of the globals of a cast."""


class NoSpellScripts:
    """A world without scripts: spells cost and are shown, and do nothing."""

    def begin(self, _spell: LivingSpell) -> bool:
        """Return that nothing is in the way."""
        return True

    def call(self, _spell: LivingSpell, _function: str, *_values: Any) -> SpellAnswer:
        """Return that there is no such function."""
        return NOT_FOUND

    def end(self, _spell: LivingSpell) -> None:
        """Do nothing."""


NO_SPELL_SCRIPTS: SpellScripts = NoSpellScripts()
