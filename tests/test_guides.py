"""Every code block of the guides is run, and what a guide shows is what comes.

``console`` blocks are typed into a shell, line by line behind ``$``; ``python`` blocks of a page
share their names, and a ``text`` block behind one is what it prints. ``...`` stands for anything.
"""

import contextlib
import doctest
import io
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GUIDES = [path for path in sorted(DOCS.rglob("*.md")) if "protocol" not in path.parts]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\n> .*|\n>$)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
DIAGRAMS = ("flowchart", "sequenceDiagram", "stateDiagram-v2")
"""The kinds of mermaid diagrams that the guides draw."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PORTS = ("9100", "9001", "27015", "27016", "26999", "12358", "8080", "9002", "9300")
"""Ports that the guides speak of; free ones take their places."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def same(shown: str, came: str) -> bool:
    return doctest.OutputChecker().check_output(shown, came, FLAGS)


def free_ports(count: int) -> list[str]:
    """Return as many ports that are free for UDP and TCP alike, each of them once."""
    found: list[str] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            tcp = held.enter_context(socket.socket())
            udp = held.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            tcp.bind(("127.0.0.1", 0))
            with contextlib.suppress(OSError):  # the number is somebody's for UDP
                udp.bind(tcp.getsockname())
                found.append(str(tcp.getsockname()[1]))
    return found


class Shell:
    """A reader with a fresh home folder, who types what stands behind ``$``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("EMU")}
        self.environment = clean | {"PATH": path, "HOME": str(folder), "COLUMNS": "200"}

    def type(self, command: str, shown: str) -> None:
        line = command.replace("\n> ", "\n").replace("\n>", "\n")
        for port, free in self.ports.items():
            line = line.replace(f":{port}", f":{free}")
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60,
        )  # fmt: skip
        came = done.stdout
        for port, free in self.ports.items():
            came = came.replace(f":{free}", f":{port}")
        assert done.returncode == 0, f"{command}\n{came}"
        assert not shown.strip() or same(shown, came), f"{command}\n{came}"

    def stop_what_runs(self) -> None:
        for path in self.folder.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it ends meanwhile
                os.kill(int(path.read_text()), 9)


@pytest.fixture
def shell() -> Iterator[Shell]:
    # As short as people's folders are: a UNIX socket's path may have 107 bytes.
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        yield shell
        shell.stop_what_runs()


def check_python(code: str, names: dict[str, Any], page: Path) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), names)
    return printed.getvalue()


def check_make(lines: str) -> None:
    for line in lines.splitlines():
        words = line.split("#")[0].split()
        assert words[0] == "make", "what is not run stands in a console block"
        command = ["make", "-n", words[1], f"VENV={Path(sys.executable).parent.parent}"]
        assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_code_of_a_guide_does_what_it_shows(
    page: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell.folder)
    names: dict[str, Any] = {"__name__": "guide"}
    printed = ""
    for language, text in blocks(page):
        match language:
            case "console":
                typed = COMMAND.findall(text)
                assert typed, text
                for command, shown in typed:
                    shell.type(command, shown)
            case "python":
                printed = check_python(text, names, page)
            case "text":
                assert same(text, printed), printed
            case "sh":
                check_make(text)
            case "mermaid":
                assert text.split()[0] in DIAGRAMS, text
            case _:
                pytest.fail(f"a block of {language or 'nothing'} is not run")


def test_a_command_may_have_several_lines_and_shows_what_follows() -> None:
    text = "$ cat <<END\n> one\n>\n> two\n> END\none\n\ntwo\n$ true\n"
    assert COMMAND.findall(text) == [
        ("cat <<END\n> one\n>\n> two\n> END", "one\n\ntwo\n"),
        ("true", ""),
    ]


def test_what_is_shown_must_come() -> None:
    assert same("took ... ms\n", "took 3.1 ms\n")
    assert not same("took ... ms\n", "failed\n")
