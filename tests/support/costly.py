"""The tests that `make quick` leaves out for their CPU time, by the list in tests/costly.txt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

LISTED = Path(__file__).parents[1] / "costly.txt"
"""One test function in a line, as pytest names it; `tools/costly_tests.py` writes the file."""


def function_of(name: str) -> str:
    """Return the name of a test without its parameters."""
    return name.partition("[")[0]


def costly_tests(tests: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests in the list."""
    listed = set(LISTED.read_text(encoding="utf-8").splitlines())
    return [test for test in tests if function_of(test.nodeid) in listed]
