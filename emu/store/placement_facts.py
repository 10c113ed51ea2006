"""Stored facts of placements, by zone and instance, in the built-in world's database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from emu.facts import PlacementFact, ValueChecker, facts_of
from emu.store.repository import Repository, changes, reads
from emu.times import Moment

KEY: Final = ("zone_id", "instance", "placement_id")
Fact = TypeVar("Fact", bound=PlacementFact)


def _columns(kind: type[PlacementFact]) -> tuple[str, ...]:
    """Return the columns of the declared facts."""
    return tuple(fact.column for fact in facts_of(kind) if fact.column is not None)


class PlacementFacts(Repository):
    """Rows of every table that a `PlacementFact` declares."""

    __slots__ = ()

    @reads
    def of_zone(
        self, kind: type[Fact], zone_id: int, instance: int, moment: Moment
    ) -> Sequence[Fact]:
        """Return the rows of an instance of a zone that count at a moment, by placement.

        An unusable value is replaced and reported.
        """
        ends = f" AND ({kind.ends} IS NULL OR {kind.ends} > ?)" if kind.ends else ""
        rows = self._run(
            f"SELECT {', '.join((*KEY, *_columns(kind)))} FROM {kind.table}"  # noqa: S608
            f" WHERE zone_id = ? AND instance = ?{ends} ORDER BY placement_id",
            (zone_id, instance, moment) if ends else (zone_id, instance),
        )
        return [self._made(kind, row) for row in rows]

    def _made(self, kind: type[Fact], row: Sequence[Any]) -> Fact:
        check = ValueChecker()
        declared = [fact for fact in facts_of(kind) if fact.column is not None]
        facts = {
            fact.name: fact.value.usable(value, check, row[2])
            for fact, value in zip(declared, row[len(KEY) :], strict=True)
        }
        for problem in check.problems:
            self.database.warn(f"{kind.table} of placement {row[2]} in zone {row[0]}: {problem}")
        return kind(*row[: len(KEY)], **facts)

    @changes
    def save(
        self, kind: type[PlacementFact], rows: Sequence[PlacementFact], moment: Moment
    ) -> None:
        """Store rows of one kind, and remove those that are not stored; all of it or nothing.

        Rows that have ended by now are removed from all zones.
        """
        table, columns = kind.table, _columns(kind)
        if kind.ends:
            self._run(f"DELETE FROM {table} WHERE {kind.ends} <= ?", (moment,))  # noqa: S608
        self._run_many(
            f"DELETE FROM {table} WHERE zone_id = ? AND instance = ? AND placement_id = ?",  # noqa: S608
            [one.key for one in rows if not one.is_stored],
        )
        self._upsert_many(
            table, (*KEY, *columns), KEY,
            [
                (*one.key, *(getattr(one, name) for name in columns))
                for one in rows if one.is_stored
            ],
        )  # fmt: skip

    @changes
    def forget(self, kind: type[PlacementFact], zone_id: int, instance: int) -> None:
        """Remove all rows of an instance of a zone: it begins anew."""
        self._run(
            f"DELETE FROM {kind.table} WHERE zone_id = ? AND instance = ?",  # noqa: S608
            (zone_id, instance),
        )
