"""A server with nothing but defaults, for each test that asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_twisted

from tests.support.running.whole_server import Harness, harness


@pytest_twisted.async_yield_fixture
async def server(tmp_path: Path) -> AsyncIterator[Harness]:
    async with harness(tmp_path) as running:
        yield running
