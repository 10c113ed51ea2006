from __future__ import annotations

import math

import pytest

from tests.support.login.account_commands import NOW, AccountCommands


@pytest.mark.parametrize(
    ("lasting", "until"),
    [
        ("", math.inf),
        ("ever", math.inf),
        ("90m", NOW + 5400),
        ("7d spam", NOW + 604_800),
        ("99999w", NOW + 99_999 * 604_800),
    ],
)
def test_a_ban_sends_away_and_ends(lasting: str, until: float) -> None:
    bench = AccountCommands()
    assert bench.run(f"account ban bob {lasting}").ok
    assert bench.store.rows[2].banned_until == until
    assert bench.away == [(2, "account banned by root")]
    end = "for ever." if until == math.inf else "until "
    assert bench.notices[0].startswith(f"Your account is banned {end}")
    assert bench.run("account show bob").data["state"] == "banned"
    assert bench.run("account unban bob").ok
    assert bench.store.rows[2].banned_until is None


def test_a_wrong_span_changes_nothing() -> None:
    bench = AccountCommands()
    assert "no duration" in bench.run("account ban bob tomorrow").text
    assert "no duration" in bench.run("account ban bob 999999w").text
    assert bench.away == []


def test_disable_and_enable() -> None:
    bench = AccountCommands()
    assert bench.run("account disable bob").text == "account bob is disabled"
    assert bench.away == [(2, "account disabled by root")]
    assert not bench.store.rows[2].enabled
    assert bench.run("account enable bob").ok
    assert bench.store.rows[2].enabled


def test_a_ban_is_for_ranks_above_the_banned_ones() -> None:
    bench = AccountCommands()
    assert bench.run("account ban bob", rank=10).text == "account ban needs rank 100; yours is 10"
    bench.ranks[2] = 100
    for line in ("account ban bob", "account disable bob", "character ban Borvik"):
        assert bench.run(line, rank=200 if "disable" in line else 100).ok is ("disable" in line)
    assert bench.store.rows[2].banned_until is None
    bench.ranks[2] = 200
    assert bench.run("account disable bob", rank=200).text.endswith("your rank or a higher one")


@pytest.mark.parametrize(
    ("line", "rank"), [("account unban bob", 100), ("account enable bob", 200)]
)
def test_a_ban_is_lifted_by_ranks_above_the_account(line: str, rank: int) -> None:
    bench = AccountCommands()
    bench.ranks[2] = rank
    assert bench.run(line, rank=rank).text == "account bob has your rank or a higher one"
    bench.ranks[2] = rank - 1
    assert bench.run(line, rank=rank).ok


def test_a_character_is_banned_with_its_account() -> None:
    bench = AccountCommands()
    assert bench.run("character ban borvik 12h spam").text.startswith("account bob is banned until")
    assert bench.store.rows[2].ban_reason == "spam"
    assert bench.away == [(2, "account banned by root")]
    assert bench.run("character ban Nobody").text == "there is no character Nobody"
    assert "another login server" in bench.run("character ban Cestra").text
