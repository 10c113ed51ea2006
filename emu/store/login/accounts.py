"""Players' accounts."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import asdict, replace

from emu.errors import DuplicateName
from emu.model import Account
from emu.store.names import name_key
from emu.store.repository import Repository, changes, reads
from emu.times import FOR_EVER, Moment

_COLUMNS = (
    "id, name, password, enabled, banned_until, ban_reason, created, last_login, last_address,"
    " last_client_version"
)


class Accounts(Repository):
    """Rows of accounts; names are looked up without regard to case."""

    @reads
    def find(self, name: str) -> Account | None:
        """Return the account of this name, without regard to case."""
        row = self._run(
            f"SELECT {_COLUMNS} FROM accounts WHERE name_key = ?",  # noqa: S608
            (name_key(name),),
        ).fetchone()
        return _account(row) if row else None

    @reads
    def get(self, account_id: int) -> Account | None:
        """Return the account with this id."""
        row = self._run(
            f"SELECT {_COLUMNS} FROM accounts WHERE id = ?",  # noqa: S608
            (account_id,),
        ).fetchone()
        return _account(row) if row else None

    @reads
    def every(self) -> list[Account]:
        """Return all accounts by name."""
        rows = self._run(f"SELECT {_COLUMNS} FROM accounts ORDER BY name_key")  # noqa: S608
        return [_account(row) for row in rows]

    @changes
    def add(self, name: str, password: str, created: Moment) -> Account:
        """Add an account. Raises `DuplicateName`."""
        if self.find(name) is not None:
            raise DuplicateName(f"there is already an account {name!r}")
        account_id = self._run(
            "INSERT INTO accounts (name, name_key, password, created) VALUES (?, ?, ?, ?)",
            (name, name_key(name), password, created),
        ).lastrowid
        return Account(id=account_id or 0, name=name, password=password, created=created)

    @changes
    def put(self, account: Account) -> Account:
        """Add an account with everything it has; its id too, unless that is 0.

        Raises `DuplicateName` when name or id is taken.
        """
        derived = {
            "id": account.id or None,
            "name_key": name_key(account.name),
            "banned_until": _stored_end(account.banned_until),
        }
        return replace(account, id=self._insert("accounts", asdict(account) | derived))

    @changes
    def set_password(self, account_id: int, password: str, expected: str | None = None) -> bool:
        """Replace the password hash; with `expected` only where that is still the stored one."""
        changed = self._run(
            "UPDATE accounts SET password = ? WHERE id = ? AND password = coalesce(?, password)",
            (password, account_id, expected),
        )
        return changed.rowcount == 1

    @changes
    def set_enabled(self, account_id: int, enabled: bool) -> None:
        """Let an account log in, or not."""
        self._set("accounts", account_id, enabled=enabled)

    @changes
    def ban(self, account_id: int, until: Moment | None, reason: str) -> None:
        """Ban an account until a unix time (``math.inf``: for ever), or lift its ban with None."""
        self._set("accounts", account_id, banned_until=_stored_end(until), ban_reason=reason)

    @changes
    def record_login(self, account_id: int, address: str, version: int, moment: Moment) -> None:
        """Remember when, from where and with which client version an account logged in."""
        self._run(
            "UPDATE accounts SET last_login = ?, last_address = ?, last_client_version = ?"
            " WHERE id = ?",
            (moment, address, version, account_id),
        )

    @changes
    def remove(self, account_id: int) -> None:
        """Remove an account and the rows of its characters."""
        self._run("DELETE FROM characters WHERE account_id = ?", (account_id,))
        self._run("DELETE FROM accounts WHERE id = ?", (account_id,))


def _stored_end(until: Moment | None) -> Moment | None:
    return None if until is None else Moment(min(until, FOR_EVER))


def _account(row: sqlite3.Row) -> Account:
    until = row["banned_until"]
    return Account(
        id=row["id"],
        name=row["name"],
        password=row["password"],
        enabled=bool(row["enabled"]),
        banned_until=Moment(math.inf) if until is not None and until >= FOR_EVER else until,
        ban_reason=row["ban_reason"],
        created=row["created"],
        last_login=row["last_login"],
        last_address=row["last_address"],
        last_client_version=row["last_client_version"],
    )
