"""Players who register and change their passwords, over accounts in memory."""

from __future__ import annotations

from typing import Any

import pytest

from emu.login.passwords import RegistrationConfig, check_password, eq2emulator_hash
from emu.login.registration import AccountRegistration, RegistrationDenial, RegistrationRefusal
from emu.model import Account
from emu.times import Moment
from tests.support.coroutines import finish
from tests.support.database.stores import Done
from tests.support.login.account_bench import CHEAP, HERE, Bench

THERE = "198.51.100.9"
NEW = "a new password"


class Registering:
    """Players at the page."""

    def __init__(self, **config: Any) -> None:
        self.bench = Bench(is_discreet=True, memory=0.0)
        bench = self.bench
        self.registration = AccountRegistration(
            bench.store,
            bench.service,
            workers=bench.workers,
            is_address_banned=lambda address, _now: Done(address in bench.banned),
            random_bytes=lambda size: bytes(range(size)),
            clock=bench.clock,
            config=RegistrationConfig(**{"enabled": True, "passwords": CHEAP, **config}),
        )

    def register(
        self, name: str = "Carol", password: str = NEW, code: str = "", address: str = HERE
    ) -> Account | RegistrationRefusal:
        return _short(
            finish(self.registration.register(name, password, code, address, lambda: True))
        )

    def change(
        self, name: str = "Alice", present: str = "right", new: str = NEW, address: str = HERE
    ) -> Account | RegistrationRefusal:
        return _short(
            finish(self.registration.change_password(name, present, new, address, lambda: True))
        )


def _short(done: Account | RegistrationDenial) -> Account | RegistrationRefusal:
    return done.reason if isinstance(done, RegistrationDenial) else done


def is_right(password: str, stored: str) -> bool:
    return check_password(password.encode(), stored, bytes(16), CHEAP).right


def test_a_player_registers() -> None:
    players = Registering()
    made = players.register(" Carol ")
    assert isinstance(made, Account)
    assert made.name == "Carol"
    assert is_right(NEW, made.password)
    assert players.bench.login("carol", NEW.encode()) == "admitted"


@pytest.mark.parametrize(
    ("name", "password", "reason"),
    [
        ("", NEW, RegistrationRefusal.NAME_NOT_ALLOWED),
        ("a\x00b", NEW, RegistrationRefusal.NAME_NOT_ALLOWED),
        ("x" * 32, NEW, RegistrationRefusal.NAME_NOT_ALLOWED),
        ("Carol", "seven77", RegistrationRefusal.PASSWORD_NOT_ALLOWED),
        ("Carol", "x" * 256, RegistrationRefusal.PASSWORD_NOT_ALLOWED),
        ("Carol", "", RegistrationRefusal.PASSWORD_NOT_ALLOWED),
    ],
)
def test_what_cannot_be_registered_costs_nothing(
    name: str, password: str, reason: RegistrationRefusal
) -> None:
    players = Registering(per_address=1)
    for _ in range(3):
        assert players.register(name, password) == reason
    assert players.bench.workers.calls == 0
    assert isinstance(players.register(), Account)


def test_a_taken_name_is_said_only_after_the_price_and_the_same_work() -> None:
    players = Registering(per_address=3)
    players.bench.store.put()
    assert players.register("ALICE") == RegistrationRefusal.NAME_TAKEN
    assert players.bench.workers.calls == 1
    assert isinstance(players.register("Carol"), Account)
    assert players.bench.workers.calls == 2
    assert players.register("alice") == RegistrationRefusal.NAME_TAKEN
    assert players.register("alice") == RegistrationRefusal.TOO_MANY_ATTEMPTS
    assert players.register("Dave") == RegistrationRefusal.TOO_MANY_ATTEMPTS
    assert players.bench.workers.calls == 3
    players.bench.clock.seconds += 1200
    assert isinstance(players.register("Dave"), Account)


def test_all_addresses_together_have_a_limit() -> None:
    players = Registering(per_address=5, in_all=3)
    done = [players.register(f"name{n}", address=f"198.51.100.{n}") for n in range(4)]
    assert done[3] == RegistrationRefusal.TOO_MANY_ATTEMPTS
    assert all(isinstance(one, Account) for one in done[:3])
    players.bench.clock.seconds += 1200
    assert isinstance(players.register("name3", address="198.51.100.3"), Account)


def test_addresses_of_one_network_are_one() -> None:
    players = Registering(per_address=1)
    assert isinstance(players.register("a", address="2001:db8::1"), Account)
    refused = players.register("b", address="2001:db8::2")
    assert refused == RegistrationRefusal.TOO_MANY_ATTEMPTS


def test_wrong_codes_draw_on_their_own_address_only() -> None:
    players = Registering(per_address=3, in_all=2, invite_code="open sesame")
    for code in ("", "open sesame ", "OPEN SESAME"):
        assert players.register(code=code) == RegistrationRefusal.WRONG_CODE
    assert players.register(code="open sesame") == RegistrationRefusal.TOO_MANY_ATTEMPTS
    assert players.bench.workers.calls == 0
    assert isinstance(players.register(code="open sesame", address=THERE), Account)


def test_a_banned_address_registers_nothing() -> None:
    players = Registering()
    players.bench.banned.add(HERE)
    assert players.register() == RegistrationRefusal.ADDRESS_BANNED
    assert players.bench.store.accounts == {}


@pytest.mark.parametrize("trouble", ["busy", "memory"])
def test_what_the_server_cannot_do_costs_nothing(trouble: str) -> None:
    players = Registering(per_address=1, in_all=1)
    setattr(players.bench.workers, trouble, trouble == "busy")
    assert players.register() == RegistrationRefusal.BUSY
    assert players.bench.store.accounts == {}
    setattr(players.bench.workers, trouble, trouble == "memory")
    assert isinstance(players.register(), Account)


def test_a_player_changes_the_password() -> None:
    players = Registering()
    players.bench.store.put()
    assert isinstance(players.change(), Account)
    assert players.bench.login(password=b"right") == "bad password"
    assert players.bench.login(password=NEW.encode()) == "admitted"


def test_an_imported_password_can_be_changed() -> None:
    players = Registering()
    players.bench.store.put(password=eq2emulator_hash(b"old"))
    assert isinstance(players.change(present="old"), Account)
    assert players.bench.login(password=NEW.encode()) == "admitted"


@pytest.mark.parametrize(
    ("name", "present", "changes"),
    [
        ("Nobody", "right", {}),
        ("x" * 32, "right", {}),
        ("", "right", {}),
        ("Alice", "wrong", {}),
        ("Alice", "", {}),
        ("Alice", "right", {"enabled": False}),
        ("Alice", "right", {"banned_until": Moment(9e12)}),
    ],
)
def test_whatever_is_wrong_is_one_answer_and_changes_nothing(
    name: str, present: str, changes: dict[str, Any]
) -> None:
    players = Registering()
    before = players.bench.store.put(**changes)
    answer = finish(players.registration.change_password(name, present, NEW, HERE, lambda: True))
    assert isinstance(answer, RegistrationDenial)
    assert answer.reason == RegistrationRefusal.WRONG_PASSWORD
    assert answer.text.startswith("The name or the present password is wrong")
    assert players.bench.store.accounts["alice"] == before
    checked = 0 < len(name) < 32 and bool(present)
    assert players.bench.workers.calls == checked


def test_a_short_new_password_is_refused_before_the_old_one_is_checked() -> None:
    players = Registering()
    players.bench.store.put()
    assert players.change(new="seven77") == RegistrationRefusal.PASSWORD_NOT_ALLOWED
    assert players.bench.workers.calls == 0


def test_guesses_of_a_password_are_limited() -> None:
    players = Registering()
    players.bench.store.put()
    answers = [players.change(present="wrong") for _ in range(15)]
    assert answers[-1] == RegistrationRefusal.TOO_MANY_ATTEMPTS
    assert isinstance(players.change(address=THERE), Account)


def test_a_password_that_another_change_has_replaced_stays() -> None:
    players = Registering()
    players.bench.store.put()
    find = players.bench.store.set_password

    async def overtaken(account_id: int, password: str, expected: str | None = None) -> bool:
        players.bench.store.put(id=1, password="other")
        return await find(account_id, password, expected)

    players.bench.store.set_password = overtaken  # type: ignore[method-assign]
    assert players.change() == RegistrationRefusal.BUSY
    assert players.bench.store.accounts["alice"].password == "other"
