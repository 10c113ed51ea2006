"""`emu world`: what operators type and what they see."""

import time
from pathlib import Path

import click
import pytest

from emu.cli.world import world
from emu.link.settings import hash_link_password, link_password_matches
from emu.store import Store
from tests.support.database.stores import character
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path)
    made.good("world", "add", "Antonia", "--account", "anto", "--password", "secret")
    return made


def stored_password(emu: CommandLine) -> str:
    with Store.open(emu.database) as store:
        found = store.login.worlds.find_by_account("ANTO")
        assert found is not None
        return found.password


def test_a_world_is_added_with_a_hash_that_the_link_accepts(emu: CommandLine) -> None:
    assert link_password_matches(stored_password(emu), hash_link_password("secret"))
    (row,) = emu.rows("world", "list")
    assert (row["id"], row["name"], row["account"], row["state"], row["status"]) == (
        1, "Antonia", "anto", "enabled", "down",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("antonia", "--account", "other"), "already a world 'antonia'"),
        (("Other", "--account", "ANTO"), "another world registers with the account 'ANTO'"),
        (("x" * 201, "--account", "a"), "1 to 200 bytes"),
        (("Other", "--account", "x" * 30), "1 to 29 bytes"),
        (("Ot\x1bher", "--account", "a"), "all of it visible"),
        ((" ", "--account", "a"), "1 to 200 bytes"),
    ],
)
def test_what_cannot_be_added(emu: CommandLine, words: tuple[str, ...], why: str) -> None:
    assert why in emu.refused("world", "add", *words, "--password", "x")
    assert len(emu.rows("world", "list")) == 1


def test_status_is_shown_in_words(emu: CommandLine) -> None:
    with Store.open(emu.database) as store:
        store.login.worlds.record_status(1, -2, 12, 3, time.time())
        store.login.worlds.connected(1, "192.0.2.1", "0.9.9-Nebula", 0.0)
    (row,) = emu.rows("world", "list")
    assert (row["status"], row["players"], row["zones"]) == ("locked", 12, 3)
    assert (row["last_connected"], row["login_version"]) == (
        "1970-01-01T00:00:00Z", "0.9.9-Nebula",
    )  # fmt: skip


@pytest.mark.parametrize(("status", "shown"), [(1, "silent"), (-3, "silent"), (-4, "down")])
def test_a_status_that_nobody_records_any_more_is_not_believed(
    emu: CommandLine, status: int, shown: str
) -> None:
    with Store.open(emu.database) as store:
        store.login.worlds.record_status(1, status, 12, 3, time.time() - 151)
    assert emu.rows("world", "list")[0]["status"] == shown


def test_changes(emu: CommandLine) -> None:
    emu.good("world", "disable", "ANTONIA")
    assert emu.rows("world", "list")[0]["state"] == "disabled"
    emu.good("world", "enable", "Antonia")
    assert emu.rows("world", "list")[0]["state"] == "enabled"
    emu.good("world", "password", "Antonia", stdin="piped\n")
    assert stored_password(emu) == hash_link_password("piped")


def test_a_world_with_characters_is_removed_only_when_that_is_meant(emu: CommandLine) -> None:
    emu.good("account", "add", "alice", "--password", "x")
    with Store.open(emu.database) as store:
        store.login.characters.add(character())
    assert "has 1 character;" in emu.refused("world", "remove", "Antonia")
    emu.good("world", "remove", "Antonia", "--characters")
    assert emu.rows("world", "list") == []
    assert "there is no world 'Antonia'" in emu.refused("world", "remove", "Antonia")


def test_every_command_has_help_with_an_example() -> None:
    for command in world.commands.values():
        assert isinstance(command, click.Command)
        # A hidden one names the command that has replaced it.
        noun = "content" if command.hidden else "world"
        assert f"Example: emu {noun} " in (command.help or ""), command.name
