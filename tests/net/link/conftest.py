"""A port for worlds, served."""

from collections.abc import AsyncIterator

import pytest_twisted

from tests.support.login.link_bench import Bench, link_bench


@pytest_twisted.async_yield_fixture
async def bench() -> AsyncIterator[Bench]:
    async with link_bench() as made:
        yield made
