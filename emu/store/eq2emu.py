"""Import of a dump of EQ2Emulator's login database: accounts, worlds, bans, characters.

`LoginImport` converts the rows of its tables, `emu.store.eq2emu_list` the character list and
`emu.store.eq2emu_world` the characters of worlds that continue here. `import_dump` runs an import.
`emu.sqldump` reads the SQL and makes the report. Sources of the columns:
docs/protocol/login.md#account, docs/protocol/link.md#registration,
docs/protocol/characters.md#models.

Ids are kept, because worlds know accounts by id. Rows that are present stay, and missing rows are
added, so an interrupted import can be repeated.

The tables of a dump are in alphabetical order: colors come before their characters. So the dump is
read several times, each time for the tables whose owners are known by then. Skipping the rows of
other tables is cheap.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import TypeVar

from emu.appearance import LARGEST_MODEL, model_key
from emu.errors import CommandError
from emu.limits.addresses import normalize_prefix
from emu.model import BUILT_IN_ACCOUNT, Account
from emu.sqldump import InsertRow, RowSource
from emu.sqldump.report import (
    Columns,
    ImportReport,
    Tally,
    first,
    moment,
    number,
    text,
    visible,
)
from emu.store.accounts import BannedAddress
from emu.store.eq2emu_character import BuiltInWorld
from emu.store.eq2emu_ids import Ids, ImportOptions
from emu.store.eq2emu_list import CharacterImport
from emu.store.eq2emu_rows import CHARACTERS
from emu.store.eq2emu_rows import TABLES as WORLD_TABLES
from emu.store.eq2emu_world import (
    ContinuedWorld,
    ImportedCharacters,
    OldWorld,
    WorldImport,
    listed,
)
from emu.store.repository import name_key
from emu.store.store import Store
from emu.texts import counted
from emu.times import Moment
from emu.worlds import RegisteredWorld

MAX_WORLD_NAME = 200
"""Bytes of a world's name, as in LSInfo."""
MAX_PATH = 250
"""Bytes of a model's path in EQ2Emulator's own table."""

T = TypeVar("T", Account, RegisteredWorld)

_HASH = re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class LoginImport:
    """Takes rows; each method says whether a row was new, or raises `ValueError` why it is out."""

    ids: Ids
    report: ImportReport
    rules: ImportOptions
    imported: ImportedCharacters
    names: list[str] = field(default_factory=list)
    """Names of the worlds of the dump."""
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
            # Later tables name the dump's number, so it is noted for accounts that are here
            # already, too.
            self.ids.accounts[wanted] = here.id
            return False
        account = Account(
            id=wanted,
            name=name,
            password=self._hash("account", text(columns, "passwd"), name),
            # Without the column, an account can log in.
            enabled=number(columns, "account_enabled", 1) != 0,
            created=moment(columns, "created_date"),
            last_address=text(columns, "ip_address"),
            last_client_version=number(columns, "last_client_version"),
        )
        owner = self.ids.store.accounts.get(wanted)
        stored = self.ids.store.accounts.insert(self._with_free_id("account", account, owner))
        self.ids.accounts[wanted] = stored.id
        return True

    def _world(self, columns: Columns) -> bool:
        name = visible(columns, "name", MAX_WORLD_NAME)
        login = text(columns, "account").strip()
        wanted = number(columns, "id")
        self.names.append(name)
        if not login:
            raise ValueError(f"the world {name!r} has no account to register with")
        here = self.ids.store.worlds.find_by_account(login)
        if here is not None:
            self.ids.worlds[wanted] = here.id
        # `imported_characters` knows a world by this key, because its name may change.
        key = name_key(login)
        if self.rules.continues(name) or self.imported.has_world(key):
            self.ids.sources[wanted] = ContinuedWorld(key, name, here.id if here else None)
            return False
        # Its id is noted above, so its characters still find it.
        if here is not None:
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
        # With id 0 the store assigns the next free one.
        return replace(row, id=0)

    def _hash(self, kind: str, stored: str, name: str) -> str:
        """Return a password's hash; if it is none, an empty text, which matches no password."""
        # Hex digits in capital letters are the same hash.
        stored = stored.strip().lower()
        if _HASH.fullmatch(stored):
            return stored
        remedy = f"emu {kind} password {name!r}"
        self.report.note(kind, f"no usable password; set one with: {remedy}")
        # An empty text never matches, so nobody can log in until the operator sets a password.
        return ""


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


def check_login_dump(dump: RowSource) -> None:
    """Raise `EmuError` if a dump, read to its end, or a live database is none of a login server."""
    tables = dump.tables
    # A world database has the table `appearances`, too, so it does not show which dump this is.
    wanted = set(TABLES) if CHARACTERS not in tables else set(TABLES) - {"appearances"}
    if not tables.isdisjoint(wanted):
        return
    hint = ""
    if CHARACTERS in tables:
        hint = (
            ": it is one of a world. Give the login database as FILE, and this one"
            f" with --world {quote(f'OLD={dump}')}"
        )
    raise dump.error(f"has no table account, so it is none of a login server{hint}")


def import_dump(
    store: Store,
    read: Read,
    *,
    clean_name: Callable[[str], str],
    moment: Moment,
    renumber: bool = False,
    dry_run: bool = False,
    old_worlds: Sequence[OldWorld] = (),
    built_in: BuiltInWorld | None = None,
    check: Callable[[], object] = lambda: None,
    progress: Progress = lambda _doing, _rows: None,
) -> ImportReport:
    """Import the rows of `TABLES` into the store, and return a report.

    `read` reads the dump from its beginning at each call. The import first runs on a copy of the
    database, so an unreadable dump or an id conflict leaves the store unchanged; with `dry_run` it
    ends there. Then it runs in portions, between which a running server can write. An interrupted
    import can be repeated. `clean_name` returns an account name in the form to store, or raises
    `ValueError`. An id that belongs to another name in the store is a `CommandError`, unless
    `renumber` gives such rows a new id. Raises `FileFormatError` from `read`.

    The characters of `old_worlds` continue in the built-in world, which `built_in` describes. Then
    the whole import is one transaction, and no server may run. `check` is called after the dump was
    read to its end for the first time; it may raise.
    """
    rules = ImportOptions(clean_name, moment, renumber, old_worlds, built_in)
    if old_worlds and not dry_run:
        work = _Import(store, rules, "Nothing was imported", check)
        with store.transaction():
            work.run(read, progress)
        return work.report
    with store.trial() as trial:
        work = _Import(trial, rules, "Nothing was imported", check)
        work.run(read, lambda _doing, rows: progress("trying", rows))
    if dry_run:
        return work.report
    work = _Import(store, rules, "What came before them in the dump was imported", check)
    work.run(read, progress, pause=True)
    return work.report


class _Import:
    """One run of an import."""

    def __init__(
        self, store: Store, rules: ImportOptions, refused: str, check: Callable[[], object]
    ) -> None:
        tables = (*TABLES, *WORLD_TABLES) if rules.old_worlds else TABLES
        self.report = ImportReport({table: Tally() for table in tables})
        self._store = store
        self._rules = rules
        self._refused = refused
        """Last sentence of the error about id conflicts."""
        self._check = check
        self._ids = Ids(store.login)
        imported = ImportedCharacters(store.database)
        self._logins = LoginImport(self._ids, self.report, rules, imported)
        characters = CharacterImport(store, self._ids, rules, imported)
        self._takes = {**self._logins.takes, **characters.takes}
        self._held = 0.0
        self._count = 0

    def run(self, read: Read, progress: Progress, *, pause: bool = False) -> None:
        """Import all rows in portions; with `pause`, let other programs write between them."""
        first, *others = PASSES
        self._read(read, first, progress, pause=pause)
        self._check()
        self._bring_worlds(progress)
        for tables in others:
            self._read(read, tables, progress, pause=pause)
        self._conclude()

    def _read(self, read: Read, tables: Sequence[str], progress: Progress, *, pause: bool) -> None:
        # One iterator for all portions: each continues where the last one ended.
        left = iter(read(tables))
        while portion := list(itertools.islice(left, PORTION)):
            self._store_portion(portion)
            self._count += len(portion)
            progress("storing", self._count)
            # A server that waits for SQLite's lock would otherwise give up.
            if pause and self._held >= LONGEST_HOLD:
                time.sleep(PAUSE)
                self._held = 0.0

    def _bring_worlds(self, progress: Progress) -> None:
        """Store the characters of the old worlds in the built-in world."""
        built_in = self._rules.built_in
        if built_in is None:
            return
        bring = WorldImport(
            self._store, self.report, built_in, account_of=self._ids.account,
            moment=self._rules.moment,
        )  # fmt: skip
        for old in self._rules.old_worlds:
            source = self._source_of(old)
            bring.make_space(source)
            bring.register()
            bring.bring(source, old, lambda rows: progress("characters", rows))

    def _source_of(self, old: OldWorld) -> ContinuedWorld:
        """Return the world of the dump, or else of the store. Raises `CommandError`."""
        for source in self._ids.sources.values():
            if source.name.casefold() == old.name.casefold():
                return source
        stored = self._store.login.worlds.find(old.name)
        if stored is None or stored.account == BUILT_IN_ACCOUNT:
            found = listed([repr(name) for name in self._logins.names]) or "none"
            raise CommandError(
                f"the dump has no world {old.name!r}; its worlds: {found}. Nothing was imported"
            )
        source = ContinuedWorld(name_key(stored.account), stored.name, stored.id)
        self._ids.sources[stored.id] = source
        return source

    def _conclude(self) -> None:
        """Remove worlds that the built-in world continues; advise on the characters of others."""
        login = self._store.login
        for source in self._ids.sources.values():
            if source.stored_id is None or not self._rules.continues(source.name):
                continue
            if login.characters.count_of_world(source.stored_id) == 0:
                login.worlds.remove(source.stored_id)
                self.report.advice.append(
                    f"world {source.name!r} has no characters any more and was removed"
                )
        for world_id in sorted(set(self._ids.worlds.values())):
            world = login.worlds.get(world_id)
            count = login.characters.count_of_world(world_id)
            if world is not None and count and world.account != BUILT_IN_ACCOUNT:
                stay = "stays" if count == 1 else "stay"
                self.report.advice.append(
                    f"{counted(count, 'character')} of {world.name!r} {stay} with the old world,"
                    " and can be played while that world is connected. To continue in this"
                    " server's world, stop the server and repeat the import with"
                    f" --world {quote(f'{world.name}=FILE')}, where FILE is that world's"
                    " own database: a dump, or the URL of the live one"
                )

    def _store_portion(self, portion: list[InsertRow]) -> None:
        # The whole transaction is timed, because that is how long other writers have to wait.
        began = time.monotonic()
        with self._store.transaction():
            for row in portion:
                self._take(row)
            # Before the commit, so that a portion with a conflict is undone as a whole.
            self._refuse_conflicts()
        self._held += time.monotonic() - began

    def _take(self, row: InsertRow) -> None:
        table = row.table.lower()
        added = self.report.read_row(row, self._takes[table])
        if added is not None:
            self.report.tables[table].added += added
            self.report.tables[table].present += not added

    def _refuse_conflicts(self) -> None:
        """Raise `CommandError` if ids are in conflict; the caller undoes the portion."""
        conflicts = self._logins.conflicts
        if not conflicts:
            return
        # The first ones show what is wrong, and the error stays readable.
        shown = "; ".join(conflicts[:5])
        more = f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
        raise CommandError(
            f"ids are taken: {shown}{more}. Worlds know accounts by id: remove the stored rows,"
            f" or use --renumber to give the imported rows new ids. {self._refused}"
        )
