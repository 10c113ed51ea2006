from __future__ import annotations

import json
from pathlib import Path

from tests.cli.consoles.test_rcon_rcon_socket import server
from tests.support.running.command_line import CommandLine


def test_a_command_and_its_answer(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    with server() as address:
        result = commands.good("rcon", "--password", "sekret", str(address), "echo", "two words")
    assert result.stdout == "two words\n"
    with server() as address:
        words = ("rcon", "--json", "--password", "sekret", str(address), "echo", "a")
        reported = json.loads(commands.good(*words).stdout)
    assert reported == {"command": "echo a", "answer": "a", "lines": ["a"]}


def test_lines_from_a_pipe(tmp_path: Path) -> None:
    commands = CommandLine(tmp_path)
    with server() as address:
        words = ("rcon", "--password", "sekret", str(address))
        assert commands.good(*words, stdin="echo a\necho b\n").stdout == "a\nb\n"


def test_a_refused_password_is_one_line(tmp_path: Path) -> None:
    with server() as address:
        said = CommandLine(tmp_path).refused("rcon", "--password", "x", str(address), "status")
    assert said == f"{address}: the server refuses the password"
