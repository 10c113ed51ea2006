"""World keys in the database, where every process of a world can redeem them.

The time of the database decides when a key ends: the clocks of machines differ, and a wrong one
must neither refuse nor remove the keys of others.

Source: docs/protocol/world/entering.md#one-place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final, Protocol

from emu.errors import LimitExceeded
from emu.model import EntryOrigin, Handoff, WorldCharacter
from emu.processes.claiming import UsedKey
from emu.store.repository import Repository, asks, change, changes_ahead, reads
from emu.store.things import Things

_USED: Final = -1.0
"""The end of a key that the open transaction uses."""
NOW: Final = "clock()"
"""What stands for the time of the database in the statements here."""
_TRIES: Final = 10
"""Keys that are drawn at most: of 10,000 keys in use, one of ten drawn ones is certainly free."""


class OwnedRows(Protocol):
    """The characters of accounts; `emu.store.world_characters.WorldCharacters` implements it."""

    def rows_of_account(self, account_id: int) -> Iterable[Any]:
        """Return the rows of an account's characters, to be read after a transaction."""

    def made(self, rows: Iterable[Any]) -> Sequence[WorldCharacter]:
        """Return the characters of rows."""


class HandoffRepository(Repository):
    """Unused world keys; one that has ended counts as removed."""

    __slots__ = ()

    def issue(
        self,
        handoff: Handoff,
        draw: Callable[[], int],
        lifetime: float,
        most: int,
        *,
        is_only: bool = False,
    ) -> int:
        """Store a new key, which works for `lifetime` seconds.

        It replaces one of the same character, or with `is_only` all of the account. `draw` returns
        a random u32 that players cannot predict. Raises `LimitExceeded` when `most` keys are
        unused.
        """
        for _ in range(_TRIES):
            # 0 means "no key" in the messages, so it is never stored.
            key = 0
            while not key:
                key = draw() & 0xFFFFFFFF
            is_stored, count = self._insert_key(key, handoff, lifetime, most, is_only=is_only)
            if is_stored:
                return key
            if count >= most:
                break
        raise LimitExceeded("too many hand-off keys")

    @changes_ahead
    def _insert_key(
        self, key: int, handoff: Handoff, lifetime: float, most: int, *, is_only: bool
    ) -> Generator[None, None, tuple[bool, int]]:
        """Store a key unless it is in use; return whether it is stored, and how many there are."""
        owner = "account_id = ?" if is_only else "account_id = ? AND character_id = ?"
        account = (handoff.account_id,)
        self._timed(
            f"DELETE FROM handoff_keys WHERE ends <= clock() OR ({owner})",  # noqa: S608  # our own
            account if is_only else (*account, handoff.char_id),
        )
        stored = self.database.after(
            self._timed(
                "INSERT INTO handoff_keys (key, account_id, character_id, name, rank, entry, ends)"
                " SELECT ?, ?, ?, ?, ?, ?, clock() + ?"
                " WHERE (SELECT count(*) FROM handoff_keys) < ?"
                " ON CONFLICT DO NOTHING RETURNING key",
                (
                    key, handoff.account_id, handoff.char_id, handoff.name, handoff.rank,
                    int(handoff.entry), lifetime, most,
                ),
            )
        )  # fmt: skip
        counted = self._after("SELECT count(*) FROM handoff_keys")
        yield
        ((count,),) = counted
        return bool(list(stored)), int(count)

    @change
    def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Remove a key and return what it admits; None if it is not valid for this account."""
        # One statement, so that of two processes only one can use the key.
        row = self._timed(
            "DELETE FROM handoff_keys WHERE key = ? AND account_id = ? AND ends > clock()"
            " RETURNING account_id, character_id, name, rank, entry",
            (key, account_id),
        ).fetchone()
        return None if row is None else Handoff(*row)

    @changes_ahead
    def redeem_claiming(
        self, account_id: int, key: int, holder: str, characters: OwnedRows
    ) -> Generator[None, None, UsedKey]:
        """Do what `redeem` does, and make a process the holder of the key's character.

        Returns the account's characters and the things, too; nothing without a valid key. The
        character's term is one greater, as `WorldCharacters.claim` says.
        """
        things = Things(self.database)
        used = (key, account_id, _USED)
        # Marked before it is removed: a second process that uses the key at the same time waits
        # for this row, finds it gone, and then changes no character.
        taken = self.database.after(
            self._timed(
                "UPDATE handoff_keys SET ends = ? WHERE key = ? AND account_id = ?"
                " AND ends > clock() RETURNING account_id, character_id, name, rank, entry",
                (_USED, key, account_id),
            )
        )
        of_key = (
            "SELECT character_id FROM handoff_keys WHERE key = ? AND account_id = ? AND ends = ?"
        )
        self._run(
            "UPDATE world_characters SET holder = ?, term = term + 1"  # noqa: S608  # our own
            f" WHERE account_id = ? AND NOT deleted AND id = ({of_key})",
            (holder, account_id, *used),
        )
        # After the claim, which waits for the movements of the earlier holder and ends its term:
        # what is read now stays so until the new holder changes it.
        held = things.rows_of_entering(account_id, of_key, used)
        self._run("DELETE FROM handoff_keys WHERE key = ? AND account_id = ? AND ends = ?", used)
        rows = characters.rows_of_account(account_id)
        yield
        handoff = next((Handoff(*row) for row in taken), None)
        if handoff is None:
            return UsedKey(None)
        return UsedKey(handoff, characters.made(rows), things.made(held))

    @change
    def withdraw(self, char_id: int) -> None:
        """Remove the keys of a character."""
        self._run("DELETE FROM handoff_keys WHERE character_id = ?", (char_id,))

    @change
    def withdraw_account(self, account_id: int) -> None:
        """Remove the keys of an account."""
        self._run("DELETE FROM handoff_keys WHERE account_id = ?", (account_id,))

    @change
    def withdraw_entries(self, below: int) -> None:
        """Remove the keys of characters of a rank below `below` that are not in the world."""
        self._run(
            "DELETE FROM handoff_keys WHERE rank < ? AND entry = ?", (below, int(EntryOrigin.LOGIN))
        )

    @reads
    def held_by_others(self, account_id: int) -> int:
        """Return how many valid keys belong to other accounts."""
        return int(self._count_of_others(account_id).fetchone()[0])

    @asks
    def with_characters(
        self, account_id: int, characters: OwnedRows
    ) -> Generator[None, None, tuple[Sequence[WorldCharacter], int]]:
        """Return an account's characters, and what `held_by_others` does."""
        rows = characters.rows_of_account(account_id)
        counted = self.database.after(self._count_of_others(account_id))
        yield
        ((count,),) = counted
        return characters.made(rows), int(count)

    def _count_of_others(self, account_id: int) -> Any:
        return self._timed(
            "SELECT count(*) FROM handoff_keys WHERE account_id <> ? AND ends > clock()",
            (account_id,),
        )

    def _timed(self, sql: str, values: Any = ()) -> Any:
        """Carry out a statement that uses the time of the database."""
        return self._run(sql.replace(NOW, self.database.dialect.clock), values)
