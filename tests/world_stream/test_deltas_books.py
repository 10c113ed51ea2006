"""Books and inventories: records, what changed of them, and lists of their own."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, MalformedMessage, UnknownBase
from emu.structs.packed import pack_counted, xor
from emu.world_stream.deltas import KEEPS_REST, MOST_LISTS, BookReader
from tests.support.world.ghost_views import dialect


class Book:
    """A server's side of one list: it keeps what it sent last.

    Recorded: a record that comes back is XORed with zeros (items-546-carry, 128.87 s; also 1208 and
    60114), a skill with what it was (real-entry-1208-start-fighter-priest).
    """

    def __init__(self, struct: str, record: int, version: int = 546) -> None:
        self.layout = dialect(version).layout(struct)
        self.record = record
        self.version = version
        self.reader = BookReader(self.layout, version)
        self.base = b""

    def write(self, **fields: Any) -> bytes:
        whole = self.layout.encode(fields)
        count = int.from_bytes(whole[:2], "little")
        size = count * self.record
        records, tail = whole[6 : 6 + size], whole[6 + size :]
        delta = xor(records, self.base[:size].ljust(size, b"\0"))
        self.base = records + (self.base[size:] if self.layout.name == KEEPS_REST else b"")
        return pack_counted(count, delta, tail, self.version)


def inventory() -> Book:
    return Book("WS_UpdateInventory", 110)


def items(*names: str) -> list[dict[str, Any]]:
    return [{"index": number, "name": name} for number, name in enumerate(names)]


def test_the_recorded_first_inventory() -> None:
    # docs/protocol/world/entering.md#books: 22 empty slots that say their number, 71 bytes, flag 1,
    # and without a change 27.
    book = inventory()
    slots = [{"index": number} for number in range(22)]
    body = book.write(item_array=slots, equip_flag=1)
    assert len(body) == 71
    fields = book.reader.read(body)
    assert (fields["item_count"], fields["packed_size"], fields["equip_flag"]) == (22, 64, 1)
    assert [one["index"] for one in fields["item_array"]] == list(range(22))
    again = book.write(item_array=slots, equip_flag=1)
    assert len(again) == 27
    assert book.reader.read(again) == {"item_count": 22, "packed_size": 20, "equip_flag": 1}


def test_changed_items_are_shown_under_their_number() -> None:
    book = inventory()
    book.reader.read(book.write(item_array=items("Sword", "Bread"), equip_flag=0))
    body = book.write(item_array=items("Sword", "Wine", "Key"), equip_flag=0)
    fields = book.reader.read(body)
    assert "item_array[0]" not in fields
    assert fields["item_array[1]"] == {"name": "Wine"}
    assert (
        fields["item_array[2]"].keys()
        == book.layout.decode(book.layout.encode({"item_array": [{}]}))["item_array"][0].keys()
    )


def test_a_record_that_comes_back_begins_anew() -> None:
    """What waited for a place has found one, and then the next thing waits."""
    book = inventory()
    for last in (["Ribbed Fossil Shell"], [], ["Key"]):
        names = ["Sword", "Bread", *last]
        book.reader.read(book.write(item_array=items(*names), equip_flag=0))
    assert [one["name"] for one in book.reader.elements()] == ["Sword", "Bread", "Key"]


def test_every_flag_is_a_list_of_its_own() -> None:
    book = inventory()
    worn = book.write(item_array=items("Hat"), equip_flag=1)
    book.base = b""
    bag = book.write(item_array=items("Rope"), equip_flag=0)
    assert book.reader.read(worn)["item_array"][0]["name"] == "Hat"
    assert book.reader.read(bag)["item_array"][0]["name"] == "Rope"


def test_there_are_only_so_many_lists() -> None:
    book = inventory()
    for flag in range(MOST_LISTS):
        book.base = b""
        book.reader.read(book.write(item_array=items("Hat"), equip_flag=flag))
    book.base = b""
    with pytest.raises(LimitExceeded):
        book.reader.read(book.write(item_array=items("Hat"), equip_flag=MOST_LISTS))
    assert book.reader.size == MOST_LISTS * 110


def test_the_skill_books_last_byte_is_in_the_clear() -> None:
    # docs/protocol/world/recorded.md: 27 records packed in 351 bytes, then one zero; the first
    # record is 00 99163020 03000000 0500 0500 0500 00 00 00 00 01 01.
    book = Book("WS_UpdateSkillBook", 21)
    skill = {"skill_id": 0x20301699, "type": 3, "current_val": 5, "base_val": 5, "max_val": 5,
             "display_minval": 1, "display_maxval": 1}  # fmt: skip
    last = skill | {"skill_id": 7, "language_unknown": 9}
    body = book.write(skill_array=[skill, last])
    assert body[-1] == 9
    fields = book.reader.read(body)
    assert [one["skill_id"] for one in fields["skill_array"]] == [0x20301699, 7]
    assert fields["skill_array"][1]["language_unknown"] == 9
    assert fields["skill_array"][0]["display_maxval"] == 1


def test_a_skill_that_comes_back_is_the_difference_to_what_it_was() -> None:
    """Recorded in real-entry-1208-start-fighter-priest: a class takes skills, and gives some."""
    book = Book("WS_UpdateSkillBook", 21)
    for numbers in ((1, 2, 3), (1,), (1, 5, 6)):
        skills = [{"skill_id": number, "current_val": 10 * number} for number in numbers]
        book.reader.read(book.write(skill_array=skills))
    assert [one["skill_id"] for one in book.reader.elements()] == [1, 5, 6]


def test_an_empty_book() -> None:
    # docs/protocol/world/entering.md#books: so come spell and recipe books with nothing in them.
    empty = bytes(6)
    for struct in ("WS_UpdateSpellBook", "WS_UpdateRecipeBook"):
        reader = BookReader(dialect(546).layout(struct), 546)
        assert not any(reader.read(empty).values())


def test_records_whose_base_was_missed_are_not_guessed_but_an_empty_book_is_empty() -> None:
    book = Book("WS_UpdateSpellBook", 27)
    book.reader.miss()
    assert book.reader.read(book.write())["spell_count"] == 0
    with pytest.raises(UnknownBase, match="WS_UpdateSpellBook"):
        book.reader.read(book.write(spell_array=[{"spell_id": 5}]))


NUMBERS = st.lists(st.integers(0, 0xFFFFFFFF), max_size=6)


@pytest.mark.slow
@given(st.lists(NUMBERS, min_size=1, max_size=6), st.sampled_from((546, 561)))
def test_lists_that_grow_and_shrink_come_back(lists: list[list[int]], version: int) -> None:
    book = Book("WS_UpdateRecipeBook", 12, version)
    shown: list[int] = []
    for numbers in lists:
        body = book.write(recipe_array=[{"recipe_id": one, "unknown": ~one & 3} for one in numbers])
        fields = book.reader.read(body)
        shown = [*shown[: len(numbers)], *[0] * (len(numbers) - len(shown))]
        for index, one in enumerate(fields.get("recipe_array", [])):
            shown[index] = one["recipe_id"]
        for index in range(len(numbers)):
            change = fields.get(f"recipe_array[{index}]", {})
            shown[index] = change.get("recipe_id", shown[index])
        assert shown == numbers


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    book = inventory()
    with contextlib.suppress(MalformedMessage):
        book.reader.read(body)
