"""Import of a dump of EQ2Emulator's login database: accounts, worlds, bans, characters.

`LoginImport` and `CharacterImport` convert the rows of their tables, and `import_dump` runs an
import. `emu.sqldump` reads the SQL and makes the report. Sources of the columns:
docs/protocol/login.md#account, docs/protocol/characters.md#list,
docs/protocol/link.md#registration, docs/protocol/characters.md#models,
docs/protocol/link.md#batches.

Ids are kept, because worlds know accounts by id. Rows that are present stay, and missing rows are
added, so an interrupted import can be repeated.

The tables of a dump are in alphabetical order: colors come before their characters. So the dump is
read several times, each time for the tables whose owners are known by then. Skipping the rows of
other tables is cheap.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from emu.appearance import LARGEST_MODEL, model_key, slider
from emu.errors import CommandError
from emu.limits.addresses import normalize_prefix
from emu.link.messages import MAX_NAME
from emu.model import Account, Character, RegisteredWorld
from emu.sqldump import InsertRow
from emu.sqldump.report import (
    Columns,
    ImportReport,
    Tally,
    first,
    fraction,
    moment,
    number,
    text,
    visible,
)
from emu.store.accounts import BannedAddress
from emu.store.store import LoginStore, Store
from emu.store.worlds import MOST_ZONES
from emu.times import Moment


@dataclass(slots=True)
class Ids:
    """Ids of the dump -> ids of the store.

    If the dump contains a table, only its ids are valid. If it lacks the table, its ids are those
    of existing accounts and worlds in the store.
    """

    store: LoginStore
    accounts: dict[int, int] = field(default_factory=dict)
    worlds: dict[int, int] = field(default_factory=dict)
    characters: dict[int, int] = field(default_factory=dict)

    def account(self, wanted: int) -> int:
        """Return an account's id in the store. Raises `ValueError`."""
        if wanted in self.accounts:
            return self.accounts[wanted]
        if self.accounts or self.store.accounts.get(wanted) is None:
            raise ValueError(f"its account {wanted} was not imported")
        return wanted

    def world(self, wanted: int) -> int:
        """Return a world's id in the store. Raises `ValueError`."""
        if wanted in self.worlds:
            return self.worlds[wanted]
        if self.worlds or self.store.worlds.get(wanted) is None:
            raise ValueError(f"its world {wanted} was not imported")
        return wanted

    def character(self, wanted: int) -> int:
        """Return the row id of a character. Raises `ValueError`."""
        if wanted not in self.characters:
            raise ValueError(f"its character {wanted} was not imported")
        return self.characters[wanted]


MAX_WORLD_NAME = 200
"""Bytes of a world's name, as in LSInfo."""
MAX_PATH = 250
"""Bytes of a model's path in EQ2Emulator's own table."""

T = TypeVar("T", Account, RegisteredWorld)

_HASH = re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class Rules:
    """Options of an import."""

    clean_name: Callable[[str], str]
    """Returns an account name in the form to store, or raises `ValueError`."""
    moment: Moment
    renumber: bool = False
    """Give a new id to a row whose id belongs to another name in the store."""


@dataclass(frozen=True, slots=True)
class LoginImport:
    """Takes rows; each method says whether a row was new, or raises `ValueError` why it is out."""

    ids: Ids
    report: ImportReport
    rules: Rules
    conflicts: list[str] = field(default_factory=list)
    """Lines about ids that another name has in the store."""

    @property
    def takes(self) -> Mapping[str, Callable[[Columns], bool]]:
        """Table -> the method for its rows."""
        return {
            "account": self._account,
            "login_worldservers": self._world,
            "login_bannedips": self._banned_address,
            "login_config": self._setting,
            "appearances": self._model,
        }

    def _account(self, columns: Columns) -> bool:
        name = self.rules.clean_name(text(columns, "name"))
        here = self.ids.store.accounts.find(name)
        wanted = number(columns, "id")
        if here is not None:
            if wanted and here.id != wanted:
                self.report.note(
                    "account",
                    f"account {name!r} has the id {here.id} in the store and {wanted} in the dump",
                )
            self.ids.accounts[wanted] = here.id
            return False
        account = Account(
            id=wanted,
            name=name,
            password=self._hash("account", text(columns, "passwd"), name),
            enabled=number(columns, "account_enabled", 1) != 0,
            created=moment(columns, "created_date"),
            last_address=text(columns, "ip_address"),
            last_client_version=number(columns, "last_client_version"),
        )
        owner = self.ids.store.accounts.get(wanted)
        stored = self.ids.store.accounts.put(self._with_free_id("account", account, owner))
        self.ids.accounts[wanted] = stored.id
        return True

    def _world(self, columns: Columns) -> bool:
        name = visible(columns, "name", MAX_WORLD_NAME)
        login = text(columns, "account").strip()
        wanted = number(columns, "id")
        if not login:
            raise ValueError(f"the world {name!r} has no account to register with")
        here = self.ids.store.worlds.find_by_account(login)
        if here is not None:
            self.ids.worlds[wanted] = here.id
            return False
        if self.ids.store.worlds.find(name) is not None:
            raise ValueError(f"another world has the name {name!r}")
        world = RegisteredWorld(
            id=wanted,
            name=name,
            account=login,
            password=self._hash("world", text(columns, "password"), name),
            description=text(columns, "description"),
            enabled=number(columns, "disabled") == 0,
            last_address=text(columns, "ip_address"),
            login_version=text(columns, "login_version"),
        )
        owner = self.ids.store.worlds.get(world.id)
        created = moment(columns, "created_date")
        free = self._with_free_id("world", world, owner)
        self.ids.worlds[wanted] = self.ids.store.worlds.add(free, created).id
        return True

    def _banned_address(self, columns: Columns) -> bool:
        prefix = normalize_prefix(text(columns, "ip"))
        if self.ids.store.bans.is_stored(prefix):
            return False
        reason = text(columns, "reason") or text(columns, "notes")
        return self.ids.store.bans.add(BannedAddress(prefix, reason, self.rules.moment))

    def _setting(self, columns: Columns) -> bool:
        name = first(columns, "config_name", "name", "variable")
        value = first(columns, "config_value", "value")
        if not name:
            raise ValueError("it names no setting")
        before = self.report.settings.setdefault(name, value)
        if before != value:
            self.report.note(
                "login_config",
                f"{name} occurs twice, with {before!r} and {value!r}; the first is used",
            )
            return False
        return self.ids.store.settings.put("login_config", name, value)

    def _model(self, columns: Columns) -> bool:
        path = model_key(visible(columns, "name", MAX_PATH))
        model = number(columns, "appearance_id", least=1, most=LARGEST_MODEL)
        return self.ids.store.models.add(path, model)

    def _with_free_id(self, kind: str, row: T, owner: T | None) -> T:
        """Return the row with a free id; note a conflict for the end of the portion."""
        if owner is None:
            return row
        # Without renumbering, no row may be stored: worlds would give this account's characters to
        # the account that has the id in the store.
        if not self.rules.renumber:
            self.conflicts.append(
                f"{kind} {row.id} is {owner.name!r} in the store, {row.name!r} in the dump"
            )
        elif kind == "account":
            self.report.note(
                "account",
                f"account {row.name!r} gets a new id, {row.id} is {owner.name!r} in the store",
            )
        return replace(row, id=0)

    def _hash(self, kind: str, stored: str, name: str) -> str:
        """Return a password's hash; if it is none, an empty text, which matches no password."""
        stored = stored.strip().lower()
        if _HASH.fullmatch(stored):
            return stored
        remedy = f"emu {kind} password {name!r}"
        self.report.note(kind, f"no usable password; set one with: {remedy}")
        return ""


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

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._store = ids.store
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
            raise ValueError(f"its world already has {MOST_ZONES} zones")
        texts = (text(columns, "name"), text(columns, "description"))
        added = self._insert("world_zones", world_id, zone_id, *texts)
        self._zones[world_id] += added
        return added

    def _insert(self, table: str, *values: str | int | bool) -> bool:
        """Add a row unless its key exists; return True if it is new."""
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
    """Return the model numbers that are set, and the body size."""
    found = {
        field: number(columns, column, most=LARGEST_MODEL)
        for column, field in MODEL_COLUMNS.items()
    }
    found[BODY_SIZE] = slider(fraction(columns, BODY_SIZE))
    return {field: value for field, value in found.items() if value}


PASSES = (
    ("account", "login_worldservers", "login_bannedips", "login_config", "appearances"),
    ("login_characters", "ls_world_zones"),
    ("login_char_colors", "login_equipment"),
)
"""Tables of each pass over the dump: owners before their belongings."""
TABLES = tuple(table for tables in PASSES for table in tables)

PORTION = 2000
"""Rows of one transaction. A running server cannot write during it."""
LONGEST_HOLD = 0.25
"""Seconds of work without a pause for other writers."""
PAUSE = 0.12
"""Seconds of a pause: a writer that waits for SQLite's lock tries every 0.1 s."""

Read = Callable[[Collection[str]], Iterable[InsertRow]]
"""Reads the rows of some tables, from the beginning of the dump."""
Progress = Callable[[str, int], None]
"""Receives the present step, and the number of rows so far."""


def import_dump(
    store: Store,
    read: Read,
    *,
    clean_name: Callable[[str], str],
    moment: Moment,
    renumber: bool = False,
    dry_run: bool = False,
    progress: Progress = lambda _doing, _rows: None,
) -> ImportReport:
    """Import the rows of `TABLES` into the store, and return a report.

    `read` reads the dump from its beginning at each call. The import first runs on a copy of the
    database, so an unreadable dump or an id conflict leaves the store unchanged; with `dry_run` it
    ends there. Then it runs in portions, between which a running server can write. An interrupted
    import can be repeated. `clean_name` returns an account name in the form to store, or raises
    `ValueError`. An id that belongs to another name in the store is a `CommandError`, unless
    `renumber` gives such rows a new id. Raises `FileFormatError` from `read`.
    """
    rules = Rules(clean_name, moment, renumber)
    with store.copy() as trial:
        work = _Import(trial, rules, "Nothing was imported")
        work.run(read, lambda rows: progress("trying", rows), pause=False)
    if dry_run:
        return work.report
    work = _Import(store, rules, "What came before them in the dump was imported")
    work.run(read, lambda rows: progress("storing", rows), pause=True)
    return work.report


class _Import:
    """One run of an import."""

    def __init__(self, store: Store, rules: Rules, refused: str) -> None:
        self.report = ImportReport({table: Tally() for table in TABLES})
        ids = Ids(store.login)
        self._store = store
        self._refused = refused
        """Last sentence of the error about id conflicts."""
        self._logins = LoginImport(ids, self.report, rules)
        self._takes = {**self._logins.takes, **CharacterImport(ids).takes}
        self._held = 0.0

    def run(self, read: Read, progress: Callable[[int], None], *, pause: bool) -> None:
        """Import all rows in portions; with `pause`, let other programs write between them."""
        count = 0
        for tables in PASSES:
            left = iter(read(tables))
            while portion := list(itertools.islice(left, PORTION)):
                self._store_portion(portion)
                count += len(portion)
                progress(count)
                if pause and self._held >= LONGEST_HOLD:
                    time.sleep(PAUSE)
                    self._held = 0.0

    def _store_portion(self, portion: list[InsertRow]) -> None:
        began = time.monotonic()
        with self._store.transaction():
            for row in portion:
                self._take(row)
            self._refuse_conflicts()
        self._held += time.monotonic() - began

    def _take(self, row: InsertRow) -> None:
        table = row.table.lower()
        added = self.report.take(row, self._takes[table])
        if added is not None:
            self.report.tables[table].added += added
            self.report.tables[table].present += not added

    def _refuse_conflicts(self) -> None:
        """Raise `CommandError` if ids are in conflict; the caller undoes the portion."""
        conflicts = self._logins.conflicts
        if not conflicts:
            return
        shown = "; ".join(conflicts[:5])
        more = f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
        raise CommandError(
            f"ids are taken: {shown}{more}. Worlds know accounts by id: remove the stored rows,"
            f" or use --renumber to give the imported rows new ids. {self._refused}"
        )
