"""World keys in the database, where every process of a world can redeem them.

Source: docs/protocol/world/entering.md#one-place.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.errors import LimitExceeded
from emu.model import EntryOrigin, Handoff
from emu.store.repository import Repository, changes, reads
from emu.times import Moment


class HandoffRepository(Repository):
    """Unused world keys; one that has ended counts as removed."""

    __slots__ = ()

    @changes
    def issue(
        self, handoff: Handoff, draw: Callable[[], int], moment: Moment, ends: Moment, most: int
    ) -> int:
        """Store a new key, which works until `ends`; it replaces one of the same character.

        `draw` returns a random u32 that players cannot predict. Raises `LimitExceeded` when `most`
        keys are unused.
        """
        self._run("DELETE FROM handoff_keys WHERE ends <= ?", (moment,))
        self._run(
            "DELETE FROM handoff_keys WHERE account_id = ? AND character_id = ?",
            (handoff.account_id, handoff.char_id),
        )
        if self._run("SELECT count(*) FROM handoff_keys").fetchone()[0] >= most:
            raise LimitExceeded("too many hand-off keys")
        key = 0
        # 0 means "no key" in the messages, so it is never stored.
        while not key or self._is_used(key):
            key = draw() & 0xFFFFFFFF
        self._run(
            "INSERT INTO handoff_keys (key, account_id, character_id, name, rank, entry, ends)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                key, handoff.account_id, handoff.char_id, handoff.name, handoff.rank,
                int(handoff.entry), ends,
            ),
        )  # fmt: skip
        return key

    @changes
    def redeem(self, account_id: int, key: int, moment: Moment) -> Handoff | None:
        """Remove a key and return what it admits; None if it is not valid for this account."""
        # One statement, so that of two processes only one can use the key.
        row = self._run(
            "DELETE FROM handoff_keys WHERE key = ? AND account_id = ? AND ends > ?"
            " RETURNING account_id, character_id, name, rank, entry",
            (key, account_id, moment),
        ).fetchone()
        return None if row is None else Handoff(*row)

    @changes
    def withdraw(self, char_id: int) -> None:
        """Remove the keys of a character."""
        self._run("DELETE FROM handoff_keys WHERE character_id = ?", (char_id,))

    @changes
    def withdraw_account(self, account_id: int) -> None:
        """Remove the keys of an account."""
        self._run("DELETE FROM handoff_keys WHERE account_id = ?", (account_id,))

    @changes
    def withdraw_entries(self, below: int) -> None:
        """Remove the keys of characters of a rank below `below` that are not in the world."""
        self._run(
            "DELETE FROM handoff_keys WHERE rank < ? AND entry = ?", (below, int(EntryOrigin.LOGIN))
        )

    @reads
    def held_by_others(self, account_id: int, moment: Moment) -> int:
        """Return how many valid keys belong to other accounts."""
        row = self._run(
            "SELECT count(*) FROM handoff_keys WHERE account_id <> ? AND ends > ?",
            (account_id, moment),
        ).fetchone()
        return int(row[0])

    def _is_used(self, key: int) -> bool:
        return self._run("SELECT 1 FROM handoff_keys WHERE key = ?", (key,)).fetchone() is not None
