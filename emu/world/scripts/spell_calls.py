"""Scripts of spells: each cast has globals of its own, which live as long as the cast.

Source: docs/guides/spells.md#casts.
"""

from __future__ import annotations

from typing import Any, Final

from emu.scripts.signatures import single
from emu.world.actors.spawn import Spawn
from emu.world.scripts.bodies import Body, Homes
from emu.world.scripts.calls import Calls
from emu.world.spells.living import LivingSpell
from emu.world.spells.ports import NOT_FOUND, SpellAnswer

BLANK: Final = "Spells/blank.lua"
"""What many rows name instead of no script."""


class SpellCalls:
    """Runs the scripts of spells; it is what `emu.world.spells.ports.SpellScripts` asks for."""

    def __init__(self, calls: Calls, homes: Homes) -> None:
        self._calls = calls
        self._homes = homes

    def begin(self, spell: LivingSpell) -> bool:
        """Make the globals of a cast; return False if its script cannot run."""
        script = spell.kind.script
        if not script or script == BLANK:
            return True
        spell.environment = self._calls.begin_apart(script)
        return spell.environment is not None

    def call(self, spell: LivingSpell, function: str, *values: Any) -> SpellAnswer:
        """Call a function of a cast's script; spawns among the values become handles."""
        environment = spell.environment
        if environment is None:
            return NOT_FOUND
        given = [self._given(spell, value) for value in values]
        before = self._calls.is_silent
        self._calls.is_silent = before or spell.is_silent
        try:
            answer = self._calls.run_apart(spell.kind.script, environment, spell, function, *given)
        finally:
            self._calls.is_silent = before
        return SpellAnswer(answer.is_found, answer.values, answer.has_failed)

    def end(self, spell: LivingSpell) -> None:
        """Let go of the globals of a cast."""
        environment, spell.environment = spell.environment, None
        spell.handle.end()
        if environment is not None:
            self._calls.end_apart(spell.kind.script, environment)

    def _given(self, spell: LivingSpell, value: Any) -> Any:
        if isinstance(value, Spawn):
            return self.body(spell, value)
        return single(value) if isinstance(value, float) else value

    def body(self, spell: LivingSpell, spawn: Spawn) -> Body | None:
        """Return a spawn as scripts have it; None if they do not know it."""
        return self._homes.known(spawn, spell.zone)
