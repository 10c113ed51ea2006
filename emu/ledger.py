"""Movements of coins and things between owners: values that world, store and log share.

A movement names the giver and the taker of each of its parts, and the reason. All its parts are
carried out, or none. Amounts of coins are copper. A part that moves things counts things of one
kind; the records that change with it are in `Movement.things`.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, Self

from emu.items.held import Thing
from emu.times import Moment

MOST_COINS: Final = 0xFFFFFFFF * 1_000_000
"""The most coins of one owner: as many platinum as a client's field can show."""


class OwnerKind(enum.StrEnum):
    """The kinds of owners. `HOLDERS` have a balance; the others make or remove what they move."""

    CHARACTER = "character"
    """A character of the world."""
    LETTER = "letter"
    """A letter in a mailbox."""
    POSTAGE = "postage"
    """The price of a letter."""
    TRANSPORTER = "transporter"
    """A way of a transporter, by its number in the content file."""
    GAME_MASTER = "game master"
    """Somebody who uses a command, by the number of the account; 0 for the console."""
    SCRIPT = "script"
    """A script of the content file."""
    IMPORT = "import"
    """A character that was made with coins, as an import makes it."""
    BEFORE = "before"
    """What an owner had before there was a ledger."""
    REMOVAL = "removal"
    """The removal of a character for good, or of a letter that can go to nobody."""
    REPAIR = "repair"
    """The repair of a stored value that is unusable."""
    BANK = "bank"
    """What a character has in the bank, by the number of the character."""
    ACCOUNT = "account"
    """The shared bank of an account."""
    SOLD = "sold"
    """What a character has sold and can buy back, by the number of the character."""
    HOUSE = "house"
    """The house of a character, with the coins of its deposit."""
    HOUSING = "housing"
    """The price and the upkeep of houses, by the number of the house in the content file."""
    MERCHANT = "merchant"
    """A merchant, banker or mender, by the number of its spawn in the content file."""
    LOOT = "loot"
    """What a dead creature or a chest has, by the number of its spawn in the content file."""
    PIECES = "pieces"
    """The pieces in the collections of a character, by the number of the character."""
    LIBRARY = "library"
    """The recipe books that a character has learned, by the number of the character."""
    QUEST = "quest"
    COLLECTION = "collection"
    """What a collection gives, by its number."""
    RECIPE = "recipe"
    """What is made and used up by crafting, by the number of the recipe."""
    NODE = "node"
    """Something that is harvested, by the number of its spawn in the content file."""
    CRATE = "crate"
    """What was packed, by the number of the crate's kind."""
    CLASS = "class"
    """The things of new characters, by the number of the class."""
    USE = "use"
    """What is eaten, shot, read or used up."""
    NOTHING = "nothing"
    """What is destroyed."""


HOLDERS: Final = (OwnerKind.CHARACTER, OwnerKind.LETTER, OwnerKind.BANK, OwnerKind.HOUSE)
"""The owners that have coins."""
PUT_AWAY: Final = (OwnerKind.PIECES, OwnerKind.LIBRARY)
"""The owners of what a character has, and carries no more."""
LOADED: Final = (OwnerKind.CHARACTER, *PUT_AWAY)
"""The owners of what is loaded with a character."""
KEEPERS: Final = (
    OwnerKind.CHARACTER, OwnerKind.LETTER, OwnerKind.ACCOUNT, OwnerKind.SOLD, OwnerKind.HOUSE,
    *PUT_AWAY,
)  # fmt: skip
"""The owners that have things; the others make or remove what they move."""


class Owner(NamedTuple):
    """One side of a part: who gives, or who takes."""

    kind: OwnerKind
    number: int = 0

    @classmethod
    def character(cls, char_id: int) -> Self:
        """Return a character as an owner."""
        return cls(OwnerKind.CHARACTER, char_id)

    @classmethod
    def letter(cls, letter_id: int) -> Self:
        """Return a letter as an owner."""
        return cls(OwnerKind.LETTER, letter_id)

    @property
    def is_holder(self) -> bool:
        """Whether the owner has a balance."""
        return self.kind in HOLDERS


class What(enum.StrEnum):
    """What a part moves."""

    COINS = "coins"
    THINGS = "things"


class Reason(enum.StrEnum):
    """Why something moves."""

    SENT = "letter sent"
    TAKEN = "letter emptied"
    RETURNED = "returned letter not emptied"
    EXPIRED = "letter expired"
    SPLIT = "shared with the group"
    TRAVEL = "travel"
    REFUND = "refund"
    COMMAND = "command"
    IMPORTED = "imported"
    BEFORE = "had before the ledger"
    REMOVED = "character removed"
    REPAIRED = "repaired"
    BEGINNING = "new character"
    LOOTED = "looted"
    BOUGHT = "bought"
    SOLD = "sold"
    BOUGHT_BACK = "bought back"
    THING_REPAIRED = "thing repaired"
    TRADED = "traded"
    BANKED = "shared bank"
    BANK = "bank"
    HOUSE_BOUGHT = "house bought"
    HOUSE_DEPOSIT = "house deposit"
    UPKEEP = "upkeep"
    PLACED = "placed in a house"
    PICKED_UP = "picked up in a house"
    DESTROYED = "destroyed"
    USED = "used"
    UNPACKED = "unpacked"
    CRAFTED = "crafted"
    HARVESTED = "harvested"
    COLLECTED = "collected"
    LEARNED = "learned"
    REWARDED = "rewarded"
    SCRIPT = "script"
    EXPIRED_THING = "thing expired"
    OWN = "own things"
    """Several small acts of one player with its own things."""
    BARRED = "not carried out"
    """The answer to a movement was lost, and it was not carried out: it never will be."""


class Part(NamedTuple):
    """One thing that goes from one owner to another one."""

    giver: Owner
    taker: Owner
    amount: int
    what: What = What.COINS
    number: int = 0
    """Of things, the number of their kind."""


@dataclass(frozen=True, slots=True)
class ThingChanges:
    """Records of one owner's things: those that are stored as they are here, and those gone."""

    keeper: Owner
    kept: tuple[Thing, ...] = ()
    gone: tuple[int, ...] = ()


class Placed(NamedTuple):
    """Where a thing stands in a house."""

    number: int
    """The number of the thing."""
    house: int
    """The number of the house."""
    x: float
    y: float
    z: float
    heading: float
    """In degrees."""


@dataclass(frozen=True)
class Movement:
    """Parts that are carried out together, under one identity.

    A movement without a part only stores where things of one owner lie. Raises `ValueError` for an
    amount below 0, for a part whose giver is its taker, or for a movement that does nothing.
    """

    request: str
    """The identity: a movement that is asked for again with the same one is not repeated."""
    reason: Reason
    parts: tuple[Part, ...]
    accounts: frozenset[int] = frozenset()
    """The accounts of its characters, whose cached rows have the old balances."""
    things: tuple[ThingChanges, ...] = ()
    """What changes of things in the same transaction. A thing that goes to another owner is in
    those of the taker alone."""
    terms: tuple[tuple[int, int], ...] = ()
    """Characters whose things change, each with its term: nothing happens if another process has
    let one of them in since."""
    placed: tuple[Placed, ...] = ()
    """Where things that go to a house stand there."""
    banked: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Accounts with the things of their shared banks that change: nothing happens unless they are
    still there. Two characters of an account may take each other for alone for a moment."""

    def __post_init__(self) -> None:
        if not self.parts and not self.things:
            raise ValueError("a movement has no part")
        for part in self.parts:
            if part.amount < 0 or part.giver == part.taker:
                raise ValueError(f"not a movement: {part}")

    @cached_property
    def gives(self) -> Mapping[Owner, int]:
        """The coins that each owner gives, all together; 0 for one that only takes."""
        return self._sums(is_giving=True)

    @cached_property
    def takes(self) -> Mapping[Owner, int]:
        """The coins that each owner takes, all together; 0 for one that only gives."""
        return self._sums(is_giving=False)

    @property
    def holders(self) -> list[Owner]:
        """The owners with a balance of coins, sorted."""
        return sorted(owner for owner in self.gives if owner.is_holder)

    def _sums(self, *, is_giving: bool) -> Mapping[Owner, int]:
        sums: Counter[Owner] = Counter()
        for part in self.parts:
            if part.what is not What.COINS:
                continue
            sums[part.giver] += part.amount if is_giving else 0
            sums[part.taker] += 0 if is_giving else part.amount
        return sums


class Balance(NamedTuple):
    """What a character has. The balance with the greatest revision is the newest."""

    char_id: int
    coins: int
    revision: int


class Outcome(enum.Enum):
    """The result of a movement."""

    DONE = enum.auto()
    TOO_FEW = enum.auto()
    """A giver has too few coins, or a taker would have too many."""
    NO_OWNER = enum.auto()
    """A character or letter does not exist any more."""
    BARRED = enum.auto()
    """It was given up after its answer was lost."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The result of a movement, and what its characters have now."""

    outcome: Outcome
    balances: tuple[Balance, ...] = ()
    banks: tuple[Balance, ...] = ()
    """What its characters have in the bank, of those whose bank takes part."""

    @property
    def is_done(self) -> bool:
        """Whether it was carried out, now or at an earlier request with its identity."""
        return self.outcome is Outcome.DONE

    def balance(self, char_id: int) -> Balance | None:
        """Return the balance of a character of the movement, None if it does not exist."""
        return next((one for one in self.balances if one.char_id == char_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A row of the ledger: a part of a movement, with what giver and taker had afterwards."""

    id: int
    request: str
    part: int
    moment: Moment
    reason: str
    what: str
    number: int
    amount: int
    giver: str
    giver_id: int
    giver_left: int | None
    giver_revision: int | None
    taker: str
    taker_id: int
    taker_left: int | None
    taker_revision: int | None

    def change(self, owner: Owner) -> int:
        """Return by how much an owner has more afterwards, of coins or things; below 0: less."""
        if (self.giver, self.giver_id) == owner:
            return -self.amount
        return self.amount if (self.taker, self.taker_id) == owner else 0

    def left(self, owner: Owner) -> int | None:
        """Return what an owner of the part had after the movement, None without a balance."""
        is_giver = (self.giver, self.giver_id) == owner
        return self.giver_left if is_giver else self.taker_left


@dataclass(frozen=True, slots=True)
class BalanceDifference:
    """A balance that does not follow from the entries of its owner."""

    owner: Owner
    revision: int
    """The number of the owner's movement up to which it was right."""
    by_entries: int
    found: int


@dataclass(frozen=True, slots=True)
class Audit:
    """The sums of the ledger beside those of the owners."""

    held: int
    """The coins of all characters and letters, deleted characters included."""
    by_entries: int
    """The coins that all entries have given to characters and letters, less those taken."""
    differences: tuple[BalanceDifference, ...] = field(default=())
    things: int = 0
    """The things of all owners, with the counts of stacks."""
    wrong_things: tuple[tuple[int, int, int], ...] = ()
    """Each kind whose number does not follow from the entries: kind, number by them, found."""
