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
)
from emu.items.refusals import Refusal, Why
from emu.items.wearing import Equipped, Wearer, bonuses, equip, swap, unequip

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
