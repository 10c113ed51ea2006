"""`Thing`: one thing that somebody has, and its place.

A thing has a number that no other thing of the world ever has. Its record is what the store keeps;
`emu.items.inventory` has the rules by which it changes.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from emu.times import UNKNOWN, Moment

FULL: Final = 100
"""The condition of what is whole."""
MOST_COUNT: Final = 0xFFFF
"""The greatest count of one thing."""
LAST_NUMBER: Final = 0x7FFFFFFF
"""The greatest number of a thing: clients name a bag by a signed field."""
BANK_PLACES: Final = 12
SHARED_PLACES: Final = 8
BASE_PLACES: Final = 6


class Where(enum.StrEnum):
    """The lists of places; the name is that of the stored column."""

    BAGS = "bags"
    """Carried: the base places, and the places of bags in them."""
    WORN = "worn"
    APPEARANCE = "appearance"
    BANK = "bank"
    SHARED = "shared"
    """The bank that the characters of an account share."""
    OVERFLOW = "overflow"
    """Waits for a free place; its slot is its turn."""
    HELD = "held"
    """With an owner that has no places: a letter, or what can be bought back."""


class Place(NamedTuple):
    """Where a thing is."""

    where: Where
    bag: int
    """The number of the bag in which it lies; 0: in none."""
    slot: int
    """The place in the list or in the bag; of what is worn, the number of the slot."""


@dataclass(frozen=True, slots=True)
class Thing:
    """The record of one thing; it is replaced and never changed."""

    id: int
    """Its number: no other thing has it, also when it is gone."""
    item_id: int
    """The number of its kind."""
    place: Place
    count: int = 1
    """How many lie there, or how many charges are left."""
    condition: int = FULL
    """In percent."""
    is_attuned: bool = False
    creator: str = ""
    most_price: int = 0
    """What was paid for each: a merchant gives no more; 0 without a limit."""
    is_not_for_sale: bool = False
    created: Moment = UNKNOWN

    def moved(self, place: Place) -> Thing:
        """Return it at another place; `dataclasses.replace` takes three times as long."""
        return Thing(
            self.id, self.item_id, place, self.count, self.condition, self.is_attuned,
            self.creator, self.most_price, self.is_not_for_sale, self.created,
        )  # fmt: skip

    def at(self, where: Where, slot: int, bag: int = 0) -> Thing:
        """Return it at another place."""
        return self.moved(Place(where, bag, slot))

    def counting(self, count: int) -> Thing:
        """Return it with another count."""
        return replace(self, count=count)
