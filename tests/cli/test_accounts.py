"""`emu account`: what operators type and what they see."""

import sqlite3
import time
from contextlib import closing

import click
import pytest

from emu.cli.accounts import account
from emu.login.passwords import PasswordConfig, check_password
from emu.store import Store
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character
from tests.support.patience import within
from tests.support.running.command_line import CommandLine, stored_password


def is_right(password: bytes, stored: str) -> bool:
    return check_password(password, stored, bytes(16), PasswordConfig(64, 1)).right


def test_an_account_is_added_and_the_database_made(emu: CommandLine) -> None:
    before = time.time()
    result = emu.good("account", "add", " Alice ", "--password", "pässword")
    assert result.stdout == ""
    assert "added account 'Alice' with the id 1" in result.stderr
    assert is_right("pässword".encode(), stored_password(emu, "alice"))
    with Store.open(emu.database) as store:
        assert before <= store.login.accounts.every()[0].created <= time.time()


def test_a_password_is_read_from_standard_input(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", stdin="se cret\nmore\n")
    assert is_right(b"se cret", stored_password(emu, "alice"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("", "--password", "x"), "must not be empty"),
        (("x" * 32, "--password", "x"), "longer than 31 bytes"),
        (("a\tb", "--password", "x"), "cannot be seen"),
        (("bob", "--password", ""), "password must not be empty"),
        (("bob", "--password", "x" * 256), "not be longer than 255 bytes"),
        (("ALICE", "--password", "x"), "already an account 'ALICE'"),
    ],
)
def test_what_cannot_be_added(emu: CommandLine, words: tuple[str, ...], why: str) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    assert why in emu.refused("account", "add", *words)
    assert len(emu.rows("account", "list")) == 1


def test_lists_in_every_form(emu: CommandLine) -> None:
    emu.good("account", "add", "bob", "--password", "x")
    emu.good("account", "add", "Alice", "--password", "x")
    assert [row["name"] for row in emu.rows("account", "list")] == ["Alice", "bob"]
    lines = emu.good("account", "list", "--format", "csv").stdout.splitlines()
    assert (
        lines[0]
        == "id,name,state,rank,banned_until,created,last_login,last_address,last_client_version"
    )
    assert lines[2].startswith("1,bob,enabled,0,,20")
    assert "bob" in emu.good("account", "list").stdout


@pytest.mark.parametrize(
    "words",
    [("list",), ("show", "a"), ("disable", "a"), ("enable", "a"), ("ban", "a"), ("unban", "a"),
     ("remove", "a"), ("password", "a", "--password", "x")],
)  # fmt: skip
def test_without_a_database_nothing_is_made(emu: CommandLine, words: tuple[str, ...]) -> None:
    assert "there is no such database" in emu.refused("account", *words)
    assert not emu.database.exists()


@pytest.mark.parametrize("verb", ["show", "disable", "enable", "ban", "unban", "remove"])
def test_an_account_that_is_not_there(emu: CommandLine, verb: str) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    assert "there is no account 'bob'" in emu.refused("account", verb, "bob")


def state(emu: CommandLine) -> str:
    return str(emu.rows("account", "list")[0]["state"])


def test_disabling_and_banning(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    emu.good("account", "disable", "ALICE")
    assert state(emu) == "disabled"
    emu.good("account", "enable", "alice")
    assert state(emu) == "enabled"
    emu.good("account", "ban", "alice", "--for", "2d", "--reason", "rude")
    assert state(emu) == "banned"
    shown = emu.rows("account", "show", "alice")
    assert shown["ban_reason"] == "rude"
    assert shown["banned_until"].startswith("20")
    emu.good("account", "ban", "alice")
    assert emu.rows("account", "show", "alice")["banned_until"] == "never"
    emu.good("account", "unban", "alice")
    assert (state(emu), emu.rows("account", "show", "alice")["ban_reason"]) == ("enabled", "")


def test_a_new_password(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    emu.good("account", "password", "alice", "--password", "new")
    assert is_right(b"new", stored_password(emu, "alice"))
    assert not is_right(b"x", stored_password(emu, "alice"))


def test_an_account_with_characters_is_removed_only_when_that_is_meant(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    with Store.open(emu.database) as store:
        store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", ""))
        store.login.characters.add(character())
    assert emu.rows("account", "show", "alice")["characters"] == [
        {"name": "Ayla", "level": 12, "world_id": 1, "id": 7}
    ]
    assert "Ayla (level 12)" in emu.good("account", "show", "alice").stdout
    assert "Ayla (level 12)" in emu.good("account", "show", "alice", "--format", "csv").stdout
    assert "has 1 character; disable it instead" in emu.refused("account", "remove", "alice")
    emu.good("account", "remove", "alice", "--characters")
    assert emu.rows("account", "list") == []


def test_what_is_shown_is_never_a_password(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "verysecret")
    stored = stored_password(emu, "alice")
    for words in (("list",), ("show", "alice")):
        for style in ("table", "csv", "json"):
            output = emu.good("account", *words, "--format", style).output
            assert "verysecret" not in output
            assert stored not in output


def commands(group: click.Group) -> list[click.Command]:
    found: list[click.Command] = []
    for command in group.commands.values():
        found += commands(command) if isinstance(command, click.Group) else [command]
    return found


def test_every_command_has_help_with_an_example() -> None:
    for command in commands(account):
        assert command.help is not None
        assert "Example: emu account " in command.help, command.name


def test_looking_does_not_wait_for_another_program_that_writes(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "secret")
    with closing(sqlite3.connect(emu.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with within(4):
            assert [row["name"] for row in emu.rows("account", "list")] == ["alice"]
            assert emu.rows("account", "show", "alice")["name"] == "alice"
            assert emu.rows("account", "address", "list") == []
            assert emu.rows("world", "list") == []


def test_a_new_password_has_a_minimum_length(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    text = emu.config.read_text(encoding="utf-8")
    emu.config.write_text(text.replace("password_min_length = 1\n", ""), encoding="utf-8")
    why = "at least 8 characters (login.password_min_length)"
    assert why in emu.refused("account", "add", "bob", "--password", "seven77")
    assert why in emu.refused("account", "password", "alice", "--password", "seven77")
    emu.good("account", "password", "alice", "--password", "eight888")
    assert is_right(b"eight888", stored_password(emu, "alice"))
    assert len(emu.rows("account", "list")) == 1
