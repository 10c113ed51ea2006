"""Zones of other processes, from a table."""

from __future__ import annotations

from emu.processes.ports import ZoneServers
from emu.processes.zone_servers import ZoneTable


def test_a_zone_is_here_unless_the_table_says_where() -> None:
    servers: ZoneServers = ZoneTable({325: ("192.0.2.9", 9002)})
    assert servers.elsewhere(325) == ("192.0.2.9", 9002)
    assert servers.elsewhere(12) is None
    assert ZoneTable().elsewhere(325) is None
