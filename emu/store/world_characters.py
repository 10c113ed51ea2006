"""The built-in world's characters and their belongings.

Their facts are declared by `emu.model.WorldCharacter`: a column of the character's row, or a list
in a table of its own. A list is replaced completely when it changes. The lists are short, and
afterwards the stored rows equal the player's list whatever they were before.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

from emu.database import Database, Kind, SqlDialect
from emu.errors import DuplicateName, OutOfDate, StoreError
from emu.facts import Listed, Problem, facts_of
from emu.model import CharacterStanding, Place, SavedState, WorldCharacter
from emu.store.appearance import appearance_text, read_appearance
from emu.store.ledger import Movements
from emu.store.repository import (
    Repository,
    change,
    changes,
    changes_ahead,
    name_key,
    reads,
    saves,
)
from emu.times import UNKNOWN, Moment
from emu.usable import usable_world_character


@cache
def _lists(kind: Any) -> Mapping[str, tuple[Listed, Any]]:
    """Return the lists with tables of their own and the types of their rows, by field."""
    return {
        fact.name: (fact.value, fact.row_type)
        for fact in facts_of(kind)
        if isinstance(fact.value, Listed)
    }


@cache
def columns_of(kind: Any) -> Mapping[str, str]:
    """Return the column of each fact that is in the character's own row, by field."""
    return {fact.name: fact.column for fact in facts_of(kind) if fact.column is not None}


@cache
def belongings_columns(dialect: SqlDialect, kind: Any) -> str:
    """Return columns that have the lists of a row of ``world_characters AS own``.

    Each is a JSON text: one statement reads an account's characters with all that they have.
    """
    return ", ".join(
        f"(SELECT CAST({dialect.json_rows}({dialect.json_row}({listed.columns})) AS TEXT)"  # noqa: S608
        f" FROM {listed.table} AS held WHERE held.character_id = own.id) AS {field}"
        for field, (listed, _) in _lists(kind).items()
    )


def read_belongings(row: Any, kind: Any = WorldCharacter) -> dict[str, Any]:
    """Return the lists that these columns have, by field of `emu.model.WorldCharacter`."""
    return {
        # Sorted here: an engine aggregates rows in any order.
        field: listed.from_rows(sorted(json.loads(row[field] or "[]")), row_type)
        for field, (listed, row_type) in _lists(kind).items()
    }


class Belongings(Repository):
    """The facts of characters, by character id: lists in their tables, and columns."""

    __slots__ = ("kind",)

    bad_text = "surrogateescape"  # and so no usable text: `emu.usable`

    def __init__(self, database: Database, kind: Any = WorldCharacter) -> None:
        """`kind` is the dataclass that declares the facts."""
        super().__init__(database)
        self.kind = kind

    @reads
    def of(self, char_id: int) -> dict[str, Any]:
        """Return a character's lists, by field of `emu.model.WorldCharacter`."""
        row = self._run(
            f"SELECT {belongings_columns(self.database.dialect, self.kind)}"  # noqa: S608
            " FROM world_characters AS own WHERE id = ?",
            (char_id,),
        ).fetchone()
        return read_belongings(dict.fromkeys(_lists(self.kind), "") if row is None else row)

    @changes
    def save(self, char_id: int, facts: Mapping[str, Any]) -> None:
        """Store facts by field; a list is replaced completely."""
        lists, columns = _lists(self.kind), columns_of(self.kind)
        values = {columns[name]: value for name, value in facts.items() if name in columns}
        if values:
            self._set("world_characters", char_id, **values)
        for name, value in facts.items():
            if name in lists:
                self._replace(lists[name][0], char_id, value)

    @changes
    def replace(self, character: WorldCharacter) -> None:
        """Replace all lists of a character."""
        for name, (listed, _) in _lists(self.kind).items():
            self._replace(listed, character.id, getattr(character, name))

    def _replace(self, listed: Listed, char_id: int, values: Sequence[Any]) -> None:
        """Replace the rows of a character; add none if the character no longer exists."""
        table, rows = listed.table, listed.to_rows(values)
        self._run(f"DELETE FROM {table} WHERE character_id = ?", (char_id,))  # noqa: S608
        # A deferred save may come after the character was removed for good; its rows would belong
        # to nobody.
        known = self._run("SELECT 1 FROM world_characters WHERE id = ?", (char_id,)).fetchone()
        if rows and known is not None:
            columns = ["character_id", *listed.columns.split(", ")]
            self._insert_many(table, columns, [(char_id, *row) for row in rows])


class Unusable(NamedTuple):
    """A character with usable values, and the problems of its stored ones."""

    character: WorldCharacter
    problems: tuple[Problem, ...]


KEPT: Final = frozenset(("deleted", "coins", "ledger_revision"))
"""Fields of a character that a repair of the others leaves as they are."""
_KEY = {"id": Kind.INTEGER}
_FENCE = {"id": Kind.INTEGER, "term": Kind.INTEGER}
_PLACED = {
    "zone_id": Kind.INTEGER, "x": Kind.REAL, "y": Kind.REAL, "z": Kind.REAL, "heading": Kind.REAL,
    "grid": Kind.INTEGER, "revision": Kind.INTEGER,
}  # fmt: skip
"""The columns that every save has."""


_OF_ACCOUNT: Final = "own.account_id = ? AND NOT own.deleted ORDER BY own.id"
"""The condition and order of an account's characters."""


class WorldCharacters(Repository):
    """The built-in world's characters."""

    __slots__ = ("_belongings", "_columns", "_kind", "_movements", "_select", "keep_deleted")

    bad_text = "surrogateescape"  # and so no usable text: `emu.usable`

    def __init__(
        self,
        database: Database,
        keep_deleted: float = math.inf,
        kind: Any = WorldCharacter,
    ) -> None:
        """`keep_deleted` is how many seconds a deleted character is kept.

        Older ones are removed when a character is added. `kind` is the dataclass that declares
        the facts of characters.
        """
        super().__init__(database)
        self.keep_deleted = keep_deleted
        self._kind = kind
        self._columns = columns_of(kind)
        self._belongings = Belongings(database, kind)
        self._movements = Movements(database)
        columns = belongings_columns(database.dialect, kind)
        self._select = f"SELECT own.*, {columns} FROM world_characters AS own WHERE"  # noqa: S608

    @changes
    def create(self, character: WorldCharacter) -> WorldCharacter:
        """Store a character with its appearance; return it with its id.

        Raises `DuplicateName` if the name is taken, compared without case, also by a deleted row.
        """
        if self.keep_deleted < math.inf:
            # Here and not by a timer: only a new character can need a name that a deleted one
            # holds.
            self._purge(character.created - self.keep_deleted)
        # The column is unique, too; the query gives the refusal its own error.
        key = name_key(character.name)
        if self.is_taken(character.name):
            raise DuplicateName(f"there is already a character {character.name!r}")
        # A mute belongs to the account: a new character must not be a way around it.
        muted_until = max(character.muted_until, self._muted_until(character.account_id))
        revision = 1 if character.coins else 0
        character = replace(character, muted_until=muted_until, ledger_revision=revision)
        row = {column: getattr(character, name) for name, column in self._columns.items()}
        text = appearance_text(character.appearance, character.colors)
        char_id = self._insert("world_characters", row | {"name_key": key, "appearance": text})
        if character.coins:
            self._movements.add_made(char_id, character.coins)
        if character.place is not None:
            self.save_place(char_id, character.zone_id, character.place)
        return replace(character, id=char_id)

    @reads
    def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""
        row = self._run(f"{self._select} own.id = ? AND NOT own.deleted", (char_id,)).fetchone()
        return self._character(row) if row else None

    @reads
    def of_account(self, account_id: int) -> list[WorldCharacter]:
        """Return an account's characters that are not deleted, oldest first."""
        rows = self._run(
            f"{self._select} {_OF_ACCOUNT}",
            (account_id,),
        ).fetchall()
        return [self._character(row) for row in rows]

    @reads
    def statuses_of(self, account_id: int) -> list[int]:
        """Return the `admin_status` of an account's characters, oldest first, without deleted."""
        rows = self._run(
            "SELECT admin_status FROM world_characters WHERE account_id = ? AND NOT deleted"
            " ORDER BY id",
            (account_id,),
        )
        return [row["admin_status"] for row in rows]

    @reads
    def statuses(self) -> dict[int, list[int]]:
        """Return the `admin_status` of each character that is not deleted, by account id."""
        found: dict[int, list[int]] = {}
        for account_id, status in self._run(
            "SELECT account_id, admin_status FROM world_characters WHERE NOT deleted"
        ):
            found.setdefault(account_id, []).append(status)
        return found

    @change
    def delete(self, account_id: int, char_id: int) -> bool:
        """Mark a character deleted; return True if it existed and was not deleted."""
        changed = self._run(
            # Deleted rows stay, so that an operator can restore a character, and the name is not
            # given away at once.
            "UPDATE world_characters SET deleted = TRUE"
            " WHERE id = ? AND account_id = ? AND NOT deleted",
            (char_id, account_id),
        )
        return changed.rowcount == 1

    @reads
    def find_named(self, name: str) -> WorldCharacter | None:
        """Return the character with this name, compared without case, unless it is deleted."""
        row = self._run(
            f"{self._select} own.name_key = ? AND NOT own.deleted", (name_key(name),)
        ).fetchone()
        return self._character(row) if row else None

    @reads
    def is_taken(self, name: str) -> bool:
        """Return whether a character has this name, compared without case, also a deleted one."""
        found = self._run("SELECT 1 FROM world_characters WHERE name_key = ?", (name_key(name),))
        return found.fetchone() is not None

    @change
    def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""
        self._set("world_characters", char_id, admin_status=status)

    @change
    def mute_account(self, account_id: int, until: Moment) -> None:
        """Store the end of a mute for all characters of an account, with deleted ones."""
        self._run(
            # With deleted ones, because `_muted_until` reads the mute from them for the next
            # character.
            "UPDATE world_characters SET muted_until = ? WHERE account_id = ?",
            (until, account_id),
        )

    @reads
    def standings(self, char_ids: Sequence[int]) -> list[CharacterStanding]:
        """Return rank, name and mute of these characters, without deleted ones."""
        if not char_ids:
            return []
        chosen, ids = self._among("id", char_ids)
        rows = self._run(
            "SELECT id, name, admin_status, muted_until FROM world_characters"  # noqa: S608
            f" WHERE NOT deleted AND {chosen} ORDER BY id",
            (ids,),
        )
        return [CharacterStanding(**dict(row)) for row in rows]

    @changes_ahead
    def claim(
        self, account_id: int, char_id: int, holder: str
    ) -> Generator[None, None, list[WorldCharacter]]:
        """Make a process the holder of a character; return the account's characters.

        The character's term is one greater from now on, so saves of every earlier holder are
        refused. A character that is deleted, or another account's, stays as it is.
        """
        self._run(
            "UPDATE world_characters SET holder = ?, term = term + 1"
            " WHERE id = ? AND account_id = ? AND NOT deleted",
            (holder, char_id, account_id),
        )
        rows = self.rows_of_account(account_id)
        yield
        return self.made(rows)

    def rows_of_account(self, account_id: int) -> Iterable[Any]:
        """Return the rows of what `of_account` returns, to be read after a transaction."""
        return self.database.read_texts(
            lambda: self._after(f"{self._select} {_OF_ACCOUNT}", (account_id,)), self.bad_text
        )

    def made(self, rows: Iterable[Any]) -> list[WorldCharacter]:
        """Return the characters of rows."""
        return [self._character(row) for row in rows]

    def save_character(self, char_id: int, state: SavedState) -> None:
        """Store a saved state completely or not at all.

        Do nothing if the character no longer exists. Raises `OutOfDate` if another process has let
        it in since (its term is greater), or if a save with the same or a greater number is already
        stored.
        """
        [error] = self.save_characters([(char_id, state)])
        if error is not None:
            raise error

    @saves
    def save_characters(
        self, saves: Sequence[tuple[int, SavedState]]
    ) -> Sequence[StoreError | None]:
        """Do what `save_character` does for several; return the error of each or None."""
        timed = [state.played is not None for _, state in saves]
        if len({char_id for char_id, _ in saves}) < len(saves) or any(timed) != all(timed):
            # Two of one character would be one row of the statement below, and a spool of an
            # earlier version has saves without the time played.
            return [error for save in saves for error in self.save_characters([save])]
        # Compared and changed in one statement: no other process can take a character over in
        # between, and none can before the belongings are stored, because this locks the row. The
        # place is in every save, and the revision is in the same transaction: no reader sees one
        # without the other.
        times = [(state.played,) if all(timed) else () for _, state in saves]
        rows = [
            (char_id, state.term, state.zone_id, *state.place, state.revision, *time)
            for (char_id, state), time in zip(saves, times, strict=True)
        ]
        columns = _PLACED | ({"played": Kind.INTEGER} if all(timed) else {})
        changed = set(
            self._update_many("world_characters", _FENCE, columns, rows, growing="revision")
        )
        played = [
            (char_id, state.facts["last_played"])
            for char_id, state in saves
            if char_id in changed and "last_played" in state.facts
        ]
        self._update_many("world_characters", _KEY, {"last_played": Kind.REAL}, played)
        errors: list[StoreError | None] = []
        for char_id, state in saves:
            # Most saves have only a place, and a call is a savepoint: two more round trips.
            if char_id in changed and state.facts.keys() - {"last_played"}:
                self._belongings.save(char_id, state.facts)
            errors.append(None if char_id in changed else self._refusal(char_id, state))
        return errors

    @changes
    def save_place(self, char_id: int, zone_id: int, place: Place) -> None:
        """Store a character's zone and place."""
        self._set("world_characters", char_id, **_where(zone_id, place))

    def _refusal(self, char_id: int, state: SavedState) -> OutOfDate | None:
        """Return why a save has changed nothing; None if it is stored, or the character is gone."""
        row = self._run(
            "SELECT term, revision FROM world_characters WHERE id = ?", (char_id,)
        ).fetchone()
        if row is None:
            return None
        # Nobody else saves under its term, so it is this save, whose answer was lost.
        if row["term"] == state.term > 0 and row["revision"] == state.revision:
            return None
        if row["term"] != state.term:
            return OutOfDate(f"another process plays {state.name} now")
        return OutOfDate(f"a newer state of {state.name} is stored")

    def _muted_until(self, account_id: int) -> Moment:
        """Return the end of an account's mute, from its present and deleted characters."""
        found = self._run(
            "SELECT max(muted_until) FROM world_characters WHERE account_id = ?", (account_id,)
        ).fetchone()[0]
        return UNKNOWN if found is None else Moment(found)

    @reads
    def unusable(self, zones: Container[int] | None = None) -> list[Unusable]:
        """Return the characters with unusable values, without deleted ones.

        `zones` are the zones of the world; without them, every zone is accepted.
        """
        found = []
        for row in self._run(f"{self._select} NOT own.deleted").fetchall():
            usable, problems = usable_world_character(self._raw(row))
            if zones is not None and usable.zone_id not in zones:
                problems.append(Problem("zone", str(usable.zone_id), "its starting zone"))
                # A place of another zone would be anywhere in this one, so it goes with the zone.
                usable = replace(usable, zone_id=usable.starting_zone, place=None)
            if problems:
                found.append(Unusable(usable, tuple(problems)))
        return found

    @changes
    def repair(self, character: WorldCharacter) -> None:
        """Store a character that `unusable` returned, with all belongings."""
        row_id, taken = (
            character.id,
            "SELECT 1 FROM world_characters WHERE name_key = ? AND id != ?",
        )
        # A replaced name, such as "Character7", may belong to another character.
        name = character.name
        # Ends, because each turn makes the name longer and only finitely many names are taken.
        while self._run(taken, (name_key(name), row_id)).fetchone() is not None:
            name += "x"
        # This has set the coins and their revision.
        self._movements.add_repaired(character)
        row = {
            column: getattr(character, field)
            for field, column in self._columns.items()
            if field not in KEPT
        }
        # Without a place all columns are NULL, which means the safe place of the zone.
        x, y, z, heading, grid = character.place or (None, None, None, None, 0)
        where = {"x": x, "y": y, "z": z, "heading": heading, "grid": grid}
        self._set("world_characters", row_id, **row | where)
        self._set("world_characters", row_id, name=name, name_key=name_key(name))
        text = appearance_text(character.appearance, character.colors)
        self._set("world_characters", row_id, appearance=text)
        self._belongings.replace(character)

    def _purge(self, before: float) -> None:
        """Remove characters permanently that were deleted before this time."""
        self._movements.add_removed("deleted AND deleted_at < ?", (before,))
        # Belongings go with the character, by the foreign keys of their tables.
        self._run("DELETE FROM world_characters WHERE deleted AND deleted_at < ?", (before,))

    def _character(self, row: sqlite3.Row) -> WorldCharacter:
        character, problems = usable_world_character(self._raw(row))
        for problem in problems:
            self.database.warn(f"character {character.name} ({row['id']}): {problem}")
        return character

    def _raw(self, row: sqlite3.Row) -> WorldCharacter:
        """Return a character with the values of its rows, usable or not."""
        stored = read_appearance(row["appearance"])
        values: dict[str, Any] = {name: row[column] for name, column in self._columns.items()}
        values["deleted"] = bool(values["deleted"])
        # Any column that is set, so that a half-written place is reported as a problem.
        if any(row[name] is not None for name in ("x", "y", "z")):
            values["place"] = (row["x"], row["y"], row["z"], row["heading"], row["grid"])
        made: WorldCharacter = self._kind(
            id=row["id"],
            **values,
            **read_belongings(row, self._kind),
            appearance=stored.fields,
            colors=stored.colors,
        )
        return made


def _where(zone_id: int, place: Place) -> dict[str, Any]:
    x, y, z, heading, grid = place
    return {"zone_id": zone_id, "x": x, "y": y, "z": z, "heading": heading, "grid": grid}
