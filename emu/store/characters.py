"""The login server's copy of every character, with appearance and equipment.

`AppearanceTables` also serves the world's characters, whose tables have the same columns.
"""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, NamedTuple

from emu.database import Database
from emu.model import Character, Color, Equipment
from emu.store.repository import Repository, changes, reads, views
from emu.usable import Problem, usable_character


class AppearanceTables:
    """The appearance and color tables of one kind of characters.

    Only repositories supply text for its statements, so nothing from outside gets into the SQL.
    """

    __slots__ = ("_connection", "_owner")

    def __init__(self, connection: sqlite3.Connection, owner: str) -> None:
        """`owner` is the prefix of the tables' names: ``character`` or ``world_character``."""
        self._connection = connection
        self._owner = owner

    def put(
        self, owner_id: int, appearance: Mapping[str, int | str], colors: Mapping[str, Color]
    ) -> None:
        """Store the appearance of a character that has none yet."""
        self._connection.executemany(
            f"INSERT INTO {self._owner}_appearance VALUES (?, ?, ?)",  # noqa: S608
            [(owner_id, name, value) for name, value in appearance.items()],
        )
        self._connection.executemany(
            f"INSERT INTO {self._owner}_colors VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            [(owner_id, name, *astuple(color)) for name, color in colors.items()],
        )

    def replace(
        self, owner_id: int, appearance: Mapping[str, int | str], colors: Mapping[str, Color]
    ) -> None:
        """Replace the appearance of a character."""
        # All rows go, because a field that the new appearance lacks must not stay.
        for table in ("appearance", "colors"):
            self._connection.execute(
                f"DELETE FROM {self._owner}_{table} WHERE character_id = ?",  # noqa: S608
                (owner_id,),
            )
        self.put(owner_id, appearance, colors)

    def of(
        self, chosen: str, values: Sequence[Any]
    ) -> tuple[Mapping[int, dict[str, Any]], Mapping[int, dict[str, Color]]]:
        """Return appearance and colors by character; `chosen` is the SQL after ``character_id``."""
        appearance: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        colors: defaultdict[int, dict[str, Color]] = defaultdict(dict)
        where = f"WHERE character_id {chosen}"
        for owner, name, value in self._connection.execute(
            f"SELECT character_id, field, value FROM {self._owner}_appearance {where}",  # noqa: S608
            values,
        ):
            appearance[owner][name] = value
        for owner, name, red, green, blue, signed in self._connection.execute(
            "SELECT character_id, field, red, green, blue, signed"  # noqa: S608
            f" FROM {self._owner}_colors {where}",
            values,
        ):
            colors[owner][name] = Color(red, green, blue, bool(signed))
        return appearance, colors


class UnusableListed(NamedTuple):
    """A listed character with usable values, and the problems of its stored ones."""

    character: Character
    problems: tuple[Problem, ...]


FIELDS = {
    name: name.rstrip("_")
    for name in (
        "account_id", "world_id", "char_id", "name", "race", "class_", "gender", "deity",
        "level", "tradeskill_class", "tradeskill_level", "zone_id", "zone_name",
        "zone_description", "created", "last_played", "client_version", "deleted",
    )
}  # fmt: skip
"""Field of `Character` -> column."""

CHANGEABLE = frozenset(
    ("level", "race", "class_", "gender", "name", "zone_id", "zone_name", "zone_description",
     "tradeskill_class", "tradeskill_level", "last_played")
)  # fmt: skip
"""Fields that a world may change; any other key is an appearance field."""


class CharacterRepository(Repository):
    """The login server's copy of every character."""

    __slots__ = ("_appearance", "keep_deleted")

    bad_text = "surrogateescape"  # and so no usable text: `emu.usable`

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """`keep_deleted` is how many seconds a deleted character is kept.

        Older ones are removed when a character is added.
        """
        super().__init__(database)
        self._appearance = AppearanceTables(database.connection, "character")
        self.keep_deleted = keep_deleted

    @views
    def of_account(self, account_id: int) -> list[Character]:
        """Return an account's characters that are not deleted, oldest first."""
        return self._load("account_id = ? AND NOT deleted", (account_id,))

    @views
    def get(self, row_id: int) -> Character | None:
        """Return a character by row id, deleted or not."""
        return next(iter(self._load("id = ?", (row_id,))), None)

    @reads
    def count_of_account(self, account_id: int) -> int:
        """Return the number of an account's characters that are not deleted."""
        return self._count("account_id = ?", account_id)

    @reads
    def count_of_world(self, world_id: int) -> int:
        """Return the number of a world's characters that are not deleted."""
        return self._count("world_id = ?", world_id)

    @changes
    def add(self, character: Character) -> Character:
        """Store a character with appearance and equipment; return it with its row id.

        An older row with the same world and char id is marked deleted: a world whose database was
        reset assigns ids again.
        """
        if self.keep_deleted < math.inf:
            self._purge(character.created - self.keep_deleted)
        # Imports also add deleted characters, which replace no present one.
        if not character.deleted:
            self._run(
                "UPDATE characters SET deleted = 1"
                " WHERE world_id = ? AND char_id = ? AND NOT deleted",
                (character.world_id, character.char_id),
            )
        row = {column: getattr(character, name) for name, column in FIELDS.items()}
        row_id = self._insert("characters", row)
        self._appearance.put(row_id, character.appearance, character.colors)
        self._put_equipment(row_id, character.equipment)
        return replace(character, id=row_id)

    @changes
    def delete(self, account_id: int, world_id: int, char_id: int, name: str) -> bool:
        """Mark a character deleted; return True if it existed and was not deleted."""
        changed = self._run(
            "UPDATE characters SET deleted = 1"
            " WHERE account_id = ? AND world_id = ? AND char_id = ? AND name = ? AND NOT deleted",
            (account_id, world_id, char_id, name),
        )
        return changed.rowcount == 1

    @changes
    def update(
        self,
        account_id: int,
        world_id: int,
        char_id: int,
        changes: Mapping[str, int | str | float],
    ) -> bool:
        """Change fields of a character; return True if it exists and is not deleted."""
        # A deleted row gets no updates: its number may belong to a new character of a reset world.
        row = self._run(
            "SELECT id FROM characters WHERE account_id = ? AND world_id = ? AND char_id = ?"
            " AND NOT deleted",
            (account_id, world_id, char_id),
        ).fetchone()
        if row is None:
            return False
        # A world may not change the owner, its own number, or whether a character is deleted.
        columns = {FIELDS[name]: value for name, value in changes.items() if name in CHANGEABLE}
        if columns:
            self._set("characters", row["id"], **columns)
        self._run_many(
            "INSERT OR REPLACE INTO character_appearance VALUES (?, ?, ?)",
            [(row["id"], name, value) for name, value in changes.items() if name not in CHANGEABLE],
        )
        return True

    @changes
    def move(self, row_id: int, world_id: int, fields: Mapping[str, Any]) -> None:
        """Move a character to another world, with its values there by field of `Character`."""
        columns = {FIELDS[name]: value for name, value in fields.items()}
        self._set("characters", row_id, world_id=world_id, **columns)

    @changes
    def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        """Store pairs of char id and equipment of one world; skip unknown characters."""
        # Number of a character -> its row, None for an unknown one.
        rows: dict[int, int | None] = {}
        for char_id, item in items:
            # One message has up to a hundred items, most of them of the same character.
            if char_id not in rows:
                row = self._run(
                    "SELECT id FROM characters WHERE world_id = ? AND char_id = ? AND NOT deleted",
                    (world_id, char_id),
                ).fetchone()
                rows[char_id] = row["id"] if row else None
            row_id = rows[char_id]
            if row_id is not None:
                self._put_equipment(row_id, [item])

    def _purge(self, before: float) -> None:
        """Remove rows permanently that were deleted before this time.

        Keep a row if the built-in world still has the character: the next start reconciles both.
        """
        self._run(
            "DELETE FROM characters WHERE deleted AND deleted_at < ? AND NOT EXISTS"
            " (SELECT 1 FROM world_characters AS own WHERE own.id = characters.char_id"
            " AND own.account_id = characters.account_id AND NOT own.deleted)",
            (before,),
        )

    def _put_equipment(self, row_id: int, items: Sequence[Equipment]) -> None:
        self._run_many(
            "INSERT OR REPLACE INTO character_equipment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(row_id, item.slot, item.model, *item.color, *item.highlight) for item in items],
        )

    def _count(self, condition: str, value: int) -> int:
        row = self._run(
            f"SELECT count(*) FROM characters WHERE {condition} AND NOT deleted",  # noqa: S608
            (value,),
        ).fetchone()
        return int(row[0])

    def _load(self, condition: str, values: tuple[Any, ...]) -> list[Character]:
        return [self._usable(row) for row in self._load_raw(condition, values)]

    def _load_raw(self, condition: str, values: tuple[Any, ...]) -> list[Character]:
        """Return characters with the values of their rows, usable or not."""
        rows = self._run(
            f"SELECT * FROM characters WHERE {condition} ORDER BY id",  # noqa: S608
            values,
        ).fetchall()
        if not rows:
            return []
        # Two queries for all characters together, not two for each: a list of twenty would be
        # forty.
        chosen = f"IN (SELECT id FROM characters WHERE {condition})"  # noqa: S608
        appearance, colors = self._appearance.of(chosen, values)
        worn: defaultdict[int, list[Equipment]] = defaultdict(list)
        for row in self._run(
            f"SELECT * FROM character_equipment WHERE character_id {chosen}",  # noqa: S608
            values,
        ):
            owner, slot, model, *parts = row
            red, green, blue, *highlight = parts
            worn[owner].append(
                Equipment(
                    slot, model, (red, green, blue), (highlight[0], highlight[1], highlight[2])
                )
            )
        return [
            _character(row, appearance[row["id"]], colors[row["id"]], tuple(worn[row["id"]]))
            for row in rows
        ]

    @views
    def unusable(self) -> list[UnusableListed]:
        """Return the characters with unusable values, without deleted ones."""
        found = (usable_character(row) for row in self._load_raw("NOT deleted", ()))
        return [UnusableListed(row, tuple(problems)) for row, problems in found if problems]

    @changes
    def repair(self, character: Character) -> None:
        """Store a character that `unusable` returned, with appearance and equipment."""
        # `deleted` is left out: a repair must not restore a character.
        row = {FIELDS[field]: getattr(character, field) for field in FIELDS if field != "deleted"}
        self._set("characters", character.id, **row)
        self._appearance.replace(character.id, character.appearance, character.colors)
        # Removed first: a damaged slot number would otherwise stay beside the repaired ones.
        self._run("DELETE FROM character_equipment WHERE character_id = ?", (character.id,))
        self._put_equipment(character.id, character.equipment)

    def _usable(self, row: Character) -> Character:
        """Return a character with usable values; warn about the others."""
        character, problems = usable_character(row)
        for problem in problems:
            self.database.warn(f"listed character {character.name} ({row.id}): {problem}")
        return character


def _character(
    row: sqlite3.Row,
    appearance: Mapping[str, int],
    colors: Mapping[str, Color],
    equipment: Sequence[Equipment],
) -> Character:
    values = {name: row[column] for name, column in FIELDS.items() if name != "deleted"}
    return Character(
        id=row["id"],
        **values,
        deleted=bool(row["deleted"]),
        appearance=appearance,
        colors=colors,
        equipment=equipment,
    )
