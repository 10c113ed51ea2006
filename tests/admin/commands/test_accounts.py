from __future__ import annotations

from dataclasses import replace

from tests.support.login.account_commands import AccountCommands


def test_list_and_show() -> None:
    bench = AccountCommands()
    assert bench.run("account list").lines[0] == "2 accounts"
    assert [row["name"] for row in bench.run("account list al").data] == ["Alice"]
    assert bench.run("account show ALICE").data["id"] == 1
    assert bench.run("account show nobody").text == "there is no account nobody"


def test_list_and_show_name_rank_and_end_of_ban() -> None:
    bench = AccountCommands()
    bench.ranks[2] = 100
    assert bench.run("account ban Alice ever").ok
    _, alice, bob = bench.run("account list").lines
    assert "banned" in alice
    assert "ban ends: never" in alice
    assert "gamemaster" in bob
    assert "ban ends" not in bob
    assert bench.run("account show bob").data["rank"] == 100


def test_a_list_has_the_accounts_of_one_state() -> None:
    bench = AccountCommands()
    bench.ranks[2] = 100
    bench.run("account ban Alice ever")
    for which, names in {"banned": ["Alice"], "enabled": ["bob"], "staff": ["bob"]}.items():
        found = bench.run(f'account list "" {which}').data
        assert [row["name"].lower() for row in found] == [one.lower() for one in names]
    assert bench.run('account list "" disabled').data == []


def test_only_game_masters_are_shown_addresses() -> None:
    bench = AccountCommands()
    row = bench.store.rows[1]
    bench.store.rows[1] = replace(row, last_address="192.0.2.7")
    assert bench.run("account show alice", rank=100).data["last_address"] == "192.0.2.7"
    assert bench.run("account show alice", rank=10).data["last_address"] == ""
    assert bench.run("account list al", rank=10).data[0]["last_address"] == ""


def test_only_the_console_announces_a_trial() -> None:
    bench = AccountCommands()
    assert bench.run("account trial ALICE").ok
    assert bench.trials == ["Alice"]
    assert not bench.run("account trial bob", rank=200).ok
    # The doctor tests that a login without an account is refused.
    assert bench.run("account trial nobody").ok


def test_add_and_password() -> None:
    bench = AccountCommands()
    assert bench.run("account add carol s3cret").text == "added account carol with the id 3"
    assert bench.run("account password carol other").ok
    assert bench.store.rows[3].password == "<other>"
    assert bench.run("account add Carol xyz").text == "there is already an account 'Carol'"
    assert bench.run("account add c x").text == "a name has two letters"
    assert "s3cret" not in str(bench.uses)


def test_a_short_password_is_refused_with_the_reason() -> None:
    bench = AccountCommands()
    for line in ("account add carol no", "account password bob no"):
        assert bench.run(line).text == "the password is short"
    assert bench.store.rows[2].password == "hash"


def test_nobody_changes_the_password_of_those_who_stand_as_high() -> None:
    bench = AccountCommands()
    bench.ranks[2] = 200
    refused = bench.run("account password bob other", rank=200)
    assert refused.text == "account bob has your rank or a higher one"
    assert bench.store.rows[2].password == "hash"
    assert bench.run("account password bob other", rank=1000).ok


def test_ranks() -> None:
    bench = AccountCommands()
    assert bench.run("account list", rank=10).ok
    assert not bench.run("account add eve x", rank=100).ok
