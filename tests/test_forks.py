"""Tests run in several processes have the results of one; a process that ends fails one test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.examples import middle_cases

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent

OUTCOMES = """
import pytest
from twisted.internet.task import deferLater

@pytest.fixture(scope="module")
def shared():
    return []

@pytest.mark.parametrize("number", range(3))
def test_shares(shared, number):
    assert len(shared) == number
    shared.append(number)

async def test_uses_the_reactor():
    from twisted.internet import reactor
    assert await deferLater(reactor, 0.01, lambda: 3) == 3

def test_fails():
    print("printed", "by a failure")
    assert 1 == 2

def test_is_skipped():
    pytest.skip("a reason")

def test_has_subtests(subtests):
    for number in range(2):
        with subtests.test(number=number):
            assert number == 0

@pytest.fixture
def broken():
    yield
    raise ValueError("broken end")

def test_breaks_at_its_end(broken):
    pass
"""

ENDS = """
import os
import signal

def test_before():
    pass

def test_kills():
    os.kill(os.getpid(), signal.SIGKILL)

def test_after(tmp_path):
    assert "process3" in str(tmp_path)
"""

STOPS = """
import pytest

def test_fails():
    assert False

@pytest.mark.parametrize("number", range(3))
def test_comes_later(number):
    pass
"""


def pytest_output(folder: Path, *words: str, **files: str) -> str:
    """Return what pytest prints for files of tests."""
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    slow\n    repeat\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "tests.conftest", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_cases_between_the_first_and_the_last_one_are_repeats() -> None:
    names = ["a.py::one", "a.py::two[1]", "a.py::two[2]", "a.py::two[3[x]]", "a.py::two[4]"]
    tests: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    assert middle_cases(tests) == tests[2:4]


def test_two_processes_have_the_results_of_one(tmp_path: Path) -> None:
    shown = pytest_output(tmp_path, "--processes", "2", outcomes=OUTCOMES, ends=ENDS)
    last = shown.splitlines()[-1]
    assert last.startswith("3 failed, 8 passed, 1 skipped, 1 error, 1 subtests passed in"), shown
    assert shown.count("printed by a failure") == 1
    names = set(re.findall(r"^(?:FAILED|ERROR|SUBFAILED\S*|SKIPPED).*$", shown, re.MULTILINE))
    assert {name.partition(" - ")[0] for name in names} == {
        "FAILED test_outcomes.py::test_fails",
        "FAILED test_ends.py::test_kills",
        "SUBFAILED(number='1') test_outcomes.py::test_has_subtests",
        "ERROR test_outcomes.py::test_breaks_at_its_end",
        "SKIPPED [1] test_outcomes.py:23: a reason",
    }, shown
    assert "its process ended, with the status -9" in shown


def test_no_test_starts_after_the_first_failure_if_that_is_wanted(tmp_path: Path) -> None:
    shown = pytest_output(tmp_path, "--processes", "1", "-x", stops=STOPS)
    assert "stopping after 1 failures" in shown
    assert shown.splitlines()[-1].startswith("1 failed in"), shown
