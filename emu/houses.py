"""Houses of characters: plain values that the world, its store and its windows share.

Amounts are copper, times are moments. Source: docs/guides/houses.md.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.ledger import Balance
from emu.times import DAY, Moment

FIRST_HOUSE: Final = 2_100_000_000
"""Above it is the number of a house's copy of its zone; smaller numbers are other copies."""
WEEK: Final = 7 * DAY
"""Seconds for which one upkeep is paid."""
MOST_AHEAD: Final = 84 * DAY
"""Seconds from now for which upkeep can be paid at most."""
MOST_OWNED: Final = 25
"""Houses of one character."""
MOST_PLACED: Final = 400
"""Things in one house."""
MOST_LISTED: Final = 255
"""Rows of a list in the house's window: clients read their number as one byte."""


class AccessLevel(enum.IntEnum):
    """What somebody may do in a house; a higher level may do what a lower one may."""

    NONE = 0
    """May not enter."""
    VISITOR = 1
    """May enter."""
    FRIEND = 2
    """May enter; a word of the owner for some visitors."""
    TRUSTEE = 3
    """May also place, move and pick up things."""
    OWNER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A house that a character owns."""

    id: int
    """Its number; no other house ever has it."""
    home: int
    """Which house it is: its number in the content file."""
    owner_id: int
    owner: str
    """The owner's name."""
    bought: Moment
    upkeep_due: Moment
    """Until then its upkeep is paid."""
    coins: int = 0
    """The deposit, from which upkeep is paid."""
    status: int = 0
    """The status points of the deposit."""
    public_level: AccessLevel = AccessLevel.VISITOR
    """The level of those without one of their own."""

    def is_paid(self, moment: Moment) -> bool:
        """Return whether its upkeep is paid at a moment."""
        return self.upkeep_due > moment


class Guest(NamedTuple):
    """A character with an access level of its own."""

    char_id: int
    name: str
    level: AccessLevel


class Deposit(NamedTuple):
    """What one character has put into the deposit of a house."""

    name: str
    coins: int
    status: int
    last_coins: int
    last_status: int
    moment: Moment
    """Of the last one."""


class Paid(NamedTuple):
    """An upkeep that was paid."""

    name: str
    """The character that paid; empty if the deposit did."""
    coins: int
    status: int
    reason: str
    moment: Moment


@dataclass(frozen=True, slots=True)
class HouseBooks:
    """The lists of a house's window."""

    guests: tuple[Guest, ...] = ()
    deposits: tuple[Deposit, ...] = ()
    history: tuple[Paid, ...] = ()


class Price(NamedTuple):
    """What a house costs once, or for a week."""

    coins: int
    status: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """What a character pays for a house."""

    request: str
    """Its identity: a payment that is asked for again with the same one is not repeated."""
    account_id: int
    char_id: int
    house: int
    """The number of the house; of one that is bought, the number in the content file."""
    cost: Price
    given: int = 0
    """The status points that were taken from the character; its save stores what it has left."""
    moment: Moment


class Deal(enum.Enum):
    """The result of a payment for a house."""

    DONE = enum.auto()
    TOO_FEW_COINS = enum.auto()
    TOO_FEW_STATUS = enum.auto()
    """The deposit has too few status points, and the player has not given the rest."""
    OWNED = enum.auto()
    """The character owns this house already."""
    TOO_MANY = enum.auto()
    """The character owns `MOST_OWNED` houses."""
    TOO_FAR_AHEAD = enum.auto()
    """The upkeep is paid for as long as possible."""
    GONE = enum.auto()
    """The house or the character does not exist any more."""
    BARRED = enum.auto()
    """It was given up after its answer was lost."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """The result of a payment, with the house and the payer's coins afterwards."""

    deal: Deal
    house: House | None = None
    balance: Balance | None = None
