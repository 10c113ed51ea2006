"""`emu character`: what operators type and what they see."""

from pathlib import Path

import click
import pytest

from emu.cli.characters import character as group
from emu.ledger import Movement, Owner, OwnerKind, Part, Reason
from emu.model import BUILT_IN_ACCOUNT
from emu.store import Store
from emu.times import Moment
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character, world_character
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    """A database with Aldana on another world, and Borvik on the built-in one."""
    line = CommandLine(tmp_path)
    with Store.create(line.database) as store:
        store.login.accounts.add("Alice", "hash", 1.0)
        store.login.accounts.add("Bob", "hash", 1.0)
        store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", ""))
        store.login.worlds.add(RegisteredWorld(0, "Here", BUILT_IN_ACCOUNT, ""))
        own = store.world.characters.create(world_character(name="Borvik"))
        store.login.characters.add(
            character(name="Borvik", world_id=2, char_id=own.id, last_played=0.0)
        )
        store.login.characters.add(character(name="Aldana", account_id=2))
    return line


def names(emu: CommandLine, *words: str) -> list[str]:
    return [row["name"] for row in emu.rows("character", "list", *words)]


def test_lists_by_name_account_and_world(emu: CommandLine) -> None:
    assert names(emu) == ["Aldana", "Borvik"]
    assert names(emu, "--account", "ALICE") == ["Borvik"]
    assert names(emu, "--world", "norrath") == ["Aldana"]
    assert names(emu, "--world", "elsewhere") == []
    row = emu.rows("character", "list", "--account", "alice")[0]
    assert row == {
        "name": "Borvik", "account": "Alice", "world": "Here", "level": 12, "state": "alive",
        "rank": 0, "banned_until": None,
        "last_played": None, "created": "1970-01-01T00:16:40Z", "id": 1,
    }  # fmt: skip


def test_shows_looks_as_lists(emu: CommandLine) -> None:
    record = emu.rows("character", "show", "aldana")
    assert (record["char_id"], record["class"], record["zone_id"]) == (7, 3, 12)
    assert {"field": "race_type", "number": 111} in record["models"]
    assert record["colors"][0] == {"field": "hair_color1", "red": 1, "green": -2, "blue": 3}
    assert record["equipment"] == [{"slot": 3, "model": 900}]
    assert record["node"] == ""
    text = emu.good("character", "show", "2").stdout
    assert "race_type 111" in text
    assert "hair_color1 1/-2/3" in text


@pytest.mark.parametrize(
    ("word", "rank"),
    [("guide", 10), ("gamemaster", 100), ("ADMIN", 200), ("150", 150), ("player", 0), ("999", 999)],
)
def test_a_rank_is_given_by_name_or_number(emu: CommandLine, word: str, rank: int) -> None:
    assert "database: " in emu.good("character", "rank", "borvik", word).stderr
    with Store.open(emu.database) as store:
        assert store.world.characters.statuses_of(1) == [rank]
    assert emu.rows("character", "list", "--account", "alice")[0]["rank"] == rank
    assert emu.rows("account", "show", "alice")["rank"] == rank


@pytest.mark.parametrize("word", ["1000", "-1", "king", "1.5", ""])
def test_what_is_no_rank(emu: CommandLine, word: str) -> None:
    assert "is no rank; use player, guide, gamemaster, admin or a number" in emu.refused(
        "character", "rank", "Borvik", "--", word
    )


def test_lists_show_rank_and_end_of_ban(emu: CommandLine) -> None:
    emu.good("character", "rank", "Borvik", "gamemaster")
    emu.good("account", "ban", "alice", "--until", "2199-01-01")
    for noun in ("character", "account"):
        row = next(row for row in emu.rows(noun, "list") if "lice" in str(row))
        assert (row["rank"], row["banned_until"]) == (100, "2199-01-01T00:00:00Z"), noun
        assert "gamemaster" in emu.good(noun, "list").stdout
    emu.good("account", "ban", "alice")
    assert emu.rows("character", "list", "--account", "alice")[0]["banned_until"] == "never"
    emu.good("account", "unban", "alice")
    assert emu.rows("character", "list", "--account", "alice")[0]["banned_until"] is None


def test_another_server_gives_its_characters_ranks(emu: CommandLine) -> None:
    assert "Norrath, another server" in emu.refused("character", "rank", "Aldana", "guide")


def test_every_change_names_the_database(emu: CommandLine) -> None:
    for words in (("rename", "Borvik", "Dorn"), ("delete", "dorn"), ("restore", "DORN")):
        assert f"database: {emu.database}" in emu.good("character", *words).stderr
    assert names(emu) == ["Aldana", "Dorn"]


def test_a_deleted_character_is_restored_or_its_name_freed(emu: CommandLine) -> None:
    assert "is not deleted" in emu.refused("character", "restore", "Borvik")
    assert "is not deleted" in emu.refused("character", "free-name", "Borvik")
    emu.good("character", "delete", "Borvik")
    assert "is already deleted" in emu.refused("character", "delete", "Borvik")
    assert names(emu) == ["Aldana"]
    assert names(emu, "--deleted") == ["Aldana", "Borvik"]
    emu.good("character", "free-name", "Borvik")
    assert names(emu, "--deleted") == ["Aldana"]
    assert "there is no character 'Borvik'" in emu.refused("character", "restore", "Borvik")


def test_what_another_world_keeps_is_reported(emu: CommandLine) -> None:
    reported = emu.good("character", "rename", "Aldana", "Mira").stderr
    assert "only the list was changed; Norrath has its own character" in reported
    emu.good("character", "delete", "Mira")
    assert "is kept by its world, Norrath" in emu.refused("character", "free-name", "Mira")
    assert "has its own" not in emu.good("character", "rename", "Borvik", "Dorn").stderr


@pytest.mark.parametrize("name", ["Bo", "Bor vik", "B0rvik", "B" * 16, ""])
def test_a_name_that_the_built_in_world_would_refuse(emu: CommandLine, name: str) -> None:
    assert "letters A to Z" in emu.refused("character", "rename", "Borvik", name)


@pytest.mark.parametrize("name", ["", " Mira", "Mi\tra", "M" * 64])
def test_a_name_that_no_world_could_be_sent(emu: CommandLine, name: str) -> None:
    assert "1 to 63 bytes" in emu.refused("character", "rename", "Aldana", name)


@pytest.mark.parametrize("name", ["\u041cira", "\uff2dira", "Mir\u00e0"])
def test_a_name_that_could_look_like_another_one(emu: CommandLine, name: str) -> None:
    for who in ("Aldana", "Borvik"):
        assert "letters A to Z" in emu.refused("character", "rename", who, name)


def test_two_of_one_name_are_distinguished(emu: CommandLine) -> None:
    emu.good("character", "rename", "Aldana", "Borvik")
    why = emu.refused("character", "delete", "Borvik")
    assert "several characters are called 'Borvik'" in why
    assert "1 (Here, alive), 2 (Norrath, alive)" in why
    emu.good("character", "delete", "Borvik", "--world", "Norrath")
    assert emu.rows("character", "show", "Borvik")["id"] == 1, "a living one goes first"
    emu.good("character", "restore", "2")
    emu.good("character", "delete", "1")


def test_a_character_that_its_world_lost_stays_deleted(emu: CommandLine) -> None:
    emu.good("character", "delete", "Borvik")
    with Store.open(emu.database) as store, store.transaction() as connection:
        connection.execute("DELETE FROM world_characters")
    assert "does not have 'Borvik' any more" in emu.refused("character", "restore", "Borvik")


def test_every_command_has_help_with_an_example() -> None:
    for command in (group, *group.commands.values()):
        assert isinstance(command, click.Command)
        assert command.help is not None
        assert "Example: emu character " in command.help, command.name


def pay(emu: CommandLine) -> None:
    """Let Borvik give a way 30 of its 100 copper, and a game master give it 5."""
    with Store.open(emu.database) as store:
        store.world.characters.create(world_character(name="Dagny", coins=100))
        borvik, dagny = Owner.character(1), Owner.character(2)
        parts = [
            (Owner(OwnerKind.GAME_MASTER, 1), borvik, 100),
            (borvik, Owner(OwnerKind.TRANSPORTER, 51), 30),
            (dagny, borvik, 5),
            (Owner(OwnerKind.GAME_MASTER), borvik, 1),
        ]
        for number, part in enumerate(parts):
            movement = Movement(f"r{number}", Reason.COMMAND, (Part(*part),))
            assert store.world.ledger.move(movement, Moment(1000.0 + number)).is_done


def test_the_log_of_a_character_has_the_newest_first(emu: CommandLine) -> None:
    pay(emu)
    rows = emu.rows("character", "log", "borvik")
    assert [(row["change"], row["left"], row["other"]) for row in rows] == [
        (1, 76, "console"), (5, 75, "Dagny"), (-30, 70, "transporter 51"),
        (100, 100, "game master Alice"),
    ]  # fmt: skip
    assert rows[0] | {"change": 0} == {
        "time": "1970-01-01T00:16:43Z", "change": 0, "left": 76, "what": "coins", "kind": None,
        "reason": "command", "other": "console", "request": "r3",
    }  # fmt: skip
    assert len(emu.rows("character", "log", "Borvik", "--limit", "2")) == 2
    assert "transporter 51" in emu.good("character", "log", "Borvik").stdout


def test_the_log_of_a_character_that_is_gone_is_found_by_its_number(emu: CommandLine) -> None:
    pay(emu)
    emu.good("character", "delete", "Borvik")
    assert len(emu.rows("character", "log", "Borvik")) == 4
    emu.good("character", "free-name", "Borvik")
    assert "there is no character" in emu.refused("character", "log", "Borvik")
    rows = emu.rows("character", "log", "--number", "1")
    assert (rows[0]["change"], rows[0]["reason"], rows[0]["left"]) == (-76, "character removed", 0)
    assert rows[0]["other"] == "removal"
    # The other side of its movements has its number.
    assert [row["other"] for row in emu.rows("character", "log", "Dagny")] == [
        "character 1", "import",
    ]  # fmt: skip


def test_a_log_needs_one_character_of_this_server(emu: CommandLine) -> None:
    for words in ((), ("Borvik", "--number", "1")):
        assert "name a character" in emu.refused("character", "log", *words)
    assert "another server" in emu.refused("character", "log", "Aldana")
    assert "no entry of a character 77" in emu.refused("character", "log", "--number", "77")
    assert emu.rows("character", "log", "Borvik") == []
