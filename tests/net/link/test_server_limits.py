"""Which connections the port for worlds accepts, and which it closes for others."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from twisted.internet import reactor as _reactor
from twisted.internet.address import IPv6Address

from emu.limits.addresses import plain_host
from emu.link.settings import LinkServerConfig
from tests.support.login.link_bench import Bench

reactor: Any = _reactor
pytestmark = pytest.mark.usefixtures("collect_garbage")


async def test_connections_are_bounded_for_each_address(bench: Bench) -> None:
    bench.start(LinkServerConfig(max_connections=3, connections_per_address=2))
    first, second = await bench.registered(), await bench.registered(b"other", 8)
    third = await bench.connect()
    await third.ended()
    assert bench.server.counters["too many connections of one address"] == 1
    await first.hang_up()
    await bench.counted("connection lost")
    world = await bench.registered()
    assert world.is_connected
    assert second.is_connected
    assert bench.server.connections == 2


async def test_silent_connections_are_closed_the_oldest_first(bench: Bench) -> None:
    bench.start(LinkServerConfig(silent_per_address=2))
    world = await bench.registered()
    first, second = await bench.connect(), await bench.connect()
    third = await bench.connect()
    await first.ended()
    assert world.is_connected
    assert second.is_connected
    assert third.is_connected
    assert bench.server.connections == 3
    assert bench.server.counters == {"silent and replaced": 1}


async def test_silent_connections_cannot_keep_a_world_out(bench: Bench) -> None:
    bench.start(LinkServerConfig(max_connections=3, connections_per_address=3))
    silent = [await bench.connect() for _ in range(3)]
    await bench.registered()
    await bench.registered(b"other", 8)
    await silent[0].ended()
    await silent[1].ended()
    assert silent[2].is_connected


async def test_a_large_frame_is_for_registered_worlds_only(bench: Bench) -> None:
    bench.start()
    silent_peer = await bench.connect()
    silent_peer.transport.write(struct.pack("<IBH", 4096, 0, 0x1000))
    await silent_peer.ended()
    assert bench.server.counters == {"frame too large": 1}
    world = await bench.registered()
    world.send(0x2015, bytes(100_000))
    assert await world.refusal() == b"This is not an update server."


async def test_stopping_waits_for_nobody_when_the_last_goes_at_once(bench: Bench) -> None:
    bench.start()
    await bench.registered()
    (connection,) = bench.server._connections
    connection.close = lambda reason, now: connection.connectionLost()  # type: ignore[method-assign]
    await bench.server.stop()
    assert bench.server.connections == 0
    connection.transport.abortConnection()


async def test_all_connections_together_are_bounded(bench: Bench) -> None:
    bench.start(LinkServerConfig(max_connections=1))
    await bench.registered()
    second = await bench.connect()
    await second.ended()
    assert bench.server.counters == {"too many connections": 1}


async def test_an_address_that_tries_passwords_is_slowed_down(bench: Bench) -> None:
    bench.start(LinkServerConfig(suspect_connections_per_minute=2))
    for _ in range(3):
        world = await bench.connect()
        world.register(password=b"guess")
        assert await world.refusal() == b"Bad password"
    world = await bench.connect()
    await world.ended()
    assert bench.server.counters == {"bad password": 3, "too many refused registrations": 1}


@pytest.mark.parametrize(
    "hosts",
    [("2001:db8::1", "2001:db8::2"), ("::ffff:192.0.2.7", "192.0.2.7")],
    ids=["one network", "one address"],
)
async def test_connections_count_by_whom_their_address_stands_for(bench: Bench, hosts) -> None:
    bench.start(LinkServerConfig(connections_per_address=1))
    first, second = (IPv6Address("TCP", host, 4000) for host in hosts)
    taken = bench.server.buildProtocol(first)
    assert taken is not None
    assert taken.address == plain_host(hosts[0])
    bench.server.introduced(taken)
    assert bench.server.buildProtocol(second) is None
    assert bench.server.counters == {"too many connections of one address": 1}
    bench.server.gone(taken)
    again = bench.server.buildProtocol(second)
    assert again is not None
    bench.server.gone(again)
