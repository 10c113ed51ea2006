"""A world that is one process runs every zone itself."""

from __future__ import annotations

from emu.processes.ports import ZoneServers
from emu.processes.shared import ServedHere


async def test_one_process_runs_all_instances_of_all_zones() -> None:
    servers: ZoneServers = ServedHere()
    assert servers.serves(12)
    assert servers.instances(12) is None
    assert await servers.elsewhere(12) is None
    assert await servers.servers() == {}
