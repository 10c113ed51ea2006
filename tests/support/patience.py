"""How long tests wait: longer on a machine that is slow or busy.

A test must not fail because the machine has other work. It waits for what happens, not for a time,
and gives up after its own limit times a factor. The factor follows the machine's load; the
environment variable EMU_PATIENCE sets it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

SPARE = 2.0
"""Factor on an idle machine: the limits in the tests were measured on a fast one."""


def factor() -> float:
    """Return how many times longer than on an idle machine a test may take now."""
    fixed = os.environ.get("EMU_PATIENCE")
    if fixed:
        return float(fixed)
    return SPARE * slowness()


def slowness() -> float:
    """Return how many runnable processes share each processor, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def patience(seconds: float) -> float:
    """Return the real seconds that something may take that takes `seconds` at most when idle."""
    return seconds * factor()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the block takes longer than `patience` allows."""
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    assert took < patience(seconds), f"took {took:.1f} s instead of {seconds:g} s"
