"""Reading and running the code blocks of documentation pages.

``console`` blocks are commands after ``$`` and their output, in which ``...`` stands for anything.
A block with a ``title`` is a file, or goes to the end of that file if it exists. A ``diff`` block
with a ``title`` changes one place of that file.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.patience import patience
from tools.ports import free_ports

_FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"\n]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*(?:\n> .*|\n>$)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PORTS = ("9100", "9001", "27015", "27016", "26999", "12358", "8080", "9002", "9300")
"""Ports in the guides. Each test replaces them by free ones."""
LONGEST_COMMAND = 60.0
"""Seconds that one command of a guide may take."""


@dataclass(frozen=True, slots=True)
class Block:
    """One code block of a page."""

    language: str
    title: str
    """The path of the file that the block changes; empty for other blocks."""
    text: str


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page in their order."""
    return [Block(*found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a ``console`` block, each with the output that the page shows."""
    return _COMMAND.findall(text)


def is_same(shown: str, printed: str) -> bool:
    """Return whether a text was printed as a page shows it."""
    return doctest.OutputChecker().check_output(shown, printed, _FLAGS)


def change_file(folder: Path, block: Block) -> None:
    """Write, extend or change the file that a block names."""
    path = folder / block.title
    if block.language == "diff":
        _change_one_place(path, block.text)
    elif path.exists():
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n\n{block.text}" if path.suffix == ".py" else block.text)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")


def _change_one_place(path: Path, diff: str) -> None:
    """Replace the lines with " " and "-" by those with " " and "+"; they must occur once."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path}: {text.count(before)} places have these lines:\n{diff}"
    path.write_text(text.replace(before, after), encoding="utf-8")


class Shell:
    """A reader's shell: types commands in one folder, with a new home folder."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.ports = dict(zip(PORTS, map(str, free_ports(len(PORTS))), strict=True))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("EMU")}
        own = {"PATH": path, "HOME": str(folder), "COLUMNS": "200"}
        self.environment = clean | own | environment

    def type(self, command: str, shown: str) -> None:
        """Run a command; fail if it fails or prints something else than the page shows."""
        line = command.replace("\n> ", "\n").replace("\n>", "\n")
        for port, free in self.ports.items():
            line = line.replace(f":{port}", f":{free}")
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=patience(LONGEST_COMMAND),
        )  # fmt: skip
        printed = done.stdout
        for port, free in self.ports.items():
            printed = printed.replace(f":{free}", f":{port}")
        assert done.returncode == 0, f"{command}\n{printed}"
        assert not shown.strip() or is_same(shown, printed), f"{command}\n{printed}"

    def kill_servers(self) -> None:
        """Kill the processes whose PID files are in the folder."""
        for path in self.folder.glob("*.pid"):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it ends meanwhile
                os.kill(int(path.read_text()), 9)
