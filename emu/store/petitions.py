"""Petitions and reports of the built-in world's players, and the operators' answers."""

from __future__ import annotations

from typing import Any, Final

from emu.correspondence import NewPetition, Petition, PetitionKind, PetitionLimits
from emu.errors import CommandError
from emu.store.repository import Repository, changes, reads
from emu.times import DAY, Moment

KEPT: Final = 90 * DAY
"""Seconds that a closed petition is kept."""
COLUMNS: Final = (
    "id, account_id, coalesce(character_id, 0) AS char_id, player, kind, text, place, opened,"
    " answer, operator, answered, closed"
)


class PetitionRepository(Repository):
    """The petitions of all players."""

    __slots__ = ()

    @changes
    def open(self, petition: NewPetition, limits: PetitionLimits, moment: Moment) -> int:
        """Store a petition and return its number. Raises `CommandError` above a limit."""
        self._run("DELETE FROM world_petitions WHERE closed <= ?", (moment - KEPT,))
        own = (petition.account_id,)
        if self._count("closed IS NULL AND account_id = ?", own) >= limits.open_of_one:
            raise CommandError("you have too many open petitions; cancel one of them first")
        if self._count("account_id = ? AND opened > ?", (*own, moment - DAY)) >= limits.daily:
            raise CommandError("you have written often enough for today")
        if self._count("closed IS NULL", ()) >= limits.most_open:
            raise CommandError("the operators have too many open petitions; try again later")
        return self._insert(
            "world_petitions",
            {
                "account_id": petition.account_id,
                "character_id": petition.char_id,
                "player": petition.player,
                "kind": petition.kind.value,
                "text": petition.text,
                "place": petition.place,
                "opened": moment,
            },
        )

    @reads
    def find(self, petition_id: int) -> Petition | None:
        """Return a petition by its number."""
        row = self._row(petition_id)
        return _petition(row) if row is not None else None

    @reads
    def every(self, *, is_open: bool, most: int) -> list[Petition]:
        """Return open petitions, the oldest first, or closed ones, the newest first."""
        chosen = "closed IS NULL ORDER BY id" if is_open else "closed IS NOT NULL ORDER BY id DESC"
        rows = self._run(
            f"SELECT {COLUMNS} FROM world_petitions WHERE {chosen} LIMIT ?",  # noqa: S608
            (most,),
        )
        return [_petition(row) for row in rows]

    @reads
    def of_account(self, account_id: int, most: int) -> list[Petition]:
        """Return the newest petitions of an account."""
        rows = self._run(
            f"SELECT {COLUMNS} FROM world_petitions WHERE account_id = ?"  # noqa: S608
            " ORDER BY id DESC LIMIT ?",
            (account_id, most),
        )
        return [_petition(row) for row in rows]

    @reads
    def unseen(self, char_id: int) -> list[Petition]:
        """Return the petitions of a character with an answer that it has not seen."""
        rows = self._run(
            f"SELECT {COLUMNS} FROM world_petitions"  # noqa: S608  # our own names
            " WHERE character_id = ? AND NOT is_seen ORDER BY id",
            (char_id,),
        )
        return [_petition(row) for row in rows]

    @changes
    def answer(self, petition_id: int, text: str, operator: str, moment: Moment) -> Petition | None:
        """Store an answer, which replaces an earlier one; None if there is no such petition."""
        if self._row(petition_id) is None:
            return None
        self._set(
            "world_petitions", petition_id,
            answer=text, operator=operator, answered=moment, is_seen=False,
        )  # fmt: skip
        return self.find(petition_id)

    @changes
    def close(self, petition_id: int, operator: str, moment: Moment) -> Petition | None:
        """Close a petition; return None if there is no such open one."""
        row = self._row(petition_id)
        if row is None or row["closed"] is not None:
            return None
        self._set("world_petitions", petition_id, operator=operator, closed=moment)
        return self.find(petition_id)

    @changes
    def cancel(self, account_id: int, petition_id: int, moment: Moment) -> Petition | None:
        """Close a player's own petition; return None if the account has no such open one."""
        row = self._row(petition_id)
        if row is None or row["account_id"] != account_id:
            return None
        return self.close(petition_id, "", moment)

    @changes
    def seen(self, char_id: int) -> None:
        """Record that a character has seen all answers."""
        self._run(
            "UPDATE world_petitions SET is_seen = TRUE WHERE character_id = ? AND NOT is_seen",
            (char_id,),
        )

    def _count(self, condition: str, values: tuple[float, ...]) -> int:
        sql = f"SELECT count(*) FROM world_petitions WHERE {condition}"  # noqa: S608  # our own
        return int(self._run(sql, values).fetchone()[0])

    def _row(self, petition_id: int) -> Any:
        return self._run(
            f"SELECT {COLUMNS} FROM world_petitions WHERE id = ?",  # noqa: S608  # our own names
            (petition_id,),
        ).fetchone()


def _petition(row: Any) -> Petition:
    values = dict(row)
    return Petition(**values | {"kind": PetitionKind(values["kind"])})
