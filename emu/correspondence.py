"""Letters between characters, and petitions to the operators: plain values.

The world, its store and the operators' commands share them. Amounts are copper, times are moments.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from emu.items.held import Thing
from emu.ledger import Balance
from emu.times import Moment

# --- letters

MAIL_FULL: Final = 250
"""The most letters of a mailbox: clients below version 1193 read their number as one byte."""
LONGEST_SUBJECT: Final = 100
LONGEST_BODY: Final = 2000
LONGEST_SENDER: Final = 63
"""Characters of a letter's texts."""


def clean(text: str) -> str:
    """Return a text of a letter without control characters but line feeds."""
    return "".join(one for one in text if one.isprintable() or one == "\n").strip()


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter in a mailbox."""

    id: int
    recipient_id: int
    sender: str
    subject: str
    body: str
    coins: int
    """The attached coins that were not taken yet."""
    sent: Moment
    expires: Moment
    is_read: bool = False
    is_returned: bool = False
    """Whether it has come back to the character that sent it."""
    thing: Thing | None = None
    """The attached thing, or stack, that was not taken yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postage:
    """What a letter costs, how long it is kept, and how many letters a mailbox takes."""

    price: int
    """Copper that the sender pays besides the attached coins."""
    lasts: float
    """Seconds until a letter goes back to its sender, or is removed."""
    most: int
    """Letters of one mailbox."""
    most_of_one: int
    """Letters of one account in one mailbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLetter:
    """A letter that is to be sent."""

    sender_id: int
    account_id: int
    """The sender's account."""
    recipient_id: int
    sender: str
    subject: str
    body: str
    coins: int


class SendResult(enum.IntEnum):
    """The results that a client's mail window shows.

    Source: docs/protocol/world/mail.md#results.
    """

    SENT = 0
    NO_SUCH_PLAYER = 1
    NOT_TO_THIS_PLAYER = 2
    NOT_TO_YOURSELF = 4
    MAILBOX_FULL = 5
    TOO_FEW_COINS = 6
    NOBODY_NAMED = 11
    FAILED = 14


@dataclass(frozen=True, slots=True)
class Posted:
    """The result of sending a letter, and what the sender has then if it was sent."""

    result: SendResult
    balance: Balance | None = None

    @property
    def coins(self) -> int:
        """The coins of the sender; 0 if the letter was not sent."""
        return 0 if self.balance is None else self.balance.coins


@dataclass(frozen=True, slots=True)
class CharacterMailbox:
    """The letters of a character, the newest first, and what it has."""

    letters: tuple[Letter, ...]
    balance: Balance

    @property
    def coins(self) -> int:
        """The coins of the character."""
        return self.balance.coins


@dataclass(frozen=True, slots=True)
class Taken:
    """The coins that were attached to a letter, and what the character has now."""

    copper: int
    balance: Balance

    @property
    def coins(self) -> int:
        """The coins of the character."""
        return self.balance.coins


# --- petitions


class PetitionKind(enum.StrEnum):
    """What a player writes to the operators."""

    PETITION = "petition"
    BUG = "bug"
    ABUSE = "abuse"
    TYPO = "typo"
    FEEDBACK = "feedback"
    SPAM = "spam"


@dataclass(frozen=True, slots=True)
class Petition:
    """A petition or report of a player, with its answer."""

    id: int
    account_id: int
    char_id: int
    """The character, 0 after it was removed."""
    player: str
    kind: PetitionKind
    text: str
    place: str
    opened: Moment
    answer: str = ""
    operator: str = ""
    """The operator who answered or closed it, empty if the player has cancelled it."""
    answered: Moment | None = None
    closed: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPetition:
    """A petition that is to be stored."""

    account_id: int
    char_id: int
    player: str
    kind: PetitionKind
    text: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PetitionLimits:
    """How much players may write to the operators."""

    open_of_one: int
    """Open petitions of one account."""
    daily: int
    """Petitions that one account may open within a day."""
    most_open: int
    """Open petitions of the whole world."""
