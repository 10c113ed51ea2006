"""The sheet of an actor: health, power, attributes, and further numbers that are known by name.

Content sets these for creatures; players have them as well. Fights and spells read them. A field
has a kind, and a value that does not fit is cut to the nearest that does.
Source: docs/guides/lua.md#sheet.
"""

from __future__ import annotations

import enum
import math
import tomllib
from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from sys import intern
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from emu.files import data_file
from emu.rules.levels import STAMINA, player_pools, primary_attribute

LARGEST_POOL: Final = 2**31 - 1
"""The most health or power of an actor."""
LONGEST_TEXT: Final = 256
"""Characters of a field that is a text."""
LARGEST_FRACTION: Final = 1e9
USUAL_ATTRIBUTE: Final = 20.0
ATTRIBUTES: Final = ("str", "sta", "agi", "wis", "intel")
"""The fields of the attributes; each has another one with ``_base`` behind its name."""
_FULL: Final = 100


class FieldKind(enum.Enum):
    """What the values of a field are."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"
    FRACTION = "fraction"
    TEXT = "text"


class SheetField(NamedTuple):
    """A field of sheets: its kind, and its bits if it is a whole number."""

    kind: FieldKind
    bits: int = 0


Value = int | float | str


@cache
def known_fields() -> Mapping[str, SheetField]:
    """Return all fields of sheets by name."""
    table = tomllib.loads(data_file("world", "sheet.toml").read_text(encoding="utf-8"))
    fields = {}
    for title, names in table.items():
        kind = FieldKind(title.rstrip("0123456789"))
        found = SheetField(kind, int(title.removeprefix(kind.value) or 0))
        fields.update(dict.fromkeys(names, found))
    return fields


@dataclass(slots=True)
class Pool:
    """Health or power: what is there now, and the most."""

    current: int
    most: int
    base: int = 0
    """The most without what spells and equipment add; 0 for `most`."""
    added: int = 0
    """What `Sheet.recount` has added to the most."""
    usual: int = 0
    """What the formula of players gave last; another most is a script's, and stays."""
    hidden: int = 0
    """What is lost besides what lacks now: a lower most hides it, for instance after taking a thing
    off. Below 0 it is what a higher most has added and not filled."""

    @property
    def percent(self) -> int:
        """How much of it is there: 1 to 100, and 0 only if nothing is left."""
        if self.current <= 0:
            return 0
        return max(1, min(_FULL, _FULL * self.current // max(1, self.most)))

    def set_current(self, value: int) -> None:
        """Set what is there; never below nothing and not above the most."""
        self.current = max(0, min(value, self.most))

    def set_most(self, value: int) -> None:
        """Set the most, at least 1; what is there is cut to it."""
        self.most = max(1, min(value, LARGEST_POOL))
        self.current = min(self.current, self.most)

    def fill(self, most: int) -> None:
        """Set the most, and make it full."""
        self.set_most(most)
        self.restore()

    def restore(self, percent: float = 100.0) -> None:
        """Have so many percent of the most, whatever was lost before."""
        self.hidden = 0
        self.set_current(int(self.most * percent / _FULL))

    def recount(self, usual: int | None, added: int, base: int, percent: float = 0.0) -> None:
        """Set the most to the formula's, or its own without one, and what is added to it.

        What is full stays full, unless something is lost that a lower most hides: who takes things
        off and puts them on again must not be healed. `base` is the most without what spells and
        things add, and `percent` is of the most without what they add as points.
        """
        own, lost = self.most - self.added, self.most - self.current + self.hidden
        is_full = self.current >= self.most and self.hidden <= 0
        if usual is not None:
            # A most that a script has set is no longer the formula's, and stays.
            own = usual if own == self.usual or not self.usual else own
            self.usual = usual
        added += round(own * percent / _FULL)
        self.set_most(own + added)
        self.added = self.most - own
        self.base = base if usual is not None else (own if added else 0)
        if is_full:
            self.restore()
        else:
            self.hidden = lost - (self.most - self.current)


POOLS: Final = ("health", "power", "health_percent", "power_percent")
"""Names of bonuses that are no fields."""


class EffectIcon(NamedTuple):
    """The icon of a spell that lasts on a spawn."""

    spell_id: int
    icon: int
    backdrop: int
    triggers: int = 0
    """How often it still acts; 0 shows no number."""


class ShownEffect(NamedTuple):
    """A spell that lasts on a player, as its own client shows it."""

    spell_id: int
    icon: int
    backdrop: int
    total: float
    """Seconds that it lasts in all."""
    ends_at: int
    """The server's millisecond at which it ends; 0 for one that time does not end."""
    can_be_cancelled: bool
    is_harmful: bool = False


class ShownMaintained(NamedTuple):
    """A spell of a player's own that lasts on somebody, as its own client shows it."""

    spell_id: int
    name: str
    target_id: int
    """The number of its target's spawn."""
    target_kind: int
    """0 the player itself, 1 its pet, 2 somebody else."""
    icon: int
    backdrop: int
    concentration: int
    total: float
    ends_at: int
    triggers: int = 0


class ShownPet(NamedTuple):
    """A pet that fights for a player, as the window of pets shows it."""

    spawn_id: int
    stays: bool
    guards: int = 3
    """Whom it guards: 1 its master, 2 itself, 3 both."""


_NO_NUMBERS: Final[AbstractSet[int]] = frozenset()
_NO_SUMS: Final[Mapping[int, float]] = MappingProxyType({})


class SpellMarks:
    """What spells have made of an actor: sums of bonuses, controls, and what its client shows."""

    __slots__ = ("bonuses", "concentration", "controls", "detriments", "effects", "immunities",
                 "maintained", "model", "pet", "skills", "snare", "stealth", "threat")  # fmt: skip

    def __init__(self) -> None:
        self.bonuses: Mapping[int, float] = _NO_SUMS
        """Sums by the type of the bonus (docs/guides/spells.md#bonuses)."""
        self.skills: Mapping[int, float] = _NO_SUMS
        """Sums by the number of the skill."""
        self.controls: AbstractSet[int] = _NO_NUMBERS
        """How it is controlled: `emu.world.spells.living.Control`."""
        self.immunities: AbstractSet[int] = _NO_NUMBERS
        self.stealth: AbstractSet[int] = _NO_NUMBERS
        """How it is hidden: 1 stealth, 2 invisible."""
        self.snare = 1.0
        """The share of its speed that snares leave."""
        self.model = 0
        """The model as which it looks; 0 for its own."""
        self.threat: tuple[Any, float] | None = None
        """The spawn that gets so many percent of the hate that it makes."""
        self.effects: tuple[ShownEffect, ...] = ()
        self.maintained: tuple[ShownMaintained, ...] = ()
        self.concentration = 0
        """Slots that its own spells use."""
        self.detriments: tuple[int, int, int, int] = (0, 0, 0, 0)
        """How many traumas, arcane, noxious and elemental effects it has."""
        self.pet: ShownPet | None = None


NO_MARKS: Final = SpellMarks()


class Sheet:
    """The numbers of one actor besides those that its ghost has.

    Things and effects add to them under a name of their own (`put_bonuses`). What they add together
    is counted anew once after changes, when the sheet is needed next (`Spawn.sheet`).
    """

    __slots__ = (
        "_bonuses", "_totals", "_values", "health", "is_invulnerable", "is_marked", "power",
        "sees_hidden", "sees_invisible", "spells", "worn", "worn_skills",
    )  # fmt: skip

    def __init__(self, health: int, power: int) -> None:
        """Begin with full health and power."""
        self.health = Pool(health, health)
        self.power = Pool(power, power)
        self.is_invulnerable = False
        self.sees_hidden = False
        self.sees_invisible = False
        self.spells: SpellMarks = NO_MARKS
        """Replaced by one of its own when a spell first lasts on the actor."""
        self.worn: Mapping[int, float] = _NO_SUMS
        """What worn things add, by the type of the bonus."""
        self.worn_skills: Mapping[int, float] = _NO_SUMS
        """What worn things add to skills, by the number of the skill."""
        self._values: dict[str, Value] = {}
        self._bonuses: dict[Hashable, Mapping[str, float]] | None = None
        self._totals: Mapping[str, float] = _NOTHING
        """What bonuses have added to the fields, by name."""
        self.is_marked = False
        """Whether it has to be counted anew before it is read."""

    def put_bonuses(self, source: Hashable, values: Mapping[str, float]) -> None:
        """Let a source add to numeric fields, and to the most `health` and `power`.

        They replace what the source has added before; without any it adds nothing.
        """
        bonuses = self._bonuses if self._bonuses is not None else {}
        if values != bonuses.get(source, _NOTHING):
            if values:
                bonuses[source] = dict(values)
            else:
                bonuses.pop(source, None)
            self._bonuses = bonuses or None
            self.is_marked = True

    def added(self, name: str) -> float:
        """Return what all sources add to a field, or to `health` or `power`."""
        return self._totals.get(name, 0.0)

    def count_bonuses(self) -> None:
        """Count anew what bonuses add to the fields; `Spawn.sheet` counts the pools after it."""
        totals: dict[str, float] = {}
        for values in (self._bonuses or _NO_SOURCE).values():
            for name, value in values.items():
                totals[name] = totals.get(name, 0.0) + value
        before, self._totals = self._totals, totals
        for name in {**before, **totals}:
            field = known_fields().get(name)
            if field is None or field.kind is FieldKind.TEXT or name in POOLS:
                continue
            change = totals.get(name, 0.0) - before.get(name, 0.0)
            if change:
                # Kept uncut: a bonus below zero must give back what it took.
                own = float(self._values.get(name, _BEGINNINGS.get(name, 0))) + change
                own = round(own, _PLACES)
                self._values[intern(name)] = own if name in totals else _fitting(own, field)
        self.is_marked = False

    def count_pools(self, level: int, class_: int, *, is_player: bool) -> None:
        """Set the most health and power: the formula of players, and what bonuses add."""
        health, power = int(self.added("health")), int(self.added("power"))
        more_health, more_power = self.added("health_percent"), self.added("power_percent")
        if not is_player:
            self.health.recount(None, health, 0, more_health)
            self.power.recount(None, power, 0, more_power)
            return
        primary = primary_attribute(class_)
        now = (self.attribute(STAMINA), self.attribute(primary))
        bare = (now[0] - self.added(STAMINA), now[1] - self.added(primary))
        most, base = player_pools(level, *now), player_pools(level, *bare)
        self.health.recount(most.health, health, base.health, more_health)
        self.power.recount(most.power, power, base.power, more_power)

    def get(self, name: str, kind: FieldKind) -> Value | None:
        """Return the value of a field; None if there is no such field of this kind."""
        field = known_fields().get(name)
        if field is None or field.kind is not kind:
            return None
        empty: Value = "" if kind is FieldKind.TEXT else 0
        value = self._values.get(name, _BEGINNINGS.get(name, empty))
        return _fitting(value, field) if name in self._totals else value

    def set(self, name: str, kind: FieldKind, value: Value) -> bool:
        """Set a field; return False if there is no such field of this kind."""
        field = known_fields().get(name)
        if field is None or field.kind is not kind:
            return False
        # Each text of a script is an object of its own, and thousands of sheets have this field.
        self._values[intern(name)] = _fitting(value, field)
        return True

    def bonus(self, kind: int) -> float:
        """Return what all spells on the actor and worn things add to a type of bonus."""
        return self.spells.bonuses.get(kind, 0.0) + self.worn.get(kind, 0.0)

    def skill_bonus(self, skill: int) -> int:
        """Return what all spells on the actor and worn things add to a skill, by its number."""
        return int(self.spells.skills.get(skill, 0.0) + self.worn_skills.get(skill, 0.0))

    def attribute(self, name: str) -> int:
        """Return one of `ATTRIBUTES` as a whole number."""
        return int(self.get(name, FieldKind.FRACTION) or 0)


_PLACES: Final = 6
"""Digits behind the point: what bonuses add and give back in parts leaves nothing."""
_NOTHING: Final[Mapping[str, float]] = MappingProxyType({})
_NO_SOURCE: Final[Mapping[Hashable, Mapping[str, float]]] = MappingProxyType({})
_BEGINNINGS: Final[Mapping[str, Value]] = {
    **dict.fromkeys(ATTRIBUTES, USUAL_ATTRIBUTE),
    **dict.fromkeys((f"{name}_base" for name in ATTRIBUTES), USUAL_ATTRIBUTE),
}
"""Fields whose first value is neither 0 nor empty."""


def _fitting(value: Value, field: SheetField) -> Value:
    if field.kind is FieldKind.TEXT:
        return str(value)[:LONGEST_TEXT]
    number = float(value)
    if field.kind is FieldKind.FRACTION:
        if not math.isfinite(number):
            return 0.0
        return max(-LARGEST_FRACTION, min(LARGEST_FRACTION, number))
    half = 1 << (field.bits - 1)
    low, high = (-half, half - 1) if field.kind is FieldKind.SIGNED else (0, 2 * half - 1)
    return max(low, min(high, int(value)))
