"""Rows of the built-in world's own characters."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import replace
from typing import Any

from emu.database import Database
from emu.errors import DuplicateName
from emu.model import Place, WorldCharacter
from emu.store.looks import LooksTables
from emu.store.names import name_key
from emu.store.repository import Repository, changes, reads, views
from emu.store.world.belongings import Belongings
from emu.times import Moment

FIELDS = {
    name: name.rstrip("_")
    for name in (
        "account_id", "name", "race", "class_", "gender", "deity", "level", "starting_zone",
        "zone_id", "client_version", "created", "last_played", "admin_status", "deleted",
        "muted_until", "prefix", "suffix",
    )
}  # fmt: skip
"""Field of `WorldCharacter` -> column."""


class WorldCharacters(Repository):
    """The built-in world's own characters."""

    __slots__ = ("_belongings", "_looks", "keep_deleted")

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """`keep_deleted` is how many seconds a deleted character stays.

        It is looked at when a character is added.
        """
        super().__init__(database)
        self._looks = LooksTables(database.connection, "world_character")
        self.keep_deleted = keep_deleted
        self._belongings = Belongings(database)

    @changes
    def create(self, character: WorldCharacter) -> WorldCharacter:
        """Store a character with its looks and return it with its id.

        Raises `DuplicateName` when the name is taken, without regard to case, deleted rows
        included.
        """
        if self.keep_deleted < math.inf:
            self._purge(character.created - self.keep_deleted)
        key = name_key(character.name)
        taken = self._run("SELECT 1 FROM world_characters WHERE name_key = ?", (key,))
        if taken.fetchone() is not None:
            raise DuplicateName(f"there is already a character {character.name!r}")
        row = {column: getattr(character, name) for name, column in FIELDS.items()}
        char_id = self._insert("world_characters", row | {"name_key": key})
        self._looks.put(char_id, character.appearance, character.colors)
        if character.place is not None:
            self.save_place(char_id, character.zone_id, character.place)
        return replace(character, id=char_id)

    @views
    def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""
        row = self._run(
            "SELECT * FROM world_characters WHERE id = ? AND NOT deleted", (char_id,)
        ).fetchone()
        return self._character(row) if row else None

    @views
    def of_account(self, account_id: int) -> list[WorldCharacter]:
        """Return an account's characters that are not deleted, oldest first."""
        rows = self._run(
            "SELECT * FROM world_characters WHERE account_id = ? AND NOT deleted ORDER BY id",
            (account_id,),
        ).fetchall()
        return [self._character(row) for row in rows]

    @reads
    def statuses_of(self, account_id: int) -> list[int]:
        """Return the `admin_status` of each of an account's characters that is not deleted."""
        rows = self._run(
            "SELECT admin_status FROM world_characters WHERE account_id = ? AND NOT deleted",
            (account_id,),
        )
        return [row["admin_status"] for row in rows]

    @changes
    def delete(self, account_id: int, char_id: int) -> bool:
        """Mark one deleted; True when that row was there and not deleted."""
        changed = self._run(
            "UPDATE world_characters SET deleted = 1"
            " WHERE id = ? AND account_id = ? AND NOT deleted",
            (char_id, account_id),
        )
        return changed.rowcount == 1

    @changes
    def played(self, char_id: int, moment: Moment) -> None:
        """Remember when a character was played last."""
        self._set("world_characters", char_id, last_played=moment)

    @views
    def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character that is not deleted by its name, without regard to case."""
        row = self._run(
            "SELECT * FROM world_characters WHERE name_key = ? AND NOT deleted", (name_key(name),)
        ).fetchone()
        return self._character(row) if row else None

    @changes
    def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""
        self._set("world_characters", char_id, admin_status=status)

    @changes
    def save_mute(self, char_id: int, until: Moment) -> None:
        """Remember until when a character may not speak."""
        self._set("world_characters", char_id, muted_until=until)

    @changes
    def save_place(self, char_id: int, zone_id: int, place: Place) -> None:
        """Remember where a character is: its zone, and the place there."""
        x, y, z, heading, grid = place
        where = {"zone_id": zone_id, "x": x, "y": y, "z": z, "heading": heading, "grid": grid}
        self._set("world_characters", char_id, **where)

    def _purge(self, before: float) -> None:
        """Remove characters deleted before a moment for good: their names are free."""
        self._run("DELETE FROM world_characters WHERE deleted AND deleted_at < ?", (before,))

    def _character(self, row: sqlite3.Row) -> WorldCharacter:
        appearance, colors = self._looks.of("= ?", (row["id"],))
        values: dict[str, Any] = {name: row[column] for name, column in FIELDS.items()}
        values["deleted"] = bool(values["deleted"])
        if row["x"] is not None:
            values["place"] = (row["x"], row["y"], row["z"], row["heading"], row["grid"])
        return WorldCharacter(
            id=row["id"],
            **values,
            **self._belongings.of(row["id"]),
            appearance=appearance[row["id"]],
            colors=colors[row["id"]],
        )
