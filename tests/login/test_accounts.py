"""Who is let in, who is not and why, and how fast anybody may guess."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from emu.errors import DuplicateName, LimitExceeded
from emu.limits.throttle import Allowance
from emu.login.accounts import AccountConfig, AccountService, VerifiedPasswords
from emu.login.passwords import PasswordConfig, eq2emulator_hash, hash_password, is_phc
from emu.login.ports import Account, Admitted, Refused
from tests.support.stores import Done, finish, run_inline

CHEAP = PasswordConfig(memory_cost=64, iterations=1)
HERE = "192.0.2.7"
THERE = "198.51.100.9"


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

    async def record_login(self, account_id: int, address: str, version: int, now: float) -> None:
        self.logins.append((account_id, address, version, now))


class Workers:
    """Counts the slow calls and can be too busy."""

    def __init__(self) -> None:
        self.calls = 0
        self.busy = False

    def __call__(self, call: Callable[[], Any]) -> Awaitable[Any]:
        self.calls += 1
        if self.busy:
            raise LimitExceeded("full")
        return run_inline(call)


class Bench:
    """A service with everything around it."""

    def __init__(self, **config: Any) -> None:
        self.store = MemoryStore()
        self.workers = Workers()
        self.banned: set[str] = set()
        self.service = AccountService(
            self.store,
            run=self.workers,
            is_address_banned=lambda address, _now: Done(address in self.banned),
            random_bytes=lambda size: bytes(range(size)),
            config=AccountConfig(passwords=CHEAP, **config),
        )

    def login(
        self, name: str = "Alice", password: bytes = b"right", address: str = HERE, now: float = 0.0
    ) -> str:
        """Return ``admitted`` or the reason of the refusal."""
        answer = finish(self.service.authenticate(name, password, address, 546, now))
        return answer.reason if isinstance(answer, Refused) else "admitted"


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.store.put()
    return made


def test_the_right_password_lets_in_and_is_recorded(bench: Bench) -> None:
    answer = finish(bench.service.authenticate(" ALICE ", b"right", HERE, 546, 9.0))
    assert answer == Admitted(bench.store.accounts["alice"])
    assert bench.store.logins == []
    assert isinstance(answer, Admitted)
    finish(bench.service.remember_login(answer.account, HERE, 546, 10.0))
    assert bench.store.logins == [(1, HERE, 546, 10.0)]


@pytest.mark.parametrize(
    ("name", "password", "reason"),
    [
        ("Alice", b"wrong", "bad password"),
        ("Alice", b"", "bad password"),
        ("Alice", b"right" + b"x" * 251, "bad password"),
        ("Bob", b"right", "no such account"),
        ("", b"right", "name not allowed"),
        ("x" * 32, b"right", "name not allowed"),
        ("Ali\0ce", b"right", "name not allowed"),
    ],
)
def test_refusals(bench: Bench, name: str, password: bytes, reason: str) -> None:
    assert bench.login(name, password) == reason
    assert bench.store.logins == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"enabled": False}, "disabled"),
        ({"banned_until": 10.5}, "banned"),
        ({"banned_until": math.inf}, "banned"),
        ({"banned_until": 10.0}, "admitted"),
    ],
)
def test_what_the_account_says_is_told_only_with_the_right_password(
    change: dict[str, Any], reason: str
) -> None:
    bench = Bench()
    bench.store.put(**change)
    assert bench.login(password=b"wrong", now=10.0) == "bad password"
    assert bench.login(now=10.0) == reason
    assert bench.login(now=10.0) == reason  # remembered password or not


def test_a_banned_address_is_refused_before_anything_is_looked_up(bench: Bench) -> None:
    bench.banned.add(HERE)
    assert bench.login() == "address banned"
    assert bench.workers.calls == 0


def test_a_verified_password_is_remembered_for_a_while(bench: Bench) -> None:
    assert bench.login(now=0.0) == "admitted"
    assert bench.login(now=899.0) == "admitted"
    assert bench.workers.calls == 1
    assert bench.login(now=900.0) == "admitted"
    assert bench.workers.calls == 2
    assert bench.login(password=b"wrong", now=901.0) == "bad password"
    assert bench.workers.calls == 3


def test_a_changed_password_ends_the_memory_of_the_old_one(bench: Bench) -> None:
    assert bench.login() == "admitted"
    bench.store.put(id=1, password=hash_password(b"new", bytes(16), CHEAP))
    assert bench.login() == "bad password"
    assert bench.login(password=b"new") == "admitted"


def test_memory_can_be_switched_off() -> None:
    bench = Bench(memory=0.0)
    bench.store.put()
    for _ in range(3):
        assert bench.login() == "admitted"
    assert bench.workers.calls == 3


def test_an_old_hash_is_upgraded_once() -> None:
    bench = Bench()
    bench.store.put(password=eq2emulator_hash(b"right"))
    assert bench.login(password=b"wrong") == "bad password"
    assert not is_phc(bench.store.accounts["alice"].password)
    assert bench.login() == "admitted"
    upgraded = bench.store.accounts["alice"].password
    assert is_phc(upgraded)
    assert bench.login() == "admitted"
    assert bench.store.accounts["alice"].password == upgraded


def test_unknown_names_cost_what_wrong_passwords_cost(bench: Bench) -> None:
    bench.login("Bob")
    bench.login("Alice", b"wrong")
    assert bench.workers.calls == 2


def test_guessing_one_account_is_slowed_from_wherever_it_comes(bench: Bench) -> None:
    answers = [bench.login(password=b"wrong", address=f"198.51.100.{n}") for n in range(12)]
    assert answers == ["bad password"] * 10 + ["too many attempts"] * 2
    assert bench.workers.calls == 10
    assert bench.login(address=THERE, now=19.9) == "too many attempts"
    assert bench.login(address=THERE, now=20.0) == "admitted"


def test_strangers_cannot_keep_a_player_out() -> None:
    bench = Bench()
    bench.store.put(last_address=HERE)
    for _ in range(12):
        bench.login(password=b"wrong", address=THERE)
    assert bench.login(address=THERE) == "too many attempts"
    assert bench.login(address=HERE) == "admitted"


def test_one_address_cannot_try_many_names(bench: Bench) -> None:
    answers = [bench.login(f"name{n}", b"guess") for n in range(32)]
    assert answers == ["no such account"] * 30 + ["too many attempts"] * 2
    assert bench.login("Alice") == "too many attempts"
    assert bench.login("Alice", address=THERE) == "admitted"
    assert bench.login("Alice", now=4.0) == "admitted"


def test_right_passwords_are_not_counted(bench: Bench) -> None:
    for _ in range(100):
        assert bench.login() == "admitted"


def test_a_remembered_password_is_no_way_around_the_limit(bench: Bench) -> None:
    assert bench.login() == "admitted"
    for _ in range(10):
        bench.login(password=b"wrong")
    assert bench.login() == "too many attempts"


def test_busy_workers_are_told_and_cost_nobody_a_try(bench: Bench) -> None:
    bench.workers.busy = True
    for _ in range(40):
        assert bench.login() == "busy"
    bench.workers.busy = False
    assert bench.login() == "admitted"


class Later:
    """An awaitable that waits until it is told to go on."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call

    def __await__(self) -> Any:
        yield self
        return self.call()


def test_one_address_cannot_fill_the_workers(bench: Bench) -> None:
    service = AccountService(
        bench.store,
        run=Later,
        is_address_banned=lambda _address, _now: Done(False),
        random_bytes=lambda size: bytes(range(size)),
        config=AccountConfig(passwords=CHEAP, checks_per_address=2),
    )

    def begin(address: str) -> Any:
        return service.authenticate("Alice", b"right", address, 546, 0.0)

    waiting = [begin(HERE), begin(HERE)]
    for coroutine in waiting:
        coroutine.send(None)
    assert finish(begin(HERE)) == Refused("busy")
    elsewhere = begin(THERE)
    elsewhere.send(None)
    for coroutine in (*waiting, elsewhere):
        with pytest.raises(StopIteration) as stop:
            coroutine.send(None)
        assert isinstance(stop.value.value, Admitted)


def test_an_account_is_made_when_that_is_allowed() -> None:
    bench = Bench(auto_create=True)
    assert bench.login("Newcomer", b"chosen", now=5.0) == "admitted"
    made = bench.store.accounts["newcomer"]
    assert (made.name, made.created, is_phc(made.password)) == ("Newcomer", 5.0, True)
    assert bench.login("NEWCOMER", b"chosen") == "admitted"
    assert bench.login("Newcomer", b"other") == "bad password"
    assert bench.login("x" * 32, b"chosen") == "name not allowed"
    assert len(bench.store.accounts) == 1


def test_one_address_makes_only_so_many_accounts() -> None:
    bench = Bench(auto_create=True, creations=Allowance(burst=2, refill=60.0))
    assert [bench.login(f"n{number}") for number in range(3)] == [
        "admitted", "admitted", "too many attempts",
    ]  # fmt: skip
    assert bench.login("n9", address=THERE) == "admitted"
    bench.workers.busy = True
    assert bench.login("n10", now=60.0) == "busy"
    bench.workers.busy = False
    assert bench.login("n10", now=60.0) == "admitted"


@pytest.mark.parametrize(
    ("password", "outcome"), [(b"right", "admitted"), (b"wrong", "bad password")]
)
def test_two_newcomers_of_one_name_end_as_one_account(password: bytes, outcome: str) -> None:
    bench = Bench(auto_create=True)
    missing = [True]

    async def find(name: str) -> Account | None:
        if missing:
            missing.clear()
            bench.store.put()  # the other one is quicker
            return None
        return bench.store.accounts.get(name.casefold())

    bench.store.find_account = find  # type: ignore[method-assign]
    assert bench.login(password=password) == outcome
    assert len(bench.store.accounts) == 1


def test_verified_passwords_are_bounded() -> None:
    memory = VerifiedPasswords(bytes(32), lifetime=10.0, most=2)
    accounts = [Account(id=number, name="x", password="h") for number in range(3)]
    for account in accounts:
        memory.remember(account, b"p", 0.0)
    assert len(memory) == 2
    assert [memory.matches(account, b"p", 1.0) for account in accounts] == [False, True, True]
    assert not memory.matches(replace(accounts[2], password="hp"), b"", 1.0)
    assert not memory.matches(accounts[1], b"p", 10.0)
    assert len(memory) == 1
