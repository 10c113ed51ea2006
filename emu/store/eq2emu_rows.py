"""The rows of EQ2Emulator's world database that belong to characters, gathered by character.

A dump has one table after another, in the order of their names, so the rows of one character are
far apart. `CharacterRows` puts them into a temporary file of SQLite, which bounds the memory, and
returns them by character. Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Self

from emu.errors import CommandError, FileFormatError
from emu.sqldump import InsertRow, RowSource, Value
from emu.sqldump.report import Columns, number
from emu.store.eq2emu_guilds import GUILD_MEMBERS, GUILD_RANKS, GUILDS
from emu.store.eq2emu_houses import DEPOSITS, HISTORY, INSTANCE_DATA, PLACEMENTS
from emu.store.eq2emu_letters import LETTERS

CHARACTERS: Final = "characters"
BELONGINGS: Final = (
    "char_colors", "character_buyback", "character_collection_items", "character_collections",
    "character_details", "character_factions", "character_houses",
    "character_items", "character_languages", "character_lua_history", "character_macros", LETTERS,
    "character_quest_progress", "character_quests", "character_recipe_books", "character_skillbar",
    "character_skills", "character_social", "character_spells", "character_titles", GUILD_MEMBERS,
)  # fmt: skip
"""Tables with rows for each character that this program imports."""
OWNERS: Final = {CHARACTERS: "id", LETTERS: "player_to_id"}
"""The columns with the character's number; char_id in all other tables."""
TABLES: Final = (CHARACTERS, *BELONGINGS)
OPTIONAL: Final = (
    "character_collection_items", "character_collections", "character_houses",
    "character_lua_history", "character_macros", "character_spells", GUILD_MEMBERS, LETTERS,
)  # fmt: skip
"""Tables of `BELONGINGS` that a dump need not have: those of old dumps lack them."""
FACTS: Final = {
    "titles": "id", "zones": "id", GUILDS: "id", GUILD_RANKS: "guild_id",
    DEPOSITS: "instance_id", HISTORY: "instance_id", PLACEMENTS: "instance_id",
    INSTANCE_DATA: "spawn_location_id",
}  # fmt: skip
"""Tables whose rows characters refer to by number, and the columns with that number."""
LATER: Final = (
    "character_aa", "character_achievements", "character_achievements_items",
    "character_claim_items", "character_history", "character_instances",
    "character_items_group_members", "character_pictures",
    "character_properties", "character_quest_rewards", "character_quest_temporary_rewards",
    "character_recipes", "character_spell_effect_targets", "character_spell_effects",
    "character_spirit_shards", "charactersproperties",
)  # fmt: skip
"""Tables whose rows are only counted: achievements, for instance, are not imported."""
LOGIN_TABLES: Final = ("account", "login_characters", "login_worldservers")
"""Tables by which a dump of the login database is recognized."""


class DumpRow(NamedTuple):
    """One row of a dump."""

    table: str
    place: str
    """File and line, for reports."""
    columns: Columns


class CharacterRows:
    """The rows of one world's dumps; a context manager, which removes them at its end."""

    def __init__(self) -> None:
        self.later: Counter[str] = Counter()
        """Number of rows of each table of `LATER`."""
        self.malformed: list[tuple[str, str, str]] = []
        """Table, place and fault of rows without a usable number."""
        # SQLite keeps an unnamed database in a temporary file that nobody else can open.
        self._rows = sqlite3.connect("", isolation_level=None)
        # The file is temporary, so nothing in it needs to survive a crash.
        self._rows.execute("PRAGMA journal_mode = OFF")
        for table in ("character", "fact"):
            self._rows.execute(
                f"CREATE TABLE {table} (kind TEXT, owner INTEGER, place TEXT, columns TEXT)"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._rows.close()

    def read_dumps(self, dumps: Sequence[RowSource], progress: Callable[[int], None]) -> None:
        """Read all dumps of a world.

        Raises `FileFormatError` if a table is in none of them, and `CommandError` if the temporary
        file cannot be written.
        """
        try:
            self._read(dumps, progress)
        except sqlite3.Error as error:
            raise CommandError(
                f"the rows of the dump do not fit into a temporary file ({error}); set"
                " SQLITE_TMPDIR to a folder with more space than the dump has"
            ) from None

    def _read(self, dumps: Sequence[RowSource], progress: Callable[[int], None]) -> None:
        count = 0
        # One transaction: a commit for each row would take most of the time.
        self._rows.execute("BEGIN")
        for dump in dumps:
            for row in dump.read_rows((*TABLES, *FACTS, *LATER)):
                self._take(row, dump.name)
                count += 1
                if count % 1000 == 0:
                    progress(count)
        self._rows.execute("COMMIT")
        self._require(dumps)
        # After all rows are in: an index that grows with each row would be slower.
        self._rows.execute("CREATE INDEX characters_rows ON character (owner)")
        self._rows.execute("CREATE INDEX facts ON fact (kind, owner)")

    def characters(self) -> Iterator[DumpRow]:
        """Yield the rows of the table characters by number."""
        # Each query has a cursor of its own, so the caller may ask for belongings meanwhile.
        yield from self._query(
            "SELECT kind, place, columns FROM character WHERE kind = ? ORDER BY owner", CHARACTERS
        )

    def belongings(self, char_id: int) -> list[DumpRow]:
        """Return the other rows of a character, in the order of the dump."""
        return list(
            self._query(
                "SELECT kind, place, columns FROM character WHERE owner = ? AND kind <> ?"
                " ORDER BY rowid",
                char_id,
                CHARACTERS,
            )
        )

    def ownerless(self) -> Iterator[DumpRow]:
        """Yield the rows of characters that do not exist."""
        yield from self._query(
            "SELECT kind, place, columns FROM character AS row WHERE NOT EXISTS"
            " (SELECT 1 FROM character WHERE owner = row.owner AND kind = ?)",
            CHARACTERS,
        )

    def fact(self, table: str, number: int) -> Columns | None:
        """Return the row of a table of `FACTS` with this number."""
        found = self._query(
            "SELECT kind, place, columns FROM fact WHERE kind = ? AND owner = ?", table, number
        )
        return next((row.columns for row in found), None)

    def facts(self, table: str, number: int) -> list[Columns]:
        """Return all rows of a table of `FACTS` with this number, in the order of the dump."""
        found = self._query(
            "SELECT kind, place, columns FROM fact WHERE kind = ? AND owner = ? ORDER BY rowid",
            table, number,
        )  # fmt: skip
        return [row.columns for row in found]

    def has_facts(self, table: str) -> bool:
        """Return whether the dumps have rows of a table of `FACTS`."""
        found = self._rows.execute("SELECT 1 FROM fact WHERE kind = ? LIMIT 1", (table,))
        return found.fetchone() is not None

    def _take(self, row: InsertRow, file: str) -> None:
        table = row.table.lower()
        if table in LATER:
            # Only counted, so that a dump with millions of items takes no space.
            self.later[table] += 1
            return
        columns = row.named()
        is_fact = table in FACTS
        place = f"{file}, {row.place}"
        try:
            name = FACTS.get(table) or OWNERS.get(table, "char_id")
            owner = number(columns, name)
            if not owner and not is_fact:
                raise ValueError(f"{name} is missing")  # noqa: TRY301  # as for another bad number
            if table == PLACEMENTS and not owner:
                return  # a placement of a zone itself, as nearly all are
        except ValueError as error:
            # One bad row must not stop the import; the report names it.
            self.malformed.append((table, place, str(error)))
            return
        self._rows.execute(
            f"INSERT INTO {'fact' if is_fact else 'character'} VALUES (?, ?, ?, ?)",  # noqa: S608
            (table, owner, place, json.dumps(columns, default=_text)),
        )

    def _require(self, dumps: Sequence[RowSource]) -> None:
        # Over all dumps together: an operator may have dumped each table into its own file.
        seen: set[str] = set()
        for dump in dumps:
            seen |= dump.tables
        missing = [table for table in TABLES if table not in seen and table not in OPTIONAL]
        if not missing:
            return
        if CHARACTERS not in missing:
            text = (
                f"lacks {', '.join(missing)}: the import needs these tables, even empty ones; a"
                " live database hides tables from a user without SELECT on them"
            )
        elif seen.isdisjoint(LOGIN_TABLES):
            text = f"has no table {CHARACTERS}, so it is none of a world"
        else:
            text = (
                f"has no table {CHARACTERS}: it is the login server's, but --world needs the"
                " world's own database"
            )
        raise FileFormatError(f"{', '.join(str(dump) for dump in dumps)}: {text}")

    def _query(self, sql: str, *values: Value) -> Iterator[DumpRow]:
        for kind, place, columns in self._rows.execute(sql, values):
            # JSON, because the tables have different columns.
            yield DumpRow(kind, place, json.loads(columns))


def _text(value: object) -> Any:
    """Return a binary value as text, for JSON."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
