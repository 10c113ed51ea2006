"""How many examples a test tries where it wants more, or fewer, than usual."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

USUAL: Final = "emu"
"""The profile of `make test`, in which a property that names a number tries that many."""


def nightly(*values: Any) -> Any:
    """Return the values of one more case of an expensive test; only `make nightly` runs it."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def middle_cases(tests: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the cases of tests that are neither the first nor the last one of their test."""
    cases: dict[str, list[pytest.Item]] = {}
    for test in tests:
        cases.setdefault(test.nodeid.partition("[")[0], []).append(test)
    return [case for same in cases.values() for case in same[1:-1]]


def tries(count: int) -> settings:
    """Try so many examples in the profile of `make test`.

    The profile `quick` tries at most as many as other properties there. The profile `nightly`
    tries more, in the same ratio as other properties.
    """
    return settings(max_examples=_scaled(count))


def read_constants() -> None:
    """Let hypothesis read what it needs for examples, so that later forks need not.

    It takes constants out of the source of every imported module, and the table of all characters
    out of Python: together five seconds of CPU time in a fresh checkout. It does so when it first
    draws a number or a text.
    """

    @settings(database=None, max_examples=10, derandomize=True)
    @given(st.lists(st.integers(), min_size=100), st.text())
    def draw(numbers: list[int], text: str) -> None:
        assert len(numbers) >= 100

    draw()


def try_random(count: int, name: str, check: Callable[[Random], object]) -> None:
    """Call a function with so many generators of random numbers, scaled as `tries` does.

    This is for large values, of which hypothesis takes longer to draw one than a test to look at
    it. `name` makes the numbers of one case differ from those of others. They are the same in each
    run, except with the profile `nightly`. An error has the seed as a note.
    """
    fresh = "" if settings().derandomize else f" {os.urandom(8).hex()}"
    for number in range(_scaled(count)):
        seed = f"{name} {number}{fresh}"
        try:
            check(Random(seed))
        except BaseException as error:
            error.add_note(f"with Random({seed!r})")
            raise


def _scaled(count: int) -> int:
    usual = settings.get_profile(USUAL).max_examples
    current = settings().max_examples
    return min(count, current) if current < usual else count * current // usual
