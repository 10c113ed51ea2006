"""Lists of things are byte for byte those that EQ2Emulator was recorded to send.

Each recorded message is decoded with the one before; what it shows is put into an inventory, and
our message for that inventory has to have the same bytes.
The recordings are ../shared/data/recordings/items-*.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from emu.content.items import ItemKinds
from emu.errors import MalformedMessage
from emu.items.held import Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import Slot
from emu.structs.packed import unpack_counted, xor
from emu.world.actors import item_lists
from emu.world.actors.item_lists import (
    APPEARANCE,
    HEAD,
    LIST,
    OVERFLOW_INDEX,
    STRUCT,
    WORN,
    ItemLists,
    Menu,
    client_slot,
    menu_of,
    server_slot,
)
from tests.support.world import item_kinds as kinds
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_kinds import item_kinds
from tests.support.world.item_recordings import recorded, recorded_kinds

VERSIONS = [546, 561, 1096, 1208, 60114]
FOOD = (910013, 910014)
"""Their tier is that of their satiation: a fault of EQ2Emulator."""
WAITING = {"index": OVERFLOW_INDEX}
LEAST = {546: 150, 561: 120, 1096: 90, 1208: 120, 60114: 120}


class Replay:
    """One recorded client: what its lists show, and ours beside them."""

    def __init__(self, version: int) -> None:
        self.dialect = DIALECTS.for_version(version)
        self.lists = ItemLists(self.dialect)
        self.before: dict[int, bytes] = {}
        self.has_list = False
        self.size = len(self.dialect.encode_known(STRUCT, {"item_count": 1, "item_array": [{}]}))
        self.size -= HEAD + 1

    def rows(self, body: bytes) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of a recorded list, and its records."""
        count, packed, tail = unpack_counted(body, self.size, 1, self.dialect.version)
        number = tail[0]
        base = self.before.get(number, b"")[: len(packed)].ljust(len(packed), b"\0")
        whole = self.before[number] = xor(packed, base)
        plain = count.to_bytes(2, "little") + bytes(4) + whole + tail
        return number, list(self.dialect.layout(STRUCT).decode(plain)["item_array"])


def place_of(row: dict[str, Any], number: int, version: int, rows: list[dict[str, Any]]) -> Place:
    if number != LIST:
        where = Where.WORN if number == WORN else Where.APPEARANCE
        slot = server_slot(row["slot_id"], version)
        assert slot is not None
        return Place(where, 0, slot)
    lists = {0: Where.BAGS, -3 & 0xFFFFFFFF: Where.BANK, -4 & 0xFFFFFFFF: Where.SHARED}
    inventory = row["inv_slot_id"]
    if inventory in lists:
        return Place(lists[inventory], 0, row["slot_id"])
    bag = next(one for one in rows if one["unique_id"] == inventory)
    return Place(lists[bag["inv_slot_id"]], inventory, row["slot_id"])


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_lists_have_the_recorded_bytes(version: int) -> None:
    kinds = recorded_kinds()
    replays: dict[str, Replay | None] = {}
    equal, different = 0, Counter[str]()
    for name, _, body in recorded(version, "OP_UpdateInventoryMsg"):
        replay = replays.setdefault(name, Replay(version))
        try:
            number, rows = replay.rows(body) if replay is not None else (LIST, [])
        except MalformedMessage:
            number, rows = LIST, [WAITING]
        if replay is None or any(row["index"] == OVERFLOW_INDEX for row in rows):
            # A thing that waits has no number of its own: what follows is not known. Nor is what
            # follows on another connection of the same client.
            replays[name] = None
            continue
        inventory, settled = shown(version, number, rows, kinds)
        if number == LIST and not replay.has_list and not settled:
            replay.lists.carried(Inventory((), {}))  # nothing when it came in
        replay.has_list |= number == LIST
        made = (
            replay.lists.carried(inventory, settled) if number == LIST
            else replay.lists.worn(inventory, number)
        )  # fmt: skip
        if made == body:
            equal += 1
        else:
            different[f"{name} {number}"] += 1
    assert not different
    assert equal >= LEAST[version]


def shown(
    version: int, number: int, rows: list[dict[str, Any]], kinds: ItemKinds
) -> tuple[Inventory, set[int]]:
    """Return what a recorded list shows, and the things that were there when its client came."""
    held = [row for row in rows if row["unique_id"]]
    things = [
        Thing(
            row["unique_id"], row["item_id"], place_of(row, number, version, rows), row["count"],
            is_attuned=bool(row["menu_type"] & 2048),
        )
        for row in held
    ]  # fmt: skip
    known = {
        number: replace(kind, tier=2) if number in FOOD else kind
        for number, kind in kinds.load(one.item_id for one in things).items()
    }
    inventory = Inventory(things, known)
    inventory.locked = {row["unique_id"] for row in held if row["menu_type"] & Menu.LOCKED}
    return inventory, {row["unique_id"] for row in held if row["index"] == 255}


@pytest.mark.parametrize(
    ("slot", "old"),
    [
        (Slot.EARS, 11), (Slot.NECK, 12), (Slot.WAIST, 17), (Slot.LEFT_CHARM, 18),
        (Slot.FOOD, 20), (Slot.DRINK, 21), (Slot.SECOND_EARS, None), (Slot.CLOAK, None),
    ],
)  # fmt: skip
def test_old_clients_number_slots_otherwise(slot: Slot, old: int | None) -> None:
    assert client_slot(slot, 546) == old
    assert client_slot(slot, 1096) == slot
    if old is not None:
        assert server_slot(old, 561) == slot
    assert server_slot(slot, 60114) == slot


def test_a_list_without_things_is_not_sent_until_something_comes() -> None:
    lists, inventory = ItemLists(DIALECTS.for_version(546)), Inventory((), {})
    assert lists.carried(inventory) is None
    assert lists.number_at(0) is None
    marble = item_kinds().get(910001)
    assert marble is not None
    inventory.add_things(marble, 1, lambda: 1000)
    assert lists.carried(inventory) is not None
    assert (lists.number_at(0), lists.place_of(1000)) == (1000, 0)
    assert (lists.number_at(-1), lists.number_at(1)) == (None, None)
    assert len(lists.worn(inventory, APPEARANCE)) < 100


@pytest.mark.parametrize("version", [546, 561, 893, 1096, 1208, 57048, 60114, 63119, 64753])
def test_records_are_packed_as_their_struct_is_encoded(version: int) -> None:
    lists, chance = ItemLists(DIALECTS.for_version(version)), Random(version)
    names = ["", "Oak", "Élan Œuvre", "x" * 80, "ö" * 40, "a" * 62 + "é"]
    for name in names * 5:
        values = {
            field: chance.choice((0, 1, chance.getrandbits(bits), (1 << bits) - 1))
            for field, bits in (
                ("unique_id", 32), ("bag_id", 32), ("inv_slot_id", 32), ("menu_type", 32),
                ("unknown3b", 3), ("index", 16), ("icon", 16), ("slot_id", 8), ("count", 8),
                ("item_level", 8), ("tier", 8), ("num_slots", 8), ("empty_slots", 8),
                ("item_id", 31),
            )
        }  # fmt: skip
        cut = name.encode()[:63].decode("utf-8", "ignore")
        packed = lists._pack(values | {"name": item_lists._name_bytes(name)})
        assert packed == lists._encode(values | {"name": cut})


def test_the_thing_of_a_use_has_the_number_that_was_recorded() -> None:
    """Places of the first list count down from 255; later things have the index of their record."""
    kinds = item_kinds()
    kind = kinds.get(910002)
    assert kind is not None
    inventory = Inventory((), {kind.id: kind})
    for number in (11, 12):
        inventory.add_things(kind, 20, lambda number=number: number)  # type: ignore[misc]
    old, new = (ItemLists(DIALECTS.for_version(version)) for version in (546, 1208))
    for lists in (old, new):
        lists.carried(inventory)
    inventory.add_things(kind, 20, lambda: 13)
    for lists in (old, new):
        lists.carried(inventory)
    assert [old.number_used(one) for one in (255, 254, 258, 256, 253, -1)] == [
        11, 12, 13, None, 13, None,
    ]  # fmt: skip
    assert [new.number_used(one) for one in (0, 1, 2, 3, 255)] == [11, 12, 13, None, None]


@pytest.mark.parametrize(
    ("item", "is_attuned", "condition", "bits"),
    [
        (kinds.MARBLE, False, 100, 3), (kinds.CAP, False, 100, 2),
        (kinds.PEBBLE, False, 100, 0x4003),
        (kinds.SATCHEL, False, 100, 0x17), (kinds.TOKEN, False, 100, 0x803),
        (kinds.TUNIC, False, 100, 0x1002), (kinds.TUNIC, True, 100, 0x802),
        (kinds.CAP, True, 100, 0x802), (kinds.CHARM, False, 100, 0x80003),
        (kinds.CAP, False, 0, 0x202), (kinds.CAP, False, 20, 2),
    ],
)  # fmt: skip
def test_the_bits_of_a_carried_thing(
    item: int, *, is_attuned: bool, condition: int, bits: int
) -> None:
    """Source: eq2-items.md 3.5, the recorded values."""
    thing = Thing(7, item, Place(Where.BAGS, 0, 0), 1, condition=condition, is_attuned=is_attuned)
    known = item_kinds().load([item])
    assert menu_of(Inventory([thing], known), thing, known[item]) == bits


@pytest.mark.parametrize(
    ("condition", "more"), [(100, 0), (21, 0), (20, 0x8000000), (0, 0x10000000 | 0x200)]
)
def test_the_bits_of_a_worn_thing_say_how_whole_it_is(condition: int, more: int) -> None:
    """Source: eq2-items.md 3.5: damaged to 20 or less, and broken."""
    thing = Thing(7, kinds.CAP, Place(Where.WORN, 0, 2), 1, condition=condition)
    known = item_kinds().load([kinds.CAP])
    inventory = Inventory([thing], known)
    assert menu_of(inventory, thing, known[kinds.CAP]) == 2 | more
    inventory.automatic = {2}
    assert menu_of(inventory, thing, known[kinds.CAP]) == 2 | more | 0x101800
