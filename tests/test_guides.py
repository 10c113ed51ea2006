"""The code blocks of the documentation run, and print what the pages show.

``console`` blocks are typed into a shell, line by line after ``$``. ``python`` blocks of a page
share their names, and a ``text`` block after one is its output. ``...`` stands for anything.
The recipes run in a copy of the project: see `test_recipes`.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.database import ServerUrl
from tests.support.database.engines import empty_database
from tests.support.running.forked import write_command
from tests.support.running.forked_command import TWISTD
from tests.support.running.guides import Shell, blocks, commands, is_same

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
APART = {"protocol", "recipes"}
"""Folders with other rules: protocol pages have no code, `test_recipes` runs the recipes."""
GUIDES = [path for path in sorted(DOCS.rglob("*.md")) if APART.isdisjoint(path.parts)]
DIAGRAMS = ("flowchart", "sequenceDiagram", "stateDiagram-v2")
"""The kinds of mermaid diagrams in the guides."""


PROGRAMS = {
    "mysqldump": "tests.support.files.eq2emu_players",
    "rsync": "tests.support.files.eq2emu_scripts",
}
"""Programs of other machines in the guides, and the modules that stand in for them."""


FORKED = ("emu", "python", "twistd")
"""The guides run these hundreds of times; `forked` starts each of them at once."""


ON_POSTGRESQL = {"cluster.md"}
"""Pages whose servers use PostgreSQL, by ``$EMU_DATABASE_URL``."""


@pytest.fixture
def database() -> Iterator[ServerUrl]:
    with empty_database() as made:
        yield made


@pytest.fixture
def shell() -> Iterator[Shell]:
    # A short path, as users have: a UNIX socket's path may have 107 bytes.
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
        for name, module in PROGRAMS.items():
            path = Path(programs) / name
            run = f'PYTHONPATH={ROOT} exec {sys.executable} -m {module} "$@"'
            path.write_text(f"#!/bin/sh\n{run}\n", encoding="utf-8")
            path.chmod(0o755)
        for name in FORKED:
            write_command(Path(programs) / name, name)
        shell = Shell(Path(folder), **{TWISTD: str(Path(programs) / "twistd")})
        shell.environment["PATH"] = f"{programs}:{shell.environment['PATH']}"
        yield shell
        shell.kill_servers()


def check_python(code: str, names: dict[str, Any], page: Path) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(page), "exec"), names)
    return printed.getvalue()


def check_make(lines: str) -> None:
    for line in lines.splitlines():
        words = line.split("#")[0].split()
        assert words[0] == "make", "an `sh` block has only make commands"
        command = ["make", "-n", words[1], f"VENV={Path(sys.executable).parent.parent}"]
        assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_code_of_a_guide_does_what_it_shows(
    page: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(shell.folder)
    if page.name in ON_POSTGRESQL:
        shell.environment["EMU_DATABASE_URL"] = str(request.getfixturevalue("database"))
    names: dict[str, Any] = {"__name__": "guide"}
    printed = ""
    for block in blocks(page):
        match block.language:
            case "console":
                typed = commands(block.text)
                assert typed, block.text
                for command, shown in typed:
                    shell.type(command, shown)
            case "python":
                printed = check_python(block.text, names, page)
            case "text":
                assert is_same(block.text, printed), printed
            case "sh":
                check_make(block.text)
            case "mermaid":
                assert block.text.split()[0] in DIAGRAMS, block.text
            case _:
                pytest.fail(f"no test runs a block of {block.language or 'nothing'}")


def test_a_command_may_have_several_lines() -> None:
    text = "$ cat <<END\n> one\n>\n> two\n> END\none\n\ntwo\n$ true\n"
    assert commands(text) == [
        ("cat <<END\n> one\n>\n> two\n> END", "one\n\ntwo\n"),
        ("true", ""),
    ]


def test_the_output_must_be_what_is_shown() -> None:
    assert is_same("took ... ms\n", "took 3.1 ms\n")
    assert not is_same("took ... ms\n", "failed\n")
