"""The log goes on in the file of its name, whoever rotates it."""

import os
from pathlib import Path

import pytest

from emu.net.logs import CHECK_INTERVAL, LogFile, written_to


class Log:
    def __init__(self, folder: Path, most: int = 10_000) -> None:
        self.path = folder / "emu.log"
        self.now = 0.0
        self.file = LogFile("emu.log", str(folder), most, 2, now=lambda: self.now)

    def write(self, *lines: str, after: float = 0.0) -> None:
        self.now += after
        for line in lines:
            self.file.write(f"{line}\n")

    @property
    def lines(self) -> list[str]:
        return self.path.read_bytes().decode().splitlines()


@pytest.fixture
def log(tmp_path: Path):
    made = Log(tmp_path)
    yield made
    made.file.close()


def test_a_file_that_was_moved_away_is_made_again_within_a_second(log: Log) -> None:
    log.write("one")
    old = log.path.rename(log.path.with_name("emu.log.old"))
    log.write("two", after=CHECK_INTERVAL / 2)
    assert not log.path.exists()
    log.write("three", after=CHECK_INTERVAL / 2)
    assert log.lines == ["three"]
    assert old.read_text() == "one\ntwo\n"


def test_a_file_that_was_moved_away_is_made_again_when_it_is_asked_for(log: Log) -> None:
    log.write("one")
    log.path.rename(log.path.with_name("emu.log.old"))
    log.file.reopen()
    log.write("two")
    assert log.lines == ["two"]


@pytest.mark.parametrize("access", [0o640, 0o600])
def test_an_empty_file_in_its_place_is_written_to_as_it_is(log: Log, access: int) -> None:
    log.write("one")
    log.path.rename(log.path.with_name("emu.log.old"))
    log.path.touch()
    log.path.chmod(access)
    log.write("two", after=CHECK_INTERVAL)
    assert log.lines == ["two"]
    assert log.path.stat().st_mode & 0o777 == access


def test_a_file_that_was_copied_and_cut_off_begins_anew(log: Log) -> None:
    log.write("one" * 100)
    os.truncate(log.path, 0)
    log.write("two")
    log.write("three", after=CHECK_INTERVAL)
    assert log.lines == ["two", "three"]
    assert log.path.stat().st_size == len("two\nthree\n")


def test_what_was_cut_off_does_not_count_for_its_own_rotation(tmp_path: Path) -> None:
    log = Log(tmp_path, 1000)
    log.write("x" * 990)
    os.truncate(log.path, 0)
    log.write("y" * 100, after=CHECK_INTERVAL)
    log.write("z" * 100)
    assert [one.name for one in tmp_path.iterdir()] == ["emu.log"]
    log.write("z" * 900)
    log.write("new")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["emu.log", "emu.log.1"]
    assert log.lines == ["new"]
    log.file.close()


def test_without_its_folder_it_goes_on_and_comes_back(log: Log, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = Log(folder, 100)
    log.write("one")
    moved = folder.rename(tmp_path / "moved")
    for _ in range(5):
        log.write("x" * 90, after=CHECK_INTERVAL)
    assert (moved / "emu.log").stat().st_size > 300
    folder.mkdir()
    log.write("back", after=CHECK_INTERVAL)
    assert log.lines == ["back"]
    log.file.close()


def test_a_rotation_by_size_follows_a_move_first(log: Log) -> None:
    log.write("x" * 10_000)
    log.path.rename(log.path.with_name("emu.log.old"))
    log.write("next")
    assert log.lines == ["next"]
    assert not log.path.with_name("emu.log.1").exists()


def test_the_file_of_the_log_is_known(tmp_path: Path) -> None:
    LogFile("emu.log", str(tmp_path)).close()
    assert written_to() == tmp_path / "emu.log"
