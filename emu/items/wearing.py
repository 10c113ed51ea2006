"""The rules of wearing: for whom, in which slot, and what worn things add.

The checks of `equip` have one order, because a player is shown only the first reason.
Source: docs/protocol/world/items.md#wearing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import (
    PAIRS,
    WORN_SORTS,
    Armor,
    Flag,
    ItemKind,
    Slot,
    Sort,
    StatSort,
    Weapon,
    Wield,
)
from emu.items.refusals import Refusal, Why

FIGHTERS: Final = range(1, 11)
MAGES: Final = range(21, 31)
SCOUTS: Final = range(31, 41)
BEASTLORDS: Final = range(41, 43)
ANY_CLASS: Final = 255
BROKEN: Final = 0
"""The condition from which on a thing adds nothing."""
ATTRIBUTES: Final = ("str", "sta", "agi", "wis", "intel")
"""Attributes by the number that a statistic names."""
HEALTH, POWER, CONCENTRATION = 0, 1, 2


class Wearer(NamedTuple):
    """What a character is, for the question whether it may wear something."""

    class_: int
    level: int
    tradeskill_class: int
    tradeskill_level: int
    skills: frozenset[int]
    """The numbers of the skills that it has."""
    is_good: bool = True
    is_evil: bool = True
    """A race that is neither may be both."""
    may_equip: bool = True
    """False in a fight in which nothing may be put on."""


def slot_for(
    inventory: Inventory, kind: ItemKind, slot: int | None, where: Where, class_: int
) -> Slot | None:
    """Return the slot in which a thing would be worn; None if there is none."""
    slots = [one for one in kind.slots if _may_hold(inventory, kind, one, class_)]
    if where is Where.APPEARANCE:
        slots = [one for one in slots if one not in (Slot.FOOD, Slot.DRINK, Slot.AMMO)]
    if slot is not None:
        if slot not in slots:
            return None
        wanted = Slot(slot)
        pair = PAIRS.get(wanted)
        if pair in slots and inventory.worn(wanted, where) and not inventory.worn(pair, where):
            return pair
        return wanted
    free = (one for one in slots if inventory.worn(one, where) is None)
    return next(free, slots[0] if slots else None)


def _may_hold(inventory: Inventory, kind: ItemKind, slot: Slot, class_: int) -> bool:
    """Return whether the hands allow a slot; for other slots there is nothing to ask."""
    if slot is not Slot.SECONDARY:
        return True
    primary = inventory.worn(Slot.PRIMARY)
    if primary is not None and inventory.kind(primary).is_two_handed:
        return False
    if not isinstance(kind.part, Weapon):
        return True
    if kind.part.wield == Wield.SINGLE:
        return class_ in FIGHTERS or class_ in SCOUTS or class_ in BEASTLORDS
    return kind.part.wield != Wield.DUAL or class_ not in MAGES


def level_needed(kind: ItemKind, wearer: Wearer) -> int | None:
    """Return the level that a wearer needs; None if its class may not wear the thing at all."""
    for key in (
        (wearer.class_, ANY_CLASS), (ANY_CLASS, wearer.tradeskill_class),
        (wearer.class_, wearer.tradeskill_class),
    ):  # fmt: skip
        if key in kind.class_levels:
            return kind.class_levels[key]
    if kind.classes and not kind.classes >> wearer.class_ & 1:
        return None
    if kind.tradeskill_classes and not kind.tradeskill_classes >> wearer.tradeskill_class & 1:
        return None
    return kind.level


def refusal(kind: ItemKind, wearer: Wearer) -> Refusal | None:
    """Return why a wearer may not wear a kind of things in any slot."""
    if Flag.EVIL_ONLY in kind.flags and not wearer.is_evil:
        return Refusal(Why.EVIL_ONLY, kind)
    if Flag.GOOD_ONLY in kind.flags and not wearer.is_good:
        return Refusal(Why.GOOD_ONLY, kind)
    if kind.sort not in WORN_SORTS:
        return Refusal(Why.NOT_WORN, kind)
    for skill in kind.skills:
        if skill and skill not in wearer.skills:
            return Refusal(Why.NO_SKILL, kind, skill)
    needed = level_needed(kind, wearer)
    if needed is None:
        return Refusal(Why.NO_CLASS, kind)
    is_crafter = bool(kind.tradeskill_classes or kind.tradeskill_level) and not kind.level
    has = wearer.tradeskill_level if is_crafter else wearer.level
    needed = max(needed, kind.tradeskill_level) if is_crafter else needed
    return Refusal(Why.TOO_LOW, kind, needed) if has < needed else None


def _lore(inventory: Inventory, kind: ItemKind, thing: Thing) -> Refusal | None:
    worn = [
        one for one in inventory.of_kind(kind.id, (Where.WORN, Where.APPEARANCE)) if one != thing
    ]
    if worn and kind.is_lore:
        return Refusal(Why.LORE_WORN, kind)
    return Refusal(Why.LORE_EQUIPPED, kind) if worn and Flag.LORE_EQUIP in kind.flags else None


@dataclass(slots=True)
class Equipped:
    """What an act of wearing has changed."""

    slot: Slot
    put_on: Thing
    taken_off: list[Thing] = field(default_factory=list)


def equip(  # noqa: PLR0911
    inventory: Inventory,
    number: int,
    wearer: Wearer,
    *,
    slot: int | None = None,
    is_appearance: bool = False,
) -> Refusal | Equipped:
    """Put a carried thing on; what is in its way changes places with it."""
    thing = inventory.get(number)
    if thing is None or thing.place.where is not Where.BAGS:
        return Refusal(Why.SILENT)
    kind = inventory.kind(thing)
    if thing.id in inventory.locked:
        return Refusal(Why.IN_USE, kind)
    is_appearance = is_appearance or (kind.is_appearance_only and slot is None)
    where = Where.APPEARANCE if is_appearance else Where.WORN
    found = slot_for(inventory, kind, slot, where, wearer.class_)
    if found is None and (kind.slots or slot is not None):
        return Refusal(Why.SILENT)
    refused = refusal(kind, wearer)
    if refused is not None:
        return refused
    if found is None:
        return Refusal(Why.NOT_WORN, kind)
    if kind.is_appearance_only and not is_appearance:
        return Refusal(Why.ONLY_APPEARANCE, kind)
    refused = _lore(inventory, kind, thing)
    if refused is not None:
        return refused
    if Flag.ATTUNEABLE in kind.flags and not thing.is_attuned:
        return Refusal(Why.MUST_ATTUNE, kind)
    if not wearer.may_equip:
        return Refusal(Why.IN_COMBAT, kind)
    return _put_on(inventory, thing, found, where)


def _put_on(inventory: Inventory, thing: Thing, slot: Slot, where: Where) -> Refusal | Equipped:
    kind = inventory.kind(thing)
    before = inventory.worn(slot, where)
    second = inventory.worn(Slot.SECONDARY, where)
    has_second = kind.is_two_handed and slot is Slot.PRIMARY and second is not None
    if before is not None:
        inventory.exchange(thing, before)
    else:
        inventory.move_to(thing, Place(where, 0, slot))
    taken_off = [before] if before is not None else []
    if has_second and second is not None:
        place = inventory.free_place(inventory.kind(second))
        if place is None:
            _back(inventory, thing, before)
            return Refusal(Why.CANNOT_UNEQUIP, kind)
        inventory.move_to(second, place)
        taken_off.append(second)
    worn = inventory.worn(slot, where)
    assert worn is not None  # noqa: S101  # it was put there just now
    return Equipped(slot, worn, taken_off)


def _back(inventory: Inventory, thing: Thing, before: Thing | None) -> None:
    """Undo what `_put_on` has done with a thing and the one that was worn before."""
    present = inventory.get(thing.id)
    assert present is not None  # noqa: S101  # it is worn
    other = None if before is None else inventory.get(before.id)
    if other is not None:
        inventory.exchange(present, other)
    else:
        inventory.move_to(present, thing.place)


def unequip(
    inventory: Inventory,
    slot: int,
    where: Where,
    wearer: Wearer,
    *,
    to: Place | None = None,
) -> Refusal | Equipped | Thing:
    """Take a worn thing off; return it, or both if it changes places with what lies at `to`.

    Without `to` it goes to the first free place.
    """
    thing = inventory.worn(slot, where)
    if thing is None:
        return Refusal(Why.SILENT)
    kind = inventory.kind(thing)
    if not wearer.may_equip:
        return Refusal(Why.IN_COMBAT, kind)
    place = to or inventory.free_place(kind)
    if place is None or place.where is not Where.BAGS or not inventory.may_lie(thing, place):
        return Refusal(Why.CANNOT_UNEQUIP, kind)
    other = inventory.at(place)
    if other is None:
        inventory.move_to(thing, place)
        found = inventory.get(thing.id)
        assert found is not None  # noqa: S101  # it was moved just now
        return found
    if slot not in inventory.kind(other).slots:
        return Refusal(Why.CANNOT_UNEQUIP, kind)
    return equip(inventory, other.id, wearer, slot=slot, is_appearance=where is Where.APPEARANCE)


def swap(inventory: Inventory, one: int, two: int, where: Where, wearer: Wearer) -> Refusal | None:
    """Let two worn things change places, or move one to the other's free slot."""
    first, second = inventory.worn(one, where), inventory.worn(two, where)
    if not wearer.may_equip:
        return Refusal(Why.IN_COMBAT)
    if first is None or one == two:
        return Refusal(Why.CANNOT_SWAP)
    fits = two in inventory.kind(first).slots and _held_well(inventory, first, two, wearer)
    if second is not None:
        fits = fits and one in inventory.kind(second).slots
        fits = fits and _held_well(inventory, second, one, wearer)
    if not fits:
        return Refusal(Why.CANNOT_SWAP)
    if second is not None:
        inventory.exchange(first, second)
    else:
        inventory.move_to(first, Place(where, 0, two))
    return None


def _held_well(inventory: Inventory, thing: Thing, slot: int, wearer: Wearer) -> bool:
    kind = inventory.kind(thing)
    if slot != Slot.SECONDARY or not isinstance(kind.part, Weapon):
        return True
    return not kind.is_two_handed and _may_hold(inventory, kind, Slot.SECONDARY, wearer.class_)


@dataclass(slots=True)
class Bonuses:
    """What all worn things add together."""

    attributes: dict[str, int] = field(default_factory=dict)
    skills: dict[int, int] = field(default_factory=dict)
    """By the number of the skill in statistics."""
    resists: dict[int, int] = field(default_factory=dict)
    others: dict[int, float] = field(default_factory=dict)
    health: int = 0
    power: int = 0
    concentration: int = 0
    mitigation: int = 0
    has_shield: bool = False
    shield: int = 0
    """The block value of the shield."""

    def add_worn(self, kind: ItemKind) -> None:
        """Add what one worn thing of a kind adds."""
        if isinstance(kind.part, Armor):
            if kind.sort is Sort.SHIELD:
                self.has_shield, self.shield = True, kind.part.mitigation.high
            self.mitigation += kind.part.mitigation.high
        for stat in kind.stats:
            value = int(stat.value)
            if stat.sort == StatSort.ATTRIBUTE and stat.subsort < len(ATTRIBUTES):
                _count(self.attributes, ATTRIBUTES[stat.subsort], value)
            elif stat.sort == StatSort.SKILL:
                _count(self.skills, stat.subsort, value)
            elif stat.sort == StatSort.RESIST:
                _count(self.resists, stat.subsort, value)
            elif stat.sort == StatSort.POOL:
                self._add_pool(stat.subsort, value)
            elif stat.sort == StatSort.OTHER:
                self.others[stat.subsort] = self.others.get(stat.subsort, 0.0) + stat.value

    def _add_pool(self, number: int, value: int) -> None:
        if number == HEALTH:
            self.health += value
        elif number == POWER:
            self.power += value
        elif number == CONCENTRATION:
            self.concentration += value


def _count(sums: dict[Any, int], key: Any, value: int) -> None:
    sums[key] = sums.get(key, 0) + value


def bonuses(inventory: Inventory) -> Bonuses:
    """Return what all worn things add; broken ones add nothing, and appearances neither."""
    found = Bonuses()
    for thing in inventory.in_list(Where.WORN):
        kind = inventory.kind(thing)
        if thing.condition > BROKEN and kind.sort not in (Sort.FOOD, Sort.THROWN):
            found.add_worn(kind)
    return found
