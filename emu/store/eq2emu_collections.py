"""Collections of a character of EQ2Emulator's world database.

A row names a collection and an item; which place the item has in the collection is known to the
content of the built-in world. The pieces of a collection that was handed in are marked, as
`emu.world.crafting.collecting` marks them. Source of the columns:
docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from emu.items.held import Place, Thing, Where
from emu.sqldump.report import Columns, number

MOST_PLACE = 0xFF
"""The last place of a collection that a message has a byte for."""


@dataclass(slots=True)
class ImportedCollections:
    """The rows of one character about collections."""

    completed: dict[int, None] = field(default_factory=dict)
    pieces: dict[tuple[int, int], int] = field(default_factory=dict)
    """The items that it has found, by collection and place."""

    def add_collection(
        self, columns: Columns, pieces_of: Callable[[int], Sequence[int]]
    ) -> None:  # fmt: skip
        """Add a collection that the character has begun. Raises `ValueError`.

        `pieces_of` returns the items of a collection in the order of their places; none for an
        unknown one.
        """
        collection, pieces = _collection(columns, pieces_of)
        if number(columns, "completed"):
            self.completed[collection] = None
            for place, item in enumerate(pieces[: MOST_PLACE + 1]):
                self.pieces[collection, place] = item

    def add_piece(self, columns: Columns, pieces_of: Callable[[int], Sequence[int]]) -> None:
        """Add an item that is in a collection. Raises `ValueError`."""
        collection, pieces = _collection(columns, pieces_of)
        item = number(columns, "collection_item_id")
        if item not in pieces[: MOST_PLACE + 1]:
            raise ValueError(f"item {item} is no piece of collection {collection} here")
        self.pieces[collection, pieces.index(item)] = item

    def things(self, last_id: int) -> tuple[Thing, ...]:
        """Return the pieces as things, with numbers below `last_id`."""
        return tuple(
            Thing(
                last_id - at, item, Place(Where.HELD, collection, place),
                is_attuned=collection in self.completed,
            )
            for at, ((collection, place), item) in enumerate(self.pieces.items(), 1)
        )  # fmt: skip


def _collection(
    columns: Columns, pieces_of: Callable[[int], Sequence[int]]
) -> tuple[int, Sequence[int]]:
    collection = number(columns, "collection_id")
    pieces = pieces_of(collection)
    if not pieces:
        raise ValueError(f"this server has no collection {collection}; import its content first")
    return collection, pieces
