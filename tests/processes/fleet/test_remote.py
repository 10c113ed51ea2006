"""The hub's keys, as members have them: they do what keys of one process do."""

from __future__ import annotations

from itertools import count

import pytest

from emu.processes.fleet.remote import (
    LeasedKeys,
    Leases,
    RemoteKeys,
    RemoteModels,
    RemoteProcedures,
    RemoteProcedureServer,
)
from emu.processes.local import LocalHandoffKeys
from tests.processes.contracts.handoff_keys import HandoffKeysContract
from tests.support.running.fleets import Simulated
from tests.support.times import ManualClock


class Numbers:
    """Knows one model."""

    async def model_numbers(self, paths: list[str]) -> dict[str, int]:
        return {path: 7 for path in paths if path == "ec/pc/orc"}


class TestRemoteKeys(HandoffKeysContract):
    def later(self, seconds: float) -> None:
        self.clock.seconds += seconds

    @pytest.fixture
    def keys(self, fleet: Simulated) -> RemoteKeys:
        self.clock = ManualClock()
        keys, leases = LocalHandoffKeys(count(1).__next__, self.clock, most=self.MOST), Leases()
        RemoteProcedureServer(lambda _, process: LeasedKeys(keys, leases, process), leases).open(
            fleet.add()
        )
        return RemoteKeys(RemoteProcedures(fleet.add(), "east"))


async def test_numbers_of_models_are_the_hubs(fleet: Simulated) -> None:
    hub, east = fleet.add(), fleet.add()
    RemoteProcedureServer(lambda *_: Numbers(), Leases()).open(hub)
    await fleet.settle()
    models = RemoteModels(RemoteProcedures(east, "east"))
    assert await models.model_numbers({"ec/pc/orc", "ec/pc/elf"}) == {"ec/pc/orc": 7}
