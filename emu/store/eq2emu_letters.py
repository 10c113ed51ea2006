"""Letters of a character of EQ2Emulator's world database.

A letter comes with its text and its coins; a thing that is attached stays in the dump. Source of
the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.correspondence import (
    LONGEST_BODY,
    LONGEST_SENDER,
    LONGEST_SUBJECT,
    MAIL_FULL,
    NewLetter,
    clean,
)
from emu.sqldump.report import Columns, copper, moment, number, text
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

    def add(self, columns: Columns) -> None:
        """Add a letter. Raises `ValueError`."""
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
    return clean(text(columns, name))[:longest]
