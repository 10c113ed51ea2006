"""`emu run`, `emu start`, `emu stop` and `emu logs`, from a fresh folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.cli import running
from emu.cli.running import new_lines
from emu.database.sqlite.served import serving_process
from tests.support.patience import patience
from tests.support.running.command_line import CommandLine
from tests.support.running.forked import forked_words, write_command
from tests.support.running.forked_command import TWISTD
from tests.support.running.whole_server import PROGRAMS, settings_of


@pytest.fixture
def words_of_exec(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    seen: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _path, words: seen.append(words))
    return seen


def test_run_is_twistd_in_the_foreground(tmp_path: Path, words_of_exec: list[list[str]]) -> None:
    emu = CommandLine(tmp_path)
    emu.good("run", "--set", "log.level=debug", "--db", str(tmp_path / "other.sqlite"))
    (words,) = words_of_exec
    assert words == [
        str(PROGRAMS / "twistd"), "--nodaemon", "--pidfile=", "emu", "--config", str(emu.config),
        "--db", str(tmp_path / "other.sqlite"), "--set", "log.level=debug",
    ]  # fmt: skip


@pytest.mark.slow
def test_twistd_need_not_be_a_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    done = subprocess.run(
        [*running.twistd(), "--version"], capture_output=True, text=True, check=True
    )
    assert "Twisted daemon" in done.stdout


def test_new_lines_are_those_after_the_known_ones() -> None:
    assert new_lines(["a", "b", "c"], ["b", "c", "d", "e"]) == ["d", "e"]
    assert new_lines(["a", "a"], ["a", "a"]) == []
    assert new_lines(["a"], ["x", "y"]) == ["x", "y"]
    assert new_lines([], ["x"]) == ["x"]
    assert new_lines(["a", "b"], []) == []


class Operator:
    """Types commands in a folder; the installed servers start unless `forks_servers` is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.line = CommandLine(folder)
        self._environment = dict(os.environ)

    def forks_servers(self) -> None:
        """Let `emu start` start a fork of a process that has imported the server."""
        program = self.folder / "forked-twistd"
        write_command(program, "twistd")
        self._environment[TWISTD] = str(program)

    def __call__(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [*forked_words("emu"), "--config", str(self.line.config), *words], cwd=self.folder,
            capture_output=True, text=True, timeout=patience(30), check=False,
            env=self._environment,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def started(self, *sets: str) -> tuple[int, str]:
        settings = [*settings_of(self.line.database, {}), *sets]
        return self("start", *(word for one in settings for word in ("--set", one)))


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    typing = Operator(tmp_path)
    yield typing
    process = serving_process(typing.line.database)
    if process is not None:
        os.kill(process, signal.SIGKILL)


@pytest.mark.slow
def test_start_stop_and_what_lies_between(operator: Operator) -> None:
    database = operator.line.database
    status, text = operator.started()
    process = serving_process(database)
    log = database.with_suffix(".log")
    assert (status, text) == (0, f"the server runs as process {process}; its log is {log}\n")
    assert "server: ready" in log.read_text()
    status, text = operator.started()
    assert status == 1
    assert f"a server runs as process {process}; stop it with" in text
    assert text.count("\n") == 1
    assert operator("zones")[0] == 0
    assert "0 players" in operator("who")[1]
    status, text = operator("logs", "-n", "3")
    assert (status, text.count("\n")) == (0, 3)
    backup = database.with_name("copy.db")
    assert operator("backup", str(backup))[0] == 0
    status, text = operator("restore", str(backup))
    assert (status, text.count("\n")) == (1, 1)
    assert "another server uses it" in text
    assert operator("stop") == (0, "the server has stopped\n")
    assert serving_process(database) is None
    assert not database.with_suffix(".pid").exists()
    assert "is it running" in operator("stop")[1]
    status, text = operator("logs", "-n", "1")
    assert status == 0
    printed, note = text.splitlines()
    assert printed.endswith("server: stopped")
    assert note == f"no server runs; this is the end of {log}"
    assert operator("logs", "--follow")[0] == 1
    status, text = operator("restore", str(backup))
    assert status == 0, text
    assert f"restored {database} from {backup}: 0 accounts, 0 characters" in text


@pytest.mark.slow
def test_a_start_that_fails_says_why(operator: Operator) -> None:
    operator.forks_servers()
    status, text = operator.started("world.zones=/nowhere")
    assert status == 1
    assert text.startswith("emu: ")
    assert text.count("\n") == 1
    assert not operator.line.database.with_suffix(".pid").exists()


@pytest.mark.slow
def test_stop_waits_for_the_announced_time_and_can_be_cancelled(operator: Operator) -> None:
    operator.forks_servers()
    assert operator.started()[0] == 0
    waiting = subprocess.Popen(
        [*forked_words("emu"), "--config", str(operator.line.config), "stop", "--in", "600"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert waiting.stderr is not None
    assert "stops in 600 seconds" in waiting.stderr.readline()
    assert operator("admin", "cancel")[0] == 0
    waiting.kill()
    waiting.communicate()
    assert operator("stop", "--in", "1")[0] == 0
