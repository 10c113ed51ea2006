"""The hub's keys, as members have them: they do what keys of one process do."""

from __future__ import annotations

from itertools import count

import pytest

from emu.errors import StoreError
from emu.model import SpawnMemory
from emu.processes.ports import MemoryStore
from emu.processes.remote import (
    LeasedKeys,
    Leases,
    RemoteKeys,
    RemoteMemories,
    RemoteModels,
    RemoteProcedures,
    RemoteProcedureServer,
)
from emu.processes.shared import LocalHandoffKeys
from emu.times import Moment
from tests.processes.contracts.handoff_keys import HandoffKeysContract
from tests.support.running.clusters import Simulated
from tests.support.times import ManualClock
from tests.support.world.world_fakes import MemoriesInMemory


class Numbers:
    """Knows one model."""

    async def model_numbers(self, paths: list[str]) -> dict[str, int]:
        return {path: 7 for path in paths if path == "ec/pc/orc"}


class TestRemoteKeys(HandoffKeysContract):
    def later(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @pytest.fixture
    def keys(self, cluster: Simulated) -> RemoteKeys:
        self.clock = ManualClock()
        keys, leases = LocalHandoffKeys(count(1).__next__, self.clock, most=self.MOST), Leases()
        RemoteProcedureServer(lambda _, process: LeasedKeys(keys, leases, process), leases).open(
            cluster.add()
        )
        return RemoteKeys(RemoteProcedures(cluster.add(), "east"))


async def test_numbers_of_models_are_the_hubs(cluster: Simulated) -> None:
    hub, east = cluster.add(), cluster.add()
    RemoteProcedureServer(lambda *_: Numbers(), Leases()).open(hub)
    await cluster.settle()
    models = RemoteModels(RemoteProcedures(east, "east"))
    assert await models.model_numbers({"ec/pc/orc", "ec/pc/elf"}) == {"ec/pc/orc": 7}


async def test_what_a_members_spawns_remember_is_stored_by_the_hub(cluster: Simulated) -> None:
    hub, east = cluster.add(), cluster.add()
    store = MemoriesInMemory()
    RemoteProcedureServer(lambda *_: store, Leases()).open(hub)
    await cluster.settle()
    memories: MemoryStore = RemoteMemories(RemoteProcedures(east, "east"))
    rows = [
        SpawnMemory(12, "inn", 0, '{"a":"\u00e4"}', Moment(5.0)),
        SpawnMemory(12, "inn", 7, '{"b":[1,2.5,null]}', Moment(6.0)),
    ]
    await memories.save_memories(rows)
    assert await memories.of_zone(12, 0, 200) == rows
    assert await memories.of_zone(12, 1, 200) == rows[1:]
    full = [SpawnMemory(12, f"s{n}", 0, "\u00e4" * 2000, Moment(7.0)) for n in range(100)]
    await memories.save_memories(full)
    assert len(await memories.of_zone(12, 0, 200)) == 102, "it fits the frames"
    store.broken = True
    with pytest.raises(StoreError):
        await memories.of_zone(12, 0, 200)
