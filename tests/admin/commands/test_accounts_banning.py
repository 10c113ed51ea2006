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
    room = AccountCommands()
    assert room.run(f"account ban bob {lasting}").ok
    assert room.store.rows[2].banned_until == until
    assert room.away == [(2, "account banned by root")]
    assert room.run("account show bob").data["state"] == "banned"
    assert room.run("account unban bob").ok
    assert room.store.rows[2].banned_until is None


def test_a_wrong_span_changes_nothing() -> None:
    room = AccountCommands()
    assert "no duration" in room.run("account ban bob tomorrow").text
    assert "no duration" in room.run("account ban bob 999999w").text
    assert room.away == []


def test_disable_and_enable() -> None:
    room = AccountCommands()
    assert room.run("account disable bob").text == "account bob is disabled"
    assert room.away == [(2, "account disabled by root")]
    assert not room.store.rows[2].enabled
    assert room.run("account enable bob").ok
    assert room.store.rows[2].enabled


def test_a_ban_is_for_ranks_above_the_banned_ones() -> None:
    room = AccountCommands()
    assert room.run("account ban bob", rank=10).text == "account ban needs rank 100; yours is 10"
    room.ranks[2] = 100
    for line in ("account ban bob", "account disable bob", "character ban Borvik"):
        assert room.run(line, rank=200 if "disable" in line else 100).ok is ("disable" in line)
    assert room.store.rows[2].banned_until is None
    room.ranks[2] = 200
    assert room.run("account disable bob", rank=200).text.endswith("your rank or a higher one")


@pytest.mark.parametrize(
    ("line", "rank"), [("account unban bob", 100), ("account enable bob", 200)]
)
def test_a_ban_is_lifted_by_ranks_above_the_account(line: str, rank: int) -> None:
    room = AccountCommands()
    room.ranks[2] = rank
    assert room.run(line, rank=rank).text == "account bob has your rank or a higher one"
    room.ranks[2] = rank - 1
    assert room.run(line, rank=rank).ok


def test_a_character_is_banned_with_its_account() -> None:
    room = AccountCommands()
    assert room.run("character ban borvik 12h spam").text.startswith("account bob is banned until")
    assert room.store.rows[2].ban_reason == "spam"
    assert room.away == [(2, "account banned by root")]
    assert room.run("character ban Nobody").text == "there is no character Nobody"
    assert "another login server" in room.run("character ban Cestra").text
