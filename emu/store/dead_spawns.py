"""Dead spawns of the content file's zones, in the built-in world's database."""

from __future__ import annotations

from collections.abc import Sequence

from emu.processes.ports import DeadSpawn
from emu.store.repository import Repository, changes, reads
from emu.times import Moment


class DeadSpawns(Repository):
    """Placements at which something died, by zone and instance."""

    __slots__ = ()

    @reads
    def of_zone(self, zone_id: int, instance: int, moment: Moment) -> Sequence[DeadSpawn]:
        """Return what is dead in an instance of a zone and has not returned by now."""
        rows = self._run(
            "SELECT zone_id, instance, placement_id, returns FROM dead_spawns"
            " WHERE zone_id = ? AND instance = ? AND (returns IS NULL OR returns > ?)"
            " ORDER BY placement_id",
            (zone_id, instance, moment),
        )
        return [DeadSpawn(*row) for row in rows]

    @changes
    def save_dead(self, spawns: Sequence[DeadSpawn], moment: Moment) -> None:
        """Store what died, and remove what stands again; all of it or nothing.

        What has returned in the meantime is removed from all zones: it needs no rows.
        """
        key = ("zone_id", "instance", "placement_id")
        self._run("DELETE FROM dead_spawns WHERE returns <= ?", (moment,))
        self._run_many(
            "DELETE FROM dead_spawns WHERE zone_id = ? AND instance = ? AND placement_id = ?",
            [one.key for one in spawns if not one.is_dead],
        )
        self._upsert_many(
            "dead_spawns", (*key, "returns"), key,
            [(*one.key, one.returns) for one in spawns if one.is_dead],
        )  # fmt: skip

    @changes
    def forget(self, zone_id: int, instance: int) -> None:
        """Remove what is dead in an instance of a zone: it begins anew."""
        self._run("DELETE FROM dead_spawns WHERE zone_id = ? AND instance = ?", (zone_id, instance))
