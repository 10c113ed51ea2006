"""`ItemKind`: what all things of one number share. Kinds never change, and all zones share them.

Source: docs/protocol/world/items.md#kinds.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple


class Sort(enum.IntEnum):
    """The sorts of kinds, as windows number them."""

    NORMAL = 0
    WEAPON = 1
    RANGED = 2
    ARMOR = 3
    SHIELD = 4
    BAG = 5
    SCROLL = 6
    RECIPE_BOOK = 7
    FOOD = 8
    BAUBLE = 9
    FURNITURE = 10
    THROWN = 11
    CONTAINER = 12
    """A container for a home."""
    ADORNMENT = 13
    CRATE = 18
    BOOK = 19


WORN_SORTS: Final = frozenset(
    (
        Sort.WEAPON, Sort.RANGED, Sort.ARMOR, Sort.SHIELD, Sort.FOOD, Sort.BAUBLE, Sort.THROWN,
    )
)  # fmt: skip
"""The sorts that can be worn."""


class Flag(enum.IntFlag):
    """The first word of flags."""

    ATTUNED = 1
    """Of one thing, never of a kind."""
    ATTUNEABLE = 2
    ARTIFACT = 4
    LORE = 8
    TEMPORARY = 16
    NO_TRADE = 32
    NO_VALUE = 64
    NO_ZONE = 128
    NO_DESTROY = 256
    CRAFTED = 512
    GOOD_ONLY = 1024
    EVIL_ONLY = 2048
    STACK_LORE = 4096
    LORE_EQUIP = 8192
    NO_TRANSMUTE = 16384
    CURSED = 32768


class MoreFlag(enum.IntFlag):
    """The second word of flags."""

    ORNATE = 1
    HEIRLOOM = 2
    APPEARANCE_ONLY = 4
    UNLOCKED = 8
    REFORGED = 16
    NO_REPAIR = 32
    ETHERAL = 64
    REFINED = 128
    NO_SALVAGE = 256
    INDESTRUCTABLE = 512
    NO_EXPERIMENT = 1024
    HOME_LORE = 2048
    BUILDING_BLOCK = 8192
    FREE_REFORGE = 16384


class Slot(enum.IntEnum):
    """Places where something is worn. A kind has a bit ``1 << number`` for each of its slots."""

    PRIMARY = 0
    SECONDARY = 1
    HEAD = 2
    CHEST = 3
    SHOULDERS = 4
    FOREARMS = 5
    HANDS = 6
    LEGS = 7
    FEET = 8
    LEFT_RING = 9
    RIGHT_RING = 10
    EARS = 11
    SECOND_EARS = 12
    NECK = 13
    LEFT_WRIST = 14
    RIGHT_WRIST = 15
    RANGE = 16
    AMMO = 17
    WAIST = 18
    CLOAK = 19
    LEFT_CHARM = 20
    RIGHT_CHARM = 21
    FOOD = 22
    DRINK = 23
    TEXTURES = 24


PAIRS: Final[Mapping[Slot, Slot]] = {
    Slot.LEFT_RING: Slot.RIGHT_RING,
    Slot.LEFT_WRIST: Slot.RIGHT_WRIST,
    Slot.LEFT_CHARM: Slot.RIGHT_CHARM,
    Slot.EARS: Slot.SECOND_EARS,
}
"""Slots whose things go to another slot if they are taken."""


CURES: Final = {1: "trauma", 2: "arcane", 3: "noxious", 4: "elemental", 5: "curse", 6: "magic"}
"""Hostile effects that things cure, by the numbers of scripts."""
CURES_ALL: Final = 7


class Wield(enum.IntEnum):
    """How a weapon is held."""

    DUAL = 1
    SINGLE = 2
    TWO_HANDED = 4


class StatSort(enum.IntEnum):
    """What a statistic of a kind adds to."""

    ATTRIBUTE = 0
    """0 strength, 1 stamina, 2 agility, 3 wisdom, 4 intelligence."""
    SKILL = 1
    RESIST = 2
    DAMAGE = 3
    DEFLECTION = 4
    POOL = 5
    """0 health, 1 power, 2 concentration, 3 savagery."""
    OTHER = 6
    """The only ones with fractions."""


class Stat(NamedTuple):
    """One statistic: what it adds to, and how much."""

    sort: int
    subsort: int
    value: float
    text: str = ""
    level: int = 0


class Effect(NamedTuple):
    """A line of the description of what a thing does."""

    text: str
    percentage: int
    bullet: int


class ItemLook(NamedTuple):
    """What others see of a worn thing."""

    model: int
    color: tuple[int, int, int]
    highlight: tuple[int, int, int]


class Range(NamedTuple):
    """A least and a greatest number."""

    low: int
    high: int


class Weapon(NamedTuple):
    """The part of weapons; delays are tenths of a second."""

    wield: int
    damage_type: int
    damage: Range
    mastery: Range
    base: Range
    delay: int
    rating: float
    score: int = 0


class Ranged(NamedTuple):
    """The part of ranged weapons."""

    damage_type: int
    damage: Range
    mastery: Range
    base: Range
    delay: int
    rating: float
    reach: Range
    score: int = 0


class Thrown(NamedTuple):
    """The part of ammunition."""

    range_bonus: int
    damage_bonus: int
    hit_bonus: float
    damage_type: int


class Armor(NamedTuple):
    """The part of armor and shields."""

    mitigation: Range
    absorb: int = 0
    score: int = 0


class Bag(NamedTuple):
    """The part of bags."""

    places: int
    weight_reduction: int


class Food(NamedTuple):
    """The part of food and drink; `duration` is seconds."""

    is_food: bool
    level: int
    duration: float
    satiation: int


class Bauble(NamedTuple):
    """The part of baubles."""

    cast: int
    recovery: int
    duration: int
    recast: float
    shows_slot: bool
    shows_cast: bool
    shows_kind: bool
    radius: float
    most_targets: int
    until_cancelled: bool
    score: int = 0


class Scroll(NamedTuple):
    """The part of spell scrolls."""

    spell_id: int
    tier: int


class BookRecipe(NamedTuple):
    """A recipe that a book teaches: its number, and the checksum that names it."""

    id: int
    crc: int
    name: str
    icon: int


class RecipeBook(NamedTuple):
    """The part of recipe books."""

    recipe_id: int
    most_uses: int
    recipes: tuple[BookRecipe, ...]


class Page(NamedTuple):
    """A page of a book."""

    text: str
    vertical: int
    horizontal: int


class Book(NamedTuple):
    """The part of books that can be read."""

    language: int
    author: str
    title: str
    pages: tuple[Page, ...]


class Furniture(NamedTuple):
    """The part of furniture."""

    rent_reduction: int
    status_reduction: int
    coin_reduction: float
    only_at_home: bool
    where: int


class Container(NamedTuple):
    """The part of containers for homes."""

    places: int
    allowed: int
    broker_commission: int
    fence_commission: int


class Adornment(NamedTuple):
    """The part of adornments."""

    duration: float
    items: int
    slot: int
    description: str
    second_description: str


class Packed(NamedTuple):
    """One thing in a crate."""

    item_id: int
    crc: int
    icon: int
    number: int
    """How many of it."""
    name: str
    color: int


class Crate(NamedTuple):
    """The part of crates."""

    contents: tuple[Packed, ...]


Part = (
    Weapon | Ranged | Thrown | Armor | Bag | Food | Bauble | Scroll | RecipeBook | Book | Furniture
    | Container | Adornment | Crate
)  # fmt: skip


NO_FLAGS: Final = Flag(0)
NO_MORE_FLAGS: Final = MoreFlag(0)


@dataclass(frozen=True)
class ItemKind:
    """What all things of one number share."""

    id: int
    name: str
    sort: Sort = Sort.NORMAL
    part: Part | None = None
    """What only its sort has; None for normal things."""
    crc: int = 0
    icon: int = 0
    tier: int = 1
    weight: int = 0
    """In tenths."""
    description: str = ""
    flags: Flag = NO_FLAGS
    more_flags: MoreFlag = NO_MORE_FLAGS
    slot_bits: int = 0
    price: int = 0
    """What it is worth in copper."""
    status_price: int = 0
    stack: int = 1
    """How many lie in one place."""
    most_charges: int = 0
    shows_charges: bool = False
    is_usable: bool = False
    recommended_level: int = 0
    level: int = 0
    tradeskill_level: int = 0
    classes: int = 0
    """A bit for each class that may wear it; 0: all."""
    tradeskill_classes: int = 0
    class_levels: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """The level that a class needs instead, by adventure and tradeskill class; 255 for any."""
    skills: tuple[int, int] = (0, 0)
    """The skills that it needs; 0 for none."""
    min_skill: int = 0
    script: str = ""
    is_collectable: bool = False
    is_harvest: bool = False
    """Whether nodes give it, of which newer windows have a mark."""
    offers_quest: int = 0
    part_of_quest: int = 0
    is_body_drop: bool = False
    has_no_buy_back: bool = False
    set_id: int = 0
    transmuted_material: int = 0
    adornment_slots: tuple[int, ...] = ()
    stats: tuple[Stat, ...] = ()
    effects: tuple[Effect, ...] = ()
    look: ItemLook | None = None
    is_stand_in: bool = False
    """Whether an import made it because nothing describes the thing."""

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots where it can be worn, the lowest first."""
        return tuple(slot for slot in Slot if self.slot_bits >> slot & 1)

    @property
    def is_stackable(self) -> bool:
        """Whether several lie in one place."""
        return self.stack > 1

    @property
    def bag(self) -> Bag | None:
        """Its part as a bag, None if it is none."""
        return self.part if isinstance(self.part, Bag) else None

    @property
    def is_two_handed(self) -> bool:
        """Whether it needs both hands."""
        return isinstance(self.part, Weapon) and self.part.wield == Wield.TWO_HANDED

    @property
    def is_appearance_only(self) -> bool:
        """Whether it is only for looks."""
        return MoreFlag.APPEARANCE_ONLY in self.more_flags

    @property
    def is_lore(self) -> bool:
        """Whether nobody may have two."""
        return Flag.LORE in self.flags

    @cached_property
    def cure(self) -> int:
        """What it cures, by its effects: a number of `CURES`, 7 for all, 0 for none."""
        text = " ".join(one.text.casefold() for one in self.effects)
        if not any(word in text for word in ("cure", "dispel")):
            return 0
        found = [number for number, word in CURES.items() if word in text]
        return found[0] if len(found) == 1 else CURES_ALL

    def beginning_count(self, count: int = 0) -> int:
        """Return how many a new thing counts: as asked for, else its charges, else one.

        The charges of a thing are its count.
        """
        return count or max(1, self.most_charges)

    def given_count(self, number: int) -> int:
        """Return how many so many things count that are given: a single one has all charges."""
        return self.beginning_count(number if number > 1 else 0)
