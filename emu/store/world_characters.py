"""Rows of the built-in world's own characters."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from emu.errors import DuplicateName
from emu.model import Color, WorldCharacter
from emu.store.names import name_key
from emu.times import Moment

FIELDS = {
    "account_id": "account_id",
    "name": "name",
    "race": "race",
    "class_": "class",
    "gender": "gender",
    "deity": "deity",
    "level": "level",
    "starting_zone": "starting_zone",
    "zone_id": "zone_id",
    "client_version": "client_version",
    "created": "created",
    "last_played": "last_played",
    "admin_status": "admin_status",
    "deleted": "deleted",
    "muted_until": "muted_until",
}
"""Field of `WorldCharacter` -> column."""

_INSERT = (
    f"INSERT INTO world_characters (name_key, {', '.join(FIELDS.values())})"  # noqa: S608
    f" VALUES (?, {', '.join('?' * len(FIELDS))})"
)


def create(connection: sqlite3.Connection, character: WorldCharacter) -> WorldCharacter:
    """Store a character with its looks and return it with its id.

    Raises `DuplicateName` when the name is taken, without regard to case, deleted rows included.
    """
    key = name_key(character.name)
    taken = connection.execute("SELECT 1 FROM world_characters WHERE name_key = ?", (key,))
    if taken.fetchone() is not None:
        raise DuplicateName(f"there is already a character {character.name!r}")
    values = [getattr(character, name) for name in FIELDS]
    char_id = connection.execute(_INSERT, (key, *values)).lastrowid or 0
    connection.executemany(
        "INSERT INTO world_character_appearance VALUES (?, ?, ?)",
        [(char_id, name, value) for name, value in character.appearance.items()],
    )
    connection.executemany(
        "INSERT INTO world_character_colors VALUES (?, ?, ?, ?, ?, ?)",
        [
            (char_id, name, color.red, color.green, color.blue, color.signed)
            for name, color in character.colors.items()
        ],
    )
    return replace(character, id=char_id)


def find(connection: sqlite3.Connection, char_id: int) -> WorldCharacter | None:
    """Return a character that is not deleted."""
    row = connection.execute(
        "SELECT * FROM world_characters WHERE id = ? AND NOT deleted", (char_id,)
    ).fetchone()
    return _character(connection, row) if row else None


def of_account(connection: sqlite3.Connection, account_id: int) -> list[WorldCharacter]:
    """Return an account's characters that are not deleted, oldest first."""
    rows = connection.execute(
        "SELECT * FROM world_characters WHERE account_id = ? AND NOT deleted ORDER BY id",
        (account_id,),
    ).fetchall()
    return [_character(connection, row) for row in rows]


def delete(connection: sqlite3.Connection, account_id: int, char_id: int) -> bool:
    """Mark one deleted; True when that row was there and not deleted."""
    changed = connection.execute(
        "UPDATE world_characters SET deleted = 1 WHERE id = ? AND account_id = ? AND NOT deleted",
        (char_id, account_id),
    )
    return changed.rowcount == 1


def purge(connection: sqlite3.Connection, before: float) -> int:
    """Remove characters deleted before a moment for good: their names are free; return how many."""
    gone = connection.execute(
        "DELETE FROM world_characters WHERE deleted AND deleted_at < ?", (before,)
    )
    return gone.rowcount


def played(connection: sqlite3.Connection, char_id: int, moment: Moment) -> None:
    """Remember when a character was played last."""
    connection.execute(
        "UPDATE world_characters SET last_played = ? WHERE id = ?", (moment, char_id)
    )


def find_named(connection: sqlite3.Connection, name: str) -> WorldCharacter | None:
    """Return a character that is not deleted by its name, without regard to case."""
    row = connection.execute(
        "SELECT * FROM world_characters WHERE name_key = ? AND NOT deleted", (name_key(name),)
    ).fetchone()
    return _character(connection, row) if row else None


def set_admin_status(connection: sqlite3.Connection, char_id: int, status: int) -> None:
    """Set a character's rank, or ban it."""
    connection.execute(
        "UPDATE world_characters SET admin_status = ? WHERE id = ?", (status, char_id)
    )


def save_mute(connection: sqlite3.Connection, char_id: int, until: Moment) -> None:
    """Remember until when a character may not speak."""
    connection.execute("UPDATE world_characters SET muted_until = ? WHERE id = ?", (until, char_id))


def save_relations(
    connection: sqlite3.Connection, char_id: int, relations: Sequence[tuple[int, str]]
) -> None:
    """Replace a character's lists of friends and ignored ones."""
    connection.execute("DELETE FROM world_relations WHERE character_id = ?", (char_id,))
    connection.executemany(
        "INSERT INTO world_relations VALUES (?, ?, ?, ?)",
        [(char_id, int(kind), place, name) for place, (kind, name) in enumerate(relations)],
    )


def save_place(
    connection: sqlite3.Connection,
    char_id: int,
    zone_id: int,
    place: tuple[float, float, float, float],
) -> None:
    """Remember where a character is: its zone, and x, y, z, heading there."""
    connection.execute(
        "UPDATE world_characters SET zone_id = ?, x = ?, y = ?, z = ?, heading = ? WHERE id = ?",
        (zone_id, *place, char_id),
    )


def unlisted(connection: sqlite3.Connection, world_id: int) -> list[WorldCharacter]:
    """Return characters that the login server's list of `world_id` never had a row for."""
    rows = connection.execute(
        "SELECT * FROM world_characters AS own WHERE NOT deleted"
        " AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = own.account_id)"
        " AND NOT EXISTS (SELECT 1 FROM characters"
        " WHERE world_id = ? AND char_id = own.id AND characters.account_id = own.account_id)"
        " ORDER BY id",
        (world_id,),
    ).fetchall()
    return [_character(connection, row) for row in rows]


def disowned(connection: sqlite3.Connection, world_id: int) -> list[tuple[int, int]]:
    """Return (account id, id) of characters whose rows in the login server's list are deleted."""
    rows = connection.execute(
        "SELECT account_id, id FROM world_characters AS own WHERE NOT deleted"
        " AND 1 = (SELECT min(characters.deleted) FROM characters"
        " WHERE world_id = ? AND char_id = own.id AND characters.account_id = own.account_id)"
        " ORDER BY id",
        (world_id,),
    )
    return [(account_id, char_id) for account_id, char_id in rows]


def _character(connection: sqlite3.Connection, row: sqlite3.Row) -> WorldCharacter:
    appearance = connection.execute(
        "SELECT field, value FROM world_character_appearance WHERE character_id = ?", (row["id"],)
    )
    colors = connection.execute(
        "SELECT field, red, green, blue, signed FROM world_character_colors WHERE character_id = ?",
        (row["id"],),
    )
    values: dict[str, Any] = {name: row[column] for name, column in FIELDS.items()}
    values["deleted"] = bool(values["deleted"])
    relations = connection.execute(
        "SELECT kind, name FROM world_relations WHERE character_id = ? ORDER BY kind, place",
        (row["id"],),
    )
    values["relations"] = tuple((kind, name) for kind, name in relations)
    if row["x"] is not None:
        values["place"] = (row["x"], row["y"], row["z"], row["heading"])
    return WorldCharacter(
        id=row["id"],
        **values,
        appearance={name: value for name, value in appearance},  # noqa: C416  # rows, not pairs
        colors={
            name: Color(red, green, blue, bool(signed)) for name, red, green, blue, signed in colors
        },
    )
