"""What the tests of processes share: connections between some of them, over TCP."""

from collections.abc import AsyncIterator

import pytest_twisted

from tests.support.running.clusters import OverTcp


@pytest_twisted.async_yield_fixture
async def joined() -> AsyncIterator[OverTcp]:
    made = OverTcp()
    await made.start()
    yield made
    await made.stop()
