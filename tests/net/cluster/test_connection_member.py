"""A member's connection: made again when it is lost, said once why not, and stopped at any time."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.protocol import Factory, Protocol

from emu.config import Address
from emu.net.cluster.connection import HubLink
from emu.net.scheduler import Scheduler
from emu.processes.bus import ClusterBus
from emu.processes.connection import OwnProcess
from tests.support.running.clusters import SECRET, OverTcp, reactor, shell
from tests.support.running.whole_server import captured_log, sleep, until

pytestmark = pytest.mark.usefixtures("collect_garbage")


def link(port: int, fingerprint: str = "") -> HubLink:
    return HubLink(
        OwnProcess("east", SECRET), Address("127.0.0.1", port), fingerprint=fingerprint,
        bus=ClusterBus("east", shell([].append)), reactor=reactor, scheduler=Scheduler(reactor),
    )  # fmt: skip


@pytest.mark.slow
async def test_a_missing_hub_is_logged_once_and_found_later() -> None:
    cluster = OverTcp()
    cluster.hub.listen(Address("127.0.0.1", 0), None)
    port = cluster.hub.port
    await cluster.hub.stop()
    with captured_log("text") as log:
        member = link(port)
        member.start()
        await until(lambda: member._delay > 1.0, "two attempts")
        assert log.text.count("no hub at") == 1
        assert "it cannot be reached" in log.text
        again = OverTcp()
        again.hub.listen(Address("127.0.0.1", port), None)
        await log.line(r"joined the hub hub at 127\.0\.0\.1")
        await member.stop()
        await again.hub.stop()


async def test_it_can_be_stopped_while_it_connects_and_while_it_waits() -> None:
    cluster = OverTcp()
    cluster.hub.listen(Address("127.0.0.1", 0), None)
    early = link(cluster.hub.port)
    early.start()
    await early.stop()
    port = cluster.hub.port
    await cluster.hub.stop()
    waiting = link(port)
    with captured_log("text"):
        waiting.start()
        await until(lambda: waiting._later is not None, "the pause")
        await waiting.stop()
    await sleep(0.01)


class _Silent(Protocol):
    """Takes connections and says nothing."""


async def test_a_port_that_speaks_no_tls_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emu.net.cluster.connection.CONNECT_TIMEOUT", 0.05)
    factory: Any = Factory.forProtocol(_Silent)  # type: ignore[no-untyped-call]
    port = reactor.listenTCP(0, factory, interface="127.0.0.1")
    with captured_log("text") as log:
        member = link(port.getHost().port, "ab" * 32)
        member.start()
        await log.line("it does not speak TLS on this port")
        await member.stop()
    await port.stopListening()
