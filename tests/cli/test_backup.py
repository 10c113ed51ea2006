"""`emu backup`: what operators type and what they find."""

import re
from pathlib import Path

import pytest

from emu.store import Store
from tests.support.running.command_line import CommandLine


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    line = CommandLine(tmp_path)
    with Store.create(line.database) as store:
        store.login.accounts.add("Alice", "hash", 1.0)
    return line


def accounts(path: Path) -> list[str]:
    with Store.open_for_reading(path) as store:
        return [one.name for one in store.login.accounts.every()]


def test_a_copy_serves_in_the_place_of_the_database(emu: CommandLine, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    result = emu.good("backup", str(copy))
    assert result.stdout == f"{copy}\n"
    assert str(emu.database) in result.stderr
    with Store.open(emu.database) as store:
        store.login.accounts.add("Late", "hash", 2.0)
    assert accounts(copy) == ["Alice"]
    copy.replace(emu.database)
    assert accounts(emu.database) == ["Alice"]


def test_it_copies_while_another_program_writes(emu: CommandLine, tmp_path: Path) -> None:
    with Store.open(emu.database) as store, store.transaction():
        store.login.accounts.add("Later", "hash", 2.0)
        emu.good("backup", str(tmp_path / "copy.db"))
    assert accounts(tmp_path / "copy.db") == ["Alice"]


def test_without_a_file_and_into_a_folder_it_is_named_for_the_moment(
    emu: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for words, where in (((), emu.database.parent), ((str(folder),), folder)):
        made = Path(emu.good("backup", *words).stdout.strip())
        assert made.parent == where
        assert re.fullmatch(rf"{re.escape(emu.database.name)}\.\d{{8}}-\d{{6}}\.bak", made.name)
        assert accounts(made) == ["Alice"]


def test_no_file_is_replaced_unasked_and_never_the_database(
    emu: CommandLine, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("mine")
    assert "exists already" in emu.refused("backup", str(copy))
    assert copy.read_text() == "mine"
    emu.good("backup", str(copy), "--replace")
    assert accounts(copy) == ["Alice"]
    assert "the database itself" in emu.refused("backup", str(emu.database), "--replace")


def test_a_database_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    emu = CommandLine(tmp_path)
    assert "there is no such database" in emu.refused("backup", str(tmp_path / "copy"))
    assert "there is no such database" in emu.refused("backup", str(tmp_path / "none" / "copy"))


def test_a_folder_that_is_not_there_is_named(emu: CommandLine, tmp_path: Path) -> None:
    text = emu.refused("backup", str(tmp_path / "none" / "copy"))
    assert text == f"{tmp_path / 'none'}: this folder does not exist; create it first"
