"""Every character as an operator knows it: the login server's list and the built-in world's own.

A character of the built-in world has two rows in one database, one in the list and one of the
world's; both change together here. One of another world has a row in the list only, and one whose
login server is elsewhere has only the world's.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from emu.errors import DuplicateName
from emu.model import BUILT_IN_ACCOUNT
from emu.store.names import name_key
from emu.times import Moment


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """One character."""

    id: int | None
    """Its row in the list; None when the list does not have it."""
    own_id: int | None
    """Its row in the built-in world; None when another world has it, or the world lost it."""
    char_id: int
    """Its id on its world."""
    name: str
    account_id: int
    account: str
    """Name of its account; empty when the account is another login server's."""
    world: str
    """Name of its world; empty for one that only the built-in world knows."""
    is_built_in: bool
    """Whether the built-in world is its world."""
    level: int
    race: int
    class_: int
    gender: int
    zone_id: int
    client_version: int
    created: Moment
    last_played: Moment
    deleted: bool
    deleted_at: Moment | None


_SAME = (
    "worlds.account = :built_in AND listed.char_id = own.id AND listed.account_id = own.account_id"
)

_LISTED = f"""
    SELECT listed.id, own.id AS own_id, listed.char_id, listed.name, listed.account_id,
        accounts.name AS account, worlds.name AS world, worlds.account = :built_in AS is_built_in,
        listed.level, listed.race, listed.class AS class_, listed.gender, listed.zone_id,
        listed.client_version, listed.created, listed.last_played, listed.deleted,
        listed.deleted_at
    FROM characters AS listed
    JOIN accounts ON accounts.id = listed.account_id
    JOIN worlds ON worlds.id = listed.world_id
    LEFT JOIN world_characters AS own ON {_SAME}
"""  # noqa: S608
_UNLISTED = f"""
    SELECT NULL, own.id, own.id, own.name, own.account_id, coalesce(accounts.name, ''), '', 1,
        own.level, own.race, own.class, own.gender, own.zone_id, own.client_version, own.created,
        own.last_played, own.deleted, own.deleted_at
    FROM world_characters AS own
    LEFT JOIN accounts ON accounts.id = own.account_id
    WHERE NOT EXISTS (
        SELECT 1 FROM characters AS listed JOIN worlds ON worlds.id = listed.world_id WHERE {_SAME}
    )
"""  # noqa: S608


def every(connection: sqlite3.Connection) -> list[RosterEntry]:
    """Return all characters by name, deleted ones too."""
    rows = connection.execute(
        f"SELECT * FROM ({_LISTED} UNION ALL {_UNLISTED})"  # noqa: S608
        " ORDER BY name COLLATE NOCASE, id, own_id",
        {"built_in": BUILT_IN_ACCOUNT},
    )
    return [_entry(dict(row)) for row in rows]


def rename(connection: sqlite3.Connection, entry: RosterEntry, name: str) -> None:
    """Give a character another name. Raises `DuplicateName` when its world has that already."""
    if entry.own_id is not None:
        key = name_key(name)
        other = connection.execute(
            "SELECT 1 FROM world_characters WHERE name_key = ? AND id <> ?", (key, entry.own_id)
        )
        if other.fetchone() is not None:
            raise DuplicateName(f"there is already a character {name!r}")
        connection.execute(
            "UPDATE world_characters SET name = ?, name_key = ? WHERE id = ?",
            (name, key, entry.own_id),
        )
    connection.execute("UPDATE characters SET name = ? WHERE id = ?", (name, entry.id))


def delete(connection: sqlite3.Connection, entry: RosterEntry) -> None:
    """Mark a character deleted."""
    _mark(connection, entry, deleted=True)


def restore(connection: sqlite3.Connection, entry: RosterEntry) -> None:
    """Undo a deletion. Raises `DuplicateName` when its world gave its number to another one."""
    other = connection.execute(
        "SELECT other.name FROM characters AS other JOIN characters AS listed"
        " ON other.world_id = listed.world_id AND other.char_id = listed.char_id"
        " WHERE listed.id = ? AND NOT other.deleted",
        (entry.id,),
    ).fetchone()
    if other is not None:
        raise DuplicateName(f"number {entry.char_id} of its world is {other['name']!r} by now")
    _mark(connection, entry, deleted=False)


def forget(connection: sqlite3.Connection, entry: RosterEntry) -> None:
    """Remove a character for good, so that its name is free."""
    connection.execute("DELETE FROM characters WHERE id = ?", (entry.id,))
    connection.execute("DELETE FROM world_characters WHERE id = ?", (entry.own_id,))


def _entry(values: dict[str, Any]) -> RosterEntry:
    flags = {name: bool(values[name]) for name in ("is_built_in", "deleted")}
    return RosterEntry(**{**values, **flags})


def _mark(connection: sqlite3.Connection, entry: RosterEntry, *, deleted: bool) -> None:
    connection.execute("UPDATE characters SET deleted = ? WHERE id = ?", (deleted, entry.id))
    connection.execute(
        "UPDATE world_characters SET deleted = ? WHERE id = ?", (deleted, entry.own_id)
    )
