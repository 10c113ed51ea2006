"""Letters between characters of the built-in world, and the coins that are attached to them.

The coins of a character are a column of its row, and those of a letter a column of the letter. Each
method that moves coins is one transaction, so that a crash neither loses nor doubles any.

A letter that was not taken in time, or whose recipient was deleted, goes back to its sender once.
Letters are settled when a mailbox is opened: those in it, and those that its owner has sent.
"""

from __future__ import annotations

from typing import Any, Final

from emu.correspondence import Letter, Mailbox, NewLetter, Postage, Posted, SendResult, Taken
from emu.store.repository import Repository, changes, reads
from emu.times import Moment

COLUMNS: Final = (
    "id, recipient_id, sender, subject, body, coins, sent, expires, is_read, is_returned"
)
LATE: Final = "expires <= :moment"
LOST: Final = "recipient_id IN (SELECT id FROM world_characters WHERE deleted)"
"""The recipient is deleted: its mailbox is not opened any more."""


class Mailboxes(Repository):
    """The letters of all characters."""

    __slots__ = ()

    @changes
    def send(self, letter: NewLetter, postage: Postage, moment: Moment) -> Posted:
        """Store a letter, and take its postage and its coins from the sender."""
        refusal = self._refusal(letter, postage)
        if refusal is not None:
            return Posted(refusal)
        paid = self._run(
            # The condition is in the same statement: nobody pays what it does not have.
            "UPDATE world_characters SET coins = coins - :cost"
            " WHERE id = :id AND NOT deleted AND coins >= :cost",
            {"cost": postage.price + letter.coins, "id": letter.sender_id},
        )
        if paid.rowcount != 1:
            return Posted(SendResult.TOO_FEW_COINS)
        self._put(letter, letter.sender_id, moment, moment + postage.lasts)
        return Posted(SendResult.SENT, self._coins(letter.sender_id))

    @changes
    def deliver(self, letter: NewLetter, postage: Postage, moment: Moment) -> SendResult:
        """Store a letter that no character has sent, with new coins; `postage.price` is not taken.

        `NOT_TO_THIS_PLAYER`: the same letter lies in the mailbox already.
        """
        refusal = self._refusal(letter, postage)
        if refusal is not None:
            return refusal
        same = self._run(
            "SELECT 1 FROM world_mail WHERE recipient_id = ? AND sender_id IS NULL AND sender = ?"
            " AND subject = ? AND body = ?",
            (letter.recipient_id, letter.sender, letter.subject, letter.body),
        ).fetchone()
        if same is not None:
            return SendResult.NOT_TO_THIS_PLAYER
        self._put(letter, None, moment, moment + postage.lasts)
        return SendResult.SENT

    @changes
    def open(self, _account_id: int, char_id: int, postage: Postage, moment: Moment) -> Mailbox:
        """Settle what is late, and return the mailbox of a character.

        `_account_id` is the character's account, whose cached rows have the old coins.
        """
        self._settle(char_id, postage, moment)
        rows = self._run(
            f"SELECT {COLUMNS} FROM world_mail WHERE recipient_id = ?"  # noqa: S608  # our own names
            " ORDER BY sent DESC, id DESC LIMIT ?",
            (char_id, postage.most),
        )
        return Mailbox(tuple(_letter(row) for row in rows), self._coins(char_id))

    @reads
    def waiting(self, char_id: int, moment: Moment) -> int:
        """Return how many unread letters a character has, or would have after it opened its box."""
        found = self._run(
            "SELECT count(*) FROM world_mail"
            " WHERE (recipient_id = :own AND NOT is_read AND expires > :moment)"
            " OR (sender_id = :own AND NOT is_returned AND coins > 0 AND expires <= :moment)",
            {"own": char_id, "moment": moment},
        )
        return int(found.fetchone()[0])

    @reads
    def find(self, char_id: int, letter_id: int) -> Letter | None:
        """Return a letter of a character's mailbox."""
        row = self._row(char_id, letter_id)
        return _letter(row) if row is not None else None

    @changes
    def mark_read(self, char_id: int, letter_id: int) -> Letter | None:
        """Mark a letter read; return it as it was before, None if there is no such letter."""
        row = self._row(char_id, letter_id)
        if row is None:
            return None
        self._set("world_mail", letter_id, is_read=True)
        return _letter(row)

    @changes
    def take(self, _account_id: int, char_id: int, letter_id: int) -> Taken | None:
        """Move the coins of a letter to the character; return None if there is no such letter.

        `_account_id` is the character's account, whose cached rows have the old coins.
        """
        row = self._row(char_id, letter_id)
        if row is None:
            return None
        # The condition again: another node may have taken them since the letter was read.
        emptied = self._run(
            "UPDATE world_mail SET coins = 0 WHERE id = ? AND recipient_id = ? AND coins = ?",
            (letter_id, char_id, row["coins"]),
        )
        copper = row["coins"] if emptied.rowcount else 0
        self._pay(char_id, copper)
        return Taken(copper, self._coins(char_id))

    @changes
    def delete(self, char_id: int, letter_id: int) -> bool:
        """Remove a letter without coins; return whether there was one."""
        return self._deleted("recipient_id = ? AND id = ? AND coins = 0", (char_id, letter_id)) > 0

    @changes
    def clear(self, char_id: int) -> int:
        """Remove all read letters without coins; return their number."""
        return self._deleted("recipient_id = ? AND is_read AND coins = 0", (char_id,))

    @changes
    def give_back(
        self, char_id: int, letter_id: int, postage: Postage, moment: Moment
    ) -> int | None:
        """Return a letter to its sender; return the sender's id, None if it cannot go back."""
        row = self._run(
            "SELECT mail.sender_id AS sender_id FROM world_mail AS mail"
            " JOIN world_characters AS sender ON sender.id = mail.sender_id"
            " WHERE mail.recipient_id = ? AND mail.id = ?"
            " AND NOT mail.is_returned AND NOT sender.deleted",
            (char_id, letter_id),
        ).fetchone()
        if row is None:
            return None
        self._return("id = :id", {"id": letter_id}, postage, moment)
        return int(row["sender_id"])

    # -- what the methods share -----------------------------------------------------------------

    def _put(
        self, letter: NewLetter, sender_id: int | None, moment: Moment, expires: float
    ) -> None:
        self._insert(
            "world_mail",
            {
                "recipient_id": letter.recipient_id,
                "sender_id": sender_id,
                "sender_account": letter.account_id,
                "sender": letter.sender,
                "subject": letter.subject,
                "body": letter.body,
                "coins": letter.coins,
                "sent": moment,
                "expires": expires,
            },
        )

    def _refusal(self, letter: NewLetter, postage: Postage) -> SendResult | None:
        known = self._run(
            "SELECT 1 FROM world_characters WHERE id = ? AND NOT deleted", (letter.recipient_id,)
        ).fetchone()
        if known is None:
            return SendResult.NO_SUCH_PLAYER
        count = "SELECT count(*) FROM world_mail WHERE recipient_id = ?"
        held = self._run(count, (letter.recipient_id,)).fetchone()[0]
        of_one = self._run(
            f"{count} AND sender_account = ?", (letter.recipient_id, letter.account_id)
        ).fetchone()[0]
        if held >= postage.most or of_one >= postage.most_of_one:
            return SendResult.MAILBOX_FULL
        return None

    def _settle(self, char_id: int, postage: Postage, moment: Moment) -> None:
        """Return late letters with coins to their senders, and remove the other late ones.

        Coins of a returned letter that nobody took go to the character that sent them.
        """
        values = {"own": char_id, "moment": moment}
        mine = "(recipient_id = :own OR sender_id = :own)"
        sender_lives = "sender_id IN (SELECT id FROM world_characters WHERE NOT deleted)"
        self._return(
            f"{mine} AND ({LATE} OR {LOST}) AND NOT is_returned AND coins > 0 AND {sender_lives}",
            values, postage, moment,
        )  # fmt: skip
        # Paid by what was removed: another node may settle the same letters at this time.
        removed = self._run(
            f"DELETE FROM world_mail WHERE recipient_id = :own AND {LATE}"  # noqa: S608
            " RETURNING coins, is_returned",
            values,
        ).fetchall()
        self._pay(char_id, sum(coins for coins, is_returned in removed if is_returned))

    def _return(
        self, condition: str, values: dict[str, float], postage: Postage, moment: Moment
    ) -> None:
        self._run(
            "UPDATE world_mail SET recipient_id = sender_id, is_returned = TRUE, is_read = FALSE,"  # noqa: S608
            f" sent = :back, expires = :until WHERE {condition}",  # our own names
            values | {"back": moment, "until": moment + postage.lasts},
        )

    def _row(self, char_id: int, letter_id: int) -> Any:
        return self._run(
            f"SELECT {COLUMNS} FROM world_mail WHERE recipient_id = ? AND id = ?",  # noqa: S608
            (char_id, letter_id),
        ).fetchone()

    def _deleted(self, condition: str, values: tuple[int, ...]) -> int:
        return self._run(f"DELETE FROM world_mail WHERE {condition}", values).rowcount  # noqa: S608

    def _pay(self, char_id: int, copper: int) -> None:
        self._run("UPDATE world_characters SET coins = coins + ? WHERE id = ?", (copper, char_id))

    def _coins(self, char_id: int) -> int:
        row = self._run("SELECT coins FROM world_characters WHERE id = ?", (char_id,)).fetchone()
        return int(row["coins"]) if row is not None else 0


def _letter(row: Any) -> Letter:
    values = dict(row)
    return Letter(**values | {name: bool(values[name]) for name in ("is_read", "is_returned")})
