"""Wearing: the reasons in their order, and what worn things add.

The kinds are those of the recorded set (../shared/data/recordings/items-set-A.sql).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import (
    Armor,
    Bag,
    Flag,
    ItemKind,
    MoreFlag,
    Range,
    Slot,
    Sort,
    Stat,
    Weapon,
    Wield,
)
from emu.items.refusals import Refusal, Why
from emu.items.wearing import (
    Equipped,
    Wearer,
    bonuses,
    equip,
    level_needed,
    refusal,
    slot_for,
    swap,
    unequip,
)

NONE = Range(0, 0)
SWORD = ItemKind(
    910005, "Notched Training Sword", Sort.WEAPON, Weapon(2, 0, NONE, NONE, Range(1, 6), 16, 3.5),
    slot_bits=3, stats=(Stat(0, 0, 3), Stat(0, 2, 2), Stat(5, 0, 12)),
)  # fmt: skip
CLUB = ItemKind(
    910006, "Oaken Greatclub", Sort.WEAPON, Weapon(4, 1, NONE, NONE, NONE, 60, 9.75), slot_bits=1
)
BUCKLER = ItemKind(910007, "Rimmed Buckler", Sort.SHIELD, Armor(Range(30, 130)), slot_bits=2)
CAP = ItemKind(
    910008, "Dented Iron Cap", Sort.ARMOR, Armor(Range(5, 8)), slot_bits=4, level=1,
    stats=(Stat(0, 1, 4),),
)  # fmt: skip
TUNIC = ItemKind(
    910009, "Quilted Recruit Tunic", Sort.ARMOR, Armor(Range(11, 14)), flags=Flag.ATTUNEABLE,
    slot_bits=8,
)  # fmt: skip
RING = ItemKind(910010, "Bent Copper Ring", Sort.BAUBLE, slot_bits=512 | 1024)
VISOR = replace(CAP, id=910019, name="Champion's Visor", level=60)
COWL = replace(CAP, id=910020, name="Acolyte's Cowl", classes=536870912)
BRACER = replace(CAP, id=910021, name="Fletcher's Bracer", skills=(3076004370, 0))
HAT = replace(CAP, id=910026, name="Festival Hat", more_flags=MoreFlag.APPEARANCE_ONLY)
CROWN = replace(CAP, id=1, flags=Flag.EVIL_ONLY, level=60, classes=536870912)
STONE = ItemKind(910001, "Chipped Marble")
PURSE = ItemKind(910004, "Threadbare Purse", Sort.BAG, Bag(2, 0))
FIGHTER = Wearer(1, 5, 0, 1, frozenset(), is_evil=False)
MAGE = FIGHTER._replace(class_=21)


class Body:
    """An inventory, and a function that gives it things."""

    def __init__(self) -> None:
        self.numbers = count(1000)
        self.inventory = Inventory((), {})

    def get(self, kind: ItemKind) -> Thing:
        return self.inventory.add_things(kind, 1, lambda: next(self.numbers))[0]

    def wear(self, kind: ItemKind, slot: int | None = None, who: Wearer = FIGHTER) -> Thing:
        thing = self.get(kind)
        found = equip(self.inventory, thing.id, who, slot=slot)
        assert isinstance(found, Equipped), found
        return thing

    def worn(self, slot: Slot, where: Where = Where.WORN) -> int:
        found = self.inventory.worn(slot, where)
        return found.item_id if found else 0


@pytest.fixture
def body() -> Body:
    return Body()


def reason(body: Body, kind: ItemKind, who: Wearer = FIGHTER, slot: int | None = None) -> Why:
    thing = body.get(kind)
    found = equip(body.inventory, thing.id, who, slot=slot)
    assert isinstance(found, Refusal)
    assert body.inventory.get(thing.id) == thing
    return found.reason


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (CROWN, Why.EVIL_ONLY), (STONE, Why.NOT_WORN), (BRACER, Why.NO_SKILL),
        (COWL, Why.NO_CLASS), (VISOR, Why.TOO_LOW), (TUNIC, Why.MUST_ATTUNE),
    ],
)  # fmt: skip
def test_the_first_reason_counts(body: Body, kind: ItemKind, expected: Why) -> None:
    assert reason(body, kind) is expected


def test_a_level_of_the_class_replaces_class_and_level(body: Body) -> None:
    own = replace(VISOR, classes=536870912, class_levels={(1, 255): 4})
    assert body.wear(own).item_id == VISOR.id
    assert reason(body, replace(own, class_levels={(1, 255): 6})) is Why.TOO_LOW


def test_a_slot_that_the_thing_does_not_have_is_silent(body: Body) -> None:
    assert reason(body, CAP, slot=Slot.CHEST) is Why.SILENT
    assert reason(body, CAP, slot=99) is Why.SILENT


def test_nothing_is_put_on_in_a_fight_that_forbids_it(body: Body) -> None:
    assert reason(body, CAP, FIGHTER._replace(may_equip=False)) is Why.IN_COMBAT


def test_a_worn_thing_changes_places_with_the_new_one(body: Body) -> None:
    cap, other = body.wear(CAP), body.get(replace(CAP, id=7))
    found = equip(body.inventory, other.id, FIGHTER)
    assert isinstance(found, Equipped)
    assert [one.item_id for one in found.taken_off] == [CAP.id]
    assert body.worn(Slot.HEAD) == 7
    moved = body.inventory.get(cap.id)
    assert moved is not None
    assert moved.place == other.place


def test_a_second_ring_goes_to_the_right_hand(body: Body) -> None:
    body.wear(RING, Slot.LEFT_RING)
    body.wear(replace(RING, id=8), Slot.LEFT_RING)
    assert (body.worn(Slot.LEFT_RING), body.worn(Slot.RIGHT_RING)) == (RING.id, 8)


def test_two_hands_hold_nothing_else(body: Body) -> None:
    body.wear(SWORD)
    body.wear(BUCKLER)
    body.wear(CLUB)
    assert (body.worn(Slot.PRIMARY), body.worn(Slot.SECONDARY)) == (CLUB.id, 0)
    assert reason(body, BUCKLER) is Why.SILENT
    assert {one.item_id for one in body.inventory.in_list(Where.BAGS)} == {SWORD.id, BUCKLER.id}


def test_a_two_handed_weapon_stays_where_nothing_can_be_taken_off(body: Body) -> None:
    body.wear(SWORD)
    shield = body.wear(BUCKLER)
    club = body.get(CLUB)
    for _ in range(5):
        body.get(STONE)
    found = equip(body.inventory, club.id, FIGHTER)
    assert found == Refusal(Why.CANNOT_UNEQUIP, CLUB)
    assert body.inventory.get(club.id) == club
    assert (body.worn(Slot.PRIMARY), body.worn(Slot.SECONDARY)) == (SWORD.id, shield.item_id)


def test_only_fighters_and_scouts_hold_a_single_weapon_in_the_second_hand(body: Body) -> None:
    body.wear(SWORD)
    assert reason(body, SWORD, MAGE, Slot.SECONDARY) is Why.SILENT
    body.wear(SWORD, Slot.SECONDARY)


def test_what_is_only_for_looks_goes_to_their_list(body: Body) -> None:
    assert reason(body, HAT, slot=Slot.HEAD) is Why.ONLY_APPEARANCE
    body.wear(HAT)
    assert body.worn(Slot.HEAD, Where.APPEARANCE) == HAT.id


def test_a_thing_is_taken_off_to_a_place_that_fits(body: Body) -> None:
    cap, stone = body.wear(CAP), body.get(STONE)
    full = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER, to=stone.place)
    assert full == Refusal(Why.CANNOT_UNEQUIP, CAP)
    to = Place(Where.BAGS, 0, 3)
    found = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER, to=to)
    assert isinstance(found, Thing)
    assert (found.id, found.place) == (cap.id, to)
    nothing = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER)
    assert nothing == Refusal(Why.SILENT)
    for _ in range(6):
        body.get(STONE)
    assert body.inventory.waiting()
    bank = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER, to=Place(Where.BANK, 0, 0))
    assert bank == Refusal(Why.SILENT)


def test_worn_things_change_places_where_both_fit(body: Body) -> None:
    body.wear(RING)
    assert swap(body.inventory, 9, 10, Where.WORN, FIGHTER) is None
    assert (body.worn(Slot.LEFT_RING), body.worn(Slot.RIGHT_RING)) == (0, RING.id)
    assert swap(body.inventory, 10, 2, Where.WORN, FIGHTER) == Refusal(Why.CANNOT_SWAP)
    assert swap(body.inventory, 9, 10, Where.WORN, FIGHTER) == Refusal(Why.CANNOT_SWAP)


def test_broken_things_add_nothing(body: Body) -> None:
    sword = body.wear(SWORD)
    body.wear(CAP)
    body.wear(BUCKLER)
    added = bonuses(body.inventory)
    assert (added.attributes, added.health) == ({"str": 3, "agi": 2, "sta": 4}, 12)
    assert (added.mitigation, added.has_shield, added.shield) == (138, True, 130)
    present = body.inventory.get(sword.id)
    assert present is not None
    body.inventory.set(present, condition=0)
    assert bonuses(body.inventory).attributes == {"sta": 4}


ANY = 255
CRAFTED = replace(CAP, id=31, level=0, tradeskill_level=20)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (replace(CAP, level=7), 7),
        # A level of the class stands before one of the craft, that before one of both.
        (replace(CAP, class_levels={(1, ANY): 4, (ANY, 11): 5, (1, 11): 6}), 4),
        (replace(CAP, class_levels={(ANY, 11): 5, (1, 11): 6}), 5),
        (replace(CAP, class_levels={(1, 11): 6}), 6),
        (replace(CAP, class_levels={(2, ANY): 6}, level=3), 3),
        (replace(CAP, classes=1 << 1, level=3), 3),
        (replace(CAP, classes=1 << 2), None),
        (replace(CAP, tradeskill_classes=1 << 11, level=3), 3),
        (replace(CAP, tradeskill_classes=1 << 12), None),
    ],
)
def test_the_level_that_a_wearer_needs(kind: ItemKind, expected: int | None) -> None:
    assert level_needed(kind, FIGHTER._replace(tradeskill_class=11)) == expected


def test_things_of_crafters_ask_for_the_level_of_the_craft() -> None:
    def why(kind: ItemKind, level: int) -> Refusal | None:
        return refusal(kind, FIGHTER._replace(level=1, tradeskill_level=level))

    assert why(CRAFTED, 19) == Refusal(Why.TOO_LOW, CRAFTED, 20)
    assert why(CRAFTED, 20) is None
    both = replace(CRAFTED, level=2)
    assert why(both, 99) == Refusal(Why.TOO_LOW, both, 2)
    of_class = replace(CAP, level=0, tradeskill_classes=1, class_levels={(1, ANY): 9})
    assert why(of_class, 8) == Refusal(Why.TOO_LOW, of_class, 9)
    assert why(of_class, 9) is None


def test_only_the_good_wear_what_is_for_them(body: Body) -> None:
    kind = replace(CAP, flags=Flag.GOOD_ONLY)
    assert refusal(kind, FIGHTER) is None
    assert reason(body, kind, FIGHTER._replace(is_good=False)) is Why.GOOD_ONLY
    assert reason(body, replace(CAP, flags=Flag.EVIL_ONLY)) is Why.EVIL_ONLY
    assert refusal(replace(CAP, flags=Flag.EVIL_ONLY), FIGHTER._replace(is_evil=True)) is None


def test_a_skill_that_a_thing_asks_for_is_named() -> None:
    skilled = FIGHTER._replace(skills=frozenset({3076004370}))
    assert refusal(BRACER, FIGHTER) == Refusal(Why.NO_SKILL, BRACER, 3076004370)
    assert refusal(BRACER, skilled) is None


def test_what_is_locked_or_not_carried_is_not_put_on(body: Body) -> None:
    cap = body.get(CAP)
    body.inventory.locked.add(cap.id)
    assert equip(body.inventory, cap.id, FIGHTER) == Refusal(Why.IN_USE, CAP)
    body.inventory.locked.clear()
    body.inventory.move_to(cap, Place(Where.BANK, 0, 0))
    assert equip(body.inventory, cap.id, FIGHTER) == Refusal(Why.SILENT)
    assert equip(body.inventory, 99, FIGHTER) == Refusal(Why.SILENT)


def test_two_of_one_lore_are_not_worn(body: Body) -> None:
    ring = replace(RING, id=40, flags=Flag.LORE_EQUIP)
    body.wear(ring)
    assert reason(body, ring) is Why.LORE_EQUIPPED
    lore = replace(RING, id=41, flags=Flag.LORE)
    body.wear(lore)
    assert reason(body, lore) is Why.LORE_WORN
    plain = replace(RING, id=42)
    body.wear(plain, Slot.LEFT_RING)
    body.wear(plain, Slot.RIGHT_RING)


def test_an_attuned_thing_is_put_on(body: Body) -> None:
    tunic = body.get(TUNIC)
    body.inventory.set(tunic, is_attuned=True)
    assert isinstance(equip(body.inventory, tunic.id, FIGHTER), Equipped)


def test_the_first_free_slot_is_chosen(body: Body) -> None:
    for number in (50, 51, 52):
        body.wear(replace(RING, id=number))
    assert (body.worn(Slot.LEFT_RING), body.worn(Slot.RIGHT_RING)) == (52, 51)
    body.wear(replace(RING, id=53), Slot.RIGHT_RING)
    assert (body.worn(Slot.LEFT_RING), body.worn(Slot.RIGHT_RING)) == (52, 53)
    body.wear(replace(RING, id=54), Slot.LEFT_RING)
    assert (body.worn(Slot.LEFT_RING), body.worn(Slot.RIGHT_RING)) == (54, 53)


def test_a_thing_of_one_slot_of_a_pair_stays_in_it(body: Body) -> None:
    left = replace(RING, id=60, slot_bits=1 << Slot.LEFT_RING)
    body.wear(left)
    body.wear(replace(left, id=61), Slot.LEFT_RING)
    assert (body.worn(Slot.LEFT_RING), body.worn(Slot.RIGHT_RING)) == (61, 0)


def test_what_is_eaten_or_shot_has_no_appearance(body: Body) -> None:
    for slot in (Slot.FOOD, Slot.DRINK, Slot.AMMO):
        kind = ItemKind(70, "Bread", Sort.FOOD, slot_bits=1 << slot)
        thing = body.get(kind)
        shown = equip(body.inventory, thing.id, FIGHTER, slot=slot, is_appearance=True)
        assert shown == Refusal(Why.SILENT)
        assert isinstance(equip(body.inventory, thing.id, FIGHTER, slot=slot), Equipped)


@pytest.mark.parametrize(
    ("wield", "classes"),
    [
        (Wield.DUAL, {*range(21), *range(31, 45)}),
        (Wield.SINGLE, {*range(1, 11), *range(31, 43)}),
        (0, set(range(45))),
    ],
)
def test_which_classes_hold_a_weapon_in_the_second_hand(
    body: Body, wield: int, classes: set[int]
) -> None:
    kind = replace(SWORD, part=Weapon(wield, 0, NONE, NONE, NONE, 16, 3.5))
    found = {
        one for one in range(45)
        if slot_for(body.inventory, kind, Slot.SECONDARY, Where.WORN, one) is not None
    }  # fmt: skip
    assert found == classes


def test_what_lies_where_a_thing_is_taken_off_to_is_put_on(body: Body) -> None:
    cap, other = body.wear(CAP), body.get(replace(CAP, id=7))
    found = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER, to=other.place)
    assert isinstance(found, Equipped)
    assert [one.id for one in found.taken_off] == [cap.id]
    assert (found.slot, found.put_on.id, body.worn(Slot.HEAD)) == (Slot.HEAD, other.id, 7)
    body.wear(HAT)
    fool = body.get(replace(HAT, id=8))
    shown = unequip(body.inventory, Slot.HEAD, Where.APPEARANCE, FIGHTER, to=fool.place)
    assert isinstance(shown, Equipped)
    assert (body.worn(Slot.HEAD), body.worn(Slot.HEAD, Where.APPEARANCE)) == (7, 8)


def test_nothing_is_taken_off_in_a_fight_or_to_another_list(body: Body) -> None:
    body.wear(CAP)
    fights = FIGHTER._replace(may_equip=False)
    found = unequip(body.inventory, Slot.HEAD, Where.WORN, fights)
    assert found == Refusal(Why.IN_COMBAT, CAP)
    assert swap(body.inventory, 2, 3, Where.WORN, fights) == Refusal(Why.IN_COMBAT)
    to = Place(Where.BANK, 0, 0)
    found = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER, to=to)
    assert found == Refusal(Why.CANNOT_UNEQUIP, CAP)
    for _ in range(6):
        body.get(STONE)
    found = unequip(body.inventory, Slot.HEAD, Where.WORN, FIGHTER)
    assert found == Refusal(Why.CANNOT_UNEQUIP, CAP)
    assert body.worn(Slot.HEAD) == CAP.id


def test_weapons_change_hands_where_both_hands_may_hold_them(body: Body) -> None:
    first, second = replace(SWORD, id=80), replace(SWORD, id=81)
    body.wear(first)
    assert swap(body.inventory, 0, 1, Where.WORN, MAGE) == Refusal(Why.CANNOT_SWAP)
    body.wear(second, Slot.SECONDARY)
    assert swap(body.inventory, 0, 1, Where.WORN, FIGHTER) is None
    assert (body.worn(Slot.PRIMARY), body.worn(Slot.SECONDARY)) == (81, 80)
    for one, two in ((0, 1), (1, 0)):
        assert swap(body.inventory, one, two, Where.WORN, MAGE) == Refusal(Why.CANNOT_SWAP)
    assert swap(body.inventory, 0, 0, Where.WORN, FIGHTER) == Refusal(Why.CANNOT_SWAP)
    assert (body.worn(Slot.PRIMARY), body.worn(Slot.SECONDARY)) == (81, 80)


def test_a_shield_is_moved_to_no_slot_that_it_does_not_have(body: Body) -> None:
    body.wear(SWORD)
    body.wear(BUCKLER)
    assert swap(body.inventory, 0, 1, Where.WORN, FIGHTER) == Refusal(Why.CANNOT_SWAP)
    long = replace(CLUB, slot_bits=3)
    body.wear(long)
    assert swap(body.inventory, 0, 1, Where.WORN, FIGHTER) == Refusal(Why.CANNOT_SWAP)


def test_every_sort_of_statistic_is_added_to_its_own_sum(body: Body) -> None:
    stats = (
        Stat(0, 4, 5), Stat(0, 5, 9), Stat(1, 7, 2), Stat(2, 3, 6), Stat(5, 0, 10), Stat(5, 1, 20),
        Stat(5, 2, 1), Stat(5, 3, 8), Stat(6, 17, 1.5),
    )  # fmt: skip
    for number in (90, 91):
        body.wear(replace(RING, id=number, stats=stats))
    body.wear(replace(HAT, stats=stats))
    body.wear(ItemKind(92, "Bread", Sort.FOOD, slot_bits=1 << Slot.FOOD, stats=stats))
    added = bonuses(body.inventory)
    assert added.attributes == {"intel": 10}
    assert (added.skills, added.resists, added.others) == ({7: 4}, {3: 12}, {17: 3.0})
    assert (added.health, added.power, added.concentration) == (20, 40, 2)
    assert (added.mitigation, added.has_shield, added.shield) == (0, False, 0)
    ring = body.inventory.worn(Slot.LEFT_RING)
    assert ring is not None
    body.inventory.set(ring, condition=1)
    assert bonuses(body.inventory).power == 40
