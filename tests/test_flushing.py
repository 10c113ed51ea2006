"""What asks for a flush in a test goes on at once, and so do the programs that the test starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Nothing can flush a pipe: the system refuses it, if it is asked.
PROGRAM = """
import os, subprocess, sys
from tests.support.flushing import skip_flushes

def refusals():
    reading, writing = os.pipe()
    found = []
    for flush in (os.fsync, os.fdatasync):
        try:
            flush(writing)
        except OSError as error:
            found.append(error.errno)
    return found

if "again" not in sys.argv:
    print(refusals(), skip_flushes(), refusals(), flush=True)
    subprocess.run([sys.executable, *sys.argv, "again"], check=True)
else:
    print(refusals())
"""


@pytest.mark.slow
def test_a_flush_is_not_asked_of_the_system(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    # A process of the tests has the filter already, and would give it to the program.
    words = [sys.executable, str(program)]
    shown = subprocess.run(
        words, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    ).stdout
    if "False" in shown:
        pytest.skip("this system has no such filter")
    assert shown.splitlines()[0].endswith("True []"), shown
    assert shown.splitlines()[1:] == ["[]"], shown
