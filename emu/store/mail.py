"""Letters between characters of the built-in world, with the coins and things in them.

A letter is an owner of coins and things, as a character is. Each method that moves some is one
transaction with the movement of the ledger (`emu.store.ledger`), so that a crash neither loses nor
doubles any. Each first locks the character whose mailbox it changes: two of them cannot wait for
each other.

A letter that was not taken in time, or whose recipient was deleted, goes back to its sender once.
Letters are settled when a mailbox is opened: those in it, and those that its owner has sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from emu.correspondence import (
    CharacterMailbox,
    Letter,
    NewLetter,
    Postage,
    Posted,
    SendResult,
    Taken,
)
from emu.database import Database
from emu.errors import OutOfDate
from emu.ledger import Balance, Moved, Movement, Outcome, Owner, OwnerKind, Part, Reason
from emu.store.ledger import Movements
from emu.store.repository import Repository, changes, reads
from emu.store.things import COLUMNS as THING_COLUMNS
from emu.store.things import thing_of
from emu.times import Moment

_LETTER: Final = (
    "id", "recipient_id", "sender", "subject", "body", "coins", "sent", "expires", "is_read",
    "is_returned",
)  # fmt: skip
_THING: Final = tuple(one for one in THING_COLUMNS if one not in ("keeper", "keeper_id"))
COLUMNS: Final = ", ".join((*_LETTER, *_THING))
"""Those of a letter, and those of the thing that is attached to it: NULL without one."""
WITH_THING: Final = (
    "world_mail LEFT JOIN world_things AS thing"
    f" ON thing.keeper = '{OwnerKind.LETTER}' AND thing.keeper_id = world_mail.id"
)
HAS_THING: Final = (
    f"EXISTS (SELECT 1 FROM world_things WHERE keeper = '{OwnerKind.LETTER}'"  # noqa: S608
    " AND keeper_id = world_mail.id)"
)
"""Whether something is attached; one thing, or one stack, is the most."""
IS_FULL: Final = f"(coins > 0 OR {HAS_THING})"
LATE: Final = "expires <= :moment"
LOST: Final = "recipient_id IN (SELECT id FROM world_characters WHERE deleted)"
"""The recipient is deleted: its mailbox is not opened any more."""


class Mailboxes(Repository):
    """The letters of all characters."""

    __slots__ = ("_movements",)

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._movements = Movements(database)

    @changes
    def send(
        self, letter: NewLetter, postage: Postage, moment: Moment, request: str,
        parcel: Movement | None = None,
    ) -> Posted:  # fmt: skip
        """Store a letter, and take its postage and its coins from the sender.

        `parcel` is the movement of the thing that is attached: it names the letter by the number 0.
        A letter that was stored under the same `request` is not stored again.
        """
        sender = Owner.character(letter.sender_id)
        self._movements.lock([sender])
        known = self._after(
            "SELECT reason FROM world_ledger WHERE request = ? AND part = 0", (request,)
        )
        balance = self._asked_balance(letter.sender_id)
        refusal = self._refusal(letter, postage)
        before, coins = [reason for (reason,) in known], self._read_balance(balance)
        if before:
            is_sent = Reason.BARRED not in before
            return Posted(SendResult.SENT, coins) if is_sent else Posted(SendResult.FAILED)
        if refusal is not None:
            return Posted(refusal)
        if coins is None or coins.coins < postage.price + letter.coins:
            return Posted(SendResult.TOO_FEW_COINS)
        parts = [Part(sender, Owner(OwnerKind.POSTAGE), postage.price)]
        letter_id = self._put(letter, letter.sender_id, moment, moment + postage.lasts)
        if letter.coins:
            parts.append(Part(sender, Owner.letter(letter_id), letter.coins))
        movement = Movement(request, Reason.SENT, tuple(parts))
        if parcel is not None:
            movement = _addressed(parcel, letter_id, parts)
        moved = self._carry_out(movement, moment)
        return Posted(SendResult.SENT, moved.balance(letter.sender_id))

    @changes
    def deliver(
        self, letter: NewLetter, postage: Postage, moment: Moment, request: str
    ) -> SendResult:
        """Store a letter that no character has sent, with new coins; `postage.price` is not taken.

        `NOT_TO_THIS_PLAYER`: the same letter lies in the mailbox already.
        """
        same = self._after(
            "SELECT 1 FROM world_mail WHERE recipient_id = ? AND sender_id IS NULL AND sender = ?"
            " AND subject = ? AND body = ?",
            (letter.recipient_id, letter.sender, letter.subject, letter.body),
        )
        refusal = self._refusal(letter, postage)
        if refusal is not None:
            return refusal
        if [*same]:
            return SendResult.NOT_TO_THIS_PLAYER
        letter_id = self._put(letter, None, moment, moment + postage.lasts)
        if letter.coins:
            part = Part(Owner(OwnerKind.SCRIPT), Owner.letter(letter_id), letter.coins)
            self._move(request, Reason.SENT, [part], moment)
        return SendResult.SENT

    @changes
    def bring(self, letter: NewLetter, sent: Moment, expires: Moment, moment: Moment) -> None:
        """Store a letter of another server with the coins in it; nobody here has sent it."""
        letter_id = self._put(letter, None, sent, expires)
        if letter.coins:
            part = Part(Owner(OwnerKind.IMPORT), Owner.letter(letter_id), letter.coins)
            self._move(f"import-letter-{letter_id}", Reason.IMPORTED, [part], moment)

    @changes
    def open(
        self, _account_id: int, char_id: int, postage: Postage, moment: Moment
    ) -> CharacterMailbox:
        """Settle what is late, and return the mailbox of a character.

        `_account_id` is the character's account, whose cached rows have the old coins.
        """
        owner = Owner.character(char_id)
        self._movements.lock([owner])
        self._send_back(char_id, postage, moment)
        # Read together with what is late: mostly nothing is.
        late = self._after(
            # A thing that came back waits until its owner takes it.
            f"SELECT id, coins, is_returned FROM world_mail WHERE recipient_id = :own AND {LATE}"  # noqa: S608
            f" AND NOT (is_returned AND {HAS_THING}) ORDER BY id",
            {"own": char_id, "moment": moment},
        )
        letters, balance = self._asked_letters(char_id, postage), self._asked_balance(char_id)
        if removed := [*late]:
            self._settle(owner, removed, moment)
            letters, balance = self._asked_letters(char_id, postage), self._asked_balance(char_id)
        return CharacterMailbox(
            tuple(_letter(row) for row in letters),
            self._read_balance(balance) or Balance(char_id, 0, 0),
        )

    @reads
    def waiting(self, char_id: int, moment: Moment) -> int:
        """Return how many unread letters a character has, or would have after it opened its box."""
        found = self._run(
            "SELECT count(*) FROM world_mail"  # noqa: S608  # our own
            " WHERE (recipient_id = :own AND NOT is_read AND expires > :moment)"
            f" OR (sender_id = :own AND NOT is_returned AND {IS_FULL} AND expires <= :moment)",
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
    def take_coins(
        self, _account_id: int, char_id: int, letter_id: int, moment: Moment, request: str
    ) -> Taken | Letter | None:
        """Move the coins of a letter to the character; return None if there is no such letter.

        A letter with a thing stays as it is and is returned: `take_things` empties it.
        `_account_id` is the character's account, whose cached rows have the old coins.
        """
        owner, letter = Owner.character(char_id), Owner.letter(letter_id)
        before = self._after(
            "SELECT amount FROM world_ledger WHERE request = ? AND giver = ?",
            (request, OwnerKind.LETTER),
        )
        balance = self._asked_balance(char_id)
        row = self._row(char_id, letter_id)
        taken, balance_then = [amount for (amount,) in before], self._read_balance(balance)
        if row is None or balance_then is None:
            return None
        if row["number"] is not None and not taken:
            return _letter(row)
        if taken or not row["coins"]:
            return Taken(sum(taken), balance_then)
        # Another node may have emptied the letter since it was read: then this has no effect.
        moved = self._move(
            request, Reason.TAKEN, [Part(letter, owner, row["coins"])], moment, must=False
        )
        return Taken(row["coins"] if moved.is_done else 0, moved.balance(char_id) or balance_then)

    @changes
    def take_things(
        self, _account_id: int, char_id: int, letter_id: int, moment: Moment, movement: Movement
    ) -> Moved:
        """Carry out the movement that empties a letter with a thing, if it is still there.

        `_account_id` is the character's account, whose cached rows have the old coins.
        """
        self._movements.lock([Owner.character(char_id), Owner.letter(letter_id)])
        known = self._run(
            "SELECT 1 FROM world_ledger WHERE request = ? LIMIT 1", (movement.request,)
        ).fetchone()
        row = self._row(char_id, letter_id)
        if known is None and (row is None or row["number"] is None):
            return Moved(Outcome.TOO_FEW)
        return self._movements.send(movement, moment).read()

    @changes
    def delete(self, char_id: int, letter_id: int) -> bool:
        """Remove a letter without coins and things; return whether there was one."""
        condition = f"recipient_id = ? AND id = ? AND NOT {IS_FULL}"
        return self._deleted(condition, (char_id, letter_id)) > 0

    @changes
    def clear(self, char_id: int) -> int:
        """Remove all read letters without coins and things; return their number."""
        return self._deleted(f"recipient_id = ? AND is_read AND NOT {IS_FULL}", (char_id,))

    @changes
    def give_back(
        self, char_id: int, letter_id: int, postage: Postage, moment: Moment
    ) -> int | None:
        """Return a letter to its sender; return the sender's id, None if it cannot go back."""
        self._movements.lock([Owner.character(char_id)])
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

    def _put(self, letter: NewLetter, sender_id: int | None, moment: Moment, expires: float) -> int:
        """Store a letter without its coins, which the ledger moves; return its id."""
        return self._insert(
            "world_mail",
            {
                "recipient_id": letter.recipient_id,
                "sender_id": sender_id,
                "sender_account": letter.account_id,
                "sender": letter.sender,
                "subject": letter.subject,
                "body": letter.body,
                "coins": 0,
                "sent": moment,
                "expires": expires,
            },
        )

    def _refusal(self, letter: NewLetter, postage: Postage) -> SendResult | None:
        count = "SELECT count(*) FROM world_mail WHERE recipient_id = :to"
        known, held, of_one = self._run(
            "SELECT (SELECT count(*) FROM world_characters WHERE id = :to AND NOT deleted),"  # noqa: S608
            f" ({count}), ({count} AND sender_account = :account)",
            {"to": letter.recipient_id, "account": letter.account_id},
        ).fetchone()
        if not known:
            return SendResult.NO_SUCH_PLAYER
        if held >= postage.most or of_one >= postage.most_of_one:
            return SendResult.MAILBOX_FULL
        return None

    def _send_back(self, char_id: int, postage: Postage, moment: Moment) -> None:
        """Return late letters with coins or things to their senders."""
        values = {"own": char_id, "moment": moment}
        mine = "(recipient_id = :own OR sender_id = :own)"
        sender_lives = "sender_id IN (SELECT id FROM world_characters WHERE NOT deleted)"
        self._return(
            f"{mine} AND ({LATE} OR {LOST}) AND NOT is_returned AND {IS_FULL} AND {sender_lives}",
            values, postage, moment,
        )  # fmt: skip

    def _settle(self, owner: Owner, late: Sequence[Any], moment: Moment) -> None:
        """Remove late letters; the coins of those that were returned go to their owner.

        The coins of the other ones can go to nobody.
        """
        for letter_id, coins, is_returned in late:
            if coins and is_returned:
                # By the letter's own identity: another node may settle the same one at this time.
                part = Part(Owner.letter(letter_id), owner, coins)
                self._move(f"settled-{letter_id}", Reason.RETURNED, [part], moment, must=False)
        chosen, ids = self._among("id", [letter_id for letter_id, *_ in late])
        self._movements.add_expired(chosen, (ids,))
        self._run(f"DELETE FROM world_mail WHERE {chosen}", (ids,))  # noqa: S608

    def _move(
        self,
        request: str,
        reason: Reason,
        parts: Sequence[Part],
        moment: Moment,
        *,
        must: bool = True,
    ) -> Moved:
        """Carry out a movement in the open transaction; undo all of that if it `must` be done."""
        return self._carry_out(Movement(request, reason, tuple(parts)), moment, must=must)

    def _carry_out(self, movement: Movement, moment: Moment, *, must: bool = True) -> Moved:
        """Carry out a movement, as `_move`."""
        moved = self._movements.send(movement, moment).read()
        if must and not moved.is_done:
            raise OutOfDate("a character or its coins have gone")
        return moved

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
            f"SELECT {COLUMNS} FROM {WITH_THING} WHERE recipient_id = ? AND id = ?",  # noqa: S608
            (char_id, letter_id),
        ).fetchone()

    def _deleted(self, condition: str, values: tuple[int, ...]) -> int:
        return self._run(f"DELETE FROM world_mail WHERE {condition}", values).rowcount  # noqa: S608

    def _asked_letters(self, char_id: int, postage: Postage) -> Iterable[Any]:
        return self._after(
            f"SELECT {COLUMNS} FROM {WITH_THING} WHERE recipient_id = ?"  # noqa: S608  # our own
            " ORDER BY sent DESC, id DESC LIMIT ?",
            (char_id, postage.most),
        )

    def _asked_balance(self, char_id: int) -> Iterable[Any]:
        return self._after(
            "SELECT id, coins, ledger_revision FROM world_characters WHERE id = ? AND NOT deleted",
            (char_id,),
        )

    @staticmethod
    def _read_balance(rows: Iterable[Any]) -> Balance | None:
        return next((Balance(*row) for row in rows), None)


def _letter(row: Any) -> Letter:
    values = {name: row[name] for name in _LETTER}
    truths = {name: bool(values[name]) for name in ("is_read", "is_returned")}
    thing = thing_of(row) if row["number"] is not None else None
    return Letter(**values | truths, thing=thing)


def _addressed(parcel: Movement, letter_id: int, parts: Sequence[Part]) -> Movement:
    """Return the movement of a thing with the number of its letter, and with further parts."""
    nowhere, letter = Owner.letter(0), Owner.letter(letter_id)
    moved = [one._replace(taker=letter) if one.taker == nowhere else one for one in parcel.parts]
    changes = [
        replace(one, keeper=letter) if one.keeper == nowhere else one for one in parcel.things
    ]
    return replace(parcel, parts=(*parts, *moved), things=tuple(changes))
