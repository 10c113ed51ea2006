"""The commands about accounts, over accounts in memory."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

from emu.admin.commands import accounts
from emu.admin.commands.accounts import AccountCommandContext
from emu.errors import DuplicateName
from emu.model import Account
from emu.times import Moment
from tests.support.admin.commanding import CommandBench

NOW = 1_800_000_000.0


class AccountStore:
    """Accounts in memory, as commands see them."""

    def __init__(self) -> None:
        self.rows = {1: Account(1, "Alice", "hash"), 2: Account(2, "bob", "hash")}

    async def every(self) -> list[Account]:
        return list(self.rows.values())

    async def find_account(self, name: str) -> Account | None:
        return next((r for r in self.rows.values() if r.name.lower() == name.lower()), None)

    async def add_account(self, name: str, password: str, created: float) -> Account:
        if await self.find_account(name):
            raise DuplicateName(f"there is already an account {name!r}")
        row = self.rows[len(self.rows) + 1] = Account(len(self.rows) + 1, name, password)
        return row

    async def set_password(self, account_id: int, password: str) -> bool:
        self._set(account_id, password=password)
        return True

    async def set_enabled(self, account_id: int, enabled: bool) -> None:
        self._set(account_id, enabled=enabled)

    async def ban(self, account_id: int, until: float | None, reason: str) -> None:
        self._set(account_id, banned_until=until, ban_reason=reason)

    def _set(self, account_id: int, **changes: object) -> None:
        self.rows[account_id] = dataclasses.replace(self.rows[account_id], **changes)  # type: ignore[arg-type]


class AccountCommands(CommandBench):
    """The accounts' commands over two accounts; `ranks` has those of accounts above a player's."""

    def __init__(self) -> None:
        self.store = AccountStore()
        self.ranks: dict[int, int] = {}
        self.trials: list[str] = []
        self.away: list[tuple[int, str]] = []
        self.notices: list[str] = []
        characters: Any = self
        context = AccountCommandContext(
            self.store, characters, self._name, self._hash,
            self._disconnect, lambda: Moment(NOW),
            self._rank, self._statuses, self.trials.append,
        )  # fmt: skip
        super().__init__(accounts.COMMANDS.commands(context))

    def _disconnect(self, account_id: int, why: str, notice: str) -> None:
        self.away.append((account_id, why))
        self.notices.append(notice)

    async def _rank(self, account_id: int) -> int:
        return self.ranks.get(account_id, 0)

    async def _statuses(self) -> dict[int, list[int]]:
        return {account: [rank] for account, rank in self.ranks.items()}

    async def every(self) -> list[Any]:
        """Return all characters: one of bob's, and one of an account elsewhere."""
        return [
            SimpleNamespace(name=name, account=account, deleted=False, own_id=number)
            for number, (name, account) in enumerate([("Borvik", "bob"), ("Cestra", "")], 1)
        ]

    def _name(self, name: str) -> str:
        if len(name) < 2:
            raise ValueError("a name has two letters")
        return name

    async def _hash(self, password: str) -> str:
        if len(password) < 3:
            raise ValueError("the password is short")
        return f"<{password}>"
