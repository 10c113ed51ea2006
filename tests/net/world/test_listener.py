"""The UDP port of the built-in world."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet import reactor

from emu.commands import Registry
from emu.config import Address
from emu.config.load import parse
from emu.net.scheduler import Scheduler
from emu.net.world.listener import WorldListener
from emu.net.world.service import WorldEndpoint
from emu.times import Monotonic
from tests.support.world.world_fakes import no_storage

ANY_PORT = Address("127.0.0.1", 0)


def listener() -> WorldListener:
    part = WorldEndpoint(
        parse({}, []), no_storage(), Any, reactor, Scheduler(reactor), commands=Registry()
    )
    return part._listener


@pytest.mark.slow
async def test_players_reach_the_bound_address_or_the_advertised_host() -> None:
    one = listener()
    assert (one.port, list(one.open_ports())) == (0, [])
    one.listen(ANY_PORT)
    try:
        assert one.public_address(None) == ("127.0.0.1", one.port)
        assert one.public_address("world.example.com") == ("world.example.com", one.port)
        (opened,) = one.open_ports()
        assert opened.address == str(Address("127.0.0.1", one.port))
    finally:
        await one.stop(Monotonic(0))


@pytest.mark.slow
async def test_a_stopped_listener_frees_its_port() -> None:
    one = listener()
    one.listen(ANY_PORT)
    freed = Address("127.0.0.1", one.port)
    await one.stop(Monotonic(0))
    two = listener()
    two.listen(freed)
    assert two.port == freed.port
    await two.stop(Monotonic(0))
