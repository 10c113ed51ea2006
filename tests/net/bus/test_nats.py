"""The bus on NATS: the contracts through a relay, login and TLS, and faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_twisted
from twisted.internet import reactor

from emu.errors import ConfigError
from tests.processes.contracts.bus import BusContract, Buses
from tests.processes.contracts.cluster_bus import ClusterBusContract
from tests.support.cluster.engines import NatsBroker, nats_broker
from tests.support.cluster.joined import HEARTBEAT, Joined

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
            nats_bus.NatsServer(f"nats://127.0.0.1:{port}", "emu.test"), reactor, scheduler,
            HEARTBEAT,
        ),
    )  # fmt: skip
    yield joined
    await joined.stop()


class TestNats(BusContract):
    @pytest.fixture
    def buses(self, nodes: Joined) -> Buses:
        self.nodes = nodes
        return nodes.add

    async def settle(self) -> None:
        await self.nodes.settle()


class TestSeveral(ClusterBusContract):
    pass


def test_a_file_of_credentials_has_one_of_three_forms(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    server = nats_bus.NatsServer("nats://a", "emu", file)
    for text, options in (
        ("emu:secret:x\n", {"user": "emu", "password": "secret:x"}),
        ("one token\nmore\n", {"token": "one token"}),
        ("-----BEGIN NATS USER JWT-----\n", {"user_credentials": str(file)}),
    ):
        file.write_text(text)
        assert server.options() == options
    file.unlink()
    with pytest.raises(ConfigError, match=r"bus.credentials_file: .*credentials"):
        server.options()
    with pytest.raises(ConfigError, match=r"bus.certificate: .*credentials"):
        nats_bus.NatsServer("tls://a", "emu", None, file).options()
