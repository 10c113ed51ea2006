"""Memories of the behaviors of spawns and zones, in the built-in world's database."""

from __future__ import annotations

from collections.abc import Sequence

from emu.model import SpawnMemory
from emu.store.repository import Repository, changes, reads
from emu.times import Moment


class SpawnMemories(Repository):
    """Memories by zone, by the key of a spawn in it, and by character."""

    __slots__ = ()

    @reads
    def of_zone(self, zone_id: int, first: int, most: int) -> Sequence[SpawnMemory]:
        """Return `most` memories of a zone's spawns from the row `first` on.

        The longest unchanged ones come first.
        """
        rows = self._run(
            # coalesce: the column is NULL for a spawn's own memory, so that its foreign key accepts
            # it.
            "SELECT zone_id, spawn, coalesce(character_id, 0), entries, changed"
            " FROM spawn_memories WHERE zone_id = ?"
            " ORDER BY changed, spawn, coalesce(character_id, 0) LIMIT ? OFFSET ?",
            (zone_id, most, first),
        )
        return [SpawnMemory(*row) for row in rows]

    @changes
    def save_memories(self, memories: Sequence[SpawnMemory]) -> None:
        """Store memories, all of them or none; one without entries is removed.

        The memory of a character that no longer exists is not stored.
        """
        for one in memories:
            key = (one.zone_id, one.spawn, one.char_id)
            # No row and an empty memory mean the same, so empty ones take no space.
            if not one.entries:
                self._run(
                    "DELETE FROM spawn_memories"
                    " WHERE zone_id = ? AND spawn = ? AND coalesce(character_id, 0) = ?",
                    key,
                )
                continue
            self._run(
                # One statement checks and stores: the character cannot be removed in between.
                "INSERT INTO spawn_memories (zone_id, spawn, character_id, entries, changed)"
                " SELECT ?, ?, nullif(?, 0), ?, ?"
                " WHERE ? = 0 OR EXISTS (SELECT 1 FROM world_characters WHERE id = ?)"
                " ON CONFLICT (zone_id, spawn, coalesce(character_id, 0))"
                " DO UPDATE SET entries = excluded.entries, changed = excluded.changed",
                (*key, one.entries, one.changed, one.char_id, one.char_id),
            )

    @reads
    def spawns(self) -> Sequence[tuple[int, str, Moment | None]]:
        """Return zone and key of each spawn with memories, and what `mark_removed` has set."""
        rows = self._run(
            "SELECT zone_id, spawn, min(removed) FROM spawn_memories GROUP BY zone_id, spawn"
        )
        return [tuple(row) for row in rows]

    @changes
    def mark_removed(self, zone_id: int, spawn: str, moment: Moment | None) -> None:
        """Record since when a spawn is missing in the zone files; None if it is in them."""
        self._run(
            "UPDATE spawn_memories SET removed = ? WHERE zone_id = ? AND spawn = ?",
            (moment, zone_id, spawn),
        )

    @changes
    def forget(self, zone_id: int, spawn: str) -> None:
        """Remove all memories of a spawn."""
        self._run("DELETE FROM spawn_memories WHERE zone_id = ? AND spawn = ?", (zone_id, spawn))
