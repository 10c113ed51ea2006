"""A world of its own for each test."""

from __future__ import annotations

import pytest

from tests.support.world.worlds import WorldHarness


@pytest.fixture
def harness() -> WorldHarness:
    return WorldHarness()
