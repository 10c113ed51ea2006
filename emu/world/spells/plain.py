"""Spells without Lua: a row names the acts of its spell, and its values are their arguments.

With ``script = "plain:damage+snare"`` the values 3, 8, 12 and 40 harm by 8 to 12 of heat, and leave
40 % of the speed. Acts that repeat act at each tick again. Source: docs/guides/spells.md#plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from emu.rules.levels import primary_attribute
from emu.spells.kinds import PLAIN
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.spells.amounts import Amounts
from emu.world.spells.core import SpellCore
from emu.world.spells.effects import LastingSpells
from emu.world.spells.living import Control, LivingSpell, SpellBonus, Ward
from emu.world.spells.ports import NOT_FOUND, SpellAnswer, SpellScripts

USEFUL_LEVELS: Final = 10
"""Levels above that of its spell at which a caster still gets more out of it."""
OF_ATTRIBUTE: Final = 10
"""Points of the attribute for one point of an amount."""
DONE: Final = SpellAnswer(is_found=True)


class SpellAct(NamedTuple):
    """What a spell does to one target."""

    do: Callable[[PlainSpells, LivingSpell, Spawn, list[float]], object]
    arity: int
    repeats: bool = False


class PlainSpells:
    """Carries out plain spells; all others are those of another port."""

    def __init__(
        self,
        core: SpellCore,
        amounts: Amounts,
        lasting: LastingSpells,
        *,
        others: Callable[[], SpellScripts],
        interrupt: Callable[[Spawn], object],
        raise_dead: Callable[[Player, Spawn, str, float, float], object],
    ) -> None:
        """`others` returns what runs the scripts of all other spells."""
        self._company = core.company
        self.amounts = amounts
        self.lasting = lasting
        self._others = others
        self.interrupt = interrupt
        self._raise_dead = raise_dead

    def begin(self, spell: LivingSpell) -> bool:
        """Return whether a spell can be cast: all its acts are known, with all their values."""
        if not spell.kind.script.startswith(PLAIN):
            return self._others().begin(spell)
        return _plan(spell) is not None

    def call(self, spell: LivingSpell, function: str, *values: Any) -> SpellAnswer:
        """Carry the acts out at the cast, and those that repeat at each tick."""
        if not spell.kind.script.startswith(PLAIN):
            return self._others().call(spell, function, *values)
        if function not in ("cast", "tick"):
            return NOT_FOUND
        for act, arguments in _plan(spell) or ():
            if function == "tick" and not act.repeats:
                continue
            for target in list(spell.targets):
                if not spell.is_resisted:
                    act.do(self, spell, target, arguments)
        return DONE

    def end(self, spell: LivingSpell) -> None:
        """Let go of a cast."""
        if not spell.kind.script.startswith(PLAIN):
            self._others().end(spell)
        else:
            spell.handle.end()

    def raise_dead(self, spell: LivingSpell, target: Spawn, health: float, power: float) -> None:
        """Ask a dead player whether it wants to live again."""
        player = self._company.players.get(target)
        if player is not None:
            self._raise_dead(player, spell.caster, spell.kind.name, health, power)


def _plan(spell: LivingSpell) -> list[tuple[SpellAct, list[float]]] | None:
    """Return the acts of a spell with their arguments; None if its row is not usable."""
    plan, values = [], iter(spell.tier.values)
    for name in spell.kind.script.removeprefix(PLAIN).split("+"):
        act = ACTS.get(name)
        arguments = _next(values, act.arity) if act is not None else None
        if act is None or arguments is None:
            return None
        plan.append((act, arguments))
    return plan


def _next(values: Iterator[Any], count: int) -> list[float] | None:
    found = [one for _, one in zip(range(count), values, strict=False)]
    if len(found) < count or not all(isinstance(one, int | float) for one in found):
        return None
    return [float(one) for one in found]


def more(spell: LivingSpell) -> int:
    """Return what level and attribute of its caster add to an amount of a spell.

    It is the typical formula of the community's scripts (eq2-spells.md 1).
    """
    caster = spell.caster
    levels = [one.level_needed(is_classic=True) for one in spell.kind.classes]
    own = int(min(levels, default=spell.level))
    attribute = caster.sheet.attribute(primary_attribute(int(caster.appearance.get("class", 0))))
    useful = min(spell.level, own + USEFUL_LEVELS) - own
    return max(0, useful) + attribute // OF_ATTRIBUTE


def _damage(plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    kind, low, high = map(int, values)
    added = more(spell)
    plain.amounts.damage(spell, target, kind, (low + added, high + added))


def _heal(plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    low, high = map(int, values)
    added = more(spell)
    plain.amounts.heal(spell, target, low + added, high + added)


def _power(plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    low, high = map(int, values)
    plain.amounts.heal(spell, target, low, high, is_power=True)


def _bonus(_plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    kind, value = values
    spell.gifts_of(target).bonuses[int(kind)] = SpellBonus(value)


def _control(_plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    control = int(values[0])
    if control not in target.sheet.spells.immunities:
        spell.gifts_of(target).put("controls", control)


def _snare(_plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    gifts = spell.gifts_of(target)
    gifts.snare = max(0.0, min(values[0], 100.0))
    gifts.put("controls", Control.SNARE)


def _stealth(_plain: PlainSpells, spell: LivingSpell, target: Spawn, _values: list[float]) -> None:
    spell.gifts_of(target).put("stealth", 1)


def _taunt(plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    plain.amounts.hate(spell.zone, target, spell.caster, int(values[0]))


def _interrupt(plain: PlainSpells, _spell: LivingSpell, target: Spawn, _: list[float]) -> None:
    plain.interrupt(target)


def _cure(plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    number = int(values[0])
    plain.lasting.cure(
        target, number, lambda _one: True, 0, caster=spell.caster, name=spell.kind.name
    )


def _ward(_plain: PlainSpells, spell: LivingSpell, _target: Spawn, values: list[float]) -> None:
    spell.ward = Ward(int(values[0]) + more(spell), kept=False)


def _raise(plain: PlainSpells, spell: LivingSpell, target: Spawn, values: list[float]) -> None:
    plain.raise_dead(spell, target, values[0], values[1])


ACTS: Final[Mapping[str, SpellAct]] = {
    "damage": SpellAct(_damage, 3, repeats=True),
    "heal": SpellAct(_heal, 2, repeats=True),
    "power": SpellAct(_power, 2, repeats=True),
    "bonus": SpellAct(_bonus, 2),
    "control": SpellAct(_control, 1),
    "snare": SpellAct(_snare, 1),
    "stealth": SpellAct(_stealth, 0),
    "taunt": SpellAct(_taunt, 1),
    "interrupt": SpellAct(_interrupt, 0),
    "cure": SpellAct(_cure, 1),
    "ward": SpellAct(_ward, 1),
    "raise": SpellAct(_raise, 2),
}
"""The acts by name; the number is that of their values."""
