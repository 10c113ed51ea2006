"""What guesses cost, and that nobody pays for somebody else's."""

from __future__ import annotations

import pytest

from emu.limits.rates import Allowance
from emu.login.accounts import SEARCHES, GuessLimits
from emu.login.passwords import GuessConfig

HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def limits() -> GuessLimits:
    return GuessLimits(
        GuessConfig(
            from_address=Allowance(6, 1.0),
            from_known=Allowance(3, 10.0),
            from_new=Allowance(1, 100.0),
            from_others=Allowance(2, 10.0),
        )
    )


def taken(limits: GuessLimits, times: int, source: str = HERE, **more: object) -> int:
    """Return how many of so many guesses may be made."""
    options = {"name": "alice", "now": 0.0, "known": False} | more
    return sum(
        limits.take(options["name"], source, options["now"], known=options["known"]) is not None  # type: ignore[arg-type]
        for _ in range(times)
    )


def test_a_new_address_has_its_own_attempts_and_then_the_shared_ones(
    limits: GuessLimits,
) -> None:
    assert taken(limits, 5) == 3
    assert taken(limits, 5, THERE) == 1
    assert taken(limits, 5, "192.0.2.3") == 1


def test_the_known_address_neither_uses_nor_returns_shared_attempts(limits: GuessLimits) -> None:
    assert taken(limits, 5) == 3
    assert taken(limits, 5, THERE, known=True) == 3
    assert taken(limits, 5, "192.0.2.3") == 1


def test_an_address_has_so_many_guesses_for_all_names(limits: GuessLimits) -> None:
    assert sum(taken(limits, 3, name=name) for name in ("alice", "bob", "carol")) == 6
    assert not limits.allows("nobody", HERE, 0.0, known=False)
    assert limits.allows("nobody", THERE, 0.0, known=False)
    assert taken(limits, 1, name="dave", now=1.0) == 1


def test_a_refused_guess_costs_the_address_nothing(limits: GuessLimits) -> None:
    assert taken(limits, 50) == 3
    assert taken(limits, 9, name="bob") == 3


def test_names_are_the_same_in_either_case(limits: GuessLimits) -> None:
    assert taken(limits, 2) + taken(limits, 2, name="ALICE") == 3


def test_what_is_given_back_was_never_spent(limits: GuessLimits) -> None:
    for known in (True, False):
        for _ in range(20):
            guess = limits.take("alice", HERE, 0.0, known=known)
            assert guess is not None
            guess.give_back(0.0)
    assert taken(limits, 5) == 3
    guess = limits.take("alice", HERE, 100.0, known=False)
    assert guess is not None
    guess.give_back(100.0)
    assert taken(limits, 5, now=100.0) == 3


@pytest.mark.parametrize("known", [True, False])
def test_asking_whether_takes_nothing_and_agrees_with_taking(
    limits: GuessLimits, known: bool
) -> None:
    for _ in range(10):
        may = limits.allows("alice", HERE, 0.0, known=known)
        assert may == limits.allows("alice", HERE, 0.0, known=known)
        assert may == (limits.take("alice", HERE, 0.0, known=known) is not None)


def test_what_could_not_be_looked_up_costs_its_address(limits: GuessLimits) -> None:
    for _ in range(6):
        limits.charge_address(HERE, 0.0)
    assert not limits.allows("alice", HERE, 0.0, known=False)
    assert limits.take("alice", HERE, 0.0, known=False) is None


def test_guesses_for_others_do_not_use_up_what_a_known_account_has(limits: GuessLimits) -> None:
    for name in ("bob", "carol", "dave", "erin"):
        taken(limits, 9, name=name)
    assert not limits.allows("nobody", HERE, 0.0, known=False)
    assert taken(limits, 9, known=True) == 3
    assert taken(limits, 9, name="bob") == 0


def test_few_accounts_are_read_for_an_address_without_attempts(limits: GuessLimits) -> None:
    limits.remember_login("alice", HERE)
    for _ in range(6):
        limits.charge_address(HERE, 0.0)
    assert sum(limits.allows_search(f"name{n}", HERE, 0.0) for n in range(1000)) == SEARCHES.burst
    assert limits.allows_search("ALICE", HERE, 0.0)
    assert limits.allows_search("bob", THERE, 0.0)
