"""Repositories of accounts, banned addresses, and settings imported from another server."""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from emu.database import Kind
from emu.errors import DuplicateName
from emu.model import Account, Character
from emu.store.repository import Repository, asks, changes, check_name, name_key, reads, saves
from emu.times import FOR_EVER, UNKNOWN, Moment

_COLUMNS = (
    "id, name, password, enabled, banned_until, ban_reason, created, last_login, last_address,"
    " last_client_version"
)


_LOGIN = {"last_login": Kind.REAL, "last_address": Kind.TEXT, "last_client_version": Kind.INTEGER}


class ListedRows(Protocol):
    """The characters in lists; `emu.store.characters.CharacterRepository` is the implementation."""

    def rows_of_named(self, account_keys: Collection[str]) -> Any:
        """Return the rows of accounts' characters that are not deleted, by the accounts' keys."""

    def judged(self, rows: Iterable[Any]) -> Sequence[Character]:
        """Return the characters of rows."""


class AccountRepository(Repository):
    """Accounts; names are compared without case."""

    @reads
    def find(self, name: str) -> Account | None:
        """Return the account with this name, compared without case."""
        row = self._run(
            f"SELECT {_COLUMNS} FROM accounts WHERE name_key = ?",  # noqa: S608
            (name_key(name),),
        ).fetchone()
        return _account(row) if row else None

    @asks
    def find_listed(
        self, names: Sequence[str], listed: ListedRows
    ) -> Generator[None, None, list[tuple[Account | None, Sequence[Character]]]]:
        """Return of each name what `find` does, and the characters that are not deleted."""
        keys = [name_key(name) for name in names]
        chosen, values = self._among("name_key", keys)
        found = self._after(
            f"SELECT name_key, {_COLUMNS} FROM accounts WHERE {chosen}",  # noqa: S608
            (values,),
        )
        rows = self.database.after(listed.rows_of_named(keys))
        yield
        accounts = {row["name_key"]: _account(row) for row in found}
        characters: dict[int, list[Character]] = {one.id: [] for one in accounts.values()}
        for one in listed.judged(rows):
            # Each statement sees the database at its own moment: the account may be newer.
            if one.account_id in characters:
                characters[one.account_id].append(one)
        return [
            (account, characters[account.id]) if account else (None, ())
            for account in map(accounts.get, keys)
        ]

    @reads
    def get(self, account_id: int) -> Account | None:
        """Return the account with this id."""
        row = self._run(
            f"SELECT {_COLUMNS} FROM accounts WHERE id = ?",  # noqa: S608
            (account_id,),
        ).fetchone()
        return _account(row) if row else None

    @reads
    def open_among(self, account_ids: Sequence[int], moment: Moment) -> list[int]:
        """Return those of these accounts that exist and are neither disabled nor banned, sorted."""
        # UNKNOWN stands for no ban in rows of imports. A ban ends at its moment, so that moment is
        # not banned any more.
        chosen, ids = self._among("id", account_ids)
        rows = self._run(
            "SELECT id FROM accounts WHERE enabled"  # noqa: S608
            " AND (banned_until IS NULL OR banned_until IN (?, ?) OR banned_until < ?)"
            f" AND {chosen} ORDER BY id",
            (UNKNOWN, moment, moment, ids),
        )
        return [row["id"] for row in rows]

    @reads
    def every(self) -> list[Account]:
        """Return all accounts, sorted by name."""
        rows = self._run(f"SELECT {_COLUMNS} FROM accounts ORDER BY name_key")  # noqa: S608
        return [_account(row) for row in rows]

    @changes
    def add(self, name: str, password: str, created: Moment) -> Account:
        """Add an account. Raises `DuplicateName`."""
        check_name(name)
        # The column is unique, too; the query gives the refusal its own text.
        if self.find(name) is not None:
            raise DuplicateName(f"there is already an account {name!r}")
        row = {"name": name, "name_key": name_key(name), "password": password, "created": created}
        account_id = self._insert("accounts", row)
        return Account(id=account_id, name=name, password=password, created=created)

    @changes
    def insert(self, account: Account) -> Account:
        """Add an account with all values, and with its id unless that is 0.

        Raises `DuplicateName` if name or id is taken.
        """
        check_name(account.name)
        derived = {
            "name_key": name_key(account.name),
            "banned_until": _stored_end(account.banned_until),
        }
        return replace(account, id=self._insert("accounts", asdict(account) | derived))

    @changes
    def set_password(self, account_id: int, password: str, expected: str | None = None) -> bool:
        """Replace the password hash; with `expected`, only if that is the stored hash."""
        changed = self._run(
            # A login that hashes an old password anew must not undo a change of the password
            # meanwhile.
            "UPDATE accounts SET password = ? WHERE id = ? AND password = coalesce(?, password)",
            (password, account_id, expected),
        )
        return changed.rowcount == 1

    @changes
    def set_enabled(self, account_id: int, enabled: bool) -> None:
        """Enable or disable the login of an account."""
        self._set("accounts", account_id, enabled=enabled)

    @changes
    def ban(self, account_id: int, until: Moment | None, reason: str) -> None:
        """Ban an account until a unix time (``math.inf``: for ever); None lifts the ban."""
        self._set("accounts", account_id, banned_until=_stored_end(until), ban_reason=reason)

    @saves
    def record_logins(
        self, logins: Sequence[tuple[int, str, int, Moment]]
    ) -> Sequence[Exception | None]:
        """Do what `record_login` does for several; return None for each."""
        rows = [
            (account_id, moment, address, version)
            for account_id, address, version, moment in logins
        ]
        self._update_many("accounts", {"id": Kind.INTEGER}, _LOGIN, rows)
        return [None] * len(rows)

    @saves
    def record_login(self, account_id: int, address: str, version: int, moment: Moment) -> None:
        """Store time, address and client version of an account's login."""
        self._run(
            "UPDATE accounts SET last_login = ?, last_address = ?, last_client_version = ?"
            " WHERE id = ?",
            (moment, address, version, account_id),
        )

    @changes
    def remove(self, account_id: int) -> None:
        """Remove an account and the rows of its characters."""
        # Before the account, to which the rows refer.
        self._run("DELETE FROM characters WHERE account_id = ?", (account_id,))
        self._run("DELETE FROM accounts WHERE id = ?", (account_id,))


def _stored_end(until: Moment | None) -> Moment | None:
    # A finite moment, which every program that reads the table understands.
    return None if until is None else Moment(min(until, FOR_EVER))


def read_end(stored: Moment | None) -> Moment | None:
    """Return the end of a ban as stored in ``accounts.banned_until``; ``math.inf`` for ever."""
    return Moment(math.inf) if stored is not None and stored >= FOR_EVER else stored


def _account(row: Any) -> Account:
    return Account(
        id=row["id"],
        name=row["name"],
        password=row["password"],
        enabled=bool(row["enabled"]),
        banned_until=read_end(row["banned_until"]),
        ban_reason=row["ban_reason"],
        created=row["created"],
        last_login=row["last_login"],
        last_address=row["last_address"],
        last_client_version=row["last_client_version"],
    )


@dataclass(frozen=True, slots=True)
class BannedAddress:
    """A ban of addresses. `until` is the unix time of its end, None for never."""

    prefix: str
    """The addresses, as from `emu.limits.addresses.normalize_prefix`."""
    reason: str = ""
    added: Moment = UNKNOWN
    until: Moment | None = None


class Bans(Repository):
    """Banned addresses."""

    @changes
    def add(self, entry: BannedAddress) -> bool:
        """Store a ban, replacing one with the same prefix; return True if it is new."""
        # Before the upsert, which does not say whether the row existed.
        known = self.is_stored(entry.prefix)
        self._upsert("banned_addresses", asdict(entry), ("prefix",))
        return not known

    @reads
    def is_stored(self, prefix: str) -> bool:
        """Return whether a ban of exactly this prefix is stored, ended or not."""
        found = self._run("SELECT 1 FROM banned_addresses WHERE prefix = ?", (prefix,))
        return found.fetchone() is not None

    @changes
    def lift(self, prefix: str) -> bool:
        """Remove a ban; return True if there was one."""
        gone = self._run("DELETE FROM banned_addresses WHERE prefix = ?", (prefix,))
        return gone.rowcount == 1

    @reads
    def every(self) -> list[BannedAddress]:
        """Return all bans, with those that have ended."""
        rows = self._run(
            "SELECT prefix, reason, added, until FROM banned_addresses ORDER BY prefix"
        )
        return [BannedAddress(**dict(row)) for row in rows]


class Settings(Repository):
    """Imported settings: name, value, and the table they come from."""

    @changes
    def put(self, source: str, name: str, value: str) -> bool:
        """Store a value; return True if it is new or changed."""
        # The report counts only what changed, so that a repeated import shows nothing new.
        if self.of_source(source).get(name) == value:
            return False
        row = {"source": source, "name": name, "value": value}
        self._upsert("settings", row, ("source", "name"))
        return True

    @reads
    def of_source(self, source: str) -> dict[str, str]:
        """Return the settings that come from one table: name -> value."""
        rows = self._run("SELECT name, value FROM settings WHERE source = ?", (source,))
        return {row["name"]: row["value"] for row in rows}
