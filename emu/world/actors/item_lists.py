"""`ItemLists`: the three lists of things as one client has them, and the messages that change them.

A client names a thing by the place of its record in list 0, so records keep their places: freed
ones become empty and are used again, the lowest first.

Source: docs/protocol/world/items.md#lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from emu.dialects import Dialect, world_rules
from emu.dialects.dialect import wire_texts
from emu.dialects.records import RecordPacker
from emu.errors import UnknownStruct
from emu.items.held import Thing, Where
from emu.items.inventory import BANK, BASE, OVERFLOW, SHARED, Inventory
from emu.items.kinds import Bag, Container, Flag, Food, ItemKind, Slot, Sort
from emu.structs import StructLayout
from emu.structs.packed import pack_counted, xor

LIST, WORN, APPEARANCE = 0, 1, 2
"""The numbers of the lists."""
MESSAGE: Final = "OP_UpdateInventoryMsg"
STRUCT: Final = "WS_UpdateInventory"
HEAD: Final = 6
"""Bytes of the count and of the length that stand before the packed records."""
KNOWN_INDEX: Final = 255
FIRST_AT_ONCE: Final = 20
"""Records in the first list of an old client."""
OVERFLOW_SLOT, OVERFLOW_INDEX = 6, 0xFFFF
LONGEST_NAME: Final = 63
_INVENTORIES: Final = {
    Where.BAGS: BASE, Where.BANK: BANK, Where.SHARED: SHARED, Where.OVERFLOW: OVERFLOW,
}  # fmt: skip
NO_OLD_SLOT: Final = frozenset((Slot.SECOND_EARS, Slot.CLOAK))


def client_slot(slot: int, version: int) -> int | None:
    """Return a slot as a client numbers it; None for one that it does not have."""
    return _old_slot(slot) if world_rules(version).older_windows else slot


def _old_slot(slot: int) -> int | None:
    if slot in NO_OLD_SLOT or slot > Slot.DRINK:
        return None
    return slot - (slot > Slot.SECOND_EARS) - (slot > Slot.CLOAK)


_SERVER_SLOTS: Final[Mapping[int, Slot]] = {int(slot): slot for slot in Slot}
_OLD_SERVER_SLOTS: Final[Mapping[int, Slot]] = {
    old: slot for slot in Slot if (old := _old_slot(slot)) is not None
}


def server_slot(slot: int, version: int) -> int | None:
    """Return the slot that a client names; None if there is none."""
    known = _OLD_SERVER_SLOTS if world_rules(version).older_windows else _SERVER_SLOTS
    return known.get(slot)


class Menu:
    """The bits of a record that say which commands the client offers."""

    CARRIED, WEARABLE = 1 | 2, 2
    BAG, EMPTY_BAG = 4, 16
    SCRIBE, NO_SCRIBE = 32, 128
    FURNITURE = 8 | 32768
    LOCKED = 512
    BOUND, ATTUNEABLE = 2048, 4096
    STACK = 16384
    CONSUME, USABLE = 262144, 524288
    AUTOMATIC = 1048576 | BOUND | ATTUNEABLE
    """Food that is eaten as soon as possible; EQ2Emulator sends all three bits (recorded)."""
    DAMAGED, BROKEN = 134217728, 268435456
    UNPACK = 2147483648


DAMAGED: Final = 20
LISTED: Final = (Where.BAGS, Where.BANK, Where.SHARED)
"""The lists of which list 0 consists."""


NAME: Final = "name"
RECORD_FIELDS: Final = (
    "unique_id", "bag_id", "inv_slot_id", "menu_type", "unknown3b", "index", "icon", "slot_id",
    "count", "item_level", "tier", "num_slots", "empty_slots", "item_id",
)  # fmt: skip
_PACKERS: Final[dict[StructLayout, RecordPacker]] = {}
_EMPTY: Final[dict[StructLayout, dict[int, bytes]]] = {}
"""The records of empty slots by slot, which are the same for all clients of a layout."""


def _name_bytes(name: str) -> bytes:
    """Return as much of a name as a record has; no letter of several bytes is cut in two."""
    data = name.encode("utf-8", "replace")
    if len(data) <= LONGEST_NAME:
        return data
    return data[:LONGEST_NAME].decode("utf-8", "ignore").encode()


_OF_SORT: Final = {
    Sort.SCROLL: Menu.NO_SCRIBE, Sort.RECIPE_BOOK: Menu.SCRIBE, Sort.FURNITURE: Menu.FURNITURE,
    Sort.CRATE: Menu.UNPACK,
}  # fmt: skip


def places_of(kind: ItemKind) -> int:
    """Return how many places a kind shows: those of bags, and of containers for homes."""
    return kind.part.places if isinstance(kind.part, Bag | Container) else 0


def menu_of(inventory: Inventory, thing: Thing, kind: ItemKind) -> int:
    """Return the bits of a thing's record."""
    bits = Menu.WEARABLE if kind.slot_bits else Menu.CARRIED
    bits |= Menu.SCRIBE if kind.id in inventory.lessons else _OF_SORT.get(kind.sort, 0)
    if places_of(kind):
        # EQ2Emulator sends both bits whatever lies in the bag (recorded).
        bits |= Menu.BAG | Menu.EMPTY_BAG
    if thing.condition == 0 or thing.id in inventory.locked:
        bits |= Menu.LOCKED
    if thing.is_attuned or Flag.NO_TRADE in kind.flags:
        bits |= Menu.BOUND
    elif Flag.ATTUNEABLE in kind.flags:
        bits |= Menu.ATTUNEABLE
    bits |= Menu.STACK if kind.is_stackable else 0
    bits |= Menu.USABLE if kind.is_usable else 0
    if thing.place.where is not Where.WORN:
        return bits
    bits |= Menu.AUTOMATIC if thing.place.slot in inventory.automatic else 0
    return bits | _worn_bits(thing, kind)


def _worn_bits(thing: Thing, kind: ItemKind) -> int:
    bits = Menu.CONSUME if isinstance(kind.part, Food) else 0
    if thing.condition == 0:
        return bits | Menu.BROKEN
    return bits | (Menu.DAMAGED if thing.condition <= DAMAGED else 0)


class ItemLists:
    """The lists of one client; they begin with every session."""

    __slots__ = (
        "_dialect", "_empty", "_fresh", "_is_begun", "_packer", "_present", "_records",
        "_rules", "_sent", "_size", "_worn", "is_shown", "records",
    )  # fmt: skip

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._rules = dialect.world_rules
        try:
            self._empty = self._encode({})
        except UnknownStruct:
            self._empty = b""
        self.is_shown = bool(self._empty)
        """Whether the client's version has lists of things; the trial client, 373, has none."""
        self._size = len(self._empty)
        self.records: list[int | None] = []
        """The numbers of the things of list 0, by the place of their record."""
        self._fresh: set[int] = set()
        """Things that came after the first list, which old clients number otherwise."""
        self._worn: set[int] = set()
        """Things that this client was shown as worn: they keep a number of their own."""
        self._is_begun = False
        self._packer: RecordPacker | None = None
        self._present: set[int] = set()
        """The things whose records all have a place."""
        self._sent: dict[int, bytes] = {}
        self._records: dict[int, tuple[Thing, int, bool, bool, bool, bytes]] = {}
        """Records that were sent, by thing, with what their bytes depend on."""

    def _encode(self, values: Mapping[str, Any]) -> bytes:
        fields = {"item_count": 1, "item_array": [wire_texts(values)]}
        return self._dialect.encode_known(STRUCT, fields)[HEAD:-1]

    def _pack(self, values: Mapping[str, Any]) -> bytes:
        """Return a record as `_encode` does, a hundred times as fast: all fields have their place.

        The places are found once, by encoding each field alone.
        """
        if self._packer is None:
            layout = self._dialect.layout(STRUCT)
            if layout not in _PACKERS:
                names = {NAME: LONGEST_NAME}
                _PACKERS[layout] = RecordPacker(self._encode, RECORD_FIELDS, names)
            self._packer = _PACKERS[layout]
        return self._packer.pack(values)

    @property
    def version(self) -> int:
        """The client's data version."""
        return self._dialect.version

    def number_at(self, place: int) -> int | None:
        """Return the number of the thing whose record stands at a place; None without one."""
        return self.records[place] if 0 <= place < len(self.records) else None

    def place_of(self, number: int) -> int | None:
        """Return the place of a thing's record; None without one."""
        return self.records.index(number) if number in self.records else None

    def number_used(self, index: int) -> int | None:
        """Return the number of the thing that a client names when it uses it.

        Old clients name things of the first list by 255 less their place, others by the index of
        their record (recorded).
        """
        if not self._rules.older_windows:
            return self.number_at(index)
        if index <= KNOWN_INDEX:
            return self.number_at(KNOWN_INDEX - index)
        fresh = 0
        for place, number in enumerate(self.records):
            fresh += number in self._fresh
            if number in self._fresh and KNOWN_INDEX + place + fresh == index:
                return number
        return None

    def encode_again(self, number: int) -> None:
        """Forget the bytes of a thing's record: what they show has changed."""
        self._records.pop(number, None)

    # -- list 0 ---------------------------------------------------------------------------------

    def carried(self, inventory: Inventory, settled: Iterable[int] = ()) -> bytes | None:
        """Return the message of list 0; None if nothing was ever in it.

        `settled` are new things that old clients number as if they had been there before.
        """
        present = {one.id for one in inventory if one.place.where in LISTED}
        if present != self._present or not self._is_begun:
            things = [one for where in LISTED for one in inventory.in_list(where)]
            self._arrange(things, frozenset(settled))
            self._present = present if len(self.records) >= len(present) else set()
        waiting = inventory.waiting() if self._is_begun else []
        self._is_begun = True
        if not self.records and not waiting:
            return None
        fresh, records = 0, []
        is_old, empty, is_fresh = self._rules.older_windows, self._empty, self._fresh
        for place, number in enumerate(self.records):
            thing = None if number is None else inventory.get(number)
            if thing is None:
                records.append(empty)
                continue
            index = place
            if is_old:
                is_new = number in is_fresh
                fresh += is_new
                index = KNOWN_INDEX + (place + fresh if is_new else 0)
            records.append(self._record(inventory, thing, index))
        if waiting:
            records.append(self._waiting_record(inventory, waiting[0]))
        return self._message(LIST, records)

    def _arrange(self, things: Sequence[Thing], settled: frozenset[int]) -> None:
        present = {one.id for one in things}
        for number in self._records.keys() - present - self._worn:
            del self._records[number]
        self.records = [one if one in present else None for one in self.records]
        self._fresh &= present
        known = set(self.records)
        for thing in things:
            if thing.id in known:
                continue
            if not self._is_begun and self._rules.older_windows and len(known) >= FIRST_AT_ONCE:
                break  # the next message has the rest
            if self._is_begun and thing.place.where is Where.BAGS and thing.id not in settled:
                self._fresh.add(thing.id)
            if None in self.records:
                self.records[self.records.index(None)] = thing.id
            else:
                self.records.append(thing.id)
            known.add(thing.id)

    @property
    def is_cut(self) -> bool:
        """Whether the first list was cut, so that a second message has to follow."""
        return self._rules.older_windows and len(self.records) == FIRST_AT_ONCE

    def _waiting_record(self, inventory: Inventory, thing: Thing) -> bytes:
        kind = inventory.kind(thing)
        values = self._fields(inventory, thing, kind, OVERFLOW_INDEX)
        return self._pack(
            values | {"unique_id": thing.item_id, "inv_slot_id": OVERFLOW & 0xFFFFFFFF,
                      "slot_id": OVERFLOW_SLOT}
        )  # fmt: skip

    # -- worn things ----------------------------------------------------------------------------

    def worn(self, inventory: Inventory, number: int = WORN) -> bytes:
        """Return the message of what is worn, or of appearances."""
        where = Where.WORN if number == WORN else Where.APPEARANCE
        records = []
        for slot in range(self._dialect.rules.equipment_slots):
            own = server_slot(slot, self.version)
            thing = inventory.worn(own, where) if own is not None else None
            if thing is None:
                records.append(self._encode_empty(slot))
            else:
                self._worn.add(thing.id)
                records.append(self._record(inventory, thing, slot))
        return self._message(number, records)

    def _encode_empty(self, slot: int) -> bytes:
        known = _EMPTY.setdefault(self._dialect.layout(STRUCT), {})
        if slot not in known:
            known[slot] = self._encode({"index": slot})
        return known[slot]

    # -- records --------------------------------------------------------------------------------

    def _record(self, inventory: Inventory, thing: Thing, index: int) -> bytes:
        # Records are replaced and never changed, so the same object has the same bytes.
        is_locked, was_worn = thing.id in inventory.locked, thing.id in self._worn
        is_lesson = thing.item_id in inventory.lessons
        known = self._records.get(thing.id)
        if known is not None and known[0] is thing:
            *before, found = known[1:]
            if before == [index, is_locked, was_worn, is_lesson]:
                return found
        kind = inventory.kind(thing)
        found = self._pack(self._fields(inventory, thing, kind, index))
        if not self._rules.bags_show_content or not places_of(kind):
            self._records[thing.id] = thing, index, is_locked, was_worn, is_lesson, found
        return found

    def _fields(
        self,
        inventory: Inventory,
        thing: Thing,
        kind: ItemKind,
        index: int,
    ) -> dict[str, Any]:
        is_worn = thing.place.where in (Where.WORN, Where.APPEARANCE)
        bag, slot = thing.place.bag, thing.place.slot
        if is_worn:
            list_number, slot = 0, client_slot(slot, self.version) or 0
        else:
            list_number = bag or _INVENTORIES[thing.place.where]
        # The own number of bags and of what is worn.
        places = places_of(kind)
        has_number = is_worn or bool(places) or thing.id in self._worn
        most = self._rules.most_record_count
        return {
            "unique_id": thing.id,
            "bag_id": thing.id if has_number else 0,
            "inv_slot_id": list_number & 0xFFFFFFFF,
            "menu_type": menu_of(inventory, thing, kind),
            "unknown3b": 4 if kind.sort is Sort.CRATE else 0,
            "index": index,
            "icon": kind.icon,
            "slot_id": slot & 0xFF,
            "count": min(thing.count, most),
            "item_level": 0 if is_worn else kind.recommended_level,
            "tier": kind.tier,
            "num_slots": places & 0xFF,
            "empty_slots": (max(0, places - len(inventory.inside(thing))) & 0xFF if places else 0),
            "item_id": kind.id,
            NAME: _name_bytes(kind.name),
        }

    def _message(self, number: int, records: Sequence[bytes]) -> bytes:
        """Return a message whose records are XORed with those of the list's message before."""
        whole = b"".join(records)
        before = self._sent.get(number, b"")
        base = before[: len(whole)].ljust(len(whole), b"\0")
        self._sent[number] = whole
        return pack_counted(len(records), xor(whole, base), bytes((number,)), self.version)
