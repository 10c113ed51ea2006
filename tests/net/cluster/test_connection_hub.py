"""The hub's port and unauthenticated peers: their data and number harm no member."""

from __future__ import annotations

import os
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure

from emu.net.cluster.connection import HUB_LIMITS
from emu.processes.bus import ClusterBus
from emu.processes.connection import encode_frame
from emu.processes.ports import CAME
from tests.support.running.clusters import OverTcp, reactor, shell
from tests.support.running.whole_server import captured_log

pytestmark = pytest.mark.usefixtures("collect_garbage")


class SilentPeer(Protocol):
    """Sends what it likes, and waits for the end."""

    def __init__(self) -> None:
        self.got = b""
        self.ended: Deferred[None] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        self.got += data

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.ended.callback(None)


class _SilentPeers(Factory):
    noisy = False
    protocol = SilentPeer


async def silent_peer(cluster: OverTcp) -> SilentPeer:
    found: Any = await HostnameEndpoint(reactor, "127.0.0.1", cluster.hub.port).connect(
        _SilentPeers()
    )
    assert isinstance(found, SilentPeer)
    return found


async def unharmed(cluster: OverTcp) -> None:
    """Members still hear each other."""
    heard: list[object] = []
    subscription = cluster.buses["west"].subscribe("weather", heard.append)
    cluster.buses["east"].publish("weather", {})
    await cluster.settle()
    subscription.cancel()
    assert heard == [{}]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", encode_frame(["note", "weather", {}]),
        encode_frame(["hello", "east", "00" * 16, "00" * 32, {}]),
        encode_frame(["hello", "east", "00" * 16, "00" * 32, {"x": []}]), os.urandom(5000),
    ],
    ids=["large", "http", "a note", "a wrong proof", "a wrong note", "noise"],
)  # fmt: skip
async def test_who_does_not_greet_is_shown_out(joined: OverTcp, data: bytes) -> None:
    one = await silent_peer(joined)
    transport: Any = one.transport
    transport.write(data)
    await one.ended
    assert len(one.got) < 300
    (port,) = joined.hub.open_ports()
    assert (port.key, port.protocol) == ("processes.listen", "TCP")
    assert port.counters == {"members": 2, "refused": 1}
    await unharmed(joined)


async def test_silent_connections_are_closed_in_favor_of_members(
    joined: OverTcp,
) -> None:
    crowd = [await silent_peer(joined) for _ in range(3 * HUB_LIMITS.silent_per_address)]
    await joined.settle()
    assert len(joined.hub.connections) <= HUB_LIMITS.silent_per_address + 2
    await joined.links[0].stop()
    await joined.settle()
    joined.links[0] = joined.link("east", joined.buses["east"])
    joined.links[0].start()
    for _ in range(100):
        if "east" in joined.buses["hub"].others:
            break
        await joined.settle()
    await unharmed(joined)
    for one in crowd:
        transport: Any = one.transport
        transport.abortConnection()
        await one.ended


async def test_a_name_that_is_taken_is_refused_until_it_is_free(joined: OverTcp) -> None:
    twin = ClusterBus("east", shell([].append))
    link = joined.link("east", twin)
    link.start()
    await joined.settle()
    assert twin.others == {}
    await link.stop()
    await unharmed(joined)


@pytest.mark.slow
async def test_a_member_that_talks_nonsense_is_cut_off_and_comes_back(joined: OverTcp) -> None:
    connection = joined.links[0].connection
    assert connection is not None
    connection.send(["dance"])
    await joined.settle()
    assert "east" not in joined.buses["hub"].others
    for _ in range(100):
        if "east" in joined.buses["west"].others and "hub" in joined.buses["east"].others:
            break
        await joined.settle()
    await unharmed(joined)


async def test_a_member_without_an_address_is_reported(joined: OverTcp) -> None:
    with captured_log("text") as log:
        joined.buses["hub"]._local.publish(CAME, {"process": "north", "host": 5})
        joined.buses["hub"]._local.publish(
            CAME, {"process": "south", "host": "192.0.2.1", "port": 9001}
        )
    assert "north joined without an address for clients" in log.text
    assert "south joined, its clients on UDP 192.0.2.1:9001" in log.text
