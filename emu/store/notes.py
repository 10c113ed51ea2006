"""Notes of operators about accounts, bounded in number for each account."""

from __future__ import annotations

from typing import Any, Final

from emu.audit import MOST_NOTES, OperatorNote
from emu.errors import CommandError
from emu.store.repository import Repository, changes, reads
from emu.times import Moment

COLUMNS: Final = "id, account_id, moment, who, text"


class OperatorNotes(Repository):
    """The notes about all accounts."""

    __slots__ = ()

    @changes
    def add_note(self, note: OperatorNote) -> int:
        """Store a note and return its number. Raises `CommandError` above the limit."""
        sql = "SELECT count(*) FROM operator_notes WHERE account_id = ?"
        if self._run(sql, (note.account_id,)).fetchone()[0] >= MOST_NOTES:
            raise CommandError(f"an account has {MOST_NOTES} notes at most; remove some first")
        values = {key: value for key, value in note._asdict().items() if key != "id"}
        return self._insert("operator_notes", values)

    @reads
    def of_account(self, account_id: int) -> list[OperatorNote]:
        """Return the notes about an account, the newest first."""
        rows = self._run(
            f"SELECT {COLUMNS} FROM operator_notes WHERE account_id = ? ORDER BY id DESC",  # noqa: S608
            (account_id,),
        )
        return [_note(row) for row in rows]

    @changes
    def remove(self, note_id: int) -> OperatorNote | None:
        """Remove a note and return it; None if there is none."""
        row = self._run(
            f"SELECT {COLUMNS} FROM operator_notes WHERE id = ?",  # noqa: S608  # our own names
            (note_id,),
        ).fetchone()
        if row is None:
            return None
        self._run("DELETE FROM operator_notes WHERE id = ?", (note_id,))
        return _note(row)


def _note(row: Any) -> OperatorNote:
    return OperatorNote(
        row["account_id"], Moment(row["moment"]), row["who"], row["text"], row["id"]
    )
