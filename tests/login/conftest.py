"""A login service of its own for each test."""

from __future__ import annotations

import pytest

from tests.support.login.login_harness import Harness


@pytest.fixture
def harness() -> Harness:
    return Harness()
