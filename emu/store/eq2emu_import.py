"""Taking over accounts, worlds, bans and settings from a dump of EQ2Emulator's login database.

Owns the columns of those four tables (eq2-login.md 1.3, 4.1 and 10.3) and what becomes of each row;
reading SQL is `emu.sqldump`. Ids are kept, because worlds know accounts by id. What is here already
stays as it is, so a dump can be taken over again.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from emu.errors import CommandError
from emu.model import Account, World
from emu.sqldump import InsertRow
from emu.store import accounts, addresses, worlds
from emu.store.accounts import FOR_EVER
from emu.store.addresses import BannedAddress
from emu.store.store import Store
from emu.times import UNKNOWN, Moment

TABLES = ("account", "login_worldservers", "login_bannedips", "login_config")
MAX_WORLD_NAME = 200
"""Bytes of a world's name; LSInfo has room for so many."""
PORTION = 2000
"""Rows stored in one transaction; a running server cannot write meanwhile."""
PAUSE = 0.12
"""Seconds between two portions: whoever waits for SQLite's lock looks every tenth of a second."""

T = TypeVar("T", Account, World)

_HASH = re.compile(r"[0-9a-f]{128}")


@dataclass(slots=True)
class Tally:
    """What became of the rows of one table."""

    read: int = 0
    added: int = 0
    present: int = 0
    skipped: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import did; `notes` are lines for an operator to read."""

    tables: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in TABLES})
    settings: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def import_dump(
    store: Store,
    rows: Callable[[], Iterable[InsertRow]],
    *,
    clean_name: Callable[[str], str],
    moment: Moment,
    renumber: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Take rows of `TABLES` into the store and tell what became of them.

    `rows` reads the dump from its beginning, each time it is called. The whole of it is tried on a
    copy first: what cannot be read or is in the way leaves the store as it was, and with `dry_run`
    that is all. Then it is stored in portions, so that a running server can write between them.
    `clean_name` returns an account name as it is to be stored, or raises `ValueError`. An id that
    belongs to another name here is a `CommandError`, unless `renumber` lets such rows have a new
    one. Raises `FileFormatError` from `rows`.
    """
    with store.copy() as trial:
        work = _Import(trial, clean_name, moment, renumber=renumber)
        with trial.transaction():
            for row in rows():
                work.take(row)
            work.refuse_conflicts("Nothing was imported")
    if dry_run:
        return work.report
    work = _Import(store, clean_name, moment, renumber=renumber)
    left = iter(rows())
    while portion := list(itertools.islice(left, PORTION)):
        with store.transaction():
            for row in portion:
                work.take(row)
            work.refuse_conflicts("What came before them in the dump was imported")
        if len(portion) == PORTION:
            time.sleep(PAUSE)
    return work.report


class _Import:
    """One import under way, inside its transaction."""

    def __init__(
        self, store: Store, clean_name: Callable[[str], str], moment: Moment, *, renumber: bool
    ) -> None:
        self.report = ImportReport()
        self._connection = store.connection
        self._clean_name = clean_name
        self._moment = moment
        self._renumber = renumber
        self._conflicts: list[str] = []
        self._take = {
            "account": self._account,
            "login_worldservers": self._world,
            "login_bannedips": self._banned_address,
            "login_config": self._setting,
        }

    def take(self, row: InsertRow) -> None:
        """Take one row of any table."""
        table = row.table.lower()
        if table not in self._take:
            return
        tally = self.report.tables[table]
        tally.read += 1
        if row.columns is None:
            self._skip(table, row, "its columns are not named; dump the table definitions too")
            return
        columns = {name.lower(): value for name, value in zip(row.columns, row.values, strict=True)}
        try:
            added = self._take[table](columns)
        except ValueError as error:
            self._skip(table, row, str(error))
            return
        if added:
            tally.added += 1
        else:
            tally.present += 1

    def refuse_conflicts(self, consequence: str) -> None:
        """Raise `CommandError` when ids are in the way; the caller undoes what was taken."""
        if not self._conflicts:
            return
        shown = "; ".join(self._conflicts[:5])
        more = f" and {len(self._conflicts) - 5} more" if len(self._conflicts) > 5 else ""
        raise CommandError(
            f"ids are taken: {shown}{more}. Worlds know accounts by id: remove what is in the way,"
            f" or use --renumber to give these rows new ids. {consequence}"
        )

    def _account(self, columns: Mapping[str, Any]) -> bool:
        name = self._clean_name(_text(columns, "name"))
        here = accounts.find(self._connection, name)
        wanted = _number(columns, "id")
        if here is not None:
            if wanted and here.id != wanted:
                self._note(f"account {name!r} has the id {here.id} here and {wanted} in the dump")
            return False
        account = Account(
            id=wanted,
            name=name,
            password=self._hash(columns, "passwd", f"emu account password {name!r}"),
            enabled=_number(columns, "account_enabled", 1) != 0,
            created=_moment(columns.get("created_date")),
            last_address=_text(columns, "ip_address"),
            last_client_version=_number(columns, "last_client_version"),
        )
        owner = accounts.get(self._connection, wanted)
        accounts.put(self._connection, self._with_free_id("account", account, owner))
        return True

    def _world(self, columns: Mapping[str, Any]) -> bool:
        name = _text(columns, "name").strip()
        login = _text(columns, "account").strip()
        if not name or len(name.encode()) > MAX_WORLD_NAME or not name.isprintable():
            raise ValueError(f"its name is empty, too long, or cannot be read: {name[:40]!r}")
        if not login:
            raise ValueError(f"the world {name!r} has no account to register with")
        here = worlds.find_by_account(self._connection, login)
        if here is not None:
            return False
        if worlds.find(self._connection, name) is not None:
            raise ValueError(f"another world is called {name!r} already")
        world = World(
            id=_number(columns, "id"),
            name=name,
            account=login,
            password=self._hash(columns, "password", f"emu world password {name!r}"),
            description=_text(columns, "description"),
            enabled=_number(columns, "disabled") == 0,
            last_address=_text(columns, "ip_address"),
            login_version=_text(columns, "login_version"),
        )
        owner = worlds.get(self._connection, world.id)
        created = _moment(columns.get("created_date"))
        worlds.put(self._connection, self._with_free_id("world", world, owner), created)
        return True

    def _banned_address(self, columns: Mapping[str, Any]) -> bool:
        prefix = addresses.normalize_prefix(_text(columns, "ip"))
        if addresses.is_stored(self._connection, prefix):
            return False
        reason = _text(columns, "reason") or _text(columns, "notes")
        return addresses.ban(self._connection, BannedAddress(prefix, reason, self._moment))

    def _setting(self, columns: Mapping[str, Any]) -> bool:
        name = _first(columns, "config_name", "name", "variable")
        value = _first(columns, "config_value", "value")
        if not name:
            raise ValueError("it names no setting")
        before = self.report.settings.setdefault(name, value)
        if before != value:
            raise ValueError(
                f"{name} is there twice, as {before!r} and {value!r}; the first counts"
            )
        added = self._connection.execute(
            "INSERT INTO settings (source, name, value) VALUES ('login_config', ?, ?)"
            " ON CONFLICT DO UPDATE SET value = excluded.value WHERE value != excluded.value",
            (name, value),
        )
        return added.rowcount == 1

    def _with_free_id(self, kind: str, row: T, owner: T | None) -> T:
        """Return the row with an id that nobody else has; a conflict is kept for the end."""
        if owner is None:
            return row
        if not self._renumber:
            self._conflicts.append(f"{kind} {row.id} is {owner.name!r} here, {row.name!r} there")
        elif kind == "account":
            self._note(f"account {row.name!r} gets a new id, {row.id} is {owner.name!r} here")
        return replace(row, id=0)

    def _hash(self, columns: Mapping[str, Any], column: str, remedy: str) -> str:
        stored = _text(columns, column).strip().lower()
        if _HASH.fullmatch(stored):
            return stored
        self._note(f"no password that can be used; set one with: {remedy}")
        return ""

    def _skip(self, table: str, row: InsertRow, why: str) -> None:
        self.report.tables[table].skipped += 1
        self._note(f"line {row.line}: row of {table} left out: {why}")

    def _note(self, text: str) -> None:
        self.report.notes.append(text)


def _text(columns: Mapping[str, Any], name: str) -> str:
    value = columns.get(name)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _first(columns: Mapping[str, Any], *names: str) -> str:
    return next((_text(columns, name) for name in names if name in columns), "")


def _number(columns: Mapping[str, Any], name: str, default: int = 0) -> int:
    value = columns.get(name)
    if value is None:
        return default
    try:
        number = int(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is no number: {str(value)[:40]!r}") from None
    if not 0 <= number < 1 << 32:
        raise ValueError(f"{name} is out of range: {number}")
    return number


def _moment(value: Any) -> Moment:
    """Return unix seconds of a number or of MySQL's ``YYYY-MM-DD hh:mm:ss`` (taken as UTC)."""
    if value is None:
        return UNKNOWN
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return Moment(seconds) if 0 <= seconds < FOR_EVER else UNKNOWN
    try:
        date = datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    except ValueError:
        return UNKNOWN
    return Moment(max(0.0, date.timestamp()))
