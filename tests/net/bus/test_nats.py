"""The bus on NATS: the contracts through a relay, login and TLS, and faults."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from twisted.internet import reactor
from twisted.internet.protocol import Factory, Protocol

from emu.errors import ConfigError
from emu.net.scheduler import Scheduler
from tests.processes.contracts.bus import BusContract, Buses
from tests.processes.contracts.cluster_bus import ClusterBusContract
from tests.support.cluster.engines import NatsBroker, nats_broker
from tests.support.cluster.joined import HEARTBEAT, Joined
from tests.support.running.whole_server import until
from tests.world.social.contracts.groups import GroupsContract

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


class TestGroups(GroupsContract):
    pass


def test_a_file_of_credentials_has_one_of_three_forms(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    server = nats_bus.NatsServer("nats://a", "emu", file)
    for text, options in (
        ("emu:secret:x\n", {"user": "emu", "password": "secret:x"}),
        ("\ufeffemu:marked\n", {"user": "emu", "password": "marked"}),
        ("one token\nmore\n", {"token": "one token"}),
        ("-----BEGIN NATS USER JWT-----\n", {"user_credentials": str(file)}),
    ):
        file.write_text(text, encoding="utf-8")
        assert server.options() == options
    file.unlink()
    with pytest.raises(ConfigError, match=r"bus.credentials_file: .*credentials"):
        server.options()
    with pytest.raises(ConfigError, match=r"bus.certificate: .*credentials"):
        nats_bus.NatsServer("tls://a", "emu", None, file).options()


async def test_a_broker_that_sends_nonsense_is_tried_again() -> None:
    tries: list[bytes] = []

    class Nonsense(Protocol):
        def connectionMade(self) -> None:
            tries.append(b"")
            self.transport.write(b"INFO {not json\r\n")  # type: ignore[union-attr]

    factory = Factory.forProtocol(Nonsense)
    listening: Any = reactor.listenTCP(0, factory, interface="127.0.0.1")  # type: ignore[attr-defined]
    url = f"nats://127.0.0.1:{listening.getHost().port}"
    transport = nats_bus.NatsTransport(nats_bus.NatsServer(url, "emu"), reactor, Scheduler(reactor))
    transport.start()
    try:
        await until(lambda: len(tries) > 1, "it tries again", 5.0)
        assert transport.state.reason
    finally:
        await transport.stop()
        await listening.stopListening()
