"""The login server's copy of every character, with appearance and equipment."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from emu.database import Database
from emu.facts import Problem
from emu.model import Character, Equipment
from emu.store.appearance import Appearance, appearance_text, read_appearance
from emu.store.repository import Repository, changes, reads
from emu.usable import usable_character

REMEMBERED: Final = 2000
"""Rows of a database on a server whose characters are kept; each takes some kilobytes."""


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

    __slots__ = ("keep_deleted",)

    bad_text = "surrogateescape"  # and so no usable text: `emu.usable`

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """`keep_deleted` is how many seconds a deleted character is kept.

        Older ones are removed when a character is added.
        """
        super().__init__(database)
        self.keep_deleted = keep_deleted

    @reads
    def of_account(self, account_id: int) -> list[Character]:
        """Return an account's characters that are not deleted, oldest first."""
        return self._load("account_id = ? AND NOT deleted", (account_id,))

    @reads
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
                "UPDATE characters SET deleted = TRUE"
                " WHERE world_id = ? AND char_id = ? AND NOT deleted",
                (character.world_id, character.char_id),
            )
        row = {column: getattr(character, name) for name, column in FIELDS.items()}
        row_id = self._insert("characters", row | {"appearance": _text(character)})
        return replace(character, id=row_id)

    @changes
    def delete(self, account_id: int, world_id: int, char_id: int, name: str) -> bool:
        """Mark a character deleted; return True if it existed and was not deleted."""
        changed = self._run(
            "UPDATE characters SET deleted = TRUE"
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
        found = self._appearance(
            "account_id = ? AND world_id = ? AND char_id = ? AND NOT deleted",
            (account_id, world_id, char_id),
        )
        if found is None:
            return False
        row_id, stored = found
        # A world may not change the owner, its own number, or whether a character is deleted.
        columns = {FIELDS[name]: value for name, value in changes.items() if name in CHANGEABLE}
        fields = {name: value for name, value in changes.items() if name not in CHANGEABLE}
        if fields:
            columns["appearance"] = appearance_text(
                {**stored.fields, **fields}, stored.colors, stored.equipment
            )
        if columns:
            self._set("characters", row_id, **columns)
        return True

    @changes
    def add_missing(self, row_id: int, entries: Appearance) -> bool:
        """Add entries of an appearance that a character lacks; return True if one was added.

        Raises `ValueError` if there is no such character.
        """
        found = self._appearance("id = ?", (row_id,))
        if found is None:
            raise ValueError(f"there is no character with number {row_id}")
        _, stored = found
        slots = {item.slot for item in stored.equipment}
        added = Appearance(
            {**entries.fields, **stored.fields},
            {**entries.colors, **stored.colors},
            (*stored.equipment, *(item for item in entries.equipment if item.slot not in slots)),
        )
        if added == stored:
            return False
        self._set("characters", row_id, appearance=appearance_text(*added))
        return True

    @changes
    def move(self, row_id: int, world_id: int, fields: Mapping[str, Any]) -> None:
        """Move a character to another world, with its values there by field of `Character`."""
        columns = {FIELDS[name]: value for name, value in fields.items()}
        self._set("characters", row_id, world_id=world_id, **columns)

    @changes
    def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        """Store pairs of char id and equipment of one world; skip unknown characters."""
        # One message has up to a hundred items, most of them of the same character.
        by_character: dict[int, list[Equipment]] = {}
        for char_id, item in items:
            by_character.setdefault(char_id, []).append(item)
        for char_id, worn in by_character.items():
            found = self._appearance(
                "world_id = ? AND char_id = ? AND NOT deleted", (world_id, char_id)
            )
            if found is not None:
                row_id, stored = found
                text = appearance_text(stored.fields, stored.colors, (*stored.equipment, *worn))
                self._set("characters", row_id, appearance=text)

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

    def _appearance(self, condition: str, values: tuple[Any, ...]) -> tuple[int, Appearance] | None:
        """Return row id and appearance of a character that the transaction is to change."""
        row = self._run(
            # An update and no SELECT: it locks the row, so that two transactions on an engine with
            # many writers cannot both change the text that they read, and one change be lost.
            f"UPDATE characters SET level = level WHERE {condition}"  # noqa: S608
            " RETURNING id, appearance",
            values,
        ).fetchone()
        return None if row is None else (row["id"], read_appearance(row["appearance"]))

    def _count(self, condition: str, value: int) -> int:
        row = self._run(
            f"SELECT count(*) FROM characters WHERE {condition} AND NOT deleted",  # noqa: S608
            (value,),
        ).fetchone()
        return int(row[0])

    def _load(self, condition: str, values: tuple[Any, ...]) -> list[Character]:
        return self.judged(self._rows(condition, values))

    def rows_of_named(self, account_keys: Collection[str]) -> Any:
        """Return the rows of accounts' characters that are not deleted, by the accounts' keys."""
        chosen, values = self._among("name_key", account_keys)
        return self._rows(
            f"account_id IN (SELECT id FROM accounts WHERE {chosen}) AND NOT deleted",  # noqa: S608
            (values,),
        )

    def judged(self, rows: Iterable[Any]) -> list[Character]:
        """Return the characters of rows; unusable values are replaced and reported."""
        # Rows of a file are cached as characters already, until somebody changes them.
        judge = _remembered if self.database.is_shared else _judged
        found = []
        for row in rows:
            character, problems = judge(row)
            for problem in problems:
                self.database.warn(f"listed character {character.name} ({row['id']}): {problem}")
            found.append(character)
        return found

    def _load_raw(self, condition: str, values: tuple[Any, ...]) -> list[Character]:
        """Return characters with the values of their rows, usable or not."""
        return [_character(row) for row in self._rows(condition, values)]

    def _rows(self, condition: str, values: tuple[Any, ...]) -> Any:
        return self._run(
            f"SELECT * FROM characters WHERE {condition} ORDER BY id",  # noqa: S608
            values,
        )

    @reads
    def unusable(self) -> list[UnusableListed]:
        """Return the characters with unusable values, without deleted ones."""
        found = (usable_character(row) for row in self._load_raw("NOT deleted", ()))
        return [UnusableListed(row, tuple(problems)) for row, problems in found if problems]

    @changes
    def repair(self, character: Character) -> None:
        """Store a character that `unusable` returned, with appearance and equipment."""
        # `deleted` is left out: a repair must not restore a character.
        row = {FIELDS[field]: getattr(character, field) for field in FIELDS if field != "deleted"}
        self._set("characters", character.id, **row, appearance=_text(character))


def _text(character: Character) -> str:
    return appearance_text(character.appearance, character.colors, character.equipment)


def _character(row: sqlite3.Row) -> Character:
    values = {name: row[column] for name, column in FIELDS.items() if name != "deleted"}
    stored = read_appearance(row["appearance"])
    return Character(
        id=row["id"],
        **values,
        deleted=bool(row["deleted"]),
        appearance=stored.fields,
        colors=stored.colors,
        equipment=stored.equipment,
    )


def _judged(row: Any) -> tuple[Character, Sequence[Problem]]:
    """Return a character with usable values, and the problems of those that were not."""
    return usable_character(_character(row))


# By all values of the row, so it is right whoever changes the row. Reading the text of the
# appearance and checking all values takes several times as long as the statement.
_remembered = lru_cache(REMEMBERED, typed=True)(_judged)
