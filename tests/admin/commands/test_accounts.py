from __future__ import annotations

from tests.support.login.account_commands import AccountCommands


def test_list_and_show() -> None:
    bench = AccountCommands()
    assert bench.run("account list").lines[0] == "2 accounts"
    assert [row["name"] for row in bench.run("account list al").data] == ["Alice"]
    assert bench.run("account show ALICE").data["id"] == 1
    assert bench.run("account show nobody").text == "there is no account nobody"


def test_add_and_password() -> None:
    bench = AccountCommands()
    assert bench.run("account add carol s3cret").text == "added account carol with the id 3"
    assert bench.run("account password carol other").ok
    assert bench.store.rows[3].password == "<other>"
    assert bench.run("account add Carol x").text == "there is already an account 'Carol'"
    assert bench.run("account add c x").text == "a name has two letters"
    assert "s3cret" not in str(bench.uses)


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
