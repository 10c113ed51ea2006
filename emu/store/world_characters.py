"""The built-in world's characters and their belongings.

Each kind of belongings is replaced completely when it changes. The lists are short, and afterwards
the stored rows equal the player's list whatever they were before.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Collection, Container, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from functools import cache
from typing import Any, Final, NamedTuple

from emu.database import Database, Dialect, Kind
from emu.errors import DuplicateName, OutOfDate, StoreError
from emu.model import (
    CharacterStanding,
    Hotkey,
    KnownSkill,
    Membership,
    Place,
    SavedState,
    Title,
    WorldCharacter,
)
from emu.store.appearance import appearance_text, read_appearance
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
from emu.usable import Problem, usable_world_character

_TABLES: Final = {
    "relations": ("world_relations", "kind, place, name"),
    "titles": ("world_titles", "place, title, is_prefix"),
    "hotkeys": ("world_hotkeys", "bar, slot, type, icon, icon_type, ability, tier, text"),
    "channels": ("world_memberships", "place, channel, password"),
    "skills": ("world_skills", "skill, value, most"),
    "languages": ("world_languages", "language"),
}
"""Field of `WorldCharacter` -> table and columns; a list is sorted by the first columns."""


@cache
def belongings_columns(dialect: Dialect) -> str:
    """Return columns that have the belongings of a row of ``world_characters AS own``.

    Each is a JSON text: one statement reads an account's characters with all that they have.
    """
    return ", ".join(
        f"(SELECT CAST({dialect.json_rows}({dialect.json_row}({columns})) AS TEXT)"  # noqa: S608
        f" FROM {table} AS held WHERE held.character_id = own.id) AS {field}"
        for field, (table, columns) in _TABLES.items()
    )


def read_belongings(row: Any) -> dict[str, Any]:
    """Return what these columns have, by field of `emu.model.WorldCharacter`."""
    # Sorted here: an engine aggregates rows in any order.
    found = {field: sorted(json.loads(row[field] or "[]")) for field in _TABLES}
    return {
        "skills": tuple([KnownSkill(*one) for one in found["skills"]]),
        "languages": tuple([number for (number,) in found["languages"]]),
        "relations": tuple([(kind, name) for kind, _, name in found["relations"]]),
        "titles": tuple([Title(text, bool(is_prefix)) for _, text, is_prefix in found["titles"]]),
        "hotkeys": tuple([Hotkey(*one) for one in found["hotkeys"]]),
        "channels": tuple([Membership(*one) for _, *one in found["channels"]]),
    }


def _values(state: SavedState) -> dict[str, Any]:
    """Return the columns of the character's own row that a save changes."""
    values: dict[str, Any] = {}
    if state.travels is not None:
        values["travels"] = state.travels
    if state.options is not None and state.last_name is not None:
        values |= {"options": state.options, "last_name": state.last_name}
    if state.past is not None:
        values["past"] = state.past
    if state.client_data is not None:
        values["client_data"] = state.client_data
    if state.progress is not None:
        values |= {FIELDS[name]: value for name, value in asdict(state.progress).items()}
    return values


class Belongings(Repository):
    """Relations, titles, hotkeys, channels, skills and languages, by character id."""

    __slots__ = ()

    bad_text = "surrogateescape"  # and so no usable text: `emu.usable`

    @reads
    def of(self, char_id: int) -> dict[str, Any]:
        """Return a character's belongings, by field of `emu.model.WorldCharacter`."""
        row = self._run(
            f"SELECT {belongings_columns(self.database.dialect)}"  # noqa: S608
            " FROM world_characters AS own WHERE id = ?",
            (char_id,),
        ).fetchone()
        return read_belongings(dict.fromkeys(_TABLES, "") if row is None else row)

    @changes
    def save(self, char_id: int, state: SavedState) -> None:
        """Store the kinds of belongings that a save contains."""
        if state.relations is not None:
            self.save_relations(char_id, state.relations)
        if state.titles is not None:
            titles = state.titles
            self.save_titles(char_id, titles.given, titles.prefix, titles.suffix)
        if state.hotkeys is not None:
            self.save_hotkeys(char_id, state.hotkeys)
        if state.channels is not None:
            self.save_channels(char_id, state.channels)
        if values := _values(state):
            self._set("world_characters", char_id, **values)
        if state.skills is not None:
            skills = [astuple(skill) for skill in state.skills]
            self._replace("world_skills", char_id, skills)
        if state.languages is not None:
            self._replace("world_languages", char_id, [(one,) for one in state.languages])

    @changes
    def save_relations(self, char_id: int, relations: Sequence[tuple[int, str]]) -> None:
        """Replace a character's lists of friends and ignored players."""
        # The place in the list is stored, because rows of a table have no order.
        rows = [(int(kind), place, name) for place, (kind, name) in enumerate(relations)]
        self._replace("world_relations", char_id, rows)

    @changes
    def save_titles(self, char_id: int, titles: Sequence[Title], prefix: str, suffix: str) -> None:
        """Replace a character's titles, and the chosen ones."""
        rows = [(place, one.text, one.is_prefix) for place, one in enumerate(titles)]
        self._replace("world_titles", char_id, rows)
        self._set("world_characters", char_id, prefix=prefix, suffix=suffix)

    @changes
    def save_hotkeys(self, char_id: int, hotkeys: Sequence[Hotkey]) -> None:
        """Replace the hotkeys on a character's hotbars."""
        self._replace("world_hotkeys", char_id, [astuple(key) for key in hotkeys])

    @changes
    def save_channels(self, char_id: int, channels: Sequence[Membership]) -> None:
        """Replace a character's channel memberships."""
        rows = [(place, one.channel, one.password) for place, one in enumerate(channels)]
        self._replace("world_memberships", char_id, rows)

    @changes
    def replace(self, character: WorldCharacter) -> None:
        """Replace all belongings of a character."""
        row_id = character.id
        self._replace("world_skills", row_id, [astuple(skill) for skill in character.skills])
        self._replace("world_languages", row_id, [(one,) for one in character.languages])
        self.save_relations(row_id, character.relations)
        self.save_titles(row_id, character.titles, character.prefix, character.suffix)
        self.save_hotkeys(row_id, character.hotkeys)
        self.save_channels(row_id, character.channels)

    def _replace(self, table: str, char_id: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Replace the rows of a character; add none if the character no longer exists."""
        self._run(f"DELETE FROM {table} WHERE character_id = ?", (char_id,))  # noqa: S608
        # A deferred save may come after the character was removed for good; its rows would belong
        # to nobody.
        known = self._run("SELECT 1 FROM world_characters WHERE id = ?", (char_id,)).fetchone()
        if rows and known is not None:
            marks = ", ".join("?" * (1 + len(rows[0])))
            self._run_many(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608
                [(char_id, *row) for row in rows],
            )


class Unusable(NamedTuple):
    """A character with usable values, and the problems of its stored ones."""

    character: WorldCharacter
    problems: tuple[Problem, ...]


FIELDS = {
    name: name.rstrip("_")
    for name in (
        "account_id", "name", "race", "class_", "gender", "deity", "level", "starting_zone",
        "zone_id", "client_version", "created", "last_played", "admin_status", "deleted",
        "muted_until", "prefix", "suffix", "revision", "holder", "term", "tradeskill_class",
        "tradeskill_level", "last_name", "coins", "status_points", "experience",
        "experience_needed", "options", "played", "travels", "past",
        "client_data",
    )
}  # fmt: skip
"""Field of `WorldCharacter` -> column."""


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

    __slots__ = ("_belongings", "_select", "keep_deleted")

    bad_text = "surrogateescape"  # and so no usable text: `emu.usable`

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """`keep_deleted` is how many seconds a deleted character is kept.

        Older ones are removed when a character is added.
        """
        super().__init__(database)
        self.keep_deleted = keep_deleted
        self._belongings = Belongings(database)
        columns = belongings_columns(database.dialect)
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
        character = replace(character, muted_until=muted_until)
        row = {column: getattr(character, name) for name, column in FIELDS.items()}
        text = appearance_text(character.appearance, character.colors)
        char_id = self._insert("world_characters", row | {"name_key": key, "appearance": text})
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
        """Return the `admin_status` of each of an account's characters that is not deleted."""
        rows = self._run(
            "SELECT admin_status FROM world_characters WHERE account_id = ? AND NOT deleted",
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
    def pay(self, _account_id: int, char_id: int, coins: int) -> int | None:
        """Take coins from a character, in copper; below 0 gives them back.

        Returns the coins that are left, None if the character does not have so many.
        `_account_id` is the character's account, whose cached rows have the old coins.
        """
        row = self._run(
            # The condition is in the same statement: nobody pays what it does not have.
            "UPDATE world_characters SET coins = coins - :coins"
            " WHERE id = :id AND NOT deleted AND coins >= :coins RETURNING coins",
            {"coins": coins, "id": char_id},
        ).fetchone()
        return None if row is None else int(row["coins"])

    @changes
    def split(
        self, _account_ids: Collection[int], char_id: int, share: int, others: Sequence[int]
    ) -> Mapping[int, int] | None:
        """Give each of other characters a share of a character's coins, in copper.

        Returns the coins that each of them has then, by character, the giver's as well; None, and
        nothing has changed, if it does not have so many. `_account_ids` are the accounts of all,
        whose cached rows have the old coins. Raises `OutOfDate` if one of them has gone meanwhile.
        """
        cost, everybody = share * len(others), sorted({char_id, *others})
        row = self._run("SELECT coins FROM world_characters WHERE id = ?", (char_id,)).fetchone()
        if row is None or row["coins"] < cost:
            return None
        # One statement. The giver's condition again: another node may have taken coins since they
        # were read.
        marks = ", ".join("?" * len(everybody))
        change = "CASE WHEN id = ? THEN coins - ? ELSE coins + ? END"
        rows = self._run(
            f"UPDATE world_characters SET coins = {change} WHERE id IN ({marks})"  # noqa: S608
            " AND NOT deleted AND (id <> ? OR coins >= ?) RETURNING id, coins",
            (char_id, cost, share, *everybody, char_id, cost),
        ).fetchall()
        if len(rows) != len(everybody):
            # Raised inside of the transaction, so that nobody has paid or got anything.
            raise OutOfDate("a character or its coins have gone")
        return {int(row["id"]): int(row["coins"]) for row in rows}

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
            (char_id, state.last_played)
            for char_id, state in saves
            if char_id in changed and state.last_played is not None
        ]
        self._update_many("world_characters", _KEY, {"last_played": Kind.REAL}, played)
        errors: list[StoreError | None] = []
        for char_id, state in saves:
            # Most saves have only a place, and a call is a savepoint: two more round trips.
            if char_id in changed and state.belongings:
                self._belongings.save(char_id, state)
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
        row = {FIELDS[field]: getattr(character, field) for field in FIELDS if field != "deleted"}
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
        values: dict[str, Any] = {name: row[column] for name, column in FIELDS.items()}
        values["deleted"] = bool(values["deleted"])
        # Any column that is set, so that a half-written place is reported as a problem.
        if any(row[name] is not None for name in ("x", "y", "z")):
            values["place"] = (row["x"], row["y"], row["z"], row["heading"], row["grid"])
        return WorldCharacter(
            id=row["id"],
            **values,
            **read_belongings(row),
            appearance=stored.fields,
            colors=stored.colors,
        )


def _where(zone_id: int, place: Place) -> dict[str, Any]:
    x, y, z, heading, grid = place
    return {"zone_id": zone_id, "x": x, "y": y, "z": z, "heading": heading, "grid": grid}
