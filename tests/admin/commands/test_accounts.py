from __future__ import annotations

import dataclasses
import math

import pytest

from emu.admin.commands import accounts
from emu.admin.commands.accounts import Accounts
from emu.errors import DuplicateName
from emu.model import Account
from tests.support.commanding import Desk

NOW = 1_800_000_000.0


class Store:
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


class Room(Desk):
    def __init__(self) -> None:
        self.store = Store()
        self.away: list[tuple[int, str]] = []
        super().__init__(
            accounts.commands(
                Accounts(
                    self.store, self._name, self._hash,
                    lambda account_id, why: self.away.append((account_id, why)), lambda: NOW,
                )
            )
        )  # fmt: skip

    def _name(self, name: str) -> str:
        if len(name) < 2:
            raise ValueError("a name has two letters")
        return name

    async def _hash(self, password: str) -> str:
        return f"<{password}>"


def test_list_and_show() -> None:
    room = Room()
    assert room.run("account list").lines[0] == "2 accounts"
    assert [row["name"] for row in room.run("account list al").data] == ["Alice"]
    assert room.run("account show ALICE").data["id"] == 1
    assert room.run("account show nobody").text == "there is no account nobody"


def test_add_and_password() -> None:
    room = Room()
    assert room.run("account add carol s3cret").text == "added account carol with the id 3"
    assert room.run("account password carol other").ok
    assert room.store.rows[3].password == "<other>"
    assert room.run("account add Carol x").text == "there is already an account 'Carol'"
    assert room.run("account add c x").text == "a name has two letters"
    assert "s3cret" not in str(room.uses)


@pytest.mark.parametrize(
    ("lasting", "until"),
    [("", math.inf), ("ever", math.inf), ("90m", NOW + 5400), ("7d spam", NOW + 604_800)],
)
def test_a_ban_sends_away_and_ends(lasting: str, until: float) -> None:
    room = Room()
    assert room.run(f"account ban bob {lasting}").ok
    assert room.store.rows[2].banned_until == until
    assert room.away == [(2, "account banned by root")]
    assert room.run("account show bob").data["state"] == "banned"
    assert room.run("account unban bob").ok
    assert room.store.rows[2].banned_until is None


def test_a_wrong_span_changes_nothing() -> None:
    room = Room()
    assert "no span of time" in room.run("account ban bob tomorrow").text
    assert room.away == []


def test_disable_and_enable() -> None:
    room = Room()
    assert room.run("account disable bob").text == "account bob is disabled"
    assert room.away == [(2, "account disabled by root")]
    assert not room.store.rows[2].enabled
    assert room.run("account enable bob").ok
    assert room.store.rows[2].enabled


def test_ranks() -> None:
    room = Room()
    assert room.run("account list", rank=10).ok
    assert not room.run("account ban bob", rank=10).ok
    assert not room.run("account add eve x", rank=100).ok
