"""Programs that none of us wrote, for tests: where they are, and running them beside a server.

A test that needs one that is not installed is skipped and says why. Continuous integration installs
them all and says EMU_REQUIRE_PROGRAMS=1, which turns the skip into a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import NoReturn

import pytest

from tests.support.running.whole_server import until


def debian_program(name: str, package: str) -> str:
    """Return the path of a program of Debian's."""
    path = shutil.which(name)
    if path is None:
        lacking(f"{name} is not installed (Debian: apt-get install {package})")
    return path


def lacking(reason: str) -> NoReturn:
    """Skip the test, or fail it where every program has to be there."""
    if os.environ.get("EMU_REQUIRE_PROGRAMS"):
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has come to its end."""

    status: int
    output: str
    errors: str


async def run_beside(words: list[str], seconds: float = 30.0) -> Ended:
    """Run a program while the server of this process goes on."""
    process = subprocess.Popen(  # noqa: ASYNC220  # awaited below
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        await until(lambda: process.poll() is not None, f"{words[0]} to end", seconds)
    finally:
        process.kill()
        output, errors = process.communicate()
    return Ended(process.returncode, output, errors)


async def output_of(words: list[str]) -> str:
    """Run a program that must end well, and return what it wrote."""
    ended = await run_beside(words)
    assert ended.status == 0, ended.errors or ended.output
    return ended.output
