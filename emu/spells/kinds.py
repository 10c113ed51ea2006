"""Kinds of spells: what the content file says about a spell and its tiers, and never changes.

Times are seconds, distances world units. Source: docs/guides/spells.md#tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

ANY_CLASS: Final = 255
PLAIN: Final = "plain:"
"""How the scripts of spells begin that need no Lua."""
TOGGLE: Final = 1
"""The kind of cast that a second use ends."""
FOR_EVER: Final = 9_999_999.0
"""Seconds of a duration that never ends."""
LONGEST_PET_NAME: Final = 31
"""Letters of a name in the window of a pet."""


class SpellTarget(IntEnum):
    """Whom a spell is for, in the numbers of the tables."""

    SELF = 0
    ONE = 1
    GROUP = 2
    OWN_PET = 3
    FOES_PET = 4
    CORPSE = 5
    GROUP_CORPSE = 6
    NONE = 7
    RAID = 8
    OTHER_GROUP = 9


class SpellBook(IntEnum):
    """The part of the knowledge window in which a spell stands, as clients number it."""

    SPELLS = 0
    ARTS = 1
    ABILITIES = 2
    TRADESKILL = 3
    HIDDEN = 4
    """In no book."""


class Detriment(IntEnum):
    """What kind of harm an effect is; cures name it."""

    NONE = 0
    TRAUMA = 1
    ARCANE = 2
    NOXIOUS = 3
    ELEMENTAL = 4
    CURSE = 5


class CastingFlag:
    """Bits of `SpellKind.casting_flags`: states in which a spell can be cast nevertheless."""

    MEZZED: Final = 1
    STIFLED: Final = 2
    STUNNED: Final = 4
    FEARED: Final = 8


class SpellCost(NamedTuple):
    """What a cast takes, in points and in percent of the most."""

    health: int = 0
    health_percent: int = 0
    power: float = 0.0
    power_percent: int = 0
    savagery: int = 0
    dissonance: int = 0
    concentration: int = 0
    """Taken while the spell lasts."""


NO_COST: Final = SpellCost()


class SpellLine(NamedTuple):
    """A line of a spell's description."""

    text: str
    percentage: int = 100
    bullet: int = 0


class ClassLevel(NamedTuple):
    """A class that learns a spell, and from which level on."""

    class_: int
    """255 for none."""
    tradeskill_class: int
    level: int
    classic_level: float = 0.0
    """May have a fraction: 4.6 is reached at 60 percent of level 4. 0 for none."""

    def level_needed(self, *, is_classic: bool) -> float:
        """Return the level from which the class has the spell."""
        return self.classic_level if is_classic and self.classic_level > 0 else float(self.level)


@dataclass(frozen=True, slots=True)
class SpellTier:
    """One tier of a spell: costs, times and distances, and the values that its script gets."""

    number: int = 1
    cost: SpellCost = NO_COST
    cast_time: float = 0.0
    recovery: float = 0.0
    """During which its caster casts nothing else."""
    recast: float = 0.0
    """Until its caster can cast it again."""
    duration: float = 0.0
    """0: the spell is over with its cast."""
    longest: float = 0.0
    """The other end of the duration; it only says whether there is one."""
    period: float = 0.0
    """Between two ticks; 0 without ticks."""
    range: float = 0.0
    min_range: float = 0.0
    radius: float = 0.0
    most_targets: int = 0
    """Above 0: the spell is for those around the caster."""
    resistibility: float = 0.0
    hit_bonus: float = 0.0
    given_by: str = ""
    """What teaches the tier: ``class``, ``spellscroll`` ..."""
    values: tuple[int | float | str, ...] = ()
    """The arguments of the script's functions, behind caster and target."""
    lines: tuple[SpellLine, ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether it has a duration."""
        return self.duration > 0 or self.longest > 0


@dataclass(frozen=True, slots=True)
class SpellKind:
    """A spell with its tiers and the classes that learn it."""

    id: int
    name: str
    description: str = ""
    icon: int = 0
    heroic_icon: int = 0
    backdrop: int = 0
    crc: int = 0
    class_skill: int = 0
    mastery_skill: int = 0
    min_class_skill: int = 0
    """Of two spells of one linked timer, the one with the higher number is stronger."""
    target: SpellTarget = SpellTarget.SELF
    effect: str = ""
    """What it does, in a word of the tables: ``dd``, ``dot``, ``buff`` ..."""
    cast_kind: int = 0
    visual: int = 0
    success_message: str = ""
    fade_message: str = ""
    fade_message_others: str = ""
    effect_message: str = ""
    script: str = ""
    book: SpellBook = SpellBook.SPELLS
    is_friendly: bool = False
    is_group: bool = False
    only_group: bool = False
    affects_raid: bool = False
    shows_tier: bool = False
    is_interruptable: bool = False
    casts_while_moving: bool = False
    can_fizzle: bool = False
    casting_flags: int = 0
    detriment: Detriment = Detriment.NONE
    control: int = 0
    is_incurable: bool = False
    linked_timer: int = 0
    group: int = 0
    """Further spells that it does not stack with; 0 for none."""
    is_not_maintained: bool = False
    lasts_until_cancelled: bool = False
    lasts_through_death: bool = False
    is_active: bool = True
    tiers: Mapping[int, SpellTier] = field(default_factory=dict)
    classes: tuple[ClassLevel, ...] = ()

    @property
    def is_toggle(self) -> bool:
        """Whether a second cast ends it."""
        return self.cast_kind == TOGGLE

    @property
    def is_for_group(self) -> bool:
        """Whether it helps only those of its caster's group or raid."""
        is_on_group = self.target in (SpellTarget.GROUP, SpellTarget.RAID)
        return self.is_friendly and (self.is_group or self.only_group or is_on_group)

    @property
    def is_art(self) -> bool:
        """Whether it hits as blows do."""
        return self.book is SpellBook.ARTS

    def tier(self, number: int) -> SpellTier | None:
        """Return a tier, else the highest below it, else the lowest; None without any."""
        found = self.tiers.get(number)
        if found is not None:
            return found
        below = [one for one in self.tiers if one <= number]
        chosen = max(below) if below else min(self.tiers, default=None)
        return None if chosen is None else self.tiers[chosen]

    def lasts(self, tier: SpellTier) -> bool:
        """Return whether a cast leaves something behind that ends later."""
        return tier.lasts or self.lasts_until_cancelled or self.book is SpellBook.HIDDEN

    def level_for(self, classes: tuple[int, ...], *, is_classic: bool) -> float | None:
        """Return the lowest level from which one of some classes has it; None if none has."""
        return min(
            (
                one.level_needed(is_classic=is_classic) for one in self.classes
                if one.class_ != ANY_CLASS and one.class_ in classes
            ),
            default=None,
        )  # fmt: skip
