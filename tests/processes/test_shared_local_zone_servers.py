"""Which process serves a zone."""

from __future__ import annotations

from typing import Any

import pytest

from emu.errors import Unanswered
from emu.processes.ports import ZoneServers
from emu.processes.shared import ZoneTable, served_here


def test_one_process_serves_all() -> None:
    servers: ZoneServers = served_here()
    assert servers.serves(12)
    assert servers.elsewhere(12) is None


def test_a_table_says_which_process_serves_what_and_the_rest_is_one_s() -> None:
    others: dict[str, Any] = {"hub": {"host": "192.0.2.1", "port": 9001}}
    servers: ZoneServers = ZoneTable(
        "east", table=lambda: {12: "east", 33: "west"}, rest=lambda: "hub", others=others
    )
    assert [servers.serves(zone) for zone in (12, 33, 325)] == [True, False, False]
    assert servers.elsewhere(12) is None
    assert servers.elsewhere(325) == ("192.0.2.1", 9001)
    with pytest.raises(Unanswered, match="server west is not connected"):
        servers.elsewhere(33)
    others["west"] = {"host": "192.0.2.3", "port": 9003}
    assert servers.elsewhere(33) == ("192.0.2.3", 9003)


@pytest.mark.parametrize(
    "about",
    [{}, {"host": "192.0.2.1"}, {"port": 9001}, {"host": 5, "port": 9001}, {"host": "", "port": 1},
     {"host": "192.0.2.1", "port": "x"}, {"host": "192.0.2.1", "port": 0},
     {"host": "192.0.2.1", "port": 65_536}],
)  # fmt: skip
def test_a_process_without_an_address_cannot_be_reached(about: dict[str, Any]) -> None:
    servers = ZoneTable("east", table=dict, rest=lambda: "hub", others={"hub": about})
    with pytest.raises(Unanswered, match="its server hub has no address"):
        servers.elsewhere(325)
