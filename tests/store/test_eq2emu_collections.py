"""Collections of a character of EQ2Emulator's world database."""

import pytest

from emu.items.held import Place, Where
from emu.store.eq2emu_collections import ImportedCollections

PIECES = {3: (80, 81, 82), 4: (90, 80)}


def pieces_of(collection: int) -> tuple[int, ...]:
    return PIECES.get(collection, ())


def test_a_piece_gets_the_place_that_the_content_has_for_it() -> None:
    found = ImportedCollections()
    found.add_collection({"collection_id": 3, "completed": 0}, pieces_of)
    for collection, item in ((3, 82), (4, 80), (3, 82)):
        row = {"collection_id": collection, "collection_item_id": item}
        found.add_piece(row, pieces_of)
    things = [(one.id, one.item_id, one.place, one.is_attuned) for one in found.things(-7)]
    assert things == [
        (-8, 82, Place(Where.HELD, 3, 2), False), (-9, 80, Place(Where.HELD, 4, 1), False),
    ]  # fmt: skip


def test_a_collection_that_was_handed_in_has_all_pieces_with_a_mark() -> None:
    # The mark is that of `emu.world.crafting.collecting`: is_attuned.
    found = ImportedCollections()
    found.add_piece({"collection_id": 3, "collection_item_id": 81}, pieces_of)
    found.add_collection({"collection_id": 3, "completed": 1}, pieces_of)
    things = {one.place.slot: (one.item_id, one.is_attuned) for one in found.things(0)}
    assert things == {0: (80, True), 1: (81, True), 2: (82, True)}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"collection_id": 9, "collection_item_id": 80}, "this server has no collection 9"),
        ({"collection_id": 3, "collection_item_id": 90}, "item 90 is no piece of collection 3"),
        ({"collection_id": "x", "collection_item_id": 90}, "collection_id is no number"),
    ],
)
def test_what_fits_no_collection_is_left_out(row: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ImportedCollections().add_piece(row, pieces_of)
