"""Processes that are joined by simulated connections."""

from collections.abc import Iterator

import pytest

from tests.support.running.clusters import Simulated


@pytest.fixture
def cluster() -> Iterator[Simulated]:
    made = Simulated()
    yield made
    made.close()
