"""Letters of a character of EQ2Emulator's world database.

A letter comes with its text and its coins; a thing that is attached stays in the dump. Source of
the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from emu.correspondence import (
    LONGEST_BODY,
    LONGEST_SENDER,
    LONGEST_SUBJECT,
    MAIL_FULL,
    NewLetter,
)
from emu.sqldump.report import Columns, moment, number, text
from emu.times import Moment

LETTERS = "character_mail"


@dataclass(frozen=True, slots=True)
class ImportedLetter:
    """A letter, and when it was sent."""

    letter: NewLetter
    sent: Moment


@dataclass(slots=True)
class ImportedLetters:
    """The rows of one character about letters."""

    letters: list[ImportedLetter] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    """Names of what cannot be used yet."""

    def add(self, columns: Columns, copper: Callable[[Columns, str], int]) -> None:
        """Add a letter. Raises `ValueError`.

        `copper` returns the coins of the columns whose names begin with a text.
        """
        if len(self.letters) >= MAIL_FULL:
            raise ValueError(f"a mailbox has at most {MAIL_FULL} letters")
        letter = NewLetter(
            sender_id=0, account_id=0, recipient_id=0, coins=copper(columns, "coin_"),
            sender=_words(columns, "player_from", LONGEST_SENDER),
            subject=_words(columns, "subject", LONGEST_SUBJECT),
            body=_words(columns, "mail_body", LONGEST_BODY),
        )  # fmt: skip
        if number(columns, "char_item_id"):
            self.later.append("things in letters")
        self.letters.append(ImportedLetter(letter, moment(columns, "time_sent")))


def _words(columns: Columns, name: str, longest: int) -> str:
    """Return the visible letters of a text and its ends of lines."""
    found = "".join(one for one in text(columns, name) if one.isprintable() or one == "\n")
    return found.strip()[:longest]
