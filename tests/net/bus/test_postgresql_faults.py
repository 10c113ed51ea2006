"""The bus on PostgreSQL when its server or the wire to it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import pytest_twisted
from twisted.internet import reactor

from tests.processes.contracts.bus_faults import SLOW, BusFaultsContract
from tests.support.cluster.joined import Joined
from tests.support.database.own_server import OwnServer, own_server

postgresql_bus = pytest.importorskip("emu.net.bus.postgresql", reason="psycopg is not installed")

pytestmark = pytest.mark.slow
HEARTBEAT = 4 * SLOW
"""Long enough for the answers on a slow wire of a busy machine."""


@pytest.fixture(scope="module")
def broker() -> Iterator[OwnServer]:
    with own_server() as made:
        yield made


@pytest_twisted.async_yield_fixture
async def nodes(broker: OwnServer) -> AsyncIterator[Joined]:
    joined = Joined(
        broker.port,
        lambda port, scheduler: postgresql_bus.PostgresqlTransport(
            replace(broker.where, port=str(port)), reactor, scheduler, HEARTBEAT
        ),
    )
    yield joined
    await joined.stop()


class TestPostgresql(BusFaultsContract):
    pass
