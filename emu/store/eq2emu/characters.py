"""The character list: characters with their looks and equipment, and the zones they are in.

Owns the columns of login_characters, login_char_colors, login_equipment and ls_world_zones
(docs/protocol/characters.md, docs/protocol/link.md#batches) and what becomes of each row. What is
here already stays; what a character here lacks is added, so that an import that was interrupted can
be finished.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping

from emu.link.characters import MAX_NAME
from emu.looks.coding import slider
from emu.looks.models import LARGEST_MODEL
from emu.model import Character
from emu.sqldump.columns import Columns, fraction, moment, number, text, visible
from emu.store.eq2emu.ids import Ids
from emu.store.login.worlds import MOST_ZONES

MAX_FIELD = 32
"""Bytes of the name of a color, as EQ2Emulator's own table has them."""

MODEL_COLUMNS = {
    prefix + column: prefix + field
    for prefix in ("", "soga_")
    for column, field in {
        "model_type": "race_type",
        "hair_type": "hair_type",
        "facial_hair_type": "hair_face_type",
        "wing_type": "wing_type",
        "chest_type": "chest_type",
        "legs_type": "legs_type",
    }.items()
}
"""Column of login_characters -> CharSelectProfile field of the same model."""
BODY_SIZE = "body_size"
"""Stands among the colors, as their first component, and is no color."""
MAX_SLOT = 255


class Characters:
    """Takes rows; each method says whether a row was new, or raises `ValueError` why it is out."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._store = ids.store
        self._run = ids.store.characters.database.connection.execute
        self._taken: set[int] = set()
        """Rows here that a row of the dump stands for."""
        self._zones: Counter[int] = Counter()
        """How many zones each world has here."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], bool]]:
        """Table -> what takes a row of it."""
        return {
            "login_characters": self._character,
            "login_char_colors": self._color,
            "login_equipment": self._equipment,
            "ls_world_zones": self._zone,
        }

    def _character(self, columns: Columns) -> bool:
        wanted = Character(
            id=0,
            account_id=self._ids.account(number(columns, "account_id")),
            world_id=self._ids.world(number(columns, "server_id")),
            char_id=number(columns, "char_id", least=1),
            name=visible(columns, "name", MAX_NAME),
            race=number(columns, "race"),
            class_=number(columns, "class"),
            gender=number(columns, "gender"),
            deity=number(columns, "deity"),
            level=number(columns, "level", 1),
            tradeskill_class=number(columns, "tradeskill_class"),
            tradeskill_level=number(columns, "tradeskill_level"),
            zone_id=number(columns, "current_zone_id"),
            zone_name=text(columns, "current_zone"),
            created=moment(columns, "created_date"),
            last_played=moment(columns, "last_played"),
            deleted=number(columns, "deleted") != 0,
            appearance=_appearance(columns),
        )
        here = self._same(wanted)
        row_id = self._store.characters.add(wanted).id if here is None else here
        self._taken.add(row_id)
        self._ids.characters[number(columns, "id")] = row_id
        return here is None

    def _same(self, wanted: Character) -> int | None:
        """Return the row here that a character of the dump already is, None for none.

        A row stands for one character of the dump only: worlds give a number anew when their
        database was reset, and then the later one counts. Raises `ValueError` when somebody else
        has the number here.
        """
        alive = self._run(
            "SELECT id, account_id, name FROM characters"
            " WHERE world_id = ? AND char_id = ? AND NOT deleted",
            (wanted.world_id, wanted.char_id),
        ).fetchone()
        is_same = alive and (alive["account_id"], alive["name"]) == (wanted.account_id, wanted.name)
        if is_same and not wanted.deleted:
            return int(alive["id"])
        for row_id in self._deleted(wanted):
            if row_id not in self._taken:
                return row_id
        if is_same and alive["id"] not in self._taken:
            return int(alive["id"])
        if alive and not wanted.deleted and alive["id"] not in self._taken:
            raise ValueError(f"number {wanted.char_id} of its world is {alive['name']!r} here")
        return None

    def _deleted(self, wanted: Character) -> list[int]:
        rows = self._run(
            "SELECT id FROM characters WHERE account_id = ? AND world_id = ? AND char_id = ?"
            " AND name = ? AND deleted ORDER BY id",
            (wanted.account_id, wanted.world_id, wanted.char_id, wanted.name),
        )
        return [row["id"] for row in rows]

    def _color(self, columns: Columns) -> bool:
        row_id = self._ids.character(number(columns, "login_characters_id"))
        field = visible(columns, "type", MAX_FIELD)
        parts = [number(columns, name, least=-128, most=255) for name in ("red", "green", "blue")]
        if field == BODY_SIZE:
            return self._insert("character_appearance", row_id, field, parts[0])
        signed = number(columns, "signed_value") != 0
        return self._insert("character_colors", row_id, field, *parts, signed)

    def _equipment(self, columns: Columns) -> bool:
        row_id = self._ids.character(number(columns, "login_characters_id"))
        slot = number(columns, "slot", most=MAX_SLOT)
        model = number(columns, "equip_type", most=LARGEST_MODEL)
        parts = [
            number(columns, prefix + name, 255, most=255)
            for prefix in ("", "highlight_")
            for name in ("red", "green", "blue")
        ]
        return self._insert("character_equipment", row_id, slot, model, *parts)

    def _zone(self, columns: Columns) -> bool:
        world_id = self._ids.world(number(columns, "server_id"))
        zone_id = number(columns, "zone_id")
        if world_id not in self._zones:
            counted = self._run("SELECT count(*) FROM world_zones WHERE world_id = ?", (world_id,))
            self._zones[world_id] = counted.fetchone()[0]
        if self._zones[world_id] >= MOST_ZONES:
            raise ValueError(f"its world has {MOST_ZONES} zones already")
        texts = (text(columns, "name"), text(columns, "description"))
        added = self._insert("world_zones", world_id, zone_id, *texts)
        self._zones[world_id] += added
        return added

    def _insert(self, table: str, *values: str | int | bool) -> bool:
        """Add a row unless one with its key is there; True when it is new."""
        places = ", ".join("?" * len(values))
        try:
            added = self._run(
                f"INSERT OR IGNORE INTO {table} VALUES ({places})",  # noqa: S608
                values,
            )
        except sqlite3.IntegrityError as error:
            raise ValueError(str(error)) from None
        return added.rowcount == 1


def _appearance(columns: Columns) -> dict[str, int]:
    """Return the numbers of models that are set, and the body's size."""
    found = {
        field: number(columns, column, most=LARGEST_MODEL)
        for column, field in MODEL_COLUMNS.items()
    }
    found[BODY_SIZE] = slider(fraction(columns, BODY_SIZE))
    return {field: value for field, value in found.items() if value}
