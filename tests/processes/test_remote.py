"""The hub's keys, as members have them: they do what keys of one process do."""

from __future__ import annotations

from itertools import count

import pytest

from emu.processes.local import LocalHandoffKeys
from emu.processes.remote import (
    LeasedKeys,
    Leases,
    RemoteKeys,
    RemoteModels,
    RemoteProcedures,
    RemoteProcedureServer,
)
from tests.processes.contracts.handoff_keys import HandoffKeysContract
from tests.support.running.clusters import Simulated
from tests.support.times import ManualClock


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
