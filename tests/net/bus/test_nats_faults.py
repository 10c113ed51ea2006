"""The bus on NATS when its server or the wire to it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_twisted
from twisted.internet import reactor

from tests.processes.contracts.bus_faults import BusFaultsContract
from tests.support.cluster.engines import NatsBroker, nats_broker
from tests.support.cluster.joined import Joined

nats_bus = pytest.importorskip("emu.net.bus.nats", reason="nats-py is not installed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def broker() -> Iterator[NatsBroker]:
    with nats_broker() as made:
        yield made


@pytest_twisted.async_yield_fixture
async def nodes(broker: NatsBroker) -> AsyncIterator[Joined]:
    joined = Joined(
        broker.port,
        lambda port, scheduler: nats_bus.NatsTransport(
            nats_bus.NatsServer(f"nats://127.0.0.1:{port}", "emu.test"), reactor, scheduler
        ),
    )
    yield joined
    await joined.stop()


class TestNats(BusFaultsContract):
    pass
