"""Changes of the content file that were made in the game, in the built-in world's database."""

from __future__ import annotations

from collections.abc import Sequence

from emu.processes.ports import ContentEdit
from emu.store.repository import Repository, changes, reads

_KEY = ("subject", "number", "name")
_COLUMNS = (*_KEY, "value", "old", "author", "changed")


class ContentEdits(Repository):
    """One row for each changed column."""

    __slots__ = ()

    @reads
    def every(self) -> Sequence[ContentEdit]:
        """Return all edits, sorted by subject, number and column."""
        rows = self._run(
            "SELECT subject, number, name, value, old, author, changed FROM content_edits"
        )
        # Sorted here: each engine has its own order of letters.
        return sorted((ContentEdit(*row) for row in rows), key=lambda one: one.key)

    @changes
    def save_edits(self, edits: Sequence[ContentEdit]) -> None:
        """Store edits, all of them or none; the value of the content file stays the first one."""
        old = {one.key: one.old for one in self.every()}
        self._upsert_many(
            "content_edits", _COLUMNS, _KEY,
            [
                (*one.key, one.value, old.get(one.key, one.old), one.author, one.changed)
                for one in edits
            ],
        )  # fmt: skip

    @changes
    def remove(self, subject: str, number: int, name: str = "") -> int:
        """Remove the edits of a subject, or that of one column; return how many there were."""
        where, values = "subject = ? AND number = ?", [subject, number]
        if name:
            where, values = f"{where} AND name = ?", [*values, name]
        return int(self._run(f"DELETE FROM content_edits WHERE {where}", values).rowcount)  # noqa: S608
