"""The server where Python has only what it has on Windows: all modules, login and world."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.patience import patience
from tests.support.running.command_line import CHEAP
from tests.support.running.forked import Forking
from tools.ports import free_ports

PLAYER = ("--user", "tester", "--password", "long-enough")
pytestmark = pytest.mark.slow

IMPORTS = """
import importlib, pkgutil
import emu
names = [one.name for one in pkgutil.walk_packages(emu.__path__, "emu.")]
for name in names:
    if name not in ("emu.__main__", "emu.system.posix"):
        importlib.import_module(name)
print(len(names))
"""


class Machine:
    """A folder with a configuration, and the programs there."""

    def __init__(self, folder: Path, forking: Forking) -> None:
        self.login, world = free_ports(2)
        self._forking = forking
        self.folder = folder
        self.config = folder / "emu.toml"
        self.config.write_text(
            f'[database]\nurl = "sqlite:{folder / "emu.sqlite"}"\n'
            f'[login]\nlisten = "127.0.0.1:{self.login}"\n{CHEAP}'
            f'[world]\nlisten = "127.0.0.1:{world}"\n'
        )
        self.environment = {**os.environ, "EMU_CONFIG": str(self.config)}

    def emu(self, *words: str, status: int = 0) -> str:
        """Run a command; return what it printed."""
        done = subprocess.run(
            [*self._forking.words("emu"), *words], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=patience(60),
        )  # fmt: skip
        assert done.returncode == status, done.stdout
        return done.stdout

    def start(self) -> subprocess.Popen[str]:
        """Start a server in the foreground."""
        return subprocess.Popen(
            [*self._forking.words("twistd"), "--nodaemon", "--pidfile=", "emu"], cwd=self.folder,
            env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def serve(self) -> subprocess.Popen[str]:
        """Start a server; return when it is ready."""
        server = self.start()
        assert server.stdout is not None
        lines = []
        for line in server.stdout:
            lines.append(line)
            if "registered from" in line:
                return server
        raise AssertionError("".join(lines))


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    """The process whose forks find nothing of POSIX."""
    one = Forking("tests.support.running.without_posix")
    one.start()
    one.wait()
    yield one
    one.end()


def test_every_module_can_be_imported(tmp_path: Path, forking: Forking) -> None:
    script = tmp_path / "imports.py"
    script.write_text(IMPORTS)
    done = subprocess.run(
        [*forking.words("python"), str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


@pytest.fixture
def machine(tmp_path: Path, forking: Forking) -> Machine:
    made = Machine(tmp_path, forking)
    made.emu("account", "add", "tester", "--password", PLAYER[-1])
    return made


def test_a_player_logs_in_and_the_console_answers(machine: Machine) -> None:
    console = machine.folder / "emu.sqlite.console"
    server = machine.serve()
    try:
        assert console.is_file()
        assert console.stat().st_mode & 0o777 == 0o600
        played = machine.emu(
            "client", "play", f"127.0.0.1:{machine.login}", *PLAYER, "--character", "Testa",
            "--create", "--for", "1",
        )  # fmt: skip
        assert "Brannoc Tidewatch" in played
        status = json.loads(machine.emu("admin", "status", "--format", "json"))
        assert "Norrath" in json.dumps(status)
        assert "another server uses it" in machine.start().communicate(timeout=patience(60))[0]
        assert "Testa" in machine.emu("character", "list")
        machine.emu("backup", "copy.sqlite")
        assert "the server has stopped" in machine.emu("stop")
        assert server.wait(patience(30)) == 0
    finally:
        server.kill()
        server.communicate()
    assert not console.exists()
    assert not (machine.folder / "emu.sqlite.lock").exists()


def test_what_windows_has_not_is_refused_in_one_line(machine: Machine) -> None:
    assert machine.emu("start", status=1) == (
        "emu: there are no daemons on Windows; `emu run` serves in the foreground\n"
    )
    text = machine.config.read_text().replace("[world]", "workers = 2\n[world]")
    machine.config.write_text(text)
    checked = machine.emu("config", "check", status=1)
    assert "login.workers: on Windows the login port has one process" in checked
