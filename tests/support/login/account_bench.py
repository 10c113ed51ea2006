"""The account service with everything around it in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from emu.errors import DuplicateName, LimitExceeded
from emu.login.accounts import AccountRule, AccountService, may_log_in
from emu.login.passwords import AccountConfig, PasswordConfig, hash_password
from emu.login.ports import LoginRefusal
from emu.model import Account
from emu.processes.ports import BusMember
from emu.times import Moment
from tests.support.coroutines import finish
from tests.support.database.stores import Done, run_inline
from tests.support.times import ManualClock

T = TypeVar("T")

CHEAP = PasswordConfig(memory_cost=64, iterations=1)
HERE = "192.0.2.7"


class MemoryStore:
    """An `AccountStore` in a dictionary."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.logins: list[tuple[int, str, int, float]] = []

    def put(self, **changes: Any) -> Account:
        account = Account(
            id=len(self.accounts) + 1,
            name="Alice",
            password=hash_password(b"right", bytes(16), CHEAP),
        )
        account = replace(account, **changes)
        self.accounts[account.name.casefold()] = account
        return account

    async def find_account(self, name: str) -> Account | None:
        return self.accounts.get(name.casefold())

    async def add_account(self, name: str, password: str, created: float) -> Account:
        if name.casefold() in self.accounts:
            raise DuplicateName(name)
        return self.put(name=name, password=password, created=created)

    async def set_password(
        self, account_id: int, password: str, expected: str | None = None
    ) -> bool:
        for key, account in self.accounts.items():
            if account.id == account_id and expected in (None, account.password):
                self.accounts[key] = replace(account, password=password)
                return True
        return False

    async def record_login(
        self, account_id: int, address: str, version: int, moment: Moment
    ) -> None:
        self.logins.append((account_id, address, version, moment))


class Workers:
    """Turns and calls that come at once; counts the slow calls, and can be too busy."""

    def __init__(self) -> None:
        self.calls = 0
        self.turns: list[str] = []
        self.busy = False
        self.before_turn: Callable[[], object] | None = None
        """What happens to the world while somebody waits for a turn."""
        self.memory = True

    @asynccontextmanager
    async def turn(self, source: str, wanted: Callable[[], bool]) -> AsyncIterator[bool]:
        if self.busy:
            raise LimitExceeded("full")
        has_waited = self.before_turn is not None
        if self.before_turn is not None:
            self.before_turn()
        if not wanted():
            raise LimitExceeded("gone")
        self.turns.append(source)
        yield has_waited

    def run(self, call: Callable[[], T]) -> Awaitable[T]:
        self.calls += 1
        if not self.memory:
            raise MemoryError
        return run_inline(call)


class Bench:
    """A service with everything around it."""

    def __init__(
        self, rule: AccountRule = may_log_in, member: BusMember | None = None, **config: Any
    ) -> None:
        self.store = MemoryStore()
        self.workers = Workers()
        self.banned: set[str] = set()
        self.has_gone = False
        self.clock = ManualClock(0.0)
        self.writes = True
        """Whether the store gets done what nobody waits for."""
        self.started: list[Coroutine[Any, Any, None]] = []
        self.service = AccountService(
            self.store,
            workers=self.workers,
            is_address_banned=lambda address, _now: Done(address in self.banned),
            random_bytes=lambda size: bytes(range(size)),
            start=self.started.append,
            clock=self.clock,
            config=AccountConfig(**{"passwords": CHEAP, "shortest_password": 1, **config}),
            rule=rule,
            member=member,
        )

    def login(
        self, name: str = "Alice", password: bytes = b"right", address: str = HERE, now: float = 0.0
    ) -> str:
        """Return ``admitted`` or the reason of the refusal."""
        self.clock.seconds = now
        answer = finish(
            self.service.authenticate(
                name, password, address, 546, self.clock.now(), wanted=lambda: not self.has_gone
            )
        )
        while self.started and self.writes:
            finish(self.started.pop())
        return answer.reason if isinstance(answer, LoginRefusal) else "admitted"
