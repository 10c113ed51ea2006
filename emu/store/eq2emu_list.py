"""Import of EQ2Emulator's character list: the tables of the login database about characters.

A character whose world continues in the built-in world is listed there. Sources of the columns:
docs/protocol/characters.md#list, docs/protocol/link.md#batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from emu.appearance import LARGEST_MODEL, slider
from emu.link.messages import MAX_NAME
from emu.model import BUILT_IN_ACCOUNT, Character, Color, Equipment
from emu.sqldump.report import Columns, fraction, moment, number, text, visible
from emu.store.appearance import Appearance
from emu.store.eq2emu_ids import Ids, ImportOptions
from emu.store.eq2emu_world import ContinuedWorld, ImportedCharacters, own_list_row
from emu.store.store import Store
from emu.store.worlds import MOST_ZONES
from emu.worlds import ZoneDescription

MAX_FIELD = 32
"""Bytes of a color's name in EQ2Emulator's table."""

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
"""This row among the colors is no color: the first component is the body size."""
MAX_SLOT = 255


class CharacterImport:
    """Takes rows; each method says whether a row was new, or raises `ValueError` why it is out."""

    def __init__(
        self, store: Store, ids: Ids, rules: ImportOptions, imported: ImportedCharacters
    ) -> None:
        self._ids = ids
        self._find = store.world.characters.find
        self._rules = rules
        self._imported = imported
        self._store = ids.store
        self._add = ids.store.characters.add_missing
        self._run = ids.store.characters.database.connection.execute
        self._taken: set[int] = set()
        """Rows of the store that correspond to a row of the dump."""
        self._zones: Counter[int] = Counter()
        """Number of stored zones of each world."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], bool]]:
        """Table -> the method for its rows."""
        return {
            "login_characters": self._character,
            "login_char_colors": self._color,
            "login_equipment": self._equipment,
            "ls_world_zones": self._zone,
        }

    def _character(self, columns: Columns) -> bool:
        account_id = self._ids.account(number(columns, "account_id"))
        source = self._ids.sources.get(number(columns, "server_id"))
        if source is not None:
            continued = self._continued(columns, source, account_id)
            if continued is not None:
                return continued
        world_id = self._ids.world(number(columns, "server_id"))
        wanted = self._wanted(columns, account_id, world_id)
        here = self._same(wanted)
        row_id = self._store.characters.add(wanted).id if here is None else here
        self._taken.add(row_id)
        self._ids.characters[number(columns, "id")] = row_id
        return here is None

    def _wanted(self, columns: Columns, account_id: int, world_id: int) -> Character:
        return Character(
            id=0,
            account_id=account_id,
            world_id=world_id,
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

    def _continued(self, columns: Columns, source: ContinuedWorld, account_id: int) -> bool | None:
        """List a character that continues in the built-in world; return whether that is new.

        Return None if it stays on its old world. Raises `ValueError`.
        """
        char_id = number(columns, "char_id", least=1)
        known = self._imported.find(source.key, char_id)
        if known is None and source.stored_id is not None:
            return None
        if number(columns, "deleted"):
            # A world whose database was reset has assigned the number again: the character that
            # was imported is the later one, with a row of its own.
            self._ids.complete.add(number(columns, "id"))
            return False
        if known is None:
            raise ValueError(f"the dump of the world {source.name!r} does not have it")
        owner, own_id = known
        if owner != account_id:
            raise ValueError(f"number {char_id} of {source.name!r} belongs to another account")
        own = self._find(own_id)
        world = self._store.worlds.find_by_account(BUILT_IN_ACCOUNT)
        built_in = self._rules.built_in
        if own is None or world is None or built_in is None or self._is_listed(world.id, own_id):
            # Listed already, or gone from the built-in world since: nothing is missing in the list.
            self._ids.complete.add(number(columns, "id"))
            return False
        fields = own_list_row(own, built_in)
        stored = self._listed_on(source, char_id, account_id)
        if stored is None:
            row = replace(self._wanted(columns, account_id, world.id), **fields)
            self._ids.characters[number(columns, "id")] = self._store.characters.add(row).id
        else:
            # An earlier import has listed it for the old world. Its row moves, so appearance and
            # equipment stay.
            self._store.characters.move(stored, world.id, fields)
            self._ids.complete.add(number(columns, "id"))
        return True

    def _is_listed(self, world_id: int, char_id: int) -> bool:
        found = self._run(
            "SELECT 1 FROM characters WHERE world_id = ? AND char_id = ?", (world_id, char_id)
        )
        return found.fetchone() is not None

    def _listed_on(self, source: ContinuedWorld, char_id: int, account_id: int) -> int | None:
        """Return the row that an earlier import has stored for the old world."""
        row = self._run(
            "SELECT id FROM characters WHERE world_id = ? AND char_id = ? AND account_id = ?"
            " AND NOT deleted",
            (source.stored_id, char_id, account_id),
        ).fetchone()
        return None if row is None else int(row["id"])

    def _same(self, wanted: Character) -> int | None:
        """Return the stored row of a character of the dump, or None.

        A stored row corresponds to only one character of the dump. A world whose database was reset
        assigns numbers again; then the later character has the row. Raises `ValueError` if another
        character has the number in the store.
        """
        alive = self._run(
            "SELECT id, account_id, name FROM characters"
            " WHERE world_id = ? AND char_id = ? AND NOT deleted",
            (wanted.world_id, wanted.char_id),
        ).fetchone()
        is_same = alive and (alive["account_id"], alive["name"]) == (wanted.account_id, wanted.name)
        # A present row with the same owner and name is the same character.
        if is_same and not wanted.deleted:
            return int(alive["id"])
        for row_id in self._deleted(wanted):
            if row_id not in self._taken:
                return row_id
        if is_same and alive["id"] not in self._taken:
            return int(alive["id"])
        if alive and not wanted.deleted and alive["id"] not in self._taken:
            raise ValueError(
                f"number {wanted.char_id} of its world is {alive['name']!r} in the store"
            )
        return None

    def _deleted(self, wanted: Character) -> list[int]:
        rows = self._run(
            "SELECT id FROM characters WHERE account_id = ? AND world_id = ? AND char_id = ?"
            " AND name = ? AND deleted ORDER BY id",
            (wanted.account_id, wanted.world_id, wanted.char_id, wanted.name),
        )
        return [row["id"] for row in rows]

    def _color(self, columns: Columns) -> bool:
        if number(columns, "login_characters_id") in self._ids.complete:
            return False
        row_id = self._ids.character(number(columns, "login_characters_id"))
        field = visible(columns, "type", MAX_FIELD)
        parts = [number(columns, name, least=-128, most=255) for name in ("red", "green", "blue")]
        if field == BODY_SIZE:
            return self._add(row_id, Appearance({field: parts[0]}, {}, ()))
        red, green, blue = parts
        color = Color(red, green, blue, number(columns, "signed_value") != 0)
        return self._add(row_id, Appearance({}, {field: color}, ()))

    def _equipment(self, columns: Columns) -> bool:
        if number(columns, "login_characters_id") in self._ids.complete:
            return False
        row_id = self._ids.character(number(columns, "login_characters_id"))
        slot = number(columns, "slot", most=MAX_SLOT)
        model = number(columns, "equip_type", most=LARGEST_MODEL)
        color, highlight = (
            (
                number(columns, f"{prefix}red", 255, most=255),
                number(columns, f"{prefix}green", 255, most=255),
                number(columns, f"{prefix}blue", 255, most=255),
            )
            for prefix in ("", "highlight_")
        )
        return self._add(row_id, Appearance({}, {}, (Equipment(slot, model, color, highlight),)))

    def _zone(self, columns: Columns) -> bool:
        source = self._ids.sources.get(number(columns, "server_id"))
        if source is not None and source.stored_id is None:
            return False  # the built-in world has zones of its own
        world_id = self._ids.world(number(columns, "server_id"))
        zone_id = number(columns, "zone_id")
        # Counted once for each world: the dump has thousands of rows.
        if world_id not in self._zones:
            counted = self._run("SELECT count(*) FROM world_zones WHERE world_id = ?", (world_id,))
            self._zones[world_id] = counted.fetchone()[0]
        if self._zones[world_id] >= MOST_ZONES:
            raise ValueError(f"its world already has {MOST_ZONES} zones")
        texts = (text(columns, "name"), text(columns, "description"))
        added = self._store.worlds.add_zone(world_id, ZoneDescription(zone_id, *texts))
        self._zones[world_id] += added
        return added


def _appearance(columns: Columns) -> dict[str, int]:
    """Return the model numbers that are set, and the body size."""
    found = {
        field: number(columns, column, most=LARGEST_MODEL)
        for column, field in MODEL_COLUMNS.items()
    }
    found[BODY_SIZE] = slider(fraction(columns, BODY_SIZE))
    return {field: value for field, value in found.items() if value}
