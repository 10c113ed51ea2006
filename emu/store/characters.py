"""Rows of the login server's copy of every character, with their looks and equipment."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from emu.model import Character, Color, Equipment

FIELDS = {
    "account_id": "account_id",
    "world_id": "world_id",
    "char_id": "char_id",
    "name": "name",
    "race": "race",
    "class_": "class",
    "gender": "gender",
    "deity": "deity",
    "level": "level",
    "tradeskill_class": "tradeskill_class",
    "tradeskill_level": "tradeskill_level",
    "zone_id": "zone_id",
    "zone_name": "zone_name",
    "zone_description": "zone_description",
    "created": "created",
    "last_played": "last_played",
    "client_version": "client_version",
    "deleted": "deleted",
}
"""Field of `Character` -> column."""

CHANGEABLE = frozenset(
    ("level", "race", "class_", "gender", "name", "zone_id", "zone_name", "zone_description",
     "tradeskill_class", "tradeskill_level", "last_played")
)  # fmt: skip
"""Fields that a world may change; every other key of a change is an appearance field."""

_INSERT = (
    f"INSERT INTO characters ({', '.join(FIELDS.values())})"  # noqa: S608
    f" VALUES ({', '.join('?' * len(FIELDS))})"
)


def of_account(connection: sqlite3.Connection, account_id: int) -> list[Character]:
    """Return the account's characters that are not deleted, oldest first."""
    return _load(connection, "account_id = ? AND NOT deleted", (account_id,))


def get(connection: sqlite3.Connection, row_id: int) -> Character | None:
    """Return one row, deleted or not."""
    return next(iter(_load(connection, "id = ?", (row_id,))), None)


def count_of_account(connection: sqlite3.Connection, account_id: int) -> int:
    """Count the account's characters that are not deleted."""
    return _count(connection, "account_id = ?", account_id)


def count_of_world(connection: sqlite3.Connection, world_id: int) -> int:
    """Count the world's characters that are not deleted."""
    return _count(connection, "world_id = ?", world_id)


def add(connection: sqlite3.Connection, character: Character) -> int:
    """Store a character with all it has and return its row id.

    An older row of the same world and char id is marked deleted: worlds give an id again when
    their database was reset.
    """
    if not character.deleted:
        connection.execute(
            "UPDATE characters SET deleted = 1 WHERE world_id = ? AND char_id = ? AND NOT deleted",
            (character.world_id, character.char_id),
        )
    values = [getattr(character, name) for name in FIELDS]
    row_id = connection.execute(_INSERT, values).lastrowid or 0
    connection.executemany(
        "INSERT INTO character_appearance VALUES (?, ?, ?)",
        [(row_id, name, value) for name, value in character.appearance.items()],
    )
    connection.executemany(
        "INSERT INTO character_colors VALUES (?, ?, ?, ?, ?, ?)",
        [
            (row_id, name, color.red, color.green, color.blue, color.signed)
            for name, color in character.colors.items()
        ],
    )
    _put_equipment(connection, row_id, character.equipment)
    return row_id


def delete(
    connection: sqlite3.Connection, account_id: int, world_id: int, char_id: int, name: str
) -> bool:
    """Mark one character deleted; True when exactly that row was there and not deleted."""
    changed = connection.execute(
        "UPDATE characters SET deleted = 1 WHERE account_id = ? AND world_id = ? AND char_id = ?"
        " AND name = ? AND NOT deleted",
        (account_id, world_id, char_id, name),
    )
    return changed.rowcount == 1


def purge(connection: sqlite3.Connection, before: float) -> int:
    """Remove rows deleted before a moment for good; return how many.

    One whose character the built-in world still has stays: the two are brought in line with each
    other at the next start.
    """
    gone = connection.execute(
        "DELETE FROM characters WHERE deleted AND deleted_at < ? AND NOT EXISTS"
        " (SELECT 1 FROM world_characters AS own WHERE own.id = characters.char_id"
        " AND own.account_id = characters.account_id AND NOT own.deleted)",
        (before,),
    )
    return gone.rowcount


def update(
    connection: sqlite3.Connection,
    account_id: int,
    world_id: int,
    char_id: int,
    changes: Mapping[str, int | str | float],
) -> bool:
    """Change fields of one character; True when there is such a character, not deleted."""
    row = connection.execute(
        "SELECT id FROM characters WHERE account_id = ? AND world_id = ? AND char_id = ?"
        " AND NOT deleted",
        (account_id, world_id, char_id),
    ).fetchone()
    if row is None:
        return False
    columns = {FIELDS[name]: value for name, value in changes.items() if name in CHANGEABLE}
    if columns:
        pairs = ", ".join(f"{column} = ?" for column in columns)
        connection.execute(
            f"UPDATE characters SET {pairs} WHERE id = ?",  # noqa: S608
            (*columns.values(), row["id"]),
        )
    connection.executemany(
        "INSERT OR REPLACE INTO character_appearance VALUES (?, ?, ?)",
        [(row["id"], name, value) for name, value in changes.items() if name not in CHANGEABLE],
    )
    return True


def set_equipment(
    connection: sqlite3.Connection, world_id: int, items: Sequence[tuple[int, Equipment]]
) -> int:
    """Store a batch of (char id, equipment) of one world; return how many found a character."""
    rows: dict[int, int | None] = {}
    stored = 0
    for char_id, item in items:
        if char_id not in rows:
            row = connection.execute(
                "SELECT id FROM characters WHERE world_id = ? AND char_id = ? AND NOT deleted",
                (world_id, char_id),
            ).fetchone()
            rows[char_id] = row["id"] if row else None
        row_id = rows[char_id]
        if row_id is not None:
            _put_equipment(connection, row_id, [item])
            stored += 1
    return stored


def _put_equipment(connection: sqlite3.Connection, row_id: int, items: Sequence[Equipment]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO character_equipment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(row_id, item.slot, item.model, *item.color, *item.highlight) for item in items],
    )


def _count(connection: sqlite3.Connection, condition: str, value: int) -> int:
    row = connection.execute(
        f"SELECT count(*) FROM characters WHERE {condition} AND NOT deleted",  # noqa: S608
        (value,),
    ).fetchone()
    return int(row[0])


def _load(
    connection: sqlite3.Connection, condition: str, values: tuple[Any, ...]
) -> list[Character]:
    rows = connection.execute(
        f"SELECT * FROM characters WHERE {condition} ORDER BY id",  # noqa: S608
        values,
    ).fetchall()
    if not rows:
        return []
    chosen = f"character_id IN (SELECT id FROM characters WHERE {condition})"  # noqa: S608
    looks: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(
        f"SELECT * FROM character_appearance WHERE {chosen}",  # noqa: S608
        values,
    ):
        looks[row["character_id"]][row["field"]] = row["value"]
    colors: defaultdict[int, dict[str, Color]] = defaultdict(dict)
    for row in connection.execute(
        f"SELECT * FROM character_colors WHERE {chosen}",  # noqa: S608
        values,
    ):
        owner, name, red, green, blue, signed = row
        colors[owner][name] = Color(red, green, blue, bool(signed))
    worn: defaultdict[int, list[Equipment]] = defaultdict(list)
    for row in connection.execute(
        f"SELECT * FROM character_equipment WHERE {chosen}",  # noqa: S608
        values,
    ):
        owner, slot, model, *parts = row
        red, green, blue, *highlight = parts
        worn[owner].append(
            Equipment(slot, model, (red, green, blue), (highlight[0], highlight[1], highlight[2]))
        )
    return [
        _character(row, looks[row["id"]], colors[row["id"]], tuple(worn[row["id"]])) for row in rows
    ]


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
