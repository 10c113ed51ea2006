"""Routes by Detour itself, from Debian's librecast-dev, through a small program."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).with_name("detour.cpp")
INCLUDES = [f"{place}/recastnavigation" for place in ("/usr/include", "/usr/local/include")]


class DetourRoute(NamedTuple):
    """Detour's answer."""

    reaches: bool
    length: float
    """Meters of the straightened way; 0 if the goal is not reached."""


def detour_program(folder: Path) -> Path:
    """Compile the program; skip the test without a compiler or without Detour's headers.

    g++ also searches the folders of `CPATH` and `LIBRARY_PATH`.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    program = folder / "detour"
    words = [compiler, "-O1", *(f"-I{one}" for one in INCLUDES), str(SOURCE), "-o", str(program)]
    done = subprocess.run([*words, "-lDetour"], check=False, capture_output=True, text=True)
    if done.returncode and "DetourNavMesh.h" in done.stderr:
        pytest.skip("Debian's librecast-dev is not installed")
    assert not done.returncode, done.stderr
    return program


def detour_routes(
    program: Path, mesh: Path, pairs: Sequence[tuple[float, ...]]
) -> list[DetourRoute]:
    """Return Detour's answers for pairs of places, six numbers each."""
    lines = "\n".join(" ".join(map(repr, pair)) for pair in pairs)
    libraries = os.environ.get("LIBRARY_PATH", "")
    done = subprocess.run(
        [program, mesh], input=lines, check=True, capture_output=True, text=True,
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
    )  # fmt: skip
    answers = [line.split() for line in done.stdout.splitlines()]
    return [DetourRoute(reached == "1", float(length)) for reached, length in answers]
