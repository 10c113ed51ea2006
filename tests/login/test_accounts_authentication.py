"""Who is let in, who is not and why, and how fast anybody may guess."""

import math
from typing import Any

import pytest

from emu.errors import DuplicateName, StoreError
from emu.limits.rates import Allowance
from emu.login.accounts import TRIAL_TIME, TrialLogins, may_log_in
from emu.login.passwords import eq2emulator_hash, hash_password, is_phc
from emu.login.ports import LoginGranted, LoginRefusalReason
from emu.model import Account
from emu.times import Moment
from tests.support.coroutines import finish
from tests.support.login.account_bench import CHEAP, HERE, Bench
from tests.support.times import APART

THERE = "198.51.100.9"


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.store.put()
    return made


def test_a_trial_is_one_login_that_was_announced_a_moment_before() -> None:
    trials = TrialLogins()
    assert not trials.use_trial("alice", 0.0)
    trials.expect("Alice", 0.0)
    assert trials.is_expected("ALICE", 9.9)
    assert not trials.is_expected("bob", 0.0)
    assert trials.use_trial("alice", 9.9)
    assert not trials.use_trial("alice", 9.9)
    trials.expect("alice", 0.0)
    assert not trials.use_trial("alice", TRIAL_TIME)


def test_a_trial_does_not_renew_an_old_hash() -> None:
    bench = Bench()
    bench.store.put(password=eq2emulator_hash(b"right"))
    bench.service.trials.expect("Alice", 0.0)
    assert bench.login() == "admitted"
    assert not is_phc(bench.store.accounts["alice"].password)
    bench.service.trials.use_trial("Alice", 0.0)
    assert bench.login() == "admitted"


def test_the_right_password_lets_in_and_is_recorded(bench: Bench) -> None:
    answer = finish(
        bench.service.authenticate(" ALICE ", b"right", HERE, 546, 9.0, wanted=lambda: True)
    )
    assert answer == LoginGranted(bench.store.accounts["alice"])
    assert bench.store.logins == []
    assert isinstance(answer, LoginGranted)
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
    is_checked = reason != "name not allowed" and 0 < len(password) < 256
    assert bench.workers.calls == is_checked


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"enabled": False}, "disabled"),
        ({"banned_until": APART + 10.5}, "banned"),
        ({"banned_until": math.inf}, "banned"),
        ({"banned_until": APART + 10.0}, "admitted"),
    ],
)
def test_the_account_s_state_is_revealed_only_with_the_right_password(
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


def test_guessing_one_account_from_one_address_is_slowed(bench: Bench) -> None:
    answers = [bench.login(password=b"wrong") for _ in range(15)]
    assert answers == ["bad password"] * 13 + ["too many attempts"] * 2
    assert bench.workers.calls == 13
    assert bench.login(now=19.9) == "too many attempts"
    assert bench.login(now=20.0) == "admitted"


def test_a_missing_account_is_slowed_like_one_that_is_there(bench: Bench) -> None:
    answers = [bench.login("Bob", b"wrong") for _ in range(15)]
    assert answers == ["no such account"] * 13 + ["too many attempts"] * 2


def test_whoever_guesses_from_many_addresses_has_few_guesses_from_each(bench: Bench) -> None:
    for number in range(5):
        for _ in range(14):
            bench.login(password=b"wrong", address=f"198.51.100.{number}")
    assert bench.workers.calls == 5 * 3 + 10


def test_the_right_password_is_accepted_from_anywhere_during_an_attack() -> None:
    bench = Bench(memory=0.0)
    bench.store.put(last_address=HERE)
    for moment in range(60):
        for _ in range(5):
            bench.login(password=b"wrong", address=THERE, now=moment)
        for address in (HERE, "203.0.113.1", f"203.0.113.{moment + 2}"):
            assert bench.login(address=address, now=moment) == "admitted"
    assert bench.login(address=THERE, now=59) == "too many attempts"


def test_names_share_their_budget_in_either_case(bench: Bench) -> None:
    for name in ("Alice", "alice", "ALICE"):
        for _ in range(5):
            bench.login(name, b"wrong")
    assert bench.workers.calls == 13


def test_a_player_who_is_known_here_has_guesses_of_the_own(bench: Bench) -> None:
    bench.store.put(last_address=HERE)
    answers = [bench.login(password=b"wrong") for _ in range(12)]
    assert answers == ["bad password"] * 10 + ["too many attempts"] * 2
    assert bench.login(address=THERE) == "admitted"


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_neighbor_who_guesses_locks_no_player_out(is_restarted: bool) -> None:
    bench = Bench(memory=0.0)
    if is_restarted:
        bench.store.put(last_address=HERE)
    else:
        # It has logged in from elsewhere since: the stored address is another one.
        account = bench.store.put(last_address=THERE)
        finish(bench.service.remember_login(account, HERE, 546, 1.0))
    for number in range(40):
        bench.login(f"name{number}", b"guess")
    bench.login("name0", b"")
    assert bench.login("Bob") == "too many attempts"
    assert bench.login() == "admitted"
    # Its turns do not wait behind those of the neighbor.
    assert bench.workers.turns[-1] != bench.workers.turns[0]
    # Guesses for its own account draw on its own budget at this address alone.
    answers = [bench.login(password=b"wrong") for _ in range(12)]
    assert answers == ["bad password"] * 10 + ["too many attempts"] * 2
    assert bench.login(now=20.0) == "admitted"


def test_one_address_cannot_try_many_names(bench: Bench) -> None:
    answers = [bench.login(f"name{n}", b"guess") for n in range(32)]
    assert answers == ["no such account"] * 30 + ["too many attempts"] * 2
    assert bench.workers.calls == 30
    assert bench.login("Alice") == "too many attempts"
    assert bench.login("Alice", address=THERE) == "admitted"
    assert bench.login("Alice", now=4.0) == "admitted"


def test_right_passwords_are_not_counted(bench: Bench) -> None:
    for _ in range(100):
        assert bench.login() == "admitted"


def test_a_remembered_password_is_no_way_around_the_limit(bench: Bench) -> None:
    assert bench.login() == "admitted"
    for _ in range(13):
        assert bench.login(password=b"wrong") == "bad password"
    assert bench.login() == "too many attempts"


def test_what_is_no_password_costs_the_address_a_guess(bench: Bench) -> None:
    for _ in range(30):
        assert bench.login(password=b"") == "bad password"
    assert bench.login() == "too many attempts"
    assert bench.login(address=THERE) == "admitted"


def test_busy_workers_are_reported_and_cost_no_attempt(bench: Bench) -> None:
    bench.workers.busy = True
    for _ in range(40):
        assert bench.login() == "busy"
    bench.workers.busy = False
    assert bench.login() == "admitted"


def test_hashing_without_memory_is_busy_and_costs_nobody_a_try(bench: Bench) -> None:
    bench.workers.memory = False
    for _ in range(40):
        assert bench.login() == "busy"
    bench.workers.memory = True
    assert bench.login() == "admitted"


@pytest.mark.parametrize("trouble", ["memory", "busy"])
def test_what_is_given_back_is_given_back_once(bench: Bench, trouble: str) -> None:
    """The account has a remembered password, so that the guess was paid for before the turn."""
    assert bench.login() == "admitted"
    for _ in range(10):
        assert bench.login(password=b"wrong") == "bad password"
    setattr(bench.workers, trouble, trouble == "busy")
    for _ in range(5):
        assert bench.login(password=b"wrong") == "busy"
    setattr(bench.workers, trouble, trouble == "memory")
    answers = [bench.login(password=b"wrong") for _ in range(5)]
    assert answers == ["bad password"] * 3 + ["too many attempts"] * 2


def test_making_an_account_without_memory_is_busy_and_costs_nobody_a_try() -> None:
    bench = Bench(auto_create=True)
    bench.workers.memory = False
    for _ in range(40):
        assert bench.login("Newcomer") == "busy"
    bench.workers.memory = True
    assert bench.login("Newcomer") == "admitted"


def test_turns_are_asked_for_by_whom_an_address_stands_for(bench: Bench) -> None:
    bench.login(password=b"wrong", address="2001:db8::1")
    bench.login(password=b"wrong", address="2001:db8::2")
    bench.login(password=b"wrong", address="::ffff:192.0.2.7")
    assert bench.workers.turns == ["2001:db8::/64", "2001:db8::/64", HERE]


def test_whoever_has_gone_is_not_checked(bench: Bench) -> None:
    bench.has_gone = True
    assert bench.login(password=b"wrong") == "busy"
    assert bench.workers.calls == 0
    bench.has_gone = False
    assert [bench.login(password=b"wrong") for _ in range(13)] == ["bad password"] * 13


def test_guesses_that_came_together_are_paid_for_when_each_is_checked(bench: Bench) -> None:
    """Of 64 that were let into the line at once, only as many are checked as may be guessed."""

    def another() -> None:
        bench.workers.before_turn = None
        answers.extend(bench.login(password=b"wrong") for _ in range(63))

    answers: list[str] = []
    bench.workers.before_turn = another
    answers.append(bench.login(password=b"wrong"))
    assert answers == ["bad password"] * 13 + ["too many attempts"] * 51
    assert bench.workers.calls == 13


def test_right_passwords_that_come_together_are_no_guessing(bench: Bench) -> None:
    """However many wait, none holds a guess before its turn."""
    depth = 0

    def another() -> None:
        nonlocal depth
        depth += 1
        if depth < 40:
            answers.append(bench.login())

    answers: list[str] = []
    bench.workers.before_turn = another
    answers.append(bench.login())
    assert answers == ["admitted"] * 40
    assert bench.workers.calls == 1


def test_what_changed_while_somebody_waited_counts(bench: Bench) -> None:
    bench.workers.before_turn = lambda: bench.store.put(id=1, enabled=False)
    assert bench.login() == "disabled"
    bench.workers.before_turn = bench.store.accounts.clear
    assert bench.login(password=b"other") == "no such account"


def test_an_imported_password_is_hashed_anew_once(bench: Bench) -> None:
    bench.store.put(password=eq2emulator_hash(b"right"))

    def another() -> None:
        bench.workers.before_turn = None
        assert bench.login() == "admitted"

    bench.workers.before_turn = another
    assert bench.login() == "admitted"
    assert bench.login() == "admitted"
    assert bench.workers.calls == 1
    assert is_phc(bench.store.accounts["alice"].password)


def test_nobody_waits_until_a_new_hash_is_stored(bench: Bench) -> None:
    bench.store.put(password=eq2emulator_hash(b"right"))
    bench.writes = False
    assert bench.login() == "admitted"
    assert bench.login() == "admitted"
    assert not is_phc(bench.store.accounts["alice"].password)
    bench.writes = True
    assert bench.login() == "admitted"
    assert is_phc(bench.store.accounts["alice"].password)
    assert bench.login() == "admitted"
    assert bench.workers.calls == 1


def test_a_store_that_cannot_write_keeps_no_right_password_out(bench: Bench) -> None:
    async def full(*_: object, **__: object) -> bool:
        raise StoreError("the disk is full")

    bench.store.put(password=eq2emulator_hash(b"right"))
    bench.store.set_password = full  # type: ignore[method-assign]
    assert bench.login() == "admitted"
    assert bench.login(password=b"wrong") == "bad password"


def test_a_password_that_was_changed_meanwhile_is_not_undone(bench: Bench) -> None:
    bench.store.put(id=1, password=eq2emulator_hash(b"right"))
    bench.writes = False
    assert bench.login() == "admitted"
    changed = bench.store.put(id=1, password=hash_password(b"new", bytes(16), CHEAP))
    assert bench.login(password=b"new") == "admitted"
    bench.writes = True
    assert bench.login(password=b"new") == "admitted"
    assert bench.store.accounts["alice"] == changed
    assert bench.login(password=b"new") == "admitted"
    assert bench.workers.calls == 2
    assert bench.login() == "bad password"


def test_a_client_without_an_attempt_left_is_refused_at_once(bench: Bench) -> None:
    for _ in range(13):
        bench.login(password=b"wrong")
    turns = len(bench.workers.turns)
    assert bench.login() == "too many attempts"
    assert len(bench.workers.turns) == turns


def test_an_ipv6_network_is_known_as_a_whole(bench: Bench) -> None:
    bench.store.put(last_address="2001:db8::1")
    answers = [bench.login(password=b"wrong", address="2001:db8::2") for _ in range(12)]
    assert answers == ["bad password"] * 10 + ["too many attempts"] * 2


def test_an_account_is_made_when_that_is_allowed() -> None:
    bench = Bench(auto_create=True)
    assert bench.login("Newcomer", b"chosen", now=5.0) == "admitted"
    made = bench.store.accounts["newcomer"]
    assert (made.name, made.created, is_phc(made.password)) == ("Newcomer", APART + 5.0, True)
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
    assert bench.workers.calls == 3
    assert bench.login("n10", now=60.0) == "admitted"


@pytest.mark.parametrize("error", [StoreError("the disk is full"), DuplicateName("Newcomer")])
def test_an_account_that_was_not_made_is_not_counted(error: Exception) -> None:
    bench = Bench(auto_create=True, creations=Allowance(burst=1, refill=60.0))
    add = bench.store.add_account

    async def fail(*_: object) -> Account:
        bench.store.add_account = add  # type: ignore[method-assign]
        raise error

    bench.store.add_account = fail  # type: ignore[assignment, method-assign]
    if not isinstance(error, DuplicateName):
        with pytest.raises(StoreError):
            bench.login("Newcomer")
    assert bench.login("Newcomer") == "admitted"
    assert bench.login("Another") == "too many attempts"


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


def test_no_account_is_made_with_a_short_password() -> None:
    bench = Bench(auto_create=True, shortest_password=8)
    assert bench.login("Newcomer", b"seven77") == "password too short for a new account"
    assert bench.workers.calls == 1, "a name that exists would take as long"
    assert bench.store.accounts == {}
    assert bench.login("Newcomer", b"eight888") == "admitted"


def test_a_short_password_from_before_the_setting_still_works() -> None:
    bench = Bench(shortest_password=64)
    bench.store.put()
    assert bench.login() == "admitted"


KINDS = {
    "unknown": ("Nobody", b"right", {}),
    "wrong": ("Alice", b"wrong", {}),
    "no rank": ("Alice", b"right", {}),
    "banned": ("Alice", b"right", {"banned_until": Moment(math.inf)}),
    "disabled": ("Alice", b"right", {"enabled": False}),
    "last login from here": ("Alice", b"wrong", {"last_address": HERE}),
    "an old hash": ("Alice", b"right", {"password": eq2emulator_hash(b"right")}),
}
"""Sign-ins that are refused: name, password, and changes of the account."""


async def no_rank(account: Account | None, moment: Moment) -> LoginRefusalReason | None:
    return await may_log_in(account, moment) or LoginRefusalReason.NO_RANK


@pytest.mark.parametrize("kind", KINDS)
def test_budgets_and_work_do_not_show_why_a_sign_in_is_refused(kind: str) -> None:
    """Others have used up what all addresses share, so that this one has its own tries only."""
    name, password, changes = KINDS[kind]
    bench = Bench(rule=no_rank, is_discreet=True, memory=0.0)
    bench.store.put(**changes)
    for number in range(10):
        for _ in range(4):
            bench.login(name, b"guess", address=f"198.51.100.{number}")
    before, turns = bench.workers.calls, len(bench.workers.turns)
    answers = [bench.login(name, password) for _ in range(6)]
    assert answers[3:] == ["too many attempts"] * 3
    assert "too many attempts" not in answers[:3]
    assert bench.workers.calls - before == 3
    assert len(bench.workers.turns) - turns == 3
    assert bench.started == []


def test_who_is_accepted_gets_the_price_back() -> None:
    bench = Bench(is_discreet=True, memory=0.0)
    bench.store.put()
    assert [bench.login() for _ in range(20)] == ["admitted"] * 20
