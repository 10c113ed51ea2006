"""The contracts of bus, presence and keys over real TCP between a hub and members."""

from __future__ import annotations

import pytest

from emu.processes.shared import SharedPresence
from tests.processes.contracts.bus import BusContract, Buses
from tests.processes.contracts.presence import PresenceContract, Presences
from tests.support.running.clusters import OverTcp

pytestmark = pytest.mark.usefixtures("collect_garbage")


class TestBusOverTcp(BusContract):
    @pytest.fixture
    def buses(self, joined: OverTcp) -> Buses:
        self.joined = joined
        return joined.add

    async def settle(self) -> None:
        await self.joined.settle()


class TestPresenceOverTcp(PresenceContract):
    @pytest.fixture
    def presences(self, joined: OverTcp) -> Presences:
        self.joined = joined

        def make() -> SharedPresence:
            bus = joined.add()
            return SharedPresence(bus, bus.process)

        return make

    async def settle(self) -> None:
        await self.joined.settle()


async def test_much_arrives_whole_and_in_order(joined: OverTcp) -> None:
    hub, east, west = joined.add(), joined.add(), joined.add()
    heard: list[object] = []
    west.subscribe("count", lambda note: heard.append((note["n"], len(str(note["text"])))))
    for n in range(200):
        east.publish("count", {"n": n, "text": "x" * 10_000})
    for _ in range(200):
        if len(heard) == 200:
            break
        await joined.settle()
    assert heard == [(n, 10_000) for n in range(200)]
    assert joined.errors == []
    assert set(hub.others) == {"east", "west"}
