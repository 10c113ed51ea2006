"""Processes that are joined by simulated connections."""

from collections.abc import Iterator

import pytest

from tests.support.running.fleets import Simulated


@pytest.fixture
def fleet() -> Iterator[Simulated]:
    made = Simulated()
    yield made
    made.close()
